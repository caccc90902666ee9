"""The check of ``window_partition``, chapter 13."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake
from vit_steps.variants import swin


def six_axes(x: Tensor, w: int) -> Tensor:
    """(B, rows, columns, D) -> (B, rows/w, w, columns/w, w, D)"""
    B, rows, columns, D = x.shape
    return x.reshape(B, rows // w, w, columns // w, w, D)


def _cut(x: Tensor, w: int, *order: int) -> Tensor:
    """Windows with the six axes in another order."""
    return six_axes(x, w).permute(order).reshape(-1, w * w, x.shape[3])


def _cut_as_number(x: Tensor, w: int) -> Tensor:
    B, rows, columns, D = x.shape
    parts = x.reshape(B, w, rows // w, w, columns // w, D).transpose(2, 3)
    return parts.reshape(B * w * w, -1, D)


def _cut_dilated(x: Tensor, w: int) -> Tensor:
    B, rows, columns, D = x.shape
    parts = x.reshape(B, w, rows // w, w, columns // w, D)
    return parts.permute(0, 2, 4, 1, 3, 5).reshape(-1, w * w, D)


def partition_inputs(generator: Generator) -> Iterator[Case]:
    for B, rows, columns, D, w, dtype in (
        (2, 6, 9, 5, 3, torch.float32),
        (3, 8, 20, 7, 4, torch.float64),
        (2, 4, 6, 3, 2, torch.float32),
        (2, 4, 8, 3, 2, torch.bfloat16),
    ):
        yield [torch.randn(B, rows, columns, D, generator=generator).to(dtype), w]


window_partition = FunctionCheck(
    "window_partition",
    "window_partition(x, window_size) -> (B·windows, w², D)",
    swin.window_partition,
    partition_inputs,
    [
        Mistake(
            "no transpose",
            "the shape is right and the windows are not: they hold pieces of whole "
            "rows, since the windows beside each other and the w rows of a window are "
            "not swapped before the last reshape",
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
            "image have to stay together",
            lambda x, w: _cut(x, w, 1, 3, 0, 2, 4, 5),
        ),
        Mistake(
            "dilated",
            "a window holds tokens that lie far apart: the rows are split as (w, "
            "rows/w), where (rows/w, w) keeps neighbours together",
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
            "the windows are still maps, (B·windows, w, w, D), expected (B·windows, "
            "w², D): to attention a window is a list of tokens",
            lambda x, w: _cut(x, w, 0, 1, 3, 2, 4, 5).unflatten(1, (w, w)),
        ),
        Mistake(
            "images apart",
            "images and windows are two axes, (B, windows, w², D), expected one, "
            "(B·windows, w², D)",
            lambda x, w: _cut(x, w, 0, 1, 3, 2, 4, 5).unflatten(0, (len(x), -1)),
        ),
        Mistake(
            "images in the window",
            "the windows of all images lie in one long row of tokens, (windows, B·w², "
            "D), so that images would attend to each other",
            lambda x, w: (
                six_axes(x, w).permute(1, 3, 0, 2, 4, 5).flatten(2, 4).flatten(0, 1)
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
            "D)",
            lambda x, w: list(_cut(x, w, 0, 1, 3, 2, 4, 5)),
        ),
    ],
    hints=(
        "Number the tokens of a 4 × 6 map by row and column, cut it into windows of 2 "
        "and read the first window aloud.",
        "A window needs its w rows and its w columns beside each other. Split the axes "
        "of rows and of columns into two each, and look at which two have to swap.",
        "x.reshape(B, rows // w, w, columns // w, w, D), then .transpose(2, 3), then "
        ".reshape(-1, w * w, D).",
    ),
    shape="(B·windows, w², D)",
    batched=(0,),
)
