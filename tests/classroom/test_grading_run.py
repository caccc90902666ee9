"""Test a whole run: it can be stopped at any moment, and is refused with a reason."""

import errno
import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from types import SimpleNamespace

import nbformat
import pytest
from sqlalchemy.exc import OperationalError

from classroom.grading import gradebook, pool, proof, sandbox, worker
from classroom.grading.__main__ import main
from classroom.grading.course import Course
from classroom.grading.disk import DISK_FULL, is_full_disk
from classroom.grading.grade import Refused, grade_class
from classroom.grading.intake import Submission
from classroom.grading.processes import Ended, run_each
from classroom.grading.result import Result, Terms
from classroom.grading.sandbox import run_sandboxed
from tests.classroom.bench.submissions import dump, solved
from tests.classroom.in_sandbox import QUICK, in_sandbox, table
from tests.classroom.shared_runs import sharing_runs
from tests.classroom.small_exercises import write_source
from tests.conftest import ROOT
from tests.patience import SECONDS

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="grading needs Linux")


@pytest.mark.slow
@in_sandbox
def test_killed_at_any_moment_it_goes_on(exercises, tmp_path):
    """No result is lost or made twice, and no process is left running."""
    place, out = tmp_path / "in", tmp_path / "out"
    place.mkdir()
    for number in range(4):
        nb = solved(exercises, number % 3)
        nb.cells.append(nbformat.v4.new_markdown_cell(f"Student {number}"))
        (place / f"s{number}.ipynb").write_bytes(dump(nb))
    command = [sys.executable, "-m", "classroom.grading", str(place), "--out", str(out)]
    command += ["--source", str(exercises.path), "--jobs", "2"]
    run = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    results = out / "results" / "05_heads"
    until = time.monotonic() + SECONDS
    while len(list(results.glob("*.json"))) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    first = {path: path.stat().st_mtime_ns for path in results.glob("*.json")}
    assert 2 <= len(first) < 4
    for path in list(first):  # a starved run is graded again, as it should be
        if json.loads(path.read_bytes())["starved"]:
            del first[path]
    until = time.monotonic() + SECONDS
    while (left := running_under(out)) and time.monotonic() < until:
        time.sleep(0.2)
    assert not left
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "4 notebooks were graded" in done.stdout
    assert {path: path.stat().st_mtime_ns for path in first} == first
    scores = [row[4] for row in table(out / "marks.csv")[1:]]
    assert scores == ["0", "3", "6", "0"]


def running_under(out):
    """Return the processes that have a file in this folder open."""
    found = []
    for process in os.listdir("/proc"):
        try:
            for descriptor in os.listdir(f"/proc/{process}/fd"):
                target = os.readlink(f"/proc/{process}/fd/{descriptor}")
                if target.startswith(str(out)):
                    found.append(process)
        except OSError:
            continue
    return found


@in_sandbox
def test_the_sandbox_hides_everything_else(tmp_path, monkeypatch):
    (tmp_path / "secret.txt").write_text("secret")
    monkeypatch.setenv("SECRET_TOKEN", "secret")
    code = f"""
import glob, json, os, socket
def can(action):
    try:
        action()
    except OSError:
        return False
    return True
print(json.dumps({{
    "files": can(lambda: open({str(tmp_path / "secret.txt")!r})),
    "repository": can(lambda: open({str(ROOT / "Makefile")!r})),
    "tests": can(lambda: os.listdir({str(ROOT / "tests")!r})),
    "write": [p for p in ("/", "/usr", "/dev", {str(ROOT / "vit_steps")!r})
              if can(lambda: open(p + "/mine", "w"))],
    "network": can(lambda: socket.create_connection(("1.1.1.1", 53), timeout=1)),
    "environment": [v for p in glob.glob("/proc/*/environ") if can(lambda: open(p))
                    for v in open(p).read().split(chr(0)) if "SECRET" in v],
    "processes": len(glob.glob("/proc/[0-9]*")),
    "torch": __import__("torch").ones(1).item(),
}}))
"""
    done = run_sandboxed([sys.executable, "-c", code])
    found = json.loads(done.stdout)
    assert found.pop("processes") <= 3
    assert found == {
        "files": False,
        "repository": False,
        "tests": False,
        "write": [],
        "network": False,
        "environment": [],
        "torch": 1.0,
    }


@pytest.mark.parametrize(
    "system, words",
    [("linux", "apt install"), ("darwin", "virtual machine"), ("win32", "WSL 2")],
)
def test_without_a_sandbox_it_refuses(
    system, words, exercises, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(sandbox.sys, "platform", system)
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: None)
    (tmp_path / "a.ipynb").write_bytes(dump(solved(exercises)))
    assert main([str(tmp_path), "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert said.startswith("Stopped: ")
    assert words in said
    assert not (tmp_path / "out" / "gradebook.db").exists()


@in_sandbox
def test_with_a_broken_set_no_student_is_graded(exercises, tmp_path):
    source = nbformat.read(exercises.path, as_version=4)
    broken = next(c for c in source.cells if c.id == "split-heads")
    broken.source = broken.source.replace("transpose(1, 2)", "transpose(0, 1)")
    path = tmp_path / "05_heads.ipynb"
    nbformat.write(source, path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.ipynb").write_bytes(dump(solved(exercises)))
    with pytest.raises(Refused, match="test-split-heads"):
        grade_class(tmp_path / "in", tmp_path / "out", [path], QUICK, progress=False)
    assert not list(tmp_path.glob("out/results/05_heads/*.json"))
    write_source(path)  # repaired; the folder may stay, since no mark is in it yet
    grade_class(tmp_path / "in", tmp_path / "out", [path], QUICK, progress=False)
    assert len(list(tmp_path.glob("out/results/05_heads/*.json"))) == 1
    nbformat.write(source, path)
    with pytest.raises(Refused, match="has changed since"):
        grade_class(tmp_path / "in", tmp_path / "out", [path], QUICK, progress=False)


@in_sandbox
def test_no_upload_stops_the_class(exercises, tmp_path):
    """Uploads of any name and sort pass from the export to the tables and pages."""
    inner = io.BytesIO()
    good = dump(solved(exercises))
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("x.ipynb", good)
    later = bytearray(inner.getvalue())
    later[later.index(b"PK\1\2") + 6] = 99
    moodle = "{}_{}_assignsubmission_file_/{}"
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        for number, (name, file, data) in enumerate(
            (
                ("Ada Lovelace", "x.ipynb", good),
                ("Bob", "new\nline.ipynb", good),
                ("Carl", f"x_{'7' * 300}_assignsubmission_file_/x.ipynb", good),
                ("\N{GRINNING FACE}" * 200, "work.zip", inner.getvalue()),
                ("Eve", "work.zip", later),
                ("=1+1;@SUM(A1)", "x.ipynb", b"no notebook"),
            )
        ):
            archive.writestr(moodle.format(name, 500 + number, file), data)
        for file in (b"\xff", good):
            archive.writestr(moodle.format("Same", len(file), "x.ipynb"), file)
    out = tmp_path / "out"
    with sharing_runs():
        place = tmp_path / "export.zip"
        grade_class(place, out, [exercises.path], QUICK, progress=False)
    rows = {row[2]: row for row in table(out / "marks.csv")[1:]}
    assert {number: row[4] for number, row in rows.items()} == {
        **dict.fromkeys(("500", "501", "502", "503"), "12"),
        "505": "0",
        "1": "0",
        str(len(good)): "12",
    }
    assert rows["505"][1].startswith("'=1+1;'@SUM")
    identifiers = [row[0] for row in table(out / "moodle-05_heads.csv")[1:]]
    assert sorted(identifiers) == sorted(f"Participant {number}" for number in rows)
    assert "work.zip: not a zip file" in (out / "oddities.html").read_text()
    assert len(list(out.glob("feedback/*/05_heads/05_heads.html"))) == len(rows)


@pytest.mark.slow
@in_sandbox
def test_contested_work_is_graded_and_in_no_table_for_import(exercises, tmp_path):
    place, out = tmp_path / "in", tmp_path / "out"
    place.mkdir()
    command = [str(place), "--out", str(out), "--source", str(exercises.path)]
    (place / "ada.ipynb").write_bytes(dump(solved(exercises)))
    (place / "bob.ipynb").write_bytes(dump(solved(exercises, 2)))
    assert main(command) == 0
    (place / "Ada.ipynb").write_bytes(dump(solved(exercises, 1)))
    assert main(command) == 3
    scores = sorted(row[4] for row in table(out / "marks.csv")[1:])
    assert scores == ["12", "3", "6"]
    assert [row[3] for row in table(out / "canvas-05_heads.csv")[2:]] == ["bob"]
    (place / "ADA.ipynb").write_bytes(b"")
    assert main(command) == 3
    remarks = [row[-1] for row in table(out / "marks.csv")[1:] if row[1] != "bob"]
    assert len(remarks) == 3
    assert all("ADA.ipynb" in remark for remark in remarks)
    (place / "ada.ipynb").unlink()
    (place / "ADA.ipynb").unlink()
    assert main(command) == 0
    assert [row[3] for row in table(out / "canvas-05_heads.csv")[2:]] == ["Ada", "bob"]


def no_room(*arguments, **keywords):
    raise OSError(errno.ENOSPC, "No space left on device")


def no_room_for_shutil(*arguments, **keywords):
    raise shutil.Error([("a", "b", "[Errno 28] No space left on device")])


def no_room_for_sqlite(*arguments, **keywords):
    raise OperationalError("INSERT", {}, Exception("database or disk is full"))


@on_linux
@pytest.mark.parametrize(
    "place, full",
    [
        ("classroom.grading.versions.keep_file", no_room),
        ("classroom.grading.gradebook.prepare", no_room_for_shutil),
        ("classroom.grading.gradebook.enter", no_room_for_sqlite),
        ("classroom.grading.grade.write_marks", no_room),
        ("classroom.grading.feedback.write_feedback", no_room),
        ("classroom.grading.grade.write_report", no_room),
    ],
)
def test_a_full_disk_ends_in_a_sentence(
    place, full, exercises, tmp_path, monkeypatch, capsys
):
    """The same command goes on once there is room, and no mark is lost."""
    monkeypatch.setattr("classroom.grading.grade.check_sandbox", lambda weak: None)
    monkeypatch.setattr("classroom.grading.grade.prove", lambda *arguments: None)
    monkeypatch.setattr("classroom.grading.grade.grade_all", graded_unread)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.ipynb").write_bytes(dump(solved(exercises)))
    command = [str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    command += ["--source", str(exercises.path)]
    with monkeypatch.context() as context:
        context.setattr(place, full)
        assert main(command) == 1
    said = capsys.readouterr().err
    assert "Stopped: There is no room left on the disk" in said
    assert "give the same command again" in said
    assert main(command) == 3
    assert len(table(tmp_path / "out" / "marks.csv")) == 2


def graded_unread(submissions, assignments, course, terms, jobs):
    for submission in submissions:
        result = Result.of(submission, assignments[submission.assignment])
        result.status, result.sentence = "unreadable", "The file is empty."
        result.save(course)
        yield result


@on_linux
@pytest.mark.parametrize("changes", [1, 99])
def test_a_file_that_is_changed_while_it_is_graded_is_graded_again(
    changes, exercises, tmp_path, monkeypatch, capsys
):
    """The mark is that of its last version, or the run says that it may not be."""
    place = tmp_path / "in" / "a.ipynb"
    left = list(range(changes))
    place.parent.mkdir()
    place.write_bytes(dump(solved(exercises)))

    def graded_meanwhile(*arguments):
        yield from graded_unread(*arguments)
        if left:
            place.write_bytes(dump(solved(exercises, left.pop() % 2)))
            os.utime(place, (len(left), len(left)))

    monkeypatch.setattr("classroom.grading.grade.check_sandbox", lambda weak: None)
    monkeypatch.setattr("classroom.grading.grade.prove", lambda *arguments: None)
    monkeypatch.setattr("classroom.grading.grade.grade_all", graded_meanwhile)
    command = [str(place.parent), "--out", str(tmp_path / "out")]
    code = main([*command, "--source", str(exercises.path)])
    (result,) = tmp_path.glob("out/results/*/*.json")
    last = hashlib.sha256(place.read_bytes()).hexdigest()
    assert (json.loads(result.read_text())["submission"] == last) == (changes == 1)
    assert code == (3 if changes == 1 else 1)
    said = capsys.readouterr().err
    assert ("were changed while they were read" in said) == (changes == 99)


def _no_room_in_a_worker(path):
    worker.grade = no_room
    sent, asked = SimpleNamespace(student="s"), SimpleNamespace(name="a")
    worker.main(sent, asked, Course(path), Terms(), "")


@on_linux
def test_a_worker_without_room_ends_the_run_and_blames_no_student(
    exercises, tmp_path, monkeypatch
):
    (ended,) = run_each(_no_room_in_a_worker, [(tmp_path,)], 1, 300.0)
    assert ended.exitcode == DISK_FULL
    sent = Submission("s", "s", "", exercises.name, "s", tmp_path / "s")
    sent.kept.write_text("")
    monkeypatch.setattr(
        pool,
        "run_each",
        lambda t, tasks, *_: (Ended(task, DISK_FULL) for task in tasks),
    )
    named = {exercises.name: exercises}
    with pytest.raises(OSError, match="No space left"):
        list(pool.grade_all([sent], named, Course(tmp_path), Terms(), 1))
    assert not list(tmp_path.glob("results/*/*.json"))


def test_a_students_words_are_not_a_full_disk():
    for error in (ValueError, RuntimeError, nbformat.ValidationError):
        assert not is_full_disk(error("No space left on device; disk is full"))


look_for_the_packages = proof._check_imports


@pytest.fixture
def proofs(exercises, tmp_path, monkeypatch):
    """A proof whose grading is a stub, as ``(prove, runs, failures, starved)``.

    ``prove`` runs it, without a test of whether the packages can be imported. ``runs``
    records the terms of each run, and ``failures`` makes every run fail. Each run pops
    the end of ``starved``; if that is true, it fails for lack of time.
    """
    course = Course(tmp_path / "out")
    runs = []
    failures = {}
    starved = []
    gradebook.prepare(course, [exercises])

    def graded(sent, named, aside, terms, jobs):
        for submission in sent:
            runs.append(terms)
            result = Result.of(submission, named[submission.assignment])
            result.failures = dict(failures)
            result.starved = bool(starved and starved.pop())
            if result.starved:
                result.failures = {"split-heads": "too late"}
            yield result

    monkeypatch.setattr(proof, "grade_all", graded)
    monkeypatch.setattr(proof, "_check_imports", lambda terms: None)
    prove = lambda terms: proof.prove([exercises], course, terms)  # noqa: E731
    return prove, runs, failures, starved


def test_solutions_wait_long_for_a_busy_machine(proofs):
    """A machine too busy even then is refused; the solutions are not called wrong."""
    prove, runs, failures, starved = proofs
    prove(QUICK)
    patience = QUICK.limits.patience_with_others
    assert [run.limits.patience_with_others > 5 * patience for run in runs] == [True]
    starved.append(True)
    with pytest.raises(proof.SolutionsFail, match="too much else to do.*too late"):
        prove(QUICK)
    failures["split-heads"] = "wrong"  # in a run that was not starved
    for _ in range(2):  # a proof that failed is not remembered as passed
        with pytest.raises(
            proof.SolutionsFail, match="do not pass.*split-heads: wrong"
        ):
            prove(QUICK)
    assert len(runs) == 4


def test_packages_that_notebooks_cannot_import_are_named(proofs, monkeypatch):
    """This happens with the environment of another copy of the repository."""
    prove, _, failures, _ = proofs
    failures["split-heads"] = "NameError: name 'check' is not defined"

    def without_packages(command, visible):
        command = [command[0], "-S", *command[1:]]
        return subprocess.run(command, capture_output=True, text=True)

    monkeypatch.setattr(proof, "run_sandboxed", without_packages)
    monkeypatch.setattr(proof, "_check_imports", look_for_the_packages)
    with pytest.raises(proof.SolutionsFail, match="cannot import vit_check") as caught:
        prove(QUICK)
    assert "Remove .venv" in str(caught.value)


@in_sandbox
def test_an_environment_may_be_a_link(tmp_path, monkeypatch):
    link = tmp_path / "environment"
    link.symlink_to(sys.prefix)
    monkeypatch.setattr(sandbox.sys, "prefix", str(link))
    assert link in sandbox._python_environment.__wrapped__()
