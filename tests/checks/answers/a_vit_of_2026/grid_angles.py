import torch
from torch.nn import functional as F

from tests.checks.answers import wrong_edits
from vit_steps.variants.rotary import rope_angles


def with_the_package(rows, columns, head_dim, num_prefix=1, base=100.0):
    angles = rope_angles((rows, columns), head_dim, base, coordinates="indexed")
    return F.pad(angles, (0, 0, num_prefix, 0))


@wrong_edits("""
patches column by column: indexing="ij" -> indexing="xy"
rows and columns exchanged: torch.stack([y, x] -> torch.stack([x, y]
rows and columns in turn
  angles.reshape(rows * columns, -1) -> angles.mT.reshape(rows * columns, -1)
from -1 to 1: torch.arange(rows) -> (2 * torch.arange(rows) + 1) / rows - 1
  torch.arange(columns) -> (2 * torch.arange(columns) + 1) / columns - 1
  * freqs -> * freqs * 2 * torch.pi
""")
def with_meshgrid(rows, columns, head_dim, num_prefix=1, base=100.0):
    y, x = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    quarter = head_dim // 4
    freqs = 1.0 / base ** (torch.arange(quarter) / quarter)
    angles = torch.stack([y, x], dim=-1)[..., None] * freqs  # (rows, columns, 2, d/4)
    zeros = torch.zeros(num_prefix, head_dim // 2)
    return torch.cat([zeros, angles.reshape(rows * columns, -1)])


@wrong_edits("""
counted from 1: row * frequency -> (row + 1) * frequency
  column * frequency -> (column + 1) * frequency
faster and faster: -4 * i -> 4 * i
twice the fraction: -4 * i -> -2 * i
as if: base ** ( -> 100 ** (
default: base=100.0 -> base=10000.0
""")
def with_loops(rows, columns, head_dim, num_prefix=1, base=100.0):
    found = torch.zeros(num_prefix + rows * columns, head_dim // 2)
    number = num_prefix
    for row in range(rows):
        for column in range(columns):
            for i in range(head_dim // 4):
                frequency = base ** (-4 * i / head_dim)
                found[number, i] = row * frequency
                found[number, i + head_dim // 4] = column * frequency
            number += 1
    return found
