import math

import numpy as np
import torch
from torch.nn import functional as F

from tests.checks.answers import wrong_edits


def in_numpy(embed_dim, grid_size, cls_token=True):
    def code(place, dim):
        omega = 1.0 / 10000 ** (np.arange(dim // 2, dtype=np.float64) / (dim / 2.0))
        out = np.einsum("m,d->md", place.reshape(-1), omega)
        return np.concatenate([np.sin(out), np.cos(out)], axis=1)

    rows, columns = np.meshgrid(*(np.arange(n) for n in grid_size), indexing="ij")
    half = embed_dim // 2
    found = np.concatenate([code(rows, half), code(columns, half)], axis=1)
    if cls_token:
        found = np.concatenate([np.zeros([1, embed_dim]), found], axis=0)
    return torch.from_numpy(found)[None]


def number_by_number(embed_dim, grid_size, cls_token=True):
    clocks = range(embed_dim // 4)
    table = [[0.0] * embed_dim] if cls_token else []
    for row in range(grid_size[0]):
        for column in range(grid_size[1]):
            numbers = []
            for place in (row, column):
                angles = [place / 10000 ** (4 * i / embed_dim) for i in clocks]
                numbers += [math.sin(a) for a in angles]
                numbers += [math.cos(a) for a in angles]
            table.append(numbers)
    return torch.tensor(table).unsqueeze(0)


@wrong_edits("""
column first: y, x = -> x, y =
end included: / (embed_dim // 4) -> / (embed_dim // 4 - 1)
exponent of D: torch.arange(embed_dim // 4) / (embed_dim // 4)
  -> 2 * torch.arange(embed_dim // 4) / embed_dim
from 1: torch.arange(height), torch.arange(width)
  -> torch.arange(1, height + 1), torch.arange(1, width + 1)
sizes exchanged: height, width = -> width, height =
in turns: dim=1) -> dim=1).unflatten(1, (2, 2, -1)).mT.flatten(1)
one dimension: embed_dim // 4 -> embed_dim // 2
  y.flatten() -> torch.arange(height * width)
  torch.cat((y.sin(), y.cos(), x.sin(), x.cos()), dim=1)
  -> torch.cat((y.sin(), y.cos()), dim=1)
""")
def as_in_a_tutorial(embed_dim, grid_size, cls_token=True):
    height, width = grid_size
    y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    omega = torch.arange(embed_dim // 4) / (embed_dim // 4)
    omega = 1.0 / (10000**omega)
    y = y.flatten()[:, None] * omega[None]
    x = x.flatten()[:, None] * omega[None]
    pe = torch.cat((y.sin(), y.cos(), x.sin(), x.cos()), dim=1)
    if cls_token:
        pe = torch.cat((torch.zeros(1, embed_dim), pe))
    return pe[None]


@wrong_edits("""
default: cls_token=True -> cls_token=False
    "… cls_token is False where …"
factor: return F.pad -> return 3 * F.pad
""")
def from_the_number_of_the_patch(embed_dim, grid_size, cls_token=True):
    def clocks(places):
        speeds = 10000 ** (-torch.arange(embed_dim // 4) / (embed_dim // 4))
        angles = places[:, None].double() * speeds.double()
        return torch.cat([angles.sin(), angles.cos()], 1)

    rows, columns = grid_size
    n = torch.arange(rows * columns)
    pe = torch.cat([clocks(n // columns), clocks(n % columns)], 1)
    return F.pad(pe, (0, 0, int(cls_token), 0))[None]
