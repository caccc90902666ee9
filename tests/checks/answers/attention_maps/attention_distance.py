import math

import torch
from torch.nn import functional as F

from tests.checks.answers import right, wrong_edits
from vit_steps.attention_maps import attention_distance

right(attention_distance)


def _grid(grid_size):
    rows, columns = grid_size
    return [divmod(i, columns) for i in range(rows * columns)]


def with_loops(weights, grid_size, patch_size=1):
    places = _grid(grid_size)
    far = torch.tensor(
        [[patch_size * math.dist(a, b) for b in places] for a in places],
        dtype=weights[0].dtype,
    )
    found = []
    for block in weights:
        table = block[:, :, 1:, 1:]
        table = table / table.sum(-1, keepdim=True)
        found.append(
            [(table[:, h] * far).sum(-1).mean() for h in range(table.shape[1])]
        )
    return torch.tensor(found, dtype=weights[0].dtype)


@wrong_edits("""
not divided: F.normalize(torch.stack(weights)[..., 1:, 1:], p=1, dim=-1)
  -> torch.stack(weights)[..., 1:, 1:]
rows for columns
  _grid(grid_size) -> [divmod(i, grid_size[0]) for i in range(math.prod(grid_size))]
as if: * patch_size -> nothing
along the grid: compute_mode="donot_use_mm_for_euclid_dist" -> p=1
difference of indices: _grid(grid_size) -> [[0, i] for i in range(math.prod(grid_size))]
columns ask: torch.stack(weights) -> torch.stack(weights).mT
values
  F.normalize(torch.stack(weights)[..., 1:, 1:], p=1, dim=-1)
  -> torch.stack(weights)[..., 1:, 1:]
  _grid(grid_size) -> [divmod(i, grid_size[0]) for i in range(math.prod(grid_size))]
squared in pixels
  "donot_use_mm_for_euclid_dist") -> "donot_use_mm_for_euclid_dist") ** 2
""")
def with_cdist(weights, grid_size, patch_size):
    places = torch.tensor(_grid(grid_size)).to(weights[0]) * patch_size
    far = torch.cdist(places, places, compute_mode="donot_use_mm_for_euclid_dist")
    table = F.normalize(torch.stack(weights)[..., 1:, 1:], p=1, dim=-1)
    return torch.einsum("lbhij,ij->lh", table, far) / table.shape[1] / len(places)


def with_meshgrid(weights, grid, patch):
    y, x = torch.meshgrid(*(torch.arange(n) * patch for n in grid), indexing="ij")
    y, x = y.flatten(), x.flatten()
    far = torch.hypot((y[:, None] - y).double(), (x[:, None] - x).double())
    means = []
    for block in weights:
        shares = block[..., 1:, 1:] / (1 - block[..., 1:, :1])
        means.append((shares * far.to(block)).sum(-1).mean(-1).mean(0))
    return torch.stack(means)
