import torch
from torch import Tensor

from vit_check.engine.functions import checked_by

TABLE = """
drop_registers(tokens, num_registers) -> (B, 1 + N, D)
  moves image token number -> image token number
  float32(3, 1 + 3 + 7, 5), 3
  float64(2, 1 + 4 + 70, 3), 4
  float32(2, 1 + 0 + 4, 6), 0
  float32(2, 1 + 1 + 5, 4), 1
class token dropped: = lambda tokens, R: tokens[:, R:]
    the class token is gone and the last register is not, expected the other way round
class token dropped as well: [first, rest] -> [rest]
    the class token is dropped with the registers
last tokens dropped: = lambda tokens, R: tokens[:, : tokens.shape[1] - R]
    the last R tokens, patches, are dropped, expected tokens 1 to R
one too few: 1 + num_registers -> num_registers
    one register is left: they are tokens 1 to R, so the patches begin at 1 + R
one too many: 1 + num_registers -> 2 + num_registers
    a patch is dropped with the registers, expected tokens 1 to R and no more
? Write the order of the tokens down for R = 2 and three patches, with their places.
? Token 0 stays, tokens 1 to R go, the rest stays.
? torch.cat([tokens[:, :1], tokens[:, 1 + num_registers :]], dim=1).
"""


@checked_by(TABLE, batched=(0,))
def drop_registers(tokens: Tensor, num_registers: int) -> Tensor:
    first, rest = tokens[:, :1], tokens[:, 1 + num_registers :]
    return torch.cat([first, rest], dim=1)
