"""Test that Canvas and Moodle would give each page to its student."""

import zipfile

import pytest

from classroom.grading.course import Course
from classroom.grading.result import Result
from classroom.grading.returned import returned_as, write_returned
from vit_steps.checkpoint import write_whole

SET = "05_heads"


def on_moodle(file):
    """Return whose a file is: participant, then the plugin's kind and name."""
    _, participant, kind, plugin, rest = file.split("_", 4)
    return participant, f"{kind}_{plugin}", rest


def on_canvas(file):
    """Return the numbers of the student and of the file that was handed in."""
    numbers = [part for part in file.split("_") if part.isdigit()]
    return tuple(numbers[:2])


@pytest.mark.parametrize(
    "path",
    [
        "Ada Lovelace_123_assignsubmission_file/05_heads.ipynb",
        "Ada Lovelace_123_assignsubmission_file_/a/05_heads.ipynb",
        "Ada Lovelace_123_assignsubmission_file_05_heads.ipynb",
    ],
)
def test_moodle_knows_the_student(path):
    file = returned_as(path, SET)
    assert on_moodle(file) == ("123", "assignsubmission_file", "05_heads.html")


@pytest.mark.parametrize(
    "path",
    [
        "lovelaceada_1000_90000_05_heads.ipynb",
        "lovelaceada_LATE_1000_90000_05_heads-2.ipynb",
        "lovelaceada_1000_90000_all/05_heads.ipynb",  # was in a zip
        "lovelaceada_1000_90000_05_heads.ipynb.txt",
    ],
)
def test_canvas_knows_the_student_and_the_upload(path):
    file = returned_as(path, SET)
    assert on_canvas(file) == ("1000", "90000")
    assert "/" not in file and file.endswith(".html")


@pytest.mark.parametrize("path", ["ada.ipynb", "ada/05_heads.ipynb", "class/a.ipynb"])
def test_a_folder_of_ones_own_goes_back_nowhere(path):
    assert returned_as(path, SET) == ""


def test_a_page_in_doubt_is_not_returned(tmp_path):
    course = Course(tmp_path)
    results = []
    for student, contested in (("ada", ""), ("bob", "Whose is it?")):
        path = f"{student}_1000_90000_{SET}.ipynb"
        results.append(Result(student, student, "1000", SET, path, False, "", ""))
        results[-1].contested = contested
        write_whole(course.feedback(student, SET), b"<p>Well done.</p>")
    results.append(Result("cy", "cy", "", "other", "cy.ipynb", False, "", ""))
    write_returned(course, results)
    with zipfile.ZipFile(tmp_path / f"feedback-{SET}.zip") as archive:
        assert archive.namelist() == [f"ada_1000_90000_{SET}.html"]
        assert archive.read(archive.namelist()[0]) == b"<p>Well done.</p>"
    assert not (tmp_path / "feedback-other.zip").exists()
