"""Test that the sheets of the lessons follow the chapters, and the calendars add up."""

import copy
import re

import pytest

from book import lessons
from book.minutes import in_fives, minutes
from tests.conftest import CHAPTERS, ROOT

SAID = lessons.said()["lessons"]
NUMBERS = range(len(CHAPTERS))
PAGES = ("teaching", "lessons", "classroom", "assessment")


def test_each_chapter_has_a_lesson():
    assert [int(number) for number in SAID] == list(NUMBERS)
    assert list(lessons.lessons()) == list(NUMBERS)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_sheet_says_what_the_chapter_has(number):
    lesson, sheet = lessons.lessons()[number], lessons.lessons()[number].sheet()
    spans = re.findall(r"^\| (\d+)–(\d+) \|", sheet, re.MULTILINE)
    assert [start for start, _ in spans[1:]] == [end for _, end in spans[:-1]]
    assert (spans[0][0], spans[-1][1]) == ("0", "90")
    assert lesson.question() in sheet and len(lesson.question()) < 400
    assert (
        lesson.said["bet"]["right"] in "ABCD"
        and len(lesson.said["bet"]["options"]) == 4
    )
    assert [step.what for step in lesson.plan].count("bet") == 1
    assert lesson.plan[-1].what == "exit"
    board = sheet.split("**On the board**")[1].split("**The bet.**")[0]
    assert 2 < len(board.strip().splitlines()) < 45
    assert len(lesson.taken) == len({one.anchor for one in lesson.taken})


@pytest.mark.parametrize("number", NUMBERS)
def test_in_class_and_at_home_are_the_whole_chapter(number):
    lesson = lessons.lessons()[number]
    read = sum(one.minutes for one in lesson.taken) + lesson.reading()
    skipped = {"skip": []} | SAID[str(number)]
    whole = minutes(lesson.path)
    left_out = sum(
        one.minutes
        for one in lesson.sections.values()
        if one.of in lessons.LEFT_OUT or one.anchor in lessons.LEFT_OUT
    )
    title = next(iter(lesson.sections.values())).minutes
    title += next(one.minutes for one in lesson.sections.values() if one.title)
    slack = 3 + 3 * len(skipped["skip"])  # rounding, and cells that are skipped
    assert abs(whole - left_out - title - read) <= slack


def told(number, **change):
    said = copy.deepcopy(SAID[str(number)])
    for key, value in change.items():
        said[key] = said[key] | value if isinstance(value, dict) else value
    return said


@pytest.mark.parametrize(
    ("number", "change", "message"),
    [
        (4, {"plan": [[90, "gone"]]}, "no section #gone"),
        (4, {"plan": [[85, "the-module-*"]]}, "got 85 minutes, expected 90"),
        (4, {"plan": [[87, "bet"], [3, "the-module-*"]]}, "got 3 minutes"),
        (4, {"plan": [[83, "bet"], [7, "task 1"]]}, "task 1: got 7 minutes, takes 8"),
        (4, {"plan": [[90, "task 9"]]}, "the set has no task 9"),
        (4, {"skip": ["gone"]}, "no cell gone"),
        (4, {"skip": ["one-query"]}, "a cell that is run needs one-query"),
        (4, {"bet": {"says": "nonsense"}}, "does not say 'nonsense'"),
        (4, {"bet": {"answer": "gone"}}, "no cell gone"),
    ],
)
def test_a_lesson_that_no_longer_fits_is_refused(number, change, message):
    with pytest.raises(ValueError, match=message):
        lessons.Lesson(number, told(number, **change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bet": {"from": "nonsense"}}, "does not say 'nonsense'"),
        ({"board": ["gone"]}, "no cell gone"),
        ({"exit": "gone"}, "the quiz has no question gone"),
    ],
)
def test_a_sheet_that_no_longer_fits_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        lessons.Lesson(4, told(4, **change)).sheet()


def test_cells_bring_along_what_they_need():
    source = "%c x\nfrom a import b\nfor i in c:\n    b(i)\nd = [e for e in f]\ng += d"
    assert lessons.names(source) == ({"b", "i", "d", "g"}, {"c", "f", "g"})
    inside = "def g(x):\n    y = x + h\n    return y\nh = 1"
    assert lessons.names(inside)[0] == {"g", "h"}
    for lesson in lessons.lessons().values():
        runs = [cell["id"] for cell in lesson.to_run()]
        hidden = {lessons.GUARD, *lessons.SKIPPED}
        for one in lesson.taken:
            for cell in one.cells:
                assert cell["id"] in runs or hidden & lessons.tags(cell)


def test_the_numbers_of_cells_are_written_as_spans():
    cells = [{"execution_count": number} for number in (7, 1, 2, 3, 5)]
    assert lessons.spans(cells) == "[1]–[3], [5], [7]"


def test_hours_are_rounded_up_to_quarters():
    assert [lessons.hours(n) for n in (1, 60, 61, 240)] == ["0¼", "1", "1¼", "4"]


def test_the_weeks_add_up():
    rows = [row.split("|")[1:-1] for row in lessons.weeks().splitlines()[2:]]
    assert len(rows) == 5
    for _, links, reading, exercises, at_home in rows:
        numbers = [int(n) for n in re.findall(r"\[(\d+)\. ", links)]
        both = [lessons.lessons()[number] for number in numbers]
        assert int(reading.split()[0]) == sum(one.reading() for one in both)
        assert int(exercises.split()[0]) == sum(one.exercises() for one in both)
        minutes_at_home = int(reading.split()[0]) + int(exercises.split()[0])
        assert at_home.strip() == lessons.hours(minutes_at_home)
        assert 180 <= minutes_at_home <= 300


def test_each_block_of_the_day_has_ninety_minutes():
    rows = [row.split("|")[1:-1] for row in lessons.day().splitlines()[2:]]
    assert len(rows) == 4
    for _, _, sections, bets, tasks, spare in rows:
        in_tasks = sum(int(n) for n in re.findall(r"\((\d+)\)", tasks))
        assert int(sections) + int(bets) + in_tasks + int(spare) == 90
        assert int(spare) >= 10


def test_a_block_that_is_too_long_is_refused(monkeypatch):
    block = {"chapters": [1, 2], "tasks": [[2, 2], [2, 4]]}
    monkeypatch.setattr(lessons, "said", lambda: {"day": [block]})
    with pytest.raises(ValueError, match=r"block 1: \d minutes too long"):
        lessons.day()


def test_the_sunday_has_six_hours():
    page = (ROOT / "book" / "teaching.md").read_text("utf-8")
    road = ROOT / "notebooks" / "side_roads" / "your_own_photographs.ipynb"
    stated = in_fives(minutes(road))
    assert f"takes {stated} minutes to read and follow" in page and stated < 60
    sunday = page.split("On Sunday")[1].split("##")[0]
    assert len(re.findall(r"lessons\.md#", sunday)) == 3


def test_what_a_weekend_leaves_of_the_sets():
    page = (ROOT / "book" / "teaching.md").read_text("utf-8")
    sets = {number for both in lessons.said()["weeks"] for number in both}
    left = {(n, task) for n in sets for task in lessons.tasks(n)}
    left -= {tuple(task) for block in lessons.said()["day"] for task in block["tasks"]}
    for number in (8, 9, 14):  # chapters for Sunday
        lesson = lessons.lessons()[number]
        left -= {(number, step.task) for step in lesson.plan}
    minutes_left = sum(lessons.tasks(number)[task][1] for number, task in left)
    assert len(sets) == 10
    assert f"the ten sets takes another {minutes_left / 60:.0f} hours" in page


def test_the_preparation_takes_the_stated_time():
    page = (ROOT / "book" / "teaching.md").read_text("utf-8")
    assert f"chapter 0 at home, {in_fives(minutes(CHAPTERS[0]))} minutes" in page


def test_the_pages_have_places_for_all_that_is_made():
    places = [
        place
        for page in ("teaching", "lessons")
        for place in lessons.PLACE.findall(
            (ROOT / f"book/{page}.md").read_text("utf-8")
        )
    ]
    assert sorted(places) == ["day", "sheets", "weeks"]


def test_links_lead_to_sheets_that_are_there():
    titles = {lessons.slugify(one.title) for one in lessons.lessons().values()}
    for page in PAGES:
        text = (ROOT / f"book/{page}.md").read_text("utf-8")
        assert set(re.findall(r"lessons\.md#([^)]+)", text)) <= titles


def test_the_data_says_nothing_that_is_not_read():
    known = {"goal", "plan", "skip", "board", "ask", "exit", "bet"}
    of_a_bet = {
        "setting",
        "cell",
        "from",
        "options",
        "right",
        "answer",
        "says",
        "belief",
    }
    for lesson in SAID.values():
        assert set(lesson) <= known and set(lesson["bet"]) <= of_a_bet
