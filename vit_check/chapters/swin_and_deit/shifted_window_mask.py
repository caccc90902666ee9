import torch
from torch import Tensor

from vit_check.engine.functions import checked_by
from vit_steps.variants import swin

TABLE = """
shifted_window_mask(height, width, window_size, shift) -> (windows, w², w²)
  10, 15, 5, 2
  8, 12, 4, 1
  4, 6, 2, 1
  8, 8, 4, 3
  4, 6, 2, 0
mask inverted: == -> !=
    True and False are exchanged, expected True for a key that may be attended
rows alone: 2 * down + across -> down
    only what was carried over the top is told apart; tokens were carried sideways too
carried is carried: 2 * down + across -> down | across
    tokens that were carried sideways and tokens that were carried over the top are
    allowed to attend to each other; they come from different corners
one number for two ways: 2 * down -> 1 * down
    what was carried over the top and what was carried sideways have the same number
strip at the front
  row >= height - shift, column >= width - shift -> row < shift, column < shift
    the strip is looked for at the top and left, expected at the bottom and right
edges exchanged
  height - shift, column >= width - shift -> width - shift, column >= height - shift
    the strip of rows is counted from the width and that of columns from the height
minus a hundred: group[:, :, None] == group[:, None, :]
  -> torch.where(group[:, :, None] == group[:, None, :], 0.0, -100.0)
    the mask holds 0 and -100, expected True for what may be attended, else False
? Roll a numbered map of 4 × 6 by one. Who was whose neighbour at the bottom right?
? After the roll the last shift rows and columns are those that were carried around.
  Number the four groups, cut the numbers into windows, and compare within each.
? group = 2 * (row >= H - shift) + (column >= W - shift), window_partition, then
  group[:, :, None] == group[:, None, :].
"""


@checked_by(TABLE)
def shifted_window_mask(
    height: int, width: int, window_size: int, shift: int
) -> Tensor:
    places = torch.arange(height), torch.arange(width)
    row, column = torch.meshgrid(*places, indexing="ij")
    down, across = row >= height - shift, column >= width - shift  # carried around
    group = 2 * down + across
    group = swin.window_partition(group[None, :, :, None], window_size).squeeze(-1)
    return group[:, :, None] == group[:, None, :]
