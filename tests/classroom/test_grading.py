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
import zipfile

import nbformat
import pytest
from bs4 import BeautifulSoup

from classroom import sandbox
from classroom.adversaries import dump, kinds, solved, tasks_of
from classroom.assignment import Assignment
from classroom.course import Course
from classroom.grade import Refused, grade_class, main
from classroom.gradebook import marks
from classroom.intake import NoSubmissions, safe_name, take_in
from classroom.limits import Limits
from classroom.marks import cell
from classroom.oddities import Written, nearly_identical
from classroom.outputs import clean_output
from classroom.release import released, text_of
from classroom.restore import Unreadable, read, restore
from classroom.sandbox import SandboxMissing, check_sandbox, sandboxed
from classroom.verdict import Attempt, checks_named_in, why_failed
from classroom.worker import Terms
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


WHY_NOT = sandbox_works()
in_sandbox = pytest.mark.skipif(
    bool(WHY_NOT) and "bubblewrap" not in REQUIRED, reason=WHY_NOT or "bubblewrap works"
)


@pytest.fixture(scope="module")
def exercises(tmp_path_factory):
    path = tmp_path_factory.mktemp("source") / "05_heads.ipynb"
    return Assignment(write_source(path))


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
@pytest.mark.parametrize("name", KINDS)
def test_each_gets_the_mark_it_deserves(name, graded, exercises):
    result, mark = graded[1][name]
    assert result.status == ("graded" if KINDS[name].readable else "unreadable")
    assert mark.score == KINDS[name].expected(exercises), result.failures
    assert mark.maximum == 14


@in_sandbox
def test_written_answers_wait_for_a_person(graded):
    assert graded[1]["right"][1].waiting == 1
    assert graded[1]["empty"][1].waiting == 0
    assert graded[1]["stripped of metadata"][1].waiting == 1


@in_sandbox
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
    for number in range(6):
        nb = solved(exercises, number % 3)
        nb.cells.append(nbformat.v4.new_markdown_cell(f"Student {number}"))
        (place / f"s{number}.ipynb").write_bytes(dump(nb))
    command = [sys.executable, "-m", "classroom.grade", str(place), "--out", str(out)]
    command += ["--source", str(exercises.path), "--jobs", "2"]
    run = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    results = out / "results" / "05_heads"
    until = time.monotonic() + 120
    while len(list(results.glob("*.json"))) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    first = {path: path.stat().st_mtime_ns for path in results.glob("*.json")}
    assert 2 <= len(first) < 6
    until = time.monotonic() + 20
    while (left := running_under(out)) and time.monotonic() < until:
        time.sleep(0.2)
    assert not left
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "6 notebooks were graded" in done.stdout
    assert {path: path.stat().st_mtime_ns for path in first} == first
    scores = [row[4] for row in table(out / "marks.csv")[1:]]
    assert scores == ["0", "3", "6"] * 2


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


@pytest.mark.parametrize("system, words", [("linux", "apt install"), ("darwin", "WSL")])
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


# What is handed in


def names_of(place, exercises, tmp_path, pattern=None):
    taken = take_in(place, [exercises], tmp_path / "kept", pattern)
    return {s.student: s for s in taken.submissions}, taken.left_out


@pytest.mark.parametrize(
    "path, student, lms_id",
    [
        ("Ada Lovelace_123_assignsubmission_file_/05_heads.ipynb", "Ada", "123"),
        ("Ada Lovelace_123_assignsubmission_file_05_heads.ipynb", "Ada", "123"),
        ("lovelaceada_123_456_05_heads.ipynb", "lovelaceada_123", "123"),
        ("lovelaceada_LATE_123_456_05_heads-2.ipynb", "lovelaceada_123", "123"),
        ("ada/05_heads.ipynb", "ada", ""),
        ("ada.ipynb", "ada", ""),
        ("05_heads_ada.ipynb", "ada", ""),
        ("ada/05_heads.ipynb.txt", "ada", ""),
        ("../../ada/05_heads.ipynb", "ada", ""),
        ("/etc/05_heads.ipynb", "etc", ""),
    ],
)
def test_names_as_platforms_export_them(path, student, lms_id, exercises, tmp_path):
    place = tmp_path / "export.zip"
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr(path, dump(solved(exercises)))
        archive.writestr("__MACOSX/._x.ipynb", b"")
        archive.writestr("notes.txt", b"")
    found, left_out = names_of(place, exercises, tmp_path)
    (name,) = found
    assert name.startswith(student)
    assert found[name].lms_id == lms_id
    assert found[name].late == ("LATE" in path)
    assert left_out == ["notes.txt: not a notebook."]
    assert sorted(os.listdir(tmp_path)) == ["export.zip", "kept"]


def test_one_folder_around_all_is_left_out(exercises, tmp_path):
    for name in ("ada", "grace"):
        (tmp_path / "in" / "week 1" / name).mkdir(parents=True)
        data = dump(solved(exercises, len(name) % 3))
        (tmp_path / "in" / "week 1" / name / "05_heads.ipynb").write_bytes(data)
    found, _ = names_of(tmp_path / "in", exercises, tmp_path)
    assert set(found) == {"ada", "grace"}


def test_the_last_attempt_counts(exercises, tmp_path):
    place = tmp_path / "in"
    place.mkdir()
    for turn, tasks in (("", 0), ("-1", 1), ("-10", 3), ("-2", 2)):
        path = place / f"ada_7_{9 + len(turn)}_work{turn}.ipynb"
        path.write_bytes(dump(solved(exercises, tasks)))
    found, left_out = names_of(place, exercises, tmp_path)
    assert found["ada_7"].path.endswith("-10.ipynb")
    assert len(left_out) == 3


def test_odd_files_harm_nobody(exercises, tmp_path):
    place = tmp_path / "in"
    place.mkdir()
    (place / "good.ipynb").write_bytes(dump(solved(exercises)))
    (tmp_path / "secret.ipynb").write_bytes(dump(solved(exercises)))
    (place / "link.ipynb").symlink_to(tmp_path / "secret.ipynb")
    (place / "loop").symlink_to(place)
    os.mkfifo(place / "pipe.ipynb")
    (place / "archive.zip").write_bytes(b"PK not really")
    with zipfile.ZipFile(place / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"{number}.ipynb", bytes(30 * 2**20))
    found, left_out = names_of(place, exercises, tmp_path)
    assert "good" in found
    assert not [name for name in found if "link" in name or "pipe" in name]
    assert any("link.ipynb" in sentence for sentence in left_out)
    sizes = [path.stat().st_size for path in (tmp_path / "kept").iterdir()]
    assert max(sizes) <= Limits().notebook + 1


def test_nothing_to_grade_is_said(exercises, tmp_path):
    with pytest.raises(NoSubmissions, match="No notebook"):
        take_in(tmp_path, [exercises], tmp_path / "kept")
    with pytest.raises(NoSubmissions, match="neither"):
        take_in(tmp_path / "missing", [exercises], tmp_path / "kept")


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "a/b", "=cmd()", "né\nw", "", "..", "x" * 500, "\ud800"],
)
def test_names_are_safe_in_paths(name):
    safe = safe_name(name)
    assert safe not in ("", ".", "..")
    assert not set("/\\\n\0=") & set(safe)
    assert len(safe.encode()) < 200
    assert safe_name(name + "!") != safe


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@a", "\t=1", "\r=1", " =1"])
def test_no_spreadsheet_runs_a_name(text):
    assert cell(text).startswith("'")
    assert "\n" not in cell(text + "\n")


# Putting right what came


def test_all_of_the_release_has_its_place_again(exercises):
    nb = solved(exercises)
    nb.cells = nb.cells[::-1][:5]
    restored = restore(read(dump(nb)), exercises.release)
    names = [c.metadata.nbgrader.grade_id for c in restored.nb.cells if named(c)]
    assert sorted(names) == sorted(
        c.metadata.nbgrader.grade_id for c in exercises.release.cells if named(c)
    )
    nbformat.validate(restored.nb)


def named(notebook_cell):
    return "nbgrader" in notebook_cell.metadata


def test_an_answer_without_a_name_is_recognised(exercises):
    nb = json.loads(dump(solved(exercises)))
    for number, one in enumerate(nb["cells"]):
        one["metadata"], one["id"] = {}, str(number)
    restored = restore(read(json.dumps(nb).encode()), exercises.release)
    by_name = {c.metadata.nbgrader.grade_id: c for c in restored.nb.cells if named(c)}
    assert "They mix tokens" in by_name["why"].source
    assert "reshape" in by_name["split-heads"].source
    assert not restored.tampered


@pytest.mark.parametrize(
    "data, word",
    [
        (b"", "empty"),
        (b"\xff\xfe\x00", "text"),
        (b"{", "whole"),
        (b"[]", "no cells"),
        (b"[" * 100_000, "deeply"),
        (b'{"worksheets": 1, "nbformat": 3}', "damaged"),
        (b" " * 2**20 * 21, "MB"),
    ],
)
def test_what_is_no_notebook_is_said_in_a_sentence(data, word):
    with pytest.raises(Unreadable, match=word) as caught:
        read(data)
    assert "\n" not in str(caught.value)


def test_damaged_cells_are_left_out():
    cells = [None, 3, {}, {"cell_type": "code", "source": 3}, {"cell_type": "x"}]
    cells += [{"cell_type": "code", "source": ["a", 1, "b"], "id": {}, "metadata": 1}]
    (one,) = read(json.dumps({"cells": cells}).encode())
    assert one.source == "ab"


# The verdict


def test_checks_are_read_from_the_cell():
    source = "check.a(f)\nfor n in (1, 2):\n    check.b(f, n)\ncheck.answer('x', 3)"
    assert sorted(checks_named_in(source)) == ["a", "answer:x", "b"]
    assert checks_named_in("%%time\ncheck.a(") == []


def test_only_what_the_judge_saw_counts():
    good = Attempt(ended_well=True, words=["word"])
    one = make_record("a", True)
    assert why_failed(good, "word", ["a"], [one]) is None
    assert "not asked" in why_failed(good, "word", ["a"], [])
    assert "not asked" in why_failed(good, "word", ["a", "a"], [one])
    assert "belong" in why_failed(good, "word", [], [one])
    assert why_failed(good, "word", ["a"], [make_record("a", False)]) == "wrong"
    assert "end" in why_failed(good, "other", [], [])
    assert why_failed(Attempt(words=["word"]), "word", [], [])


def make_record(name, passed):
    class Record:
        check, sentence = name, None if passed else "wrong"

    Record.passed = passed
    return Record


@pytest.mark.parametrize(
    "kind, content",
    [
        ("stream", {}),
        ("stream", {"name": 3, "text": {"a": 1}}),
        ("display_data", {"data": "x"}),
        ("display_data", {"data": {"text/html": "<script>", "image/png": "AAAA"}}),
        ("error", {"ename": None, "traceback": "x"}),
        ("unknown", {}),
    ],
)
def test_outputs_of_any_shape_are_harmless(kind, content):
    output = clean_output(kind, content, 100)
    if output is not None:
        nbformat.validate(nbformat.v4.new_notebook(cells=[code(output)]))
        assert "script" not in json.dumps(output)


def code(output):
    return nbformat.v4.new_code_cell("", outputs=[output])


def test_near_copies_are_found():
    text = "Attention compares every query with every key. " * 5
    other = "Position embeddings tell the model where a patch was in the image. " * 4
    everyone = [
        Written("ada", "", text),
        Written("bob", "", text.replace("every", "each", 1)),
        Written("eve", "", other),
    ]
    assert [pair[2:] for pair in nearly_identical(everyone)] == [("ada", "bob")]


# The released notebook


def test_release_is_the_same_each_time(exercises):
    one = text_of(released(nbformat.read(exercises.path, as_version=4)))
    two = text_of(released(nbformat.read(exercises.path, as_version=4)))
    assert one == two
    assert "BEGIN" not in one
    assert "a hidden word" not in one
    assert len(tasks_of(exercises)) == 4
