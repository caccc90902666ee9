import itertools

import torch
from einops import rearrange

from tests.answers import right, wrong


@right("window_partition")
def cut_with_einops(x, window_size):
    w = window_size
    return rearrange(x, "b (m i) (n j) c -> (b m n) (i j) c", i=w, j=w)


@right("window_partition")
def cut_as_swin_does(x, window_size):
    B, H, W, C = x.shape
    x = x.view(B, H // window_size, window_size, W // window_size, window_size, C)
    windows = x.permute(0, 1, 3, 2, 4, 5).contiguous()
    return windows.view(-1, window_size * window_size, C)


@right("window_partition")
def cut_with_loops(x, window_size):
    windows = []
    for image in x:
        for top in range(0, image.shape[0], window_size):
            for left in range(0, image.shape[1], window_size):
                window = image[top : top + window_size, left : left + window_size]
                windows.append(window.flatten(0, 1))
    return torch.stack(windows)


@right("window_partition")
def cut_with_unfold(x, window_size):
    w = window_size
    windows = x.unfold(1, w, w).unfold(2, w, w)  # (B, H/w, W/w, C, w, w)
    return windows.permute(0, 1, 2, 4, 5, 3).flatten(3, 4).flatten(0, 2)


@wrong("window_partition", "no transpose")
def cut_with_one_view(x, window_size):
    return x.contiguous().view(-1, window_size**2, x.size(-1))


@wrong("window_partition", "not flattened")
def cut_and_left_square(x, window_size):
    B, H, W, C = x.shape
    x = x.view(B, H // window_size, window_size, W // window_size, window_size, C)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, window_size, window_size, C)


@wrong("window_partition", "columns first inside")
def cut_with_the_wrong_letters(x, window_size):
    w = window_size
    return rearrange(x, "b (m i) (n j) c -> (b m n) (j i) c", i=w, j=w)


@wrong("window_partition", "windows column by column")
def cut_down_the_map(x, window_size):
    w = window_size
    return rearrange(x, "b (m i) (n j) c -> (b n m) (i j) c", i=w, j=w)


@wrong("window_partition", "windows before images")
def cut_and_concatenated(x, window_size):
    w, windows = window_size, []
    for top in range(0, x.shape[1], w):
        for left in range(0, x.shape[2], w):
            windows.append(x[:, top : top + w, left : left + w].flatten(1, 2))
    return torch.cat(windows)


@wrong("window_partition", "images apart")
def cut_and_stacked(x, window_size):
    w, windows = window_size, []
    for top in range(0, x.shape[1], w):
        for left in range(0, x.shape[2], w):
            windows.append(x[:, top : top + w, left : left + w].flatten(1, 2))
    return torch.stack(windows, dim=1)


@wrong("window_partition", "dilated")
def cut_with_letters_in_the_wrong_place(x, window_size):
    w = window_size
    return rearrange(x, "b (i m) (j n) c -> (b m n) (i j) c", i=w, j=w)


@wrong("window_partition", "size taken for number")
def cut_into_a_number_of_windows(x, window_size):
    w = window_size
    return rearrange(x, "b (m i) (n j) c -> (b m n) (i j) c", m=w, n=w)


@wrong("window_partition", "a list of windows")
def cut_into_a_list(x, window_size):
    return list(cut_with_loops(x, window_size))


@wrong("window_partition", "no gradient")
def cut_by_numpy(x, window_size):
    return torch.stack([window.detach() for window in cut_with_loops(x, window_size)])


@wrong("window_partition", "raises")
def cut_with_height_for_width(x, window_size):
    B, H, _, C = x.shape
    m = H // window_size
    x = x.view(B, m, window_size, m, window_size, C)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, window_size**2, C)


@right("window_reverse")
def paste_with_einops(windows, height, width):
    w = int(windows.shape[1] ** 0.5)
    m, n = height // w, width // w
    return rearrange(windows, "(b m n) (i j) c -> b (m i) (n j) c", i=w, m=m, n=n)


@right("window_reverse")
def paste_as_swin_does(windows, height, width):
    w = round(windows.shape[1] ** 0.5)
    B = windows.shape[0] // ((height // w) * (width // w))
    x = windows.view(B, height // w, width // w, w, w, -1)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(B, height, width, -1)


@right("window_reverse")
def paste_with_loops(windows, height, width):
    w = round(windows.shape[1] ** 0.5)
    count = (height // w) * (width // w)
    maps = windows.new_zeros(len(windows) // count, height, width, windows.shape[2])
    tops, lefts = range(0, height, w), range(0, width, w)
    for number, (top, left) in enumerate(itertools.product(tops, lefts)):
        piece = windows[number::count].unflatten(1, (w, w))
        maps[:, top : top + w, left : left + w] = piece
    return maps


@wrong("window_reverse", "no transpose")
def paste_with_one_view(windows, height, width):
    return windows.view(-1, height, width, windows.shape[-1])


@wrong("window_reverse", "columns first inside")
def paste_turned(windows, height, width):
    w = int(windows.shape[1] ** 0.5)
    m, n = height // w, width // w
    return rearrange(windows, "(b m n) (j i) c -> b (m i) (n j) c", i=w, m=m, n=n)


@wrong("window_reverse", "windows column by column")
def paste_down_the_map(windows, height, width):
    w = int(windows.shape[1] ** 0.5)
    m, n = height // w, width // w
    return rearrange(windows, "(b n m) (i j) c -> b (m i) (n j) c", i=w, m=m, n=n)


@wrong("window_reverse", "height and width swapped")
def paste_on_a_map_that_lies(windows, height, width):
    return paste_as_swin_does(windows, width, height)


@wrong("window_reverse", "images in between")
def paste_windows_first(windows, height, width):
    w = int(windows.shape[1] ** 0.5)
    m, n = height // w, width // w
    return rearrange(windows, "(m n b) (i j) c -> b (m i) (n j) c", i=w, m=m, n=n)


@wrong("window_reverse", "dilated")
def paste_scattered(windows, height, width):
    w = int(windows.shape[1] ** 0.5)
    m, n = height // w, width // w
    return rearrange(windows, "(b m n) (i j) c -> b (i m) (j n) c", i=w, m=m, n=n)


@wrong("window_reverse", "map flattened")
def paste_for_the_next_layer(windows, height, width):
    return paste_with_loops(windows, height, width).flatten(1, 2)


@wrong("window_reverse", "channels first")
def paste_as_an_image(windows, height, width):
    return paste_with_einops(windows, height, width).permute(0, 3, 1, 2)


@wrong("window_reverse", "not joined")
def paste_without_the_last_reshape(windows, height, width):
    w = int(windows.shape[1] ** 0.5)
    m, n = height // w, width // w
    return rearrange(windows, "(b m n) (i j) c -> b m i n j c", i=w, m=m, n=n)


@wrong("window_reverse", "none")
def paste_without_return(windows, height, width):
    paste_with_loops(windows, height, width)


@right("relative_position_index")
def index_as_swin_does(window_size):
    coords = torch.stack(
        torch.meshgrid(
            torch.arange(window_size), torch.arange(window_size), indexing="ij"
        )
    ).flatten(1)
    relative = (coords[:, :, None] - coords[:, None, :]).permute(1, 2, 0).contiguous()
    relative[:, :, 0] += window_size - 1
    relative[:, :, 1] += window_size - 1
    relative[:, :, 0] *= 2 * window_size - 1
    return relative.sum(-1)


@right("relative_position_index")
def index_with_loops(window_size):
    places = list(itertools.product(range(window_size), repeat=2))
    differences = sorted({(a - c, b - d) for a, b in places for c, d in places})
    return torch.tensor(
        [[differences.index((a - c, b - d)) for c, d in places] for a, b in places]
    )


@right("relative_position_index")
def index_by_division(window_size):
    token, side = torch.arange(window_size**2), 2 * window_size - 1
    code = token // window_size * side + token % window_size
    return (code[:, None] - code[None, :] + (side**2 - 1) // 2).int()


@wrong("relative_position_index", "key minus query")
def index_the_other_way(window_size):
    return index_as_swin_does(window_size).T


@wrong("relative_position_index", "rows by w")
def index_with_too_small_a_step(window_size):
    row, column = (
        torch.arange(window_size**2).div(window_size, rounding_mode="floor"),
        (torch.arange(window_size**2) % window_size),
    )
    down = row[:, None] - row + window_size - 1
    across = column[:, None] - column + window_size - 1
    return down * window_size + across


@wrong("relative_position_index", "rows and columns swapped")
def index_with_xy(window_size):
    places = torch.arange(window_size)
    rows, columns = torch.meshgrid(places, places, indexing="xy")
    place = torch.stack([rows.flatten(), columns.flatten()])
    down, across = place[:, :, None] - place[:, None, :] + window_size - 1
    return down * (2 * window_size - 1) + across


@wrong("relative_position_index", "only added")
def index_without_the_product(window_size):
    token = torch.arange(window_size**2)
    code = token // window_size + token % window_size
    return code[:, None] - code + 2 * (window_size - 1)


@wrong("relative_position_index", "not shifted")
def index_below_zero(window_size):
    token = torch.arange(window_size**2)
    code = token // window_size * (2 * window_size - 1) + token % window_size
    return code[:, None] - code


@wrong("relative_position_index", "without sign")
def index_of_distances(window_size):
    token = torch.arange(window_size**2)
    row, column = token // window_size, token % window_size
    down, across = (row[:, None] - row).abs(), (column[:, None] - column).abs()
    return down * (2 * window_size - 1) + across


@wrong("relative_position_index", "two numbers")
def index_of_pairs(window_size):
    token = torch.arange(window_size**2)
    place = torch.stack([token // window_size, token % window_size], dim=-1)
    return place[:, None] - place[None] + window_size - 1


@wrong("relative_position_index", "not whole numbers")
def index_of_floats(window_size):
    return index_with_loops(window_size).float()


@wrong("relative_position_index", "begins at 1")
def index_from_one(window_size):
    return index_with_loops(window_size) + 1


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
