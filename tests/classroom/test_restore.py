"""Test that submissions are repaired, or refused with a reason."""

import json

import nbformat
import pytest

from classroom.grading.restore import Unreadable, read, restore
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
def test_a_file_that_is_no_notebook_gets_a_sentence(data, word):
    with pytest.raises(Unreadable, match=word) as caught:
        read(data)
    assert "\n" not in str(caught.value)


def test_damaged_cells_are_left_out():
    cells = [None, 3, {}, {"cell_type": "code", "source": 3}, {"cell_type": "x"}]
    cells += [{"cell_type": "code", "source": ["a", 1, "b"], "id": {}, "metadata": 1}]
    (one,) = read(json.dumps({"cells": cells}).encode())
    assert one.source == "ab"
