"""The check of ``relative_position_index``, chapter 13."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake
from vit_steps.variants import swin


def _places(window_size: int) -> Tensor:
    """Row and column of each token of a window, (2, w²)."""
    token = torch.arange(window_size**2)
    return torch.stack([token // window_size, token % window_size])


def _index(
    window_size: int,
    base: int | None = None,
    start: int | None = None,
    number: Callable[[Tensor], Tensor] | None = None,
) -> Tensor:
    """The relative position index with a place for each usual mistake."""
    place = _places(window_size)
    difference = place[:, :, None] - place[:, None, :]  # (2, w², w²)
    if number is not None:
        return number(difference)
    start = window_size - 1 if start is None else start
    base = 2 * window_size - 1 if base is None else base
    down, across = difference + start
    return down * base + across


def _index_across_first(window_size: int) -> Tensor:
    down, across = _index(window_size, number=lambda d: d + window_size - 1)
    return across * (2 * window_size - 1) + down


def _whole_numbers(output: Any) -> Any:
    """An index of any whole-number dtype as int64."""
    whole = isinstance(output, Tensor) and not (
        output.is_floating_point() or output.dtype == torch.bool
    )
    return output.long() if whole else output


relative_position_index = FunctionCheck(
    "relative_position_index",
    "relative_position_index(window_size) -> (w², w²)",
    swin.relative_position_index,
    lambda generator: iter([[3], [2], [4], [1]]),
    [
        Mistake(
            "key minus query",
            "the table is transposed: it takes the place of the key minus that of the "
            "query, so that left and right, up and down change sides",
            lambda w: _index(w).T,
        ),
        Mistake(
            "rows and columns swapped",
            "rows and columns are swapped: either the columns' difference is "
            "multiplied by 2w - 1 where the rows' should be, or the tokens of a window "
            "are numbered down its columns",
            _index_across_first,
        ),
        Mistake(
            "rows by w",
            "the rows' difference is multiplied by w, so that some pairs with "
            "different differences share a number: columns differ in 2w - 1 ways",
            lambda w: _index(w, base=w),
        ),
        Mistake(
            "rows by 2w",
            "the rows' difference is multiplied by 2w; columns differ in 2w - 1 ways",
            lambda w: _index(w, base=2 * w),
        ),
        Mistake(
            "only added",
            "the two differences are added as they are, so that one down and one "
            "across get the same number",
            lambda w: _index(w, base=1),
        ),
        Mistake(
            "not shifted",
            "the numbers begin below zero: the differences run from 1 - w to w - 1, "
            "and are to begin at 0",
            lambda w: _index(w, start=0),
        ),
        Mistake(
            "columns not shifted",
            "the rows' difference is shifted to begin at 0 and the columns' is not, so "
            "that two pairs of differences share a number",
            lambda w: _index(w) - (w - 1),
        ),
        Mistake(
            "shifted by w, rows by 2w + 1",
            "the differences are shifted by w and counted as if there were 2w + 1 of "
            "them; they run from 1 - w to w - 1, which is 2w - 1",
            lambda w: _index(w, start=w, base=2 * w + 1),
        ),
        Mistake(
            "shifted by w",
            "the differences are shifted by w, so that the numbers do not begin at 0",
            lambda w: _index(w, start=w),
        ),
        Mistake(
            "without sign",
            "the differences have lost their sign: left and right of a token get the "
            "same number",
            lambda w: _index(w, number=lambda d: d.abs()[0] * (2 * w - 1) + d.abs()[1]),
        ),
        Mistake(
            "two numbers",
            "the two differences are kept side by side; one number for each pair is "
            "expected",
            lambda w: _index(w, number=lambda d: (d + w - 1).permute(1, 2, 0)),
        ),
        Mistake(
            "two tables",
            "the two differences are two tables; one number for each pair is expected",
            lambda w: _index(w, number=lambda d: d + w - 1),
        ),
        Mistake(
            "begins at 1",
            "the numbers begin at 1, expected 0: they are rows of a table",
            lambda w: _index(w) + 1,
        ),
        Mistake(
            "not whole numbers",
            "the numbers are floats; rows of a table are asked for by whole numbers",
            lambda w: _index(w).double(),
        ),
    ],
    hints=(
        "Take w = 2 and write the difference of rows and of columns for all 16 pairs.",
        "Shift both differences so that they begin at 0. A number with two digits then "
        "names the pair: how many values can the second digit take?",
        "(row_q - row_k + w - 1) * (2 * w - 1) + (column_q - column_k + w - 1).",
    ),
    shape="(w², w²)",
    gradients=False,
    normalize=_whole_numbers,
)
