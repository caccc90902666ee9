"""The check of ``window_reverse``, chapter 13."""

from collections.abc import Iterator

from torch import Generator, Tensor

from vit_check.chapters.swin_and_deit.window_partition import partition_inputs, six_axes
from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake
from vit_steps.variants import swin


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
    for x, w in partition_inputs(generator):
        yield [swin.window_partition(x, w), x.shape[1], x.shape[2]]


window_reverse = FunctionCheck(
    "window_reverse",
    "window_reverse(windows, height, width) -> (B, rows, columns, D)",
    swin.window_reverse,
    _reverse_inputs,
    [
        Mistake(
            "no transpose",
            "the shape is right and the map is not: windows are laid one after the "
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
            "the map is (B, columns, rows, D), expected (B, rows, columns, D)",
            lambda x, height, width: swin.window_reverse(x, width, height),
        ),
        Mistake(
            "images in between",
            "the windows are taken as window 0 of all images, then window 1; those of "
            "one image belong together",
            _paste_images_last,
        ),
        Mistake(
            "dilated",
            "neighbours in a window are put far apart on the map: the rows are split "
            "as (rows/w, w), and here they are (w, rows/w)",
            lambda *a: _paste(*a, 0, 3, 1, 4, 2, 5),
        ),
        Mistake(
            "not joined",
            "the windows are in their places but not joined, (B, rows/w, w, "
            "columns/w, w, D), expected (B, rows, columns, D)",
            lambda x, height, width: six_axes(
                swin.window_reverse(x, height, width), round(x.shape[1] ** 0.5)
            ),
        ),
        Mistake(
            "map flattened",
            "the map is a list of tokens, (B, rows·columns, D), expected (B, rows, "
            "columns, D)",
            lambda *a: swin.window_reverse(*a).flatten(1, 2),
        ),
        Mistake(
            "channels first",
            "the map is (B, D, rows, columns), expected (B, rows, columns, D)",
            lambda *a: swin.window_reverse(*a).permute(0, 3, 1, 2),
        ),
        Mistake(
            "windows as they came",
            "the windows come out as they went in, (B·windows, w², D)",
            lambda x, height, width: x.clone(),
        ),
    ],
    hints=(
        "Cut a small map with numbered tokens, put it back, and look at where the "
        "second window begins.",
        "Go the way of the cut backwards: split the first axis into images, rows and "
        "columns of windows, the second into w and w; swap; join.",
        "windows.reshape(-1, height // w, width // w, w, w, D), then .transpose(2, 3), "
        "then .reshape(-1, height, width, D), with w the root of windows.shape[1].",
    ),
    shape="(B, rows, columns, D)",
)
