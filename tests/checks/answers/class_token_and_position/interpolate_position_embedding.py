import math

import torch
from einops import rearrange
from torch.nn import functional as F

from tests.checks.answers import right, wrong

# Positions for another grid


@right("interpolate_position_embedding")
def as_at_loading(pos_embed, grid_size):
    cls, grid = pos_embed[:, :1], pos_embed[0, 1:]
    side = int(math.sqrt(len(grid)))
    grid = grid.reshape(1, side, side, -1).permute(0, 3, 1, 2)
    grid = F.interpolate(grid, size=grid_size, mode="bicubic", antialias=True)
    grid = grid.permute(0, 2, 3, 1).reshape(1, grid_size[0] * grid_size[1], -1)
    return torch.cat([cls, grid], dim=1)


@right("interpolate_position_embedding")
def resized_with_einops(pos_embed, grid_size):
    image = rearrange(
        pos_embed[:, 1:], "1 (r c) d -> d 1 r c", r=int(pos_embed.shape[1] ** 0.5)
    )
    image = F.interpolate(image, grid_size, mode="bicubic", antialias=True)
    image = rearrange(image, "d 1 r c -> 1 (r c) d")
    return torch.cat([pos_embed[:, 0:1, :], image], dim=1)


def _cubic_matrix(old, new):
    def cubic(x):
        x = abs(x)
        if x < 1:
            return 1.5 * x**3 - 2.5 * x**2 + 1
        return -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2 if x < 2 else 0.0

    stretch = max(1.0, old / new)
    middles = [(i + 0.5) * old / new - 0.5 for i in range(new)]
    rows = [[cubic((j - m) / stretch) for j in range(old)] for m in middles]
    return torch.tensor([[w / sum(row) for w in row] for row in rows])


@right("interpolate_position_embedding")
def by_matrices(pos_embed, grid_size):
    side = math.isqrt(pos_embed.shape[1] - 1)
    down, across = (
        _cubic_matrix(side, n).to(torch.float64).to(pos_embed.dtype) for n in grid_size
    )
    grid = pos_embed[0, 1:].unflatten(0, (side, side))
    grid = torch.einsum("rs,sud,cu->rcd", down, grid, across).flatten(0, 1)
    return torch.cat([pos_embed[0, :1], grid])[None]


def _loaded(
    pos_embed,
    grid_size,
    put=lambda cls, grid: torch.cat([cls, grid], 1),
    resize=lambda image, size: F.interpolate(
        image, size, mode="bicubic", antialias=True
    ),
):
    side = math.isqrt(pos_embed.shape[1] - 1)
    image = rearrange(pos_embed[:, 1:], "1 (r c) d -> 1 d r c", r=side)
    image = resize(image, grid_size)
    return put(pos_embed[:, :1], rearrange(image, "1 d r c -> 1 (r c) d"))


@wrong("interpolate_position_embedding", "no antialias")
def as_in_many_loaders(pos_embed, grid_size):
    return _loaded(
        pos_embed,
        grid_size,
        resize=lambda image, size: F.interpolate(
            image, size, mode="bicubic", align_corners=False
        ),
    )


@wrong("interpolate_position_embedding", "nearest")
def without_a_mode(pos_embed, grid_size):
    return _loaded(pos_embed, grid_size, resize=F.interpolate)


@wrong("interpolate_position_embedding", "bilinear")
def bilinearly(pos_embed, grid_size):
    return _loaded(
        pos_embed, grid_size, resize=lambda i, s: F.interpolate(i, s, mode="bilinear")
    )


@wrong("interpolate_position_embedding", "corners aligned")
def with_corners_aligned(pos_embed, grid_size):
    return _loaded(
        pos_embed,
        grid_size,
        resize=lambda i, s: F.interpolate(i, s, mode="bicubic", align_corners=True),
    )


@wrong("interpolate_position_embedding", "class token lost")
def drops_the_class_token(pos_embed, grid_size):
    return _loaded(pos_embed, grid_size, put=lambda cls, grid: grid)


@wrong("interpolate_position_embedding", "class token last")
def appends_the_class_token(pos_embed, grid_size):
    return _loaded(
        pos_embed, grid_size, put=lambda cls, grid: torch.cat([grid, cls], 1)
    )


@wrong("interpolate_position_embedding", "class token resized")
def along_all_tokens(pos_embed, grid_size):
    many = grid_size[0] * grid_size[1] + 1
    return F.interpolate(pos_embed.permute(0, 2, 1), size=many, mode="linear").permute(
        0, 2, 1
    )


@wrong("interpolate_position_embedding", "raises")
def class_token_in_the_grid(pos_embed, grid_size):
    side = math.isqrt(pos_embed.shape[1])
    image = pos_embed.reshape(1, side, side, -1).permute(0, 3, 1, 2)
    return F.interpolate(image, grid_size, mode="bicubic").flatten(2).mT


@wrong("interpolate_position_embedding", "rows and columns swapped")
def width_by_height(pos_embed, grid_size):
    return _loaded(pos_embed, grid_size[::-1])


@wrong("interpolate_position_embedding", "view instead of permute")
def viewed_as_an_image(pos_embed, grid_size):
    side = math.isqrt(pos_embed.shape[1] - 1)
    image = pos_embed[:, 1:].reshape(1, -1, side, side)
    image = F.interpolate(image, grid_size, mode="bicubic", antialias=True)
    return torch.cat([pos_embed[:, :1], image.flatten(2).transpose(1, 2)], 1)


@wrong("interpolate_position_embedding", "not moved back")
def viewed_as_tokens(pos_embed, grid_size):
    return _loaded(
        pos_embed,
        grid_size,
        put=lambda cls, grid: torch.cat(
            [cls, grid.transpose(1, 2).reshape(grid.shape)], 1
        ),
    )


@wrong("interpolate_position_embedding", "numbers resized")
def as_a_table(pos_embed, grid_size):
    many, D = grid_size[0] * grid_size[1], pos_embed.shape[2]
    table = pos_embed[:, 1:].unsqueeze(1)
    table = F.interpolate(table, (many, D), mode="bicubic", antialias=True)
    return torch.cat([pos_embed[:, :1], table.squeeze(1)], 1)


@wrong("interpolate_position_embedding", "no gradient")
def from_data(pos_embed, grid_size):
    return as_at_loading(pos_embed.detach(), grid_size)


@wrong("interpolate_position_embedding", "as they were")
def untouched_if_as_many(pos_embed, grid_size):
    """Return DeiT's shortcut: 4×4 positions asked for as 2×8 come back as they were."""
    if grid_size[0] * grid_size[1] == pos_embed.shape[1] - 1:
        return pos_embed
    return as_at_loading(pos_embed, grid_size)
