import itertools

import torch

from tests.checks.answers import right, wrong
from tests.checks.answers.swin_and_deit.windows import (
    cut_with_einops,
    cut_with_loops,
)


@right("shifted_window_mask")
def mask_as_swin_does(height, width, window_size, shift):
    region = torch.zeros(1, height, width, 1)
    slices = (slice(0, -window_size), slice(-window_size, -shift), slice(-shift, None))
    for number, (rows, columns) in enumerate(itertools.product(slices, slices)):
        region[:, rows, columns] = number
    windows = cut_with_einops(region, window_size).squeeze(-1)
    return (windows[:, None] - windows[:, :, None]) == 0


@right("shifted_window_mask")
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


@right("shifted_window_mask")
def mask_by_rolling(height, width, window_size, shift):
    names = torch.arange(height * width).reshape(1, height, width, 1)
    names = names.roll((-shift, -shift), (1, 2))
    inside = cut_with_einops(names, window_size).squeeze(-1)  # (windows, w²)
    rows, columns = inside // width < shift, inside % width < shift
    group = 2 * rows.int() + columns.int()
    return group.unsqueeze(1) == group.unsqueeze(2)


@wrong("shifted_window_mask", "mask inverted")
def mask_of_the_forbidden(height, width, window_size, shift):
    return ~mask_by_rolling(height, width, window_size, shift)


@wrong("shifted_window_mask", "minus a hundred")
def mask_to_be_added(height, width, window_size, shift):
    mask = mask_as_swin_does(height, width, window_size, shift)
    return torch.where(mask, 0.0, -100.0)


@wrong("shifted_window_mask", "minus infinity")
def mask_to_be_added_without_end(height, width, window_size, shift):
    mask = mask_as_swin_does(height, width, window_size, shift)
    return torch.where(mask, 0.0, float("-inf"))


@wrong("shifted_window_mask", "strip at the front")
def mask_before_rolling(height, width, window_size, shift):
    row, column = torch.arange(height)[:, None], torch.arange(width)
    group = 2 * (row < shift) + (column < shift)
    inside = cut_with_einops(group[None, ..., None], window_size).squeeze(-1)
    return inside[:, :, None] == inside[:, None]


@wrong("shifted_window_mask", "rows alone")
def mask_of_rows(height, width, window_size, shift):
    row = torch.arange(height)[:, None].expand(height, width) >= height - shift
    inside = cut_with_einops(row[None, ..., None], window_size).squeeze(-1)
    return inside[:, :, None] == inside[:, None]


@wrong("shifted_window_mask", "carried is carried")
def mask_of_either(height, width, window_size, shift):
    row, column = torch.arange(height)[:, None], torch.arange(width)
    carried = (row >= height - shift) | (column >= width - shift)
    inside = cut_with_einops(carried[None, ..., None], window_size).squeeze(-1)
    return inside[:, :, None] == inside[:, None]


@wrong("shifted_window_mask", "nothing masked")
def mask_of_nothing(height, width, window_size, shift):
    count = (height // window_size) * (width // window_size)
    return torch.ones(count, window_size**2, window_size**2, dtype=torch.bool)


@wrong("shifted_window_mask", "whole map")
def mask_of_everything(height, width, window_size, shift):
    row, column = torch.arange(height)[:, None], torch.arange(width)
    group = (2 * (row >= height - shift) + (column >= width - shift)).flatten()
    return group[:, None] == group


@wrong("shifted_window_mask", "shift for the rest")
def mask_with_the_other_slice(height, width, window_size, shift):
    region = torch.zeros(1, height, width, 1)
    rest = window_size - shift
    slices = (slice(0, -window_size), slice(-window_size, -rest), slice(-rest, None))
    for number, (rows, columns) in enumerate(itertools.product(slices, slices)):
        region[:, rows, columns] = number
    windows = cut_with_einops(region, window_size).squeeze(-1)
    return windows[:, None] == windows[:, :, None]


@wrong("shifted_window_mask", "height and width swapped")
def mask_of_a_map_that_lies(height, width, window_size, shift):
    return mask_by_rolling(width, height, window_size, shift)


def mask_of_groups(group, window_size):
    inside = cut_with_loops(group[None, ..., None], window_size)[..., 0]
    return inside.unsqueeze(1) == inside.unsqueeze(2)


@wrong("shifted_window_mask", "height for both")
def mask_with_height_twice(height, width, window_size, shift):
    row, column = torch.arange(height)[:, None], torch.arange(width)
    group = 2 * (row >= height - shift) + (column >= height - shift)
    return mask_of_groups(group, window_size)


@wrong("shifted_window_mask", "edges exchanged")
def mask_with_its_sides_exchanged(height, width, window_size, shift):
    row, column = torch.arange(height)[:, None], torch.arange(width)
    group = 2 * (row >= width - shift) + (column >= height - shift)
    return mask_of_groups(group, window_size)


@wrong("shifted_window_mask", "values")
def mask_with_width_twice(height, width, window_size, shift):
    row, column = torch.arange(height)[:, None], torch.arange(width)
    group = 2 * (row >= width - shift) + (column >= width - shift)
    return mask_of_groups(group, window_size)


@wrong("shifted_window_mask", "rolled down")
def mask_of_the_other_roll(height, width, window_size, shift):
    names = torch.arange(height * width).reshape(height, width)
    names = names.roll((shift, shift), (0, 1))
    group = 2 * (names // width < shift) + 1 * (names % width < shift)
    return mask_of_groups(group, window_size)


@wrong("shifted_window_mask", "minus a hundred")
def mask_of_the_official_code(H, W, window_size, shift_size):
    img_mask = torch.zeros((1, H, W, 1))
    h_slices = (
        slice(0, -window_size),
        slice(-window_size, -shift_size),
        slice(-shift_size, None),
    )
    cnt = 0
    for h in h_slices:
        for w in h_slices:
            img_mask[:, h, w, :] = cnt
            cnt += 1
    mask_windows = cut_with_einops(img_mask, window_size).flatten(1)
    attn_mask = mask_windows.unsqueeze(1) - mask_windows.unsqueeze(2)
    attn_mask = attn_mask.masked_fill(attn_mask != 0, (-100.0))
    return attn_mask.masked_fill(attn_mask == 0, 0.0)


@wrong("shifted_window_mask", "dtype")
def mask_of_ones_and_zeros(height, width, window_size, shift):
    return mask_as_swin_does(height, width, window_size, shift).float()


@wrong("shifted_window_mask", "one number for two ways")
def counts_how_often_carried(height, width, window_size, shift):
    down = (torch.arange(height) >= height - shift).int()[:, None]
    across = (torch.arange(width) >= width - shift).int()
    group = cut_with_einops((down + across)[None, :, :, None], window_size)[..., 0]
    return group[:, None, :] == group[:, :, None]


@wrong("shifted_window_mask", "strip too narrow")
def greater_for_at_least(height, width, window_size, shift):
    down = (torch.arange(height) > height - shift).int()[:, None]
    across = (torch.arange(width) > width - shift).int()
    group = cut_with_einops((2 * down + across)[None, :, :, None], window_size)[..., 0]
    return group[:, None, :] == group[:, :, None]
