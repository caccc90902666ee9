"""Test that no submission can take time, memory or room that another one needs."""

import asyncio
import errno
import json
import logging
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from subprocess import PIPE
from types import SimpleNamespace
from unittest import mock

import psutil
import pytest

from classroom.grading import pool, worker
from classroom.grading.course import Course
from classroom.grading.execute import SandboxedExecute
from classroom.grading.grade import grade_class
from classroom.grading.gradebook import marks
from classroom.grading.intake import Submission
from classroom.grading.limits import Limits
from classroom.grading.processes import (
    Ended,
    _shares,
    keep_to_own_share,
    run_each,
)
from classroom.grading.result import Result, Terms
from classroom.grading.sandbox import sandboxed
from classroom.grading.seccomp import open_filter
from classroom.grading.usage import Usage
from classroom.grading.versions import keep_file
from classroom.grading.watchdog import UNREAD, Watchdog
from tests.classroom.bench.submissions import dump, solved, with_cell
from tests.classroom.in_sandbox import in_sandbox

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

BURNERS = """
import os
for _ in range(6):
    if os.fork() == 0:
        os.setsid()
        while True:
            pass
"""


@pytest.fixture
def on_one_processor():
    process = psutil.Process()
    before = process.cpu_affinity()
    process.cpu_affinity(before[:1])
    yield
    process.cpu_affinity(before)


@pytest.mark.slow
@in_sandbox
def test_busy_neighbours_cost_no_student_a_mark(exercises, tmp_path, on_one_processor):
    """Two notebooks share one processor, and one of them starts six busy processes."""
    place = tmp_path / "in"
    place.mkdir()
    burning = dump(with_cell(solved(exercises), BURNERS))
    (place / "burner.ipynb").write_bytes(burning)
    (place / "victim.ipynb").write_bytes(dump(solved(exercises)))
    terms = Terms(limits=Limits(cell_seconds=3, total_seconds=20))
    results = grade_class(
        place, tmp_path / "out", [exercises.path], terms, jobs=2, progress=False
    )
    found = marks(Course(tmp_path / "out"), results)
    victim = next(result for result in results if result.student == "victim")
    assert victim.failures == {}
    assert found["victim", exercises.name].score == 12
    assert victim.kernels == 1


def _write_processors(path):
    keep_to_own_share()
    path.write_text(json.dumps(psutil.Process().cpu_affinity()))


@on_linux
def test_tasks_keep_to_their_share_of_the_processors(tmp_path, monkeypatch):
    for count, jobs in [(1, 1), (1, 2), (2, 1), (2, 2), (2, 5), (4, 2), (8, 3)]:
        there_are = mock.Mock(return_value=list(range(count)))
        monkeypatch.setattr(psutil.Process, "cpu_affinity", there_are)
        shares = _shares(jobs)
        dealt = {one for share in shares for one in share}
        assert len(shares) == jobs and all(shares)
        if jobs <= count:
            assert sum(map(len, shares)) == len(dealt)
        assert (len(dealt) < count) == (jobs < count)  # one is left for the watchdog
    monkeypatch.undo()
    seen = tmp_path / "seen"
    (ended,) = run_each(_write_processors, [(seen,)], 2, 300.0)
    assert ended.exitcode == 0
    assert json.loads(seen.read_text()) in _shares(2)


@on_linux
def test_a_clock_hardly_moves_while_others_have_the_processors():
    """A sandbox whose own processes keep it waiting is ended all the same."""
    usage = Usage(pid=os.getpid(), sandboxed=False)
    usage.look()
    clock = usage.clock
    usage._looked -= 60.0  # a minute went by in which it was ready to compute,
    delayed = usage.delayed + 60.0  # and had no processor
    usage._count_seconds = lambda everyone: setattr(usage, "delayed", delayed)
    usage.look()
    assert usage.clock == pytest.approx(clock + 10.0, abs=0.5)
    delayed += 3000.0  # fifty of its processes were ready, for another minute
    usage._looked -= 60.0
    usage.look()
    assert usage.clock == pytest.approx(clock + 20.0, abs=0.5)
    usage._looked -= 60.0  # and one in which it slept
    usage.look()
    assert usage.clock == pytest.approx(clock + 40.0, abs=0.5)


@pytest.mark.parametrize("waited, starved", [(2.0, True), (30.0, False)])
def test_a_cell_that_was_kept_waiting_too_long_had_no_fair_chance(waited, starved):
    sent = []
    usage = Usage(pid=os.getpid(), computed=1.0, waited=waited, kept_waiting=60.0)
    execute = SandboxedExecute()
    execute._watchdog = SimpleNamespace(usage=usage)
    execute._began = (0.0, 0.0, 0.0)
    execute._allowed = 5.0
    execute.starved = False
    execute.kc = SimpleNamespace(
        session=SimpleNamespace(msg=lambda kind, content: kind),
        control_channel=SimpleNamespace(send=sent.append),
    )
    assert asyncio.run(execute._async_handle_timeout(1)) is not None
    assert sent == ["interrupt_request"]
    assert execute.starved == starved


def test_a_starved_notebook_is_run_again_by_itself(exercises, tmp_path, monkeypatch):
    course = Course(tmp_path)
    sent = [
        Submission(
            name, name, "", exercises.name, name, tmp_path / keep_file(b"", tmp_path)
        )
        for name in ("fair", "starved", "dead")
    ]
    runs = []

    def run_each(target, tasks, jobs, seconds):
        for task in tasks:
            submission, assignment, _, _, again = task
            runs.append((submission.student, jobs, again))
            result = Result.of(submission, assignment)
            result.again = again
            if submission.student == "starved" and not again:
                result.starved = True
                result.failures = {"test": "too late"}
            if submission.student != "dead":
                result.save(course)
            yield Ended(task, 1 if submission.student == "dead" else 0)

    monkeypatch.setattr(pool, "run_each", run_each)
    assignments = {exercises.name: exercises}
    results = {
        result.student: result
        for result in pool.grade_all(sent, assignments, course, Terms(), jobs=2)
    }
    assert [run[:2] for run in runs] == [
        *(("fair", 2), ("starved", 2), ("dead", 2)),
        *(("starved", 1), ("dead", 1)),
    ]
    assert results["fair"].again == ""
    assert "too busy" in results["starved"].again
    assert results["starved"].failures == {}
    assert results["dead"].status == "unfinished"


LIMITS = Limits(memory=100, processes=3, descriptors=10, files=5, total_seconds=9)


@pytest.mark.parametrize(
    "holds, words",
    [
        ({"processes": 4}, "more than 3 processes"),
        ({"memory": 101}, "of memory"),
        ({"descriptors": 11}, "more than 10 files and pipes"),
        ({"files": 6}, "more than 5 files were made"),
        ({"clock": 40}, "time was up"),
        ({}, None),
    ],
)
def test_the_watchdog_says_what_was_too_much(holds, words):
    nothing = dict(processes=0, memory=0, descriptors=0, files=0, clock=0.0)
    watchdog = Watchdog(SimpleNamespace(**nothing | holds), LIMITS, left=9.0)
    reason = watchdog._excess()
    assert (reason is None) if words is None else (words in reason)


FIRST_THREAD_ENDS = """
import ctypes, threading, time
kept = bytearray(2**27)
threading.Thread(target=time.sleep, args=[600]).start()
print(flush=True)
ctypes.CDLL(None).pthread_exit(None)
"""


@on_linux
def test_memory_is_counted_when_the_first_thread_has_ended():
    """The process looks dead, while its other threads hold the memory."""
    with subprocess.Popen(
        [sys.executable, "-c", FIRST_THREAD_ENDS], stdout=PIPE
    ) as process:
        process.stdout.readline()
        ended = psutil.Process(process.pid)
        while ended.status() != psutil.STATUS_ZOMBIE:
            pass
        usage = Usage(pid=process.pid, sandboxed=False)
        usage.look()
        process.kill()
    assert usage.memory > 2**27
    assert usage.descriptors >= 3


@contextmanager
def running_in_a_sandbox(code):
    filtered = open_filter()
    command = sandboxed([sys.executable, "-I", "-S", "-c", code], filtered)
    with subprocess.Popen(
        command, stdin=PIPE, stdout=PIPE, pass_fds=[filtered]
    ) as process:
        os.close(filtered)
        yield process


@in_sandbox
def test_all_processes_in_a_sandbox_are_seen_and_no_others():
    """The sandbox's own /proc is read, even if its path means another one later."""
    code = "import os\n[os.fork() for _ in range(3)]\nprint(flush=True)\ninput()"
    with running_in_a_sandbox(code) as process:
        for _ in range(8):
            assert process.stdout.readline() == b"\n"
        usage = Usage(pid=process.pid)
        usage.look()
        assert usage.processes == 1 + 8  # the first is bwrap's own
        assert usage.files < 100
        process.kill()
        process.wait()
        with pytest.raises(OSError):
            while True:  # its processes take a moment to disappear
                usage.look()


@in_sandbox
def test_a_sandbox_that_is_not_set_up_yet_is_not_measured():
    """Before the sandbox is set up, its first process sees the whole machine."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=PIPE) as process:
        usage = Usage(pid=os.getpid())
        usage.look()
        process.stdin.close()
    assert usage.processes == 1
    assert usage.files == 0


@on_linux
@pytest.mark.parametrize("name", [b"\xff\xfe", b"\rRssAnon:", b"\x85RssAnon: -9"])
def test_memory_is_counted_whatever_a_process_calls_itself(name):
    code = "import ctypes, sys\nctypes.CDLL(None).prctl(15, bytes.fromhex(sys.argv[1]))"
    code += "\nprint(flush=True)\nsys.stdin.read()"
    command = [sys.executable, "-c", code, name.hex()]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE) as process:
        process.stdout.readline()
        usage = Usage(pid=process.pid, sandboxed=False)
        usage.look()
        process.stdin.close()
    assert usage.memory > 2**20


@on_linux
def test_page_tables_count_as_memory():
    """Pages that were only read take no memory, but their page tables do."""
    code = """
import mmap
kept = mmap.mmap(-1, 2**33, flags=mmap.MAP_PRIVATE | 0x4000, prot=mmap.PROT_READ)
kept.madvise(mmap.MADV_NOHUGEPAGE)
for page in range(0, 2**33, 2**21):
    kept[page]
print(flush=True)
input()
"""
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE) as process:
        process.stdout.readline()
        usage = Usage(pid=process.pid, sandboxed=False)
        usage.look()
        process.stdin.close()
    assert usage.memory > 2**24


FULL_SOCKETS = """
import socket
listener = socket.socket(socket.AF_UNIX)
listener.bind(chr(0) + "listener")
listener.listen(4096)
for _ in range(1000):
    with socket.socket(socket.AF_UNIX) as visitor:
        visitor.connect(listener.getsockname())
print(flush=True)
input()
"""


@in_sandbox
def test_data_in_sockets_without_an_owner_is_counted():
    """Data that was written before a sender closed stays with a listener."""
    with running_in_a_sandbox(FULL_SOCKETS) as process:
        assert process.stdout.readline() == b"\n"
        usage = Usage(pid=process.pid)
        usage.look()
        process.stdin.close()
    assert usage.descriptors < 50
    assert usage.memory > 1000 * 208 * 1024  # the buffer that Linux gives a socket


@pytest.mark.parametrize(
    "error", [ValueError("something new"), OSError(errno.EMFILE, "Too many open files")]
)
def test_a_sandbox_that_cannot_be_watched_is_ended(error, monkeypatch):
    def look(self):
        raise error

    with subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=PIPE, start_new_session=True
    ) as process:
        usage = Usage(pid=process.pid, sandboxed=False)
        monkeypatch.setattr(Usage, "look", look)
        assert str(error) in Watchdog(usage, LIMITS, left=9.0).look()
        assert process.wait() == -signal.SIGKILL


def _write_limits(path):
    import resource  # missing on Windows

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 100), most))

    def grade(*arguments):
        logging.warning("x" * 10_000_000)
        limits = [resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE]
        path.write_text(json.dumps([resource.getrlimit(limit) for limit in limits]))

    worker.grade = grade
    sent, asked = SimpleNamespace(student="s"), SimpleNamespace(name="a")
    worker.main(sent, asked, Course(path.parent), Terms(), "")


@on_linux
def test_what_a_kernel_does_leaves_a_worker_files_to_open_and_room_on_the_disk(
    tmp_path,
):
    """A kernel may open a thousand connections, and fill the log with messages."""
    seen = tmp_path / "seen"
    (ended,) = run_each(_write_limits, [(seen,)], 1, 300.0)
    assert ended.exitcode == 0
    (soft, hard), (size, _) = json.loads(seen.read_text())
    assert soft == hard
    assert 0 < size < 2**30
    assert Course(tmp_path).log("s", "a").stat().st_size < 10_000


def test_unread_messages_are_limited():
    nothing = dict(processes=0, memory=0)
    watchdog = Watchdog(SimpleNamespace(**nothing), LIMITS, left=9.0)
    watchdog._before -= UNREAD + 1
    assert "sent to the grader" in watchdog._excess()
