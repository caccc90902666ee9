from vit_check.engine.functions import FunctionCheck
from vit_steps.embedding import sincos_position_embedding as right_sincos

TABLE = """
sincos_position_embedding(embed_dim, grid_size, cls_token=True) -> (1, 1 + N, D)
  16, (3, 5), True
  24, (4, 2), False
  12, (6, 7)
column first: [row_code, column_code] -> [column_code, row_code]
    the first half of the numbers tells the column, expected the row
sizes exchanged: rows, columns = as_pair -> columns, rows = as_pair
    the grid's rows and columns are exchanged: grid_size is (rows, columns), and a row
    holds as many patches as there are columns
in turns: torch.cat([angles.sin(), angles.cos()], dim=1)
  -> torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)
    sines and cosines take turns in each half; expected all sines, then all cosines
cosine first: [angles.sin(), angles.cos()] -> [angles.cos(), angles.sin()]
    the cosines come before the sines
one dimension: as_pair(grid_size, "grid_size") -> (math.prod(grid_size), 1)
  embed_dim // 4 -> embed_dim // 2
  [row_code, column_code] -> [row_code]
    this is the code for a sentence: one half is to tell the row, one the column
exponent of D: / (embed_dim // 4) -> / (embed_dim // 2)
    the exponents are i/(D/2), expected i/(D/4): the clocks slow down half as fast
clocks from 1: torch.arange(embed_dim // 4, -> torch.arange(1, embed_dim // 4 + 1,
    the clocks are counted from 1, expected from 0: clock 0 turns by 1 radian a step
rows alone: [row_code, column_code] -> [row_code, row_code]
    both halves tell the row; the second is to tell the column
exponent doubled: / (embed_dim // 4) -> / (embed_dim / 8)
    the exponents are 2i/(D/4), expected i/(D/4): twice what they should be
end included: / (embed_dim // 4) -> / (embed_dim // 4 - 1)
    the exponent of the last clock is 1: D/4 clocks have exponents i/(D/4), below 1
class token at place 0
  F.pad(positions, (0, 0, 1, 0)) -> torch.cat([positions[:, :1], positions], dim=1)
    the class token gets the first patch's code; it is not in the grid, and gets zeros
from 1: torch.arange(length) -> torch.arange(1, length + 1)
    rows and columns are counted from 1, expected from 0
? Print the positions for embed_dim 8 on a grid of 2 by 3. Which four numbers stay the
  same along a row? They tell the row.
? Each half has D/4 clocks. Clock i turns by 10000**(-i / (D/4)) a step: sines of all
  clocks, then cosines; first for the row, then for the column.
? angles = place[:, None] * 10000 ** -(torch.arange(D // 4) / (D // 4));
  torch.cat([angles.sin(), angles.cos()], dim=1) is one half; expand it over the other
  axis of the grid, join the halves, flatten the grid, put a row of zeros in front.
"""

sincos_position_embedding = FunctionCheck(right_sincos, TABLE)
