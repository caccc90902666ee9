"""Test the numbers on the pages for teachers."""

import re

from book.lessons import tasks
from classroom.assessment.forms import forms
from classroom.grading.limits import MIB, ORDINARY
from tests.conftest import ROOT
from vit_steps import ViTConfig, attention_cost, token_count

PAGE = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")
MANUAL = (ROOT / "classroom" / "README.md").read_text(encoding="utf-8")


def test_numbers():
    pixels = attention_cost(token_count(224, 1), 64).matrix_bytes
    patches = attention_cost(token_count(224, 16), 64).matrix_bytes
    assert 9.5e9 < pixels < 10.5e9 and "ten gigabytes" in PAGE
    assert f"{patches / 1000:.0f} kilobytes" in PAGE
    assert f"{ViTConfig.base().cost().parameters:,}" in PAGE


def test_the_short_lesson_ends_with_these_questions():
    asked = {one.number: one.name for one in forms()[0].questions}
    assert "Questions 4, 5, 7 and 11 of [the quiz](assessment.md#the-quiz)" in PAGE
    names = ["growth", "width", "tokens", "rows_add_up"]
    assert [asked[number] for number in (4, 5, 7, 11)] == names


def test_limits_are_those_of_the_grader():
    assert f"at most {ORDINARY.uploads} files are read" in MANUAL
    assert f"{ORDINARY.upload_bytes // MIB} MiB of notebooks" in MANUAL
    assert f"{ORDINARY.zip_bytes // MIB} MiB of zips" in MANUAL


def test_minutes_of_the_short_lesson_add_up():
    spans = re.findall(r"^\| (\d+)–(\d+) \|", PAGE, re.MULTILINE)
    ends = [int(end) for _, end in spans]
    assert [int(start) for start, _ in spans] == [0, *ends[:-1]]
    assert ends[-1] == 90


def test_the_short_lesson_has_time_for_its_task():
    assert "| 30–55 | Exercises, in pairs: task 2, *Cut*." in PAGE
    assert tasks(2)[2] == ("Cut", 20)
