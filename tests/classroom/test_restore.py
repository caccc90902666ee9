"""Test that submissions are repaired, or refused with a reason."""

import contextlib
import io
import json
import random

import nbformat
import pytest

from classroom.grading.restore import Unreadable, read, restore
from classroom.release.assignment import Assignment
from classroom.release.release import SOURCES
from tests.classroom.bench.submissions import dump, solved


def test_all_of_the_release_has_its_place_again(exercises):
    nb = solved(exercises)
    nb.cells = nb.cells[::-1][:5]
    restored = restore(read(dump(nb)), exercises.release)
    names = [c.metadata.nbgrader.grade_id for c in restored.nb.cells if named(c)]
    assert sorted(names) == sorted(
        c.metadata.nbgrader.grade_id for c in exercises.release.cells if named(c)
    )
    nbformat.validate(restored.nb)


@pytest.mark.parametrize("path", sorted(SOURCES.glob("*.ipynb")), ids=lambda p: p.stem)
def test_nothing_of_an_ordinary_submission_is_put_right(path):
    """Two tasks of a set may ask for the same name."""
    assignment = Assignment(path)
    for tasks in (None, 0):
        cells = read(dump(solved(assignment, tasks)))
        restored = restore(cells, assignment.release)
        assert [*restored.changes, *restored.tampered] == []


def named(notebook_cell):
    return "nbgrader" in notebook_cell.metadata


def test_an_answer_without_a_name_is_recognised(exercises):
    nb = json.loads(dump(solved(exercises)))
    for number, one in enumerate(nb["cells"]):
        one["metadata"] = {}
        one["id"] = str(number)
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
def test_a_file_that_is_not_a_notebook_gets_a_sentence(data, word):
    with pytest.raises(Unreadable, match=word) as caught:
        read(data)
    assert "\n" not in str(caught.value)


def test_damaged_cells_are_left_out():
    cells = [None, 3, {}, {"cell_type": "code", "source": 3}, {"cell_type": "x"}]
    cells += [{"cell_type": "code", "source": ["a", 1, "b"], "id": {}, "metadata": 1}]
    (one,) = read(json.dumps({"cells": cells}).encode())
    assert one.source == "ab"


def join(draw, cells, kind):
    """Join two neighbouring cells of a kind, under the name of one of them."""
    places = [n for n, one in enumerate(cells) if one["cell_type"] == kind]
    first = draw.randrange(len(places) - 1)
    one, other = places[first], places[first + 1]
    text = "\n\n".join("".join(cells[n]["source"]) for n in (one, other))
    keep, drop = draw.sample((one, other), 2) if kind == "code" else (one, other)
    cells[keep]["source"] = text
    del cells[drop]


def move(draw, cells):
    answers = [n for n, one in enumerate(cells) if about(one).get("solution")]
    if answers:
        cells.insert(draw.randint(0, len(cells)), cells.pop(draw.choice(answers)))


def lose_names(draw, cells):
    for one in cells:
        if draw.random() < 0.5:
            one["metadata"] = {}
            one["id"] = f"r{draw.randrange(10**9)}"


def about(one):
    return one["metadata"].get("nbgrader", {})


def run(nb):
    """Return the tests that fail when the cells run in their order."""
    space = {}
    failed = []
    for one in nb.cells:
        if one.cell_type != "code":
            continue
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(one.source, space)
        except Exception:
            failed.append(about(one).get("grade_id"))
    return [name for name in failed if name]


@pytest.mark.parametrize("seed", range(30))
def test_answers_count_however_cells_were_joined_and_moved(seed, exercises):
    draw = random.Random(seed)
    nb = json.loads(dump(solved(exercises)))
    for _ in range(draw.randint(1, 5)):
        edit = draw.choice(["code", "code", "markdown", "move", "names"])
        if edit == "move":
            move(draw, nb["cells"])
        elif edit == "names":
            lose_names(draw, nb["cells"])
        else:
            join(draw, nb["cells"], edit)
    restored = restore(read(json.dumps(nb).encode()), exercises.release)
    assert run(restored.nb) == []
    assert not restored.tampered
    why = next(c for c in restored.nb.cells if about(c).get("grade_id") == "why")
    assert "They mix tokens." in why.source


def test_an_answer_in_a_changed_test_counts_and_the_change_is_told(exercises):
    nb = solved(exercises)
    first, second = (
        next(c for c in nb.cells if about(c).get("grade_id") == name)
        for name in ("test-split-heads", "merge-heads")
    )
    first.source = f"{second.source}\n\ncheck.split_heads(print)"
    nb.cells.remove(second)
    restored = restore(read(dump(nb)), exercises.release)
    assert len(restored.tampered) == 1
    assert run(restored.nb) == []


def test_an_attempt_beside_the_answer_is_not_taken_for_it(exercises):
    nb = solved(exercises)
    nb.cells.append(nbformat.v4.new_code_cell("def split_heads(x): return None"))
    restored = restore(read(dump(nb)), exercises.release)
    assert not restored.changes
    names = [about(c).get("grade_id") for c in restored.nb.cells]
    assert names.index("test-split-heads") < len(names) - 1


@pytest.mark.parametrize(
    "text", ["x = " + "-" * 3000 + "1", "(" * 500, "def split_heads(" * 300]
)
def test_code_of_any_depth_is_restored(text, exercises):
    nb = solved(exercises)
    for one in nb.cells:
        if one.cell_type == "code":
            one.source += f"\n\n{text}"
    restore(read(dump(nb)), exercises.release)
