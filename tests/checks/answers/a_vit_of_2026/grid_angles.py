import torch
from torch.nn import functional as F

from tests.checks.answers import right, wrong, wrong_edits
from vit_steps.variants.rotary import rope_angles


@right("grid_angles")
def with_the_package(rows, columns, head_dim, num_prefix=1, base=100.0):
    angles = rope_angles((rows, columns), head_dim, base, coordinates="indexed")
    return F.pad(angles, (0, 0, num_prefix, 0))


@right("grid_angles")
def with_meshgrid(rows, columns, head_dim, num_prefix=1, base=100.0):
    y, x = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    quarter = head_dim // 4
    freqs = 1.0 / base ** (torch.arange(quarter) / quarter)
    angles = torch.stack([y, x], dim=-1)[..., None] * freqs  # (rows, columns, 2, d/4)
    zeros = torch.zeros(num_prefix, head_dim // 2)
    return torch.cat([zeros, angles.reshape(rows * columns, -1)])


@right("grid_angles")
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


@wrong("grid_angles", "one angle for both axes")
def rows_twice(rows, columns, head_dim, num_prefix=1, base=100.0):
    angles = with_the_package(rows, columns, head_dim, num_prefix, base)
    return angles[:, : head_dim // 4].repeat(1, 2)


OF_MESHGRID = """
patches column by column
  indexing="ij" -> indexing="xy"
rows and columns exchanged
  torch.stack([y, x] -> torch.stack([x, y]
one angle for both axes
  torch.stack([y, x] -> torch.stack([y, y]
rows and columns in turn
  angles.reshape(rows * columns, -1) -> angles.mT.reshape(rows * columns, -1)
from -1 to 1
  torch.arange(rows) -> (2 * torch.arange(rows) + 1) / rows - 1
  torch.arange(columns) -> (2 * torch.arange(columns) + 1) / columns - 1
  * freqs -> * freqs * 2 * torch.pi
no prefix
  torch.cat([zeros, angles.reshape(rows * columns, -1)])
  -> angles.reshape(rows * columns, -1)
"""

OF_LOOPS = """
counted from 1
  row * frequency -> (row + 1) * frequency
  column * frequency -> (column + 1) * frequency
degrees
  row * frequency -> math.degrees(row * frequency)
  column * frequency -> math.degrees(column * frequency)
faster and faster
  -4 * i -> 4 * i
twice the fraction
  -4 * i -> -2 * i
no effect
  base ** ( -> 100 ** (
default
  base=100.0 -> base=10000.0
no prefix
  num_prefix=1 -> num_prefix=0
"""

wrong_edits("grid_angles", with_meshgrid, OF_MESHGRID)
wrong_edits("grid_angles", with_loops, OF_LOOPS)
