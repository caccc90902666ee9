"""Test that every sort of submission gets the mark it deserves, and does no harm."""

import hashlib
import sys

import nbformat
import pytest
from bs4 import BeautifulSoup

from classroom.grading.course import Course
from classroom.grading.grade import grade_class
from classroom.grading.gradebook import marks
from tests.classroom.bench.adversaries import honest, kinds
from tests.classroom.bench.edited import edited
from tests.classroom.in_sandbox import QUICK, in_sandbox, table
from tests.classroom.shared_runs import sharing_runs

pytestmark = pytest.mark.slow  # a whole class is graded
KINDS = {kind.name: kind for kind in kinds()}


@pytest.fixture(scope="module")
def graded(exercises, tmp_path_factory):
    """One submission of each kind, graded, and a fingerprint of the files beside."""
    folder = tmp_path_factory.mktemp("class")
    for kind in KINDS.values():
        path = folder / "submissions" / f"{kind.name}.ipynb"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(kind.make(exercises))
    beside = folder / "gradebook of another class.db"
    beside.write_text("marks")
    before = fingerprint(folder)
    out = folder.parent / "graded"
    with sharing_runs():
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
@pytest.mark.parametrize(
    "name, like",
    [
        ("stripped of metadata", "right"),
        ("graded cells deleted", "right"),
        ("UTF-16 without a mark", "right"),
        ("joined to the tests", "right"),
        ("notebook format 3", "right"),
        ("notebook format 4.0", "right"),
        ("edits the tests", "empty"),
        ("skips the tests", "empty"),
        ("makes the tests text", "empty"),
        ("raises its own points", "empty"),
    ],
)
def test_notebooks_that_are_equal_after_restoring_run_once(name, like, graded):
    assert graded[1][name][0].computed == graded[1][like][0].computed > 0


@in_sandbox
def test_written_answers_wait_for_a_person(graded):
    assert graded[1]["right"][1].unmarked == ["why"]
    assert graded[1]["empty"][1].unmarked == []
    assert graded[1]["stripped of metadata"][1].unmarked == ["why"]


@in_sandbox
def test_what_was_tampered_with_is_reported(graded):
    course, found = graded
    for name in (
        "edits the tests",
        "skips the tests",
        "makes the tests text",
        "raises its own points",
    ):
        assert found[name][0].tampered, name
    for name in ("graded cells deleted", "stripped of metadata"):
        assert found[name][0].changes, name
        assert not found[name][0].tampered, name
        assert not found[name][0].odd, name
    for name in ("opens a socket", "reads the gradebook", "redefines the checks"):
        assert found[name][0].odd, name
    page = (course.root / "oddities.html").read_text()
    assert "locked cell was changed" in page


@in_sandbox
@pytest.mark.parametrize("name", [kind.name for kind in (*honest(), *edited())])
def test_honest_students_are_not_accused(name, graded):
    """This holds whatever an editor, a drive or a platform has done to a notebook."""
    result, mark = graded[1][name]
    assert not result.tampered
    assert not result.odd
    assert len(mark.unmarked) == (name != "empty")


@in_sandbox
def test_a_test_says_how_its_answer_ended(graded):
    """A student may write a later Python than the one that grades."""
    result, _ = graded[1]["syntax that is not read"]
    said = result.failures["test-attend"]
    assert "The cell with the answer had ended with SyntaxError" in said
    assert f"Python {sys.version_info[0]}." in said


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
def test_cells_are_numbered_as_they_ran(graded):
    course, _ = graded
    nb = nbformat.read(course.autograded("right", "05_heads"), as_version=4)
    numbers = [c.execution_count for c in nb.cells if c.cell_type == "code"]
    assert numbers == list(range(1, len(numbers) + 1))


@in_sandbox
def test_a_second_run_repeats_nothing(graded, exercises, capfd):
    course, found = graded
    results = sorted(course.root.glob("results/*/*.json"))
    before = [path.stat().st_mtime_ns for path in results]
    place = course.root.parent / "class0" / "submissions"
    again = grade_class(place, course.root, [exercises.path], QUICK, progress=False)
    assert [path.stat().st_mtime_ns for path in results] == before
    assert len(again) == len(found)
