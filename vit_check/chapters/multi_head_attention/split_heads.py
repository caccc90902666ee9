from torch import Tensor

from vit_check.engine.functions import checked_by

TABLE = """
split_heads(x, num_heads) -> (B, h, T, d)
  moves sample token number -> sample head token number
  float32(2, 5, 12), 3
  float64(3, 4, 14), 7
  bfloat16(2, 3, 8), 2
  float32(2, 6, 8), 2
no transpose: .transpose(1, 2) -> nothing
    the heads come after the tokens, (B, T, h, d): swap these two axes
view instead of transpose
  T, num_heads, D // num_heads).transpose(1, 2) -> num_heads, T, D // num_heads)
    the tokens are cut up: a view to (B, h, T, d) has the right shape, but head 0 then
    gets all numbers of the first tokens; split D first, then transpose
d before h: num_heads, D // num_heads).transpose(1, 2)
  -> D // num_heads, num_heads).permute(0, 3, 1, 2)
    D is split as (d, h): head 0 gets every h-th number, but it should get the first d
tokens split
  T, num_heads, D // num_heads).transpose(1, 2) -> num_heads, T // num_heads, D)
    T is split among the heads instead of D
d is h: num_heads, D // num_heads) -> D // num_heads, num_heads)
    D is cut into pieces of h numbers, expected h pieces of D/h numbers
? Follow one number: token 1, position d of D. Where should it be?
? First split the last axis, D, into h and d, then move the heads before the tokens.
? x.reshape(B, T, num_heads, D // num_heads), then .transpose(1, 2).
"""


@checked_by(TABLE, batched=(0,))
def split_heads(x: Tensor, num_heads: int) -> Tensor:
    B, T, D = x.shape
    return x.reshape(B, T, num_heads, D // num_heads).transpose(1, 2)
