import itertools

import torch

from tests.checks.answers import right, wrong


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


@wrong("relative_position_index", "columns not shifted")
def shifts_the_rows_alone(window_size):
    token = torch.arange(window_size**2)
    row, column = token // window_size, token % window_size
    down = row[:, None] - row + window_size - 1
    return down * (2 * window_size - 1) + column[:, None] - column


@wrong("relative_position_index", "shifted by w, rows by 2w + 1")
def leaves_room_for_w(window_size):
    token = torch.arange(window_size**2)
    row, column = token // window_size, token % window_size
    down = row[:, None] - row + window_size
    return down * (2 * window_size + 1) + column[:, None] - column + window_size
