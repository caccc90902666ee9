"""Checks of chapter 12: windows, which of them touch, and who may attend to whom."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Generator, Tensor

from vit_steps.check.checking import Case
from vit_steps.check.function_check import FunctionCheck
from vit_steps.check.verdict import Mistake
from vit_steps.variants import swin


def _six_axes(x: Tensor, w: int) -> Tensor:
    """(B, H, W, C) -> (B, H/w, w, W/w, w, C)"""
    B, H, W, C = x.shape
    return x.reshape(B, H // w, w, W // w, w, C)


def _cut(x: Tensor, w: int, *order: int) -> Tensor:
    """Windows with the six axes in another order."""
    return _six_axes(x, w).permute(order).reshape(-1, w * w, x.shape[3])


def _cut_as_number(x: Tensor, w: int) -> Tensor:
    B, H, W, C = x.shape
    parts = x.reshape(B, w, H // w, w, W // w, C).transpose(2, 3)
    return parts.reshape(B * w * w, -1, C)


def _cut_dilated(x: Tensor, w: int) -> Tensor:
    B, H, W, C = x.shape
    parts = x.reshape(B, w, H // w, w, W // w, C)
    return parts.permute(0, 2, 4, 1, 3, 5).reshape(-1, w * w, C)


def _partition_inputs(generator: Generator) -> Iterator[Case]:
    for B, H, W, C, w, dtype in (
        (2, 6, 9, 5, 3, torch.float32),
        (3, 8, 20, 7, 4, torch.float64),
        (2, 4, 6, 3, 2, torch.float32),
        (2, 4, 8, 3, 2, torch.bfloat16),
    ):
        yield [torch.randn(B, H, W, C, generator=generator).to(dtype), w]


window_partition = FunctionCheck(
    "window_partition",
    "window_partition(x, window_size) -> (B·windows, w², C)",
    swin.window_partition,
    _partition_inputs,
    [
        Mistake(
            "no transpose",
            "the shape is right and the windows are not: they hold pieces of whole "
            "rows, since the W/w windows of a row and the w rows of a window are not "
            "swapped before the last reshape",
            lambda x, w: x.reshape(-1, w * w, x.shape[3]),
        ),
        Mistake(
            "columns first inside",
            "inside a window the tokens run down its columns; row by row is expected",
            lambda x, w: _cut(x, w, 0, 1, 3, 4, 2, 5),
        ),
        Mistake(
            "windows column by column",
            "the windows are taken down the columns of the map; row by row is expected",
            lambda x, w: _cut(x, w, 0, 3, 1, 2, 4, 5),
        ),
        Mistake(
            "columns first everywhere",
            "rows and columns are swapped: both the windows and the tokens inside them "
            "run down before they run across",
            lambda x, w: _cut(x, w, 0, 3, 1, 4, 2, 5),
        ),
        Mistake(
            "windows before images",
            "window 0 of all images comes first, then window 1; the windows of one "
            "image are to stay together",
            lambda x, w: _cut(x, w, 1, 3, 0, 2, 4, 5),
        ),
        Mistake(
            "dilated",
            "a window holds tokens that lie far apart: the map is split as (w, H/w), "
            "where (H/w, w) keeps neighbours together",
            _cut_dilated,
        ),
        Mistake(
            "size taken for number",
            "window_size is the side of a window, in tokens; here it is how many "
            "windows there are on a side",
            _cut_as_number,
        ),
        Mistake(
            "not flattened",
            "the windows are still maps, (B·windows, w, w, C), expected (B·windows, "
            "w², C): to attention a window is a list of tokens",
            lambda x, w: _cut(x, w, 0, 1, 3, 2, 4, 5).unflatten(1, (w, w)),
        ),
        Mistake(
            "images apart",
            "images and windows are two axes, (B, windows, w², C), expected one, "
            "(B·windows, w², C)",
            lambda x, w: _cut(x, w, 0, 1, 3, 2, 4, 5).unflatten(0, (len(x), -1)),
        ),
        Mistake(
            "images in the window",
            "the windows of all images lie in one long row of tokens, (windows, B·w², "
            "C), so that images would attend to each other",
            lambda x, w: (
                _six_axes(x, w).permute(1, 3, 0, 2, 4, 5).flatten(2, 4).flatten(0, 1)
            ),
        ),
        Mistake(
            "one window",
            "only the first window of each image is returned",
            lambda x, w: x[:, :w, :w].flatten(1, 2),
        ),
        Mistake(
            "a list of windows",
            "the windows are returned one by one, expected one tensor (B·windows, w², "
            "C)",
            lambda x, w: list(_cut(x, w, 0, 1, 3, 2, 4, 5)),
        ),
    ],
    hints=(
        "Number the tokens of a 4 × 6 map by row and column, cut it into windows of 2 "
        "and read the first window aloud.",
        "A window needs its w rows and its w columns beside each other. Split H and W "
        "into two axes each, and look at which two have to swap.",
        "x.reshape(B, H // w, w, W // w, w, C), then .transpose(2, 3), then "
        ".reshape(-1, w * w, C).",
    ),
    shape="(B·windows, w², C)",
    batched=(0,),
)


def _paste(windows: Tensor, height: int, width: int, *order: int) -> Tensor:
    w = round(windows.shape[1] ** 0.5)
    x = windows.reshape(-1, height // w, width // w, w, w, windows.shape[2])
    return x.permute(order).reshape(-1, height, width, windows.shape[2])


def _paste_columns_first(windows: Tensor, height: int, width: int) -> Tensor:
    w = round(windows.shape[1] ** 0.5)
    x = windows.reshape(-1, width // w, height // w, w, w, windows.shape[2])
    return x.permute(0, 2, 3, 1, 4, 5).reshape(-1, height, width, windows.shape[2])


def _paste_images_last(windows: Tensor, height: int, width: int) -> Tensor:
    w = round(windows.shape[1] ** 0.5)
    x = windows.reshape(height // w, width // w, -1, w, w, windows.shape[2])
    return x.permute(2, 0, 3, 1, 4, 5).reshape(-1, height, width, windows.shape[2])


def _reverse_inputs(generator: Generator) -> Iterator[Case]:
    for x, w in _partition_inputs(generator):
        yield [swin.window_partition(x, w), x.shape[1], x.shape[2]]


window_reverse = FunctionCheck(
    "window_reverse",
    "window_reverse(windows, height, width) -> (B, H, W, C)",
    swin.window_reverse,
    _reverse_inputs,
    [
        Mistake(
            "no transpose",
            "the shape is right and the map is not: windows are laid one behind the "
            "other, since the windows of a row and the rows of a window are not "
            "swapped back",
            lambda x, height, width: x.reshape(-1, height, width, x.shape[2]),
        ),
        Mistake(
            "columns first inside",
            "each window is put back on its side: its tokens run row by row, and here "
            "they fill its columns",
            lambda *a: _paste(*a, 0, 1, 4, 2, 3, 5),
        ),
        Mistake(
            "windows column by column",
            "the windows fill the columns of the map first; they were cut row by row",
            _paste_columns_first,
        ),
        Mistake(
            "height and width swapped",
            "the map is (B, W, H, C), expected (B, H, W, C)",
            lambda x, height, width: swin.window_reverse(x, width, height),
        ),
        Mistake(
            "images in between",
            "the windows are taken as window 0 of all images, then window 1; those of "
            "one image stand together",
            _paste_images_last,
        ),
        Mistake(
            "dilated",
            "neighbours in a window are put far apart on the map: the sides are (H/w, "
            "w), and here they are (w, H/w)",
            lambda *a: _paste(*a, 0, 3, 1, 4, 2, 5),
        ),
        Mistake(
            "not joined",
            "the windows are in their places but not joined, (B, H/w, w, W/w, w, C), "
            "expected (B, H, W, C)",
            lambda x, height, width: _six_axes(
                swin.window_reverse(x, height, width), round(x.shape[1] ** 0.5)
            ),
        ),
        Mistake(
            "map flattened",
            "the map is a list of tokens, (B, H·W, C), expected (B, H, W, C)",
            lambda *a: swin.window_reverse(*a).flatten(1, 2),
        ),
        Mistake(
            "channels first",
            "the map is (B, C, H, W), expected (B, H, W, C)",
            lambda *a: swin.window_reverse(*a).permute(0, 3, 1, 2),
        ),
        Mistake(
            "windows as they came",
            "the windows come out as they went in, (B·windows, w², C)",
            lambda x, height, width: x.clone(),
        ),
    ],
    hints=(
        "Cut a small map with numbered tokens, put it back, and look at where the "
        "second window begins.",
        "Go the way of the cut backwards: split the first axis into images, rows and "
        "columns of windows, the second into w and w; swap; join.",
        "windows.reshape(-1, H // w, W // w, w, w, C), then .transpose(2, 3), then "
        ".reshape(-1, H, W, C), with w the root of windows.shape[1].",
    ),
    shape="(B, H, W, C)",
)


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
            "the two differences stand side by side; one number for each pair is "
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
    normalise=_whole_numbers,
)


def _allowed(
    height: int,
    width: int,
    window_size: int,
    carried: Callable[[Tensor, Tensor], Tensor],
) -> Tensor:
    """Pairs of a window of which ``carried`` says the same, from the rolled places."""
    row, column = torch.meshgrid(
        torch.arange(height), torch.arange(width), indexing="ij"
    )
    group = carried(row, column).expand(height, width)[None, :, :, None]
    group = swin.window_partition(group, window_size).squeeze(-1)  # (windows, w²)
    return group[:, :, None] == group[:, None, :]


def _rows_carried(height: int, width: int, w: int, shift: int) -> Tensor:
    return _allowed(height, width, w, lambda row, column: row >= height - shift)


def _columns_carried(height: int, width: int, w: int, shift: int) -> Tensor:
    return _allowed(height, width, w, lambda row, column: column >= width - shift)


def _either_carried(height: int, width: int, w: int, shift: int) -> Tensor:
    return _allowed(
        height,
        width,
        w,
        lambda row, column: (row >= height - shift) | (column >= width - shift),
    )


def _ways_counted(height: int, width: int, w: int, shift: int) -> Tensor:
    return _allowed(
        height,
        width,
        w,
        lambda row, column: 1 * (row >= height - shift) + (column >= width - shift),
    )


def _counted_from_the_front(height: int, width: int, w: int, shift: int) -> Tensor:
    return _allowed(
        height, width, w, lambda row, column: 2 * (row < shift) + (column < shift)
    )


def _windows_of_old(height: int, width: int, w: int, shift: int) -> Tensor:
    return _allowed(
        height,
        width,
        w,
        lambda row, column: (
            (row + shift) % height // w * width + (column + shift) % width // w
        ),
    )


def _in_the_last_window(height: int, width: int, w: int, shift: int) -> Tensor:
    mask = swin.shifted_window_mask(height, width, w, shift)
    mask[:-1] = True
    return mask


def _whole_map(height: int, width: int, w: int, shift: int) -> Tensor:
    row, column = torch.meshgrid(
        torch.arange(height), torch.arange(width), indexing="ij"
    )
    group = 2 * (row >= height - shift) + (column >= width - shift)
    return group.flatten()[:, None] == group.flatten()


shifted_window_mask = FunctionCheck(
    "shifted_window_mask",
    "shifted_window_mask(height, width, window_size, shift) -> (windows, w², w²)",
    swin.shifted_window_mask,
    lambda generator: iter([[10, 15, 5, 2], [8, 12, 4, 1], [4, 6, 2, 1], [8, 8, 4, 2]]),
    [
        Mistake(
            "mask inverted",
            "the mask is the wrong way round: True says that a key may be attended",
            lambda *a: ~swin.shifted_window_mask(*a),
        ),
        Mistake(
            "nothing masked",
            "everything is allowed, also between tokens that were at opposite edges "
            "before the roll",
            lambda *a: torch.ones_like(swin.shifted_window_mask(*a)),
        ),
        Mistake(
            "rows alone",
            "only what was carried over the top is told apart; tokens were carried "
            "around sideways too",
            _rows_carried,
        ),
        Mistake(
            "columns alone",
            "only what was carried around sideways is told apart; tokens were carried "
            "over the top too",
            _columns_carried,
        ),
        Mistake(
            "carried is carried",
            "tokens that were carried sideways and tokens that were carried over the "
            "top are allowed to attend to each other; they come from different corners",
            _either_carried,
        ),
        Mistake(
            "one number for two ways",
            "what was carried over the top and what was carried sideways have the same "
            "number; each of the four groups needs one of its own",
            _ways_counted,
        ),
        Mistake(
            "strip too narrow",
            "the strip that was carried around is taken a row and a column too narrow; "
            "it has the width of the shift",
            lambda height, width, w, shift: swin.shifted_window_mask(
                height, width, w, shift - 1
            ),
        ),
        Mistake(
            "shift for the rest",
            "the strip that was carried around is taken to be w - shift wide; it has "
            "the width of the shift",
            lambda height, width, w, shift: swin.shifted_window_mask(
                height, width, w, w - shift
            ),
        ),
        Mistake(
            "strip at the front",
            "the strip is looked for at the top and at the left; the map is rolled up "
            "and to the left, so what was carried stands at the bottom and at the "
            "right",
            _counted_from_the_front,
        ),
        Mistake(
            "old windows",
            "only tokens that shared a window before the roll are allowed, so that "
            "nothing crosses an old line; what was carried alike may attend",
            _windows_of_old,
        ),
        Mistake(
            "last window alone",
            "only the last window is masked; all windows at the bottom and at the "
            "right hold tokens of two edges",
            _in_the_last_window,
        ),
        Mistake(
            "height and width swapped",
            "the windows are those of a map of W × H; rows come first, H × W",
            lambda height, width, w, shift: swin.shifted_window_mask(
                width, height, w, shift
            ),
        ),
        Mistake(
            "minus infinity",
            "the mask holds 0 and minus infinity; True and False are expected, True "
            "for what may be attended",
            lambda *a: torch.zeros(1).masked_fill(
                ~swin.shifted_window_mask(*a), -torch.inf
            ),
        ),
        Mistake(
            "minus a hundred",
            "the mask holds 0 and -100; True and False are expected, True for what may "
            "be attended",
            lambda *a: torch.zeros(1).masked_fill(~swin.shifted_window_mask(*a), -100),
        ),
        Mistake(
            "whole map",
            "the mask is for all tokens of the map, (H·W, H·W), expected one of (w², "
            "w²) for each window",
            _whole_map,
        ),
    ],
    hints=(
        "Roll a map of 4 × 6 numbered tokens by one and look at the window at the "
        "bottom right: who was a neighbour of whom?",
        "After the roll the last shift rows and the last shift columns are those that "
        "were carried around. Give each of the four groups a number, cut the numbers "
        "into windows, and compare within each.",
        "group = 2 * (row >= H - shift) + (column >= W - shift), window_partition, "
        "then group[:, :, None] == group[:, None, :].",
    ),
    shape="(windows, w², w²)",
    gradients=False,
)
