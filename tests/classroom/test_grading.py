"""Grading a class: every sort of submission gets the mark it deserves, and nothing more
happens."""

import csv
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import time

import nbformat
import pytest
from bs4 import BeautifulSoup

from classroom.grading import sandbox
from classroom.grading.__main__ import main
from classroom.grading.course import Course
from classroom.grading.grade import Refused, grade_class
from classroom.grading.gradebook import marks
from classroom.grading.limits import Limits
from classroom.grading.result import Terms
from classroom.grading.sandbox import SandboxMissing, check_sandbox, sandboxed
from tests.classroom.bench.adversaries import dump, kinds, solved
from tests.classroom.small_exercises import write_source
from tests.conftest import REQUIRED, ROOT

QUICK = Terms(limits=Limits(cell_seconds=5, total_seconds=120))
KINDS = {kind.name: kind for kind in kinds()}


def sandbox_works():
    try:
        check_sandbox()
    except SandboxMissing as error:
        return str(error)
    return ""


# One process grades the class that these tests look at.
one_class = pytest.mark.xdist_group("a graded class")
WHY_NOT = sandbox_works()
in_sandbox = pytest.mark.skipif(
    bool(WHY_NOT) and "bubblewrap" not in REQUIRED, reason=WHY_NOT or "bubblewrap works"
)


@pytest.fixture(scope="module")
def graded(exercises, tmp_path_factory):
    """One submission of each kind, graded; and what lay beside them."""
    folder = tmp_path_factory.mktemp("class")
    for kind in KINDS.values():
        path = folder / "submissions" / f"{kind.name}.ipynb"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(kind.make(exercises))
    beside = folder / "gradebook of another class.db"
    beside.write_text("marks")
    before = fingerprint(folder)
    out = folder.parent / "graded"
    results = grade_class(
        folder / "submissions", out, [exercises.path], QUICK, progress=False
    )
    assert fingerprint(folder) == before
    course = Course(out)
    found = marks(course, results)
    return course, {
        result.name: (result, found[result.student, result.assignment])
        for result in results
    }


def fingerprint(folder):
    return {
        path: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


@in_sandbox
@one_class
@pytest.mark.parametrize("name", KINDS)
def test_each_gets_the_mark_it_deserves(name, graded, exercises):
    result, mark = graded[1][name]
    assert result.status == ("graded" if KINDS[name].readable else "unreadable")
    assert mark.score == KINDS[name].expected(exercises), result.failures
    assert mark.maximum == 14


@in_sandbox
@one_class
def test_written_answers_wait_for_a_person(graded):
    assert graded[1]["right"][1].waiting == 1
    assert graded[1]["empty"][1].waiting == 0
    assert graded[1]["stripped of metadata"][1].waiting == 1


@in_sandbox
@one_class
def test_what_was_tampered_with_is_reported(graded):
    course, found = graded
    for name in (
        "edits the tests",
        "skips the tests",
        "makes the tests text",
        "raises its own points",
        "graded cells deleted",
    ):
        assert found[name][0].tampered, name
    for name in ("right", "half right", "stripped of metadata", "notebook format 3"):
        assert not found[name][0].tampered, name
        assert not found[name][0].odd, name
    for name in ("opens a socket", "reads the gradebook", "redefines the checks"):
        assert found[name][0].odd, name
    page = (course.root / "oddities.html").read_text()
    assert "locked cell was changed" in page


@in_sandbox
@one_class
def test_tables_have_the_columns_of_the_platforms(graded):
    course, _ = graded
    canvas = table(course.root / "canvas-05_heads.csv")
    assert canvas[0][:5] == [
        *("Student", "ID", "SIS User ID", "SIS Login ID", "Section"),
    ]
    assert canvas[1][-1] == "14"
    moodle = table(course.root / "moodle-05_heads.csv")
    assert {"Identifier", "Full name", "Grade", "Feedback comments"} <= set(moodle[0])
    assert len(canvas) - 2 == len(moodle) - 1 == len(KINDS)


def table(path):
    return list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"))))


@in_sandbox
@one_class
def test_feedback_explains_and_runs_nothing(graded):
    course, found = graded
    for name, (result, _) in found.items():
        if result.status != "graded":
            continue
        path = course.feedback(result.student, result.assignment)
        text = path.read_text()
        soup = BeautifulSoup(text, "html.parser")
        policy = soup.find("meta", {"http-equiv": "Content-Security-Policy"})
        assert policy["content"].startswith("default-src 'none'")
        assert not soup.find_all(["script", "iframe", "object", "embed"]), name
        for tag in soup.find_all(True):
            assert not [a for a in tag.attrs if a.startswith("on")], name
            assert not str(tag.get("href", "")).lower().startswith("javascript"), name
        assert "token_count(32, 4)" not in text, name
    empty = course.feedback("empty", "05_heads").read_text()
    assert "NotImplementedError" in empty or "not written" in empty


@in_sandbox
@one_class
def test_cells_are_numbered_as_they_ran(graded):
    course, _ = graded
    nb = nbformat.read(course.autograded("right", "05_heads"), as_version=4)
    numbers = [c.execution_count for c in nb.cells if c.cell_type == "code"]
    assert numbers == list(range(1, len(numbers) + 1))


@in_sandbox
@one_class
def test_a_second_run_repeats_nothing(graded, exercises, capfd):
    course, found = graded
    results = sorted(course.root.glob("results/*/*.json"))
    before = [path.stat().st_mtime_ns for path in results]
    place = course.root.parent / "class0" / "submissions"
    again = grade_class(place, course.root, [exercises.path], QUICK, progress=False)
    assert [path.stat().st_mtime_ns for path in results] == before
    assert len(again) == len(found)


@in_sandbox
def test_killed_at_any_moment_it_goes_on(exercises, tmp_path):
    """Nothing is lost, nothing is done twice, and nobody is left running."""
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
    until = time.monotonic() + 120
    while len(list(results.glob("*.json"))) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    first = {path: path.stat().st_mtime_ns for path in results.glob("*.json")}
    assert 2 <= len(first) < 4
    until = time.monotonic() + 20
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
    """Processes that have a file in this folder open."""
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
    "environment": [v for p in glob.glob("/proc/*/environ")
                    for v in open(p).read().split(chr(0)) if "SECRET" in v],
    "processes": len(glob.glob("/proc/[0-9]*")),
    "torch": __import__("torch").ones(1).item(),
}}))
"""
    command = sandboxed([sys.executable, "-c", code])
    # As the kernels are started: without the variables, for process 1 shows its own.
    done = subprocess.run(command, capture_output=True, text=True, env={})
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
    [("linux", "apt install"), ("darwin", "virtual one"), ("win32", "WSL 2")],
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
def test_a_broken_set_grades_nobody_until_it_is_mended(exercises, tmp_path):
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
    write_source(path)  # mended: nobody has a mark yet, so the folder will do
    grade_class(tmp_path / "in", tmp_path / "out", [path], QUICK, progress=False)
    assert len(list(tmp_path.glob("out/results/05_heads/*.json"))) == 1
    nbformat.write(source, path)
    with pytest.raises(Refused, match="has changed since"):
        grade_class(tmp_path / "in", tmp_path / "out", [path], QUICK, progress=False)


@in_sandbox
def test_an_environment_may_be_a_link(tmp_path, monkeypatch):
    link = tmp_path / "environment"
    link.symlink_to(sys.prefix)
    monkeypatch.setattr(sandbox.sys, "prefix", str(link))
    assert link in sandbox._python_environment.__wrapped__()
