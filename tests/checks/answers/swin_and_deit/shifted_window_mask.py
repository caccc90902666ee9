import itertools

import torch

from tests.checks.answers import wrong_edits
from tests.checks.answers.swin_and_deit.window_partition import (
    cut_with_einops,
    cut_with_loops,
)


@wrong_edits("""
dtype: (windows[:, None] - windows[:, :, None]) == 0
  -> (windows[:, None] == windows[:, :, None]).float()
minus a hundred: (windows[:, None] - windows[:, :, None]) == 0
  -> torch.where(windows[:, None] == windows[:, :, None], 0.0, -100.0)
""")
def mask_as_swin_does(height, width, window_size, shift):
    region = torch.zeros(1, height, width, 1)
    slices = (slice(0, -window_size), slice(-window_size, -shift), slice(-shift, None))
    for number, (rows, columns) in enumerate(itertools.product(slices, slices)):
        region[:, rows, columns] = number
    windows = cut_with_einops(region, window_size).squeeze(-1)
    return (windows[:, None] - windows[:, :, None]) == 0


@wrong_edits("""
strip at the front: row >= height - shift -> row < shift
  column >= width - shift -> column < shift
edges exchanged: row >= height - shift -> row >= width - shift
  column >= width - shift -> column >= height - shift
values: row >= height - shift -> row >= width - shift
""")
def mask_from_names(height, width, window_size, shift):
    row, column = torch.arange(height)[:, None], torch.arange(width)
    carried = torch.stack(
        [
            (row >= height - shift).expand(height, width),
            (column >= width - shift).expand(height, width),
        ],
        dim=-1,
    )  # (H, W, 2)
    windows = cut_with_loops(carried[None], window_size)  # (windows, w², 2)
    return (windows[:, :, None] == windows[:, None]).all(dim=-1)


@wrong_edits("""
mask inverted: == -> !=
rows alone: 2 * rows.int() + columns.int() -> rows
carried is carried: 2 * rows.int() + columns.int() -> rows | columns
""")
def mask_by_rolling(height, width, window_size, shift):
    names = torch.arange(height * width).reshape(1, height, width, 1)
    names = names.roll((-shift, -shift), (1, 2))
    inside = cut_with_einops(names, window_size).squeeze(-1)  # (windows, w²)
    rows, columns = inside // width < shift, inside % width < shift
    group = 2 * rows.int() + columns.int()
    return group.unsqueeze(1) == group.unsqueeze(2)
