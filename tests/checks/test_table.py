"""Test the tables of known mistakes: their rows, and the edits of a right answer."""

import pytest
import torch

from vit_check.engine.table import edited, hints_in, mistakes, parted, rows, source_of


def halved(x, times):
    """Halve a number again and again."""
    for _ in range(times):
        x = x / 2  # divided by two
    return x


factor = 2  # which a row names
TABLE = """
not halved: x / 2 -> x
    the number stays
    as it is
thirds, once
  x / 2 -> x / 3
  range(times)
  -> range(1)
    it is a third
doubled: = lambda x, times: x * factor**times
    it is doubled
"""


def test_a_row_has_a_name_edits_and_a_sentence():
    first, second, third = rows(TABLE)
    assert (first.name, first.code) == ("not halved", ["x / 2 -> x"])
    assert first.sentence == "the number stays as it is"
    assert second.code == ["x / 2 -> x / 3", "range(times) -> range(1)"]
    assert third.code == ["= lambda x, times: x * factor**times"]


def test_the_head_of_a_table_has_the_signature_and_the_cases():
    top = "halved(x, times) -> what is\n    left\n"
    cases = (
        "  float32(2, 3), 4\n  *[below(5, 2)] * 2, (whole(3, 9),\n    factor)  # two\n"
    )
    head, rest = parted(top + cases + TABLE)
    assert head.signature == "halved(x, times) -> what is left"
    assert rows(rest) == rows(TABLE)
    generator = torch.Generator().manual_seed(0)
    (x, times), (one, _, (number, factor)) = head.drawn(generator, {"factor": 7})
    assert (x.shape, x.dtype, times) == ((2, 3), torch.float32, 4)
    assert 0 <= one.min() <= one.max() < 5 and 3 <= number < 9 and factor == 7
    with pytest.raises(ValueError, match="case: 'nothing' cannot be computed, NameErr"):
        parted("halved(x)\n  nothing")[0].drawn(generator, {})


def test_a_table_has_three_hints_or_is_refused():
    table = TABLE + "? How often?\n? Look at the\n  loop.\n? times.\n"
    assert hints_in(table) == ("How often?", "Look at the loop.", "times.")
    assert rows(table) == rows(TABLE)
    with pytest.raises(ValueError, match='table: got 0 hints behind "\\?", expected 3'):
        hints_in(TABLE)


def test_a_mistake_is_the_right_answer_with_its_edits():
    stays, thirds, doubled = mistakes(halved, TABLE)
    assert (stays.wrong(8, 3), thirds.wrong(9, 3), doubled.wrong(1, 3)) == (8, 3, 8)
    assert halved(8, 3) == 1, "the right answer is left alone"


def test_a_part_that_the_right_answer_calls_is_edited_too():
    def twice(x):
        return halved(halved(x, 1), 1)

    (stays, *_) = mistakes(twice, TABLE, parts=[halved])
    assert stays.wrong(8) == 8


def test_an_edit_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="edit: 'x / 5' does not stand in the source"):
        edited(source_of(halved), "x / 5 -> x")
    with pytest.raises(ValueError, match="edit: 'tim' does not stand in the source"):
        edited(source_of(halved), "tim -> times")


def test_spaces_and_line_breaks_do_not_matter():
    assert edited("y = f(\n    a,  b\n) + 1", "f(a, b) -> nothing") == "y =  + 1"


def test_a_row_without_code_or_sentence_is_refused():
    with pytest.raises(ValueError, match="the row 'silent' has no sentence"):
        mistakes(halved, "silent: x -> y\n")
    with pytest.raises(ValueError, match="the row 'empty' has no code"):
        rows("empty\n    it is said\n")
