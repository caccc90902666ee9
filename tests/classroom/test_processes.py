"""Test tasks in processes: each may end in any way, and none outlives its parent."""

import os
import signal
import subprocess
import sys
import time
from multiprocessing import forkserver
from pathlib import Path

import psutil
import pytest

from classroom.grading.processes import run_each
from tests.patience import SECONDS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="grading needs Linux")
ROOT = Path(__file__).parents[2]  # tests.conftest has it too, but imports torch


def end_as_told(way):
    if way == "exit":
        os._exit(7)
    if way == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if way == "raise":
        sys.stderr.close()
        raise ValueError
    if way == "wait":
        time.sleep(3600)


def test_each_ends_in_its_own_way():
    tasks = [(way,) for way in ("exit", "killed", "raise", "well", "killed", "well")]
    ended = list(run_each(end_as_told, tasks, jobs=2, seconds=SECONDS))
    assert sorted((one.arguments[0], one.exitcode) for one in ended) == [
        *(("exit", 7), ("killed", -9), ("killed", -9)),
        *(("raise", 1), ("well", 0), ("well", 0)),
    ]
    assert not any(one.timed_out for one in ended)


def test_one_that_takes_too_long_is_killed():
    (ended,) = run_each(end_as_told, [("wait",)], jobs=1, seconds=0.1)
    assert ended.timed_out
    assert ended.exitcode == -signal.SIGKILL


def note_others(folder):
    """Wait for another process, or until all five came, and write how many run now."""
    (folder / f"{os.getpid()}").touch()
    (folder / f"{os.getpid()} came").touch()

    def count(pattern):
        return len(list(folder.glob(pattern)))

    wait_until(lambda: count("*[0-9]") > 1 or count("* came") == 5)
    time.sleep(0.3)  # enough for one process too many to come
    (folder / f"{os.getpid()} saw").write_text(str(count("*[0-9]")))
    (folder / f"{os.getpid()}").unlink()


def test_no_more_run_at_once_than_asked_for(tmp_path):
    list(run_each(note_others, [(tmp_path,)] * 5, jobs=2, seconds=SECONDS))
    seen = [int(path.read_text()) for path in tmp_path.glob("* saw")]
    assert len(seen) == 5
    assert max(seen) == 2


def note_and_wait(folder, name):
    (folder / f"{name}.part").write_text(str(os.getpid()))
    (folder / f"{name}.part").rename(folder / name)
    if name != "0":
        time.sleep(3600)


def gone(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def wait_until(true):
    until = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_closed_early_it_leaves_no_process_running(tmp_path):
    tasks = [(tmp_path, str(number)) for number in range(3)]
    each = run_each(note_and_wait, tasks, jobs=3, seconds=SECONDS)
    assert next(each).arguments == (tmp_path, "0")
    wait_until(lambda: len(list(tmp_path.glob("[12]"))) == 2)
    each.close()
    pids = [int(path.read_text()) for path in tmp_path.iterdir()]
    wait_until(lambda: all(map(gone, pids)))


PROGRAM = """
import sys
from pathlib import Path
from classroom.grading import grade
from classroom.grading.processes import run_each, start_server
from tests.classroom.test_processes import note_and_wait

if __name__ == "__main__":
    grade.tempfile.tempdir = sys.argv[1]
    start_server(grade._temporary_folder(), [])
    tasks = [(Path(sys.argv[2]), name) for name in sys.argv[3:]]
    list(run_each(note_and_wait, tasks, jobs=2, seconds=3600))
"""


def program(place, notes, *names):
    command = [sys.executable, "-c", PROGRAM, str(place), str(notes), *names]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)


def test_sockets_of_a_killed_run_are_removed_by_the_next(short_folder, tmp_path):
    run = program(short_folder, tmp_path, "1", "2")
    wait_until(lambda: len(list(tmp_path.glob("[12]"))) == 2)
    run.kill()
    run.communicate()
    pids = [int(path.read_text()) for path in tmp_path.iterdir()]
    wait_until(lambda: all(map(gone, pids)))
    assert list(short_folder.glob("grading-*-*/pymp-*"))
    _, said = program(short_folder, tmp_path, "0").communicate()
    assert said == ""
    assert not list(short_folder.iterdir())


def test_a_server_that_has_died_costs_one_task(monkeypatch):
    connect = forkserver.connect_to_new_process
    errors = [ConnectionRefusedError(), EOFError()]
    monkeypatch.setattr(
        forkserver,
        "connect_to_new_process",
        lambda fds: throw(errors.pop()) if errors else connect(fds),
    )
    ended = list(run_each(end_as_told, [("well",)] * 3, jobs=1, seconds=SECONDS))
    assert [one.exitcode for one in ended] == [None, None, 0]


def throw(error):
    raise error
