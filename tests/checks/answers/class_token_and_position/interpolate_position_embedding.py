import math

import torch
from einops import rearrange
from torch.nn import functional as F

from tests.checks.answers import wrong_edits


@wrong_edits("""
no antialias: antialias=True -> align_corners=False
nearest: , mode="bicubic", antialias=True -> nothing
bilinear: mode="bicubic", antialias=True -> mode="bilinear"
corners aligned: antialias=True -> antialias=True, align_corners=True
rows and columns swapped: size=grid_size -> size=grid_size[::-1]
view instead of permute
  reshape(1, side, side, -1).permute(0, 3, 1, 2) -> reshape(1, -1, side, side)
no gradient: cls, grid = pos_embed[:, :1], pos_embed[0, 1:]
  -> pos_embed = pos_embed.detach(); cls, grid = pos_embed[:, :1], pos_embed[0, 1:]
class token resized: torch.cat([cls, grid], dim=1)
  -> F.interpolate(pos_embed.mT, 1 + grid.shape[1], mode="linear").mT
raises: pos_embed[0, 1:] -> pos_embed[0]
    the class token in the grid
as they were: return torch.cat
  -> return pos_embed if len(grid[0]) == side**2 else torch.cat
    DeiT's shortcut: 4×4 positions asked for as 2×8 come back as they were
""")
def as_at_loading(pos_embed, grid_size):
    cls, grid = pos_embed[:, :1], pos_embed[0, 1:]
    side = int(math.sqrt(len(grid)))
    grid = grid.reshape(1, side, side, -1).permute(0, 3, 1, 2)
    grid = F.interpolate(grid, size=grid_size, mode="bicubic", antialias=True)
    grid = grid.permute(0, 2, 3, 1).reshape(1, grid_size[0] * grid_size[1], -1)
    return torch.cat([cls, grid], dim=1)


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


def by_matrices(pos_embed, grid_size):
    side = math.isqrt(pos_embed.shape[1] - 1)
    down, across = (
        _cubic_matrix(side, n).to(torch.float64).to(pos_embed.dtype) for n in grid_size
    )
    grid = pos_embed[0, 1:].unflatten(0, (side, side))
    grid = torch.einsum("rs,sud,cu->rcd", down, grid, across).flatten(0, 1)
    return torch.cat([pos_embed[0, :1], grid])[None]
