"""The check of ``shifted_window_mask``, chapter 13."""

from collections.abc import Callable

import torch
from torch import Tensor

from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake
from vit_steps.variants import swin


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


def _height_for_both(height: int, width: int, w: int, shift: int) -> Tensor:
    return _allowed(
        height,
        width,
        w,
        lambda row, column: 2 * (row >= height - shift) + (column >= height - shift),
    )


def _edges_exchanged(height: int, width: int, w: int, shift: int) -> Tensor:
    return _allowed(
        height,
        width,
        w,
        lambda row, column: 2 * (row >= width - shift) + (column >= height - shift),
    )


def _rolled_down(height: int, width: int, w: int, shift: int) -> Tensor:
    return _allowed(
        height,
        width,
        w,
        lambda row, column: (
            2 * ((row - shift) % height < shift) + ((column - shift) % width < shift)
        ),
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
            "and to the left, so what was carried is at the bottom and at the right",
            _counted_from_the_front,
        ),
        Mistake(
            "height for both",
            "the strip at the right is looked for height - shift columns from the "
            "left; a row has width columns",
            _height_for_both,
        ),
        Mistake(
            "edges exchanged",
            "the strip of rows is counted from the width and that of columns from the "
            "height; there are height rows and width columns",
            _edges_exchanged,
        ),
        Mistake(
            "rolled down",
            "the map is rolled down and to the right; it should be rolled up and to "
            "the left, by minus the shift",
            _rolled_down,
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
