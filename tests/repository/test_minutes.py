"""Test that the times stated for chapters follow the rule, and are short enough."""

import ast
import json
import re

import pytest

from book import minutes
from book._extensions.folding import FOLDED_WHOLE
from tests.conftest import CHAPTERS, ROOT, SIDE_ROADS, code_cells, read, tags

LONGEST = 50
AN_HOUR = 60  # from chapter 8 on, when the model is built


def markdown(source):
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def code(source, **metadata):
    return {"cell_type": "code", "metadata": metadata, "source": source}


def minutes_of(*cells):
    return minutes.minutes_of({"cells": list(cells)})


SENTENCE = "one two three four five six seven eight nine ten\n"


def test_a_minute_is_130_words_or_12_lines():
    assert minutes_of(markdown(SENTENCE * 13)) == 1
    assert minutes_of(markdown(SENTENCE * 13), code("x = 1\n\n" * 12)) == 2
    assert minutes_of(markdown(SENTENCE * 13 + "more")) == 2


@pytest.mark.parametrize("tags", [[], ["hide-input"]])
def test_a_figure_takes_a_minute_and_a_half(tags):
    output = {"data": {"image/png": "", "text/plain": "<Figure>"}}
    cell = {**code("", tags=tags), "outputs": [output, {"text": "words"}] * 2}
    assert minutes_of(cell) == 3
    assert minutes_of({**cell, "metadata": {"tags": ["remove-cell"]}}) == 0


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("A word, `some.code(x)` and $x^2$.", 5),
        ("[two words](page.ipynb#anchor)", 2),
        ("# A heading\n\ntext", 1),
        ("$$x + y$$\n\ntext", 1),
        ("| a | table |\n|---|---|\n| of | words |\n\ntext", 1),
        ("<details><summary>Answer</summary>\n\nfolded text\n\n</details>\n\ntext", 1),
        ("::::{dropdown} Answer\nfolded\n\n$$x$$\n::::\n\ntext", 1),
        (":::{note}\nnot folded\n:::\n\ntext", 3),
        ("> **Remember.** a quotation", 3),
        ("- one\n- two", 2),
        ("![a picture](a.png)", 0),
        ("```python\nprint(1)\n```", 0),
    ],
)
def test_only_words_of_the_running_text_are_counted(text, number):
    assert minutes.words(text) == number


def test_what_the_page_folds_takes_no_time():
    folded = "\n".join(f"    x = {number}" for number in range(12))
    method = f"def load():\n{folded}\n"
    assert minutes_of(code(method + "y = 1\n")) == 2
    assert minutes_of(code(method + "y = 1\n", fold=["load"])) == 1
    for tag in sorted(FOLDED_WHOLE):
        assert minutes_of(code(method, tags=[tag])) == 0


def test_the_time_takes_one_form():
    for said in ("Time: about 40 minutes", "Time: about an hour"):
        assert minutes.with_time(f"{said}.", 35) == "It takes about 35 minutes."
    text = "You will be able to read. It takes about 40 minutes, in two sittings."
    assert minutes.with_time(text, 60) == text.replace("40", "60")


def test_a_table_says_the_time_of_the_notebook_that_a_row_links():
    path = SIDE_ROADS[0]
    head = "| road | minutes | what |\n|---|---|---|\n"
    row = f"| [a road]({path.name}) | {{}} | 7 |\n"
    other = f"| minutes | what |\n|---|---|\n| 0–10 | [a lesson]({path.name}) |\n"
    number = minutes.in_fives(minutes.minutes(path))
    written = minutes.with_times_in_tables(
        head + row.format(5) + "\n" + other, path.parent
    )
    assert written == head + row.format(number) + "\n" + other


def test_the_last_row_of_a_table_may_be_the_sum():
    number = minutes.in_fives(minutes.minutes(SIDE_ROADS[0]))
    row = f"| [a road]({SIDE_ROADS[0].name}) | {number} |\n"
    table = f"| road | minutes |\n|---|---|\n{row}{row}| all of it | {{}} |\n"
    written = minutes.with_times_in_tables(table.format(7), SIDE_ROADS[0].parent)
    assert written == table.format(2 * number)


def test_minutes_are_stated_in_fives():
    assert [minutes.in_fives(n) for n in (1, 5, 41, 45, 46)] == [5, 5, 45, 45, 50]


STATED_IN = [*minutes.notebooks(), *(ROOT / page for page in minutes.PAGES)]


@pytest.fixture(scope="module")
def rewritten():
    return minutes.rewritten()


@pytest.mark.parametrize("path", STATED_IN, ids=lambda p: p.stem)
def test_what_is_stated_is_what_the_rule_gives(path, rewritten):
    assert path not in rewritten, f"{path.name} states another time: make minutes"


@pytest.mark.parametrize("path", minutes.notebooks(), ids=lambda p: p.stem)
def test_only_the_times_in_a_notebook_are_rewritten(path):
    before, after = path.read_text("utf-8"), minutes.notebook_with_times(path)
    for old, new in zip(*map(cells_of, (before, after)), strict=True):
        if old != new:
            assert old["id"] == new["id"] and old["cell_type"] == "markdown"
            assert differing_lines(old, new) <= 20


def cells_of(text):
    return json.loads(text)["cells"]


def differing_lines(old, new):
    pairs = zip(old["source"], new["source"], strict=True)
    return sum(before != after for before, after in pairs)


each_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)


def test_the_marks_half_way_are_half_way():
    marked = {}
    for path in CHAPTERS:
        cells = json.loads(path.read_text("utf-8"))["cells"]
        ids = [cell["id"] for cell in cells]
        if "half-way" in ids:
            before = minutes.pieces({"cells": cells[: ids.index("half-way")]})
            whole = minutes.pieces({"cells": cells})
            marked[path] = sum(m for *_, m in before) / sum(m for *_, m in whole)
    assert len(marked) == 3
    assert all(0.45 < share < 0.56 for share in marked.values()), marked


@each_chapter
def test_a_chapter_takes_at_most_50_minutes_and_from_8_on_an_hour(path):
    assert minutes.minutes(path) <= (LONGEST if path.stem < "08" else AN_HOUR)


def visible_asserts(path):
    """Yield the cells outside the section Proof in which a reader sees an assertion."""
    section = ""
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            for line in cell.source.splitlines():
                section = line if line.startswith("## ") else section
        elif not section.startswith("## Proof") and not FOLDED_WHOLE & set(tags(cell)):
            if any(isinstance(n, ast.Assert) for n in ast.walk(ast.parse(cell.source))):
                yield cell.id


@each_chapter
def test_a_reader_sees_assertions_in_the_proof_alone(path):
    assert list(visible_asserts(path)) == []


@each_chapter
def test_each_figure_has_a_caption(path):
    shown = ("image/png", "image/svg+xml")
    without = [
        cell.id
        for cell in code_cells(path)
        if any(kind in out.get("data", {}) for out in cell.outputs for kind in shown)
        and not cell.metadata.get("mystnb", {}).get("figure", {}).get("caption")
    ]
    assert without == []


def test_a_section_ends_at_the_next_heading_of_its_level():
    notebook = {
        "cells": [
            markdown("# Title\n\n" + SENTENCE * 13),
            markdown(
                "## First\n\n" + SENTENCE * 13 + "\n### Below\n\n" + SENTENCE * 26
            ),
            code("x = 1\n" * 12),
            markdown("## Second\n\n" + SENTENCE * 13),
        ]
    }
    assert minutes.section_minutes(notebook, "first") == pytest.approx(4)
    assert minutes.section_minutes(notebook, "below") == pytest.approx(3)
    with pytest.raises(KeyError, match="third"):
        minutes.section_minutes(notebook, "third")


def test_the_first_page_and_the_contents_name_each_notebook_once_in_order():
    intro = (ROOT / "book" / "intro.md").read_text("utf-8")
    contents = (ROOT / "_toc.yml").read_text("utf-8")
    stems = [path.stem for path in CHAPTERS]
    cards, roads = (
        re.findall(r"^(\w+): ", intro.split(f"{{{kind}}}\n")[1].split("```")[0], re.M)
        for kind in ("chapter-cards", "side-roads")
    )
    assert cards == stems
    assert re.findall(r"file: notebooks/(\w+)\n", contents) == stems
    assert roads == re.findall(r"file: notebooks/side_roads/(\w+)", contents)
    assert sorted(roads) == [path.stem for path in SIDE_ROADS]


def test_the_three_hour_route_leads_through_chapters_0_to_7():
    intro = (ROOT / "book" / "intro.md").read_text("utf-8")
    route = intro.split("## The three-hour route\n")[1].split("\n## ")[0]
    rows = [row for row in route.splitlines() if "#" in row and row.startswith("|")]
    stems = [set(re.findall(r"notebooks/(\w+)\.ipynb#", row)) for row in rows]
    assert stems == [{path.stem} for path in CHAPTERS[:8]]
    total = sum(int(row.split("|")[-2]) for row in rows)
    assert 150 < total <= 180
    assert f"| all of it | | {total} |" in route
    titles = [read(path).cells[0].source.split("\n")[0] for path in CHAPTERS[:8]]
    assert [f"# {row.split('|')[1].strip()}" for row in rows] == titles


def test_chapters_1_to_7_take_six_hours():
    """Stated times are rounded up, but the sum is taken before rounding."""
    assert 300 < sum(minutes.minutes(path) for path in CHAPTERS[1:8]) <= 360
