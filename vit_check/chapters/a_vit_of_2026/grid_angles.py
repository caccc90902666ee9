import torch
from torch import Tensor
from torch.nn import functional as F

from vit_check.engine.functions import checked_by

TABLE = """
grid_angles(rows, columns, head_dim, num_prefix=1, base=100.0) -> (T, d/2)
  2, 3, 8
  4, 2, 12, 3
  3, 4, 16, 0, 1000.0
rows and columns exchanged: [by_row, by_column] -> [by_column, by_row]
    the first half of the pairs turns with the column, expected with the row
patches column by column: // columns, place % columns -> % rows, place // rows
    the patches are counted down the columns; they come row by row, as they are read
counted from 1: [by_row, by_column] -> [by_row + frequencies, by_column + frequencies]
    rows and columns are counted from 1, expected from 0
from -1 to 1: row[:, None] -> 2 * torch.pi * ((2 * row[:, None] + 1) / rows - 1)
  column[:, None] -> 2 * torch.pi * ((2 * column[:, None] + 1) / columns - 1)
    places run from -1 to 1, as in DINOv3, expected counted from 0
rows and columns in turn: torch.cat([by_row, by_column], dim=1)
  -> torch.stack([by_row, by_column], dim=2).flatten(1)
    a pair that turns with the row and one that turns with the column alternate; the
    first half of the pairs is for the row, the second for the column
faster and faster: base ** - -> base **
    the frequencies grow from 1 to base, expected to fall from 1
with the end: torch.arange(quarter) / quarter -> torch.linspace(0, 1, quarter)
    the last frequency is 1/base: the exponents run up to 1, expected short of it
twice the fraction: / quarter) -> / (2 * quarter))
    the exponents are i/(d/2), as with one axis, expected i/(d/4)
? Write down row and column of every patch of a grid of 2 × 3, in their order.
? d numbers are d/2 pairs, half of them for the row: d/4 frequencies, the same for both
  axes. Multiply, join, put the zeros in front.
? place = torch.arange(rows * columns); place // columns and place % columns, each times
  base ** -(torch.arange(d // 4) / (d // 4)).
"""


@checked_by(TABLE)
def grid_angles(
    rows: int, columns: int, head_dim: int, num_prefix: int = 1, base: float = 100.0
) -> Tensor:
    quarter = head_dim // 4
    frequencies = base ** -(torch.arange(quarter) / quarter)
    place = torch.arange(rows * columns)
    row, column = place // columns, place % columns
    by_row = row[:, None] * frequencies
    by_column = column[:, None] * frequencies
    angles = torch.cat([by_row, by_column], dim=1)
    return F.pad(angles, (0, 0, num_prefix, 0))
