"""Test the numbers and links on the page for teachers."""

import re

import nbformat

from classroom.assessment.forms import forms
from classroom.grading.limits import MIB, ORDINARY
from tests.conftest import CHAPTERS, ROOT
from vit_steps import ViTConfig, attention_cost, token_count

PAGE = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")


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


def minutes_of_tasks(chapter):
    (path,) = (ROOT / "notebooks" / "exercises").glob(f"{chapter:02}_*.ipynb")
    cells = nbformat.read(path, 4).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return [
        int(n) for n in re.findall(r"^\*[\w ]+ · (\d+) minutes ·", text, re.MULTILINE)
    ]


def test_saturday_has_six_hours():
    morning, afternoon = (sum(minutes_of_tasks(chapter)[:5]) for chapter in (2, 5))
    assert "25 minutes each; then the first five tasks of set 2, about an hour" in PAGE
    assert 50 < morning < 70 and 50 < afternoon < 70
    assert 3 * 25 + max(morning, afternoon + 30) <= 180


def test_homework_takes_the_stated_hours():
    weeks = [sum(map(sum, map(minutes_of_tasks, (n, n + 1)))) for n in range(1, 11, 2)]
    assert "between three and a little more than four hours" in PAGE
    assert 180 <= min(weeks) and max(weeks) < 255


def test_limits_are_those_of_the_grader():
    assert f"at most {ORDINARY.uploads} files are read" in PAGE
    assert f"{ORDINARY.upload_bytes // MIB} MiB of notebooks" in PAGE
    assert f"{ORDINARY.zip_bytes // MIB} MiB of zips" in PAGE


def test_every_chapter_has_its_goal():
    goals = PAGE.split("## What each chapter is for")[1].split("\n## ")[0]
    numbers = [int(n) for n in re.findall(r"^\| (\d+) \|", goals, re.MULTILINE)]
    assert numbers[: len(CHAPTERS)] == list(range(len(CHAPTERS)))


def test_minutes_of_the_short_lesson_add_up():
    spans = re.findall(r"^\| (\d+)–(\d+) \|", PAGE, re.MULTILINE)
    ends = [int(end) for _, end in spans]
    assert [int(start) for start, _ in spans] == [0, *ends[:-1]]
    assert ends[-1] == 90
