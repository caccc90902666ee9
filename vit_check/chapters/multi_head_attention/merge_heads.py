from torch import Tensor

from vit_check.engine.functions import checked_by

TABLE = """
merge_heads(x) -> (B, T, D)
  moves sample head token number -> sample token number
  float32(2, 3, 5, 4)
  float64(3, 7, 4, 2)
  bfloat16(2, 2, 3, 4)
  float32(2, 2, 6, 4)
view instead of transpose: transpose(1, 2).flatten(2) -> reshape(len(x), x.shape[2], -1)
    your heads are joined before h and T are swapped back: tokens mix
averaged: transpose(1, 2).flatten(2) -> mean(dim=1)
    the heads are averaged, (B, T, d): put them side by side, (B, T, h·d)
averaged and repeated: transpose(1, 2).flatten(2) -> mean(dim=1).repeat(1, 1, len(x[0]))
    the heads are averaged, and the average repeated: put them side by side
d before h: transpose(1, 2) -> permute(0, 2, 3, 1)
    the heads are interleaved, but the d numbers of a head should stay together
heads along the tokens: transpose(1, 2).flatten(2) -> flatten(1, 2)
    the heads are put one below the other, (B, h·T, d), expected side by side
T and h mixed up: flatten(2) -> reshape(*x.shape[:2], -1)
    the last reshape has h where T belongs: after the transpose it is (B, T, h, d)
? It is split_heads backwards: merge_heads(split_heads(x, h)) should be x.
? h has to be beside d before the two can become one axis.
? x.transpose(1, 2), then .reshape(B, T, h * d).
"""


@checked_by(TABLE, batched=(0,))
def merge_heads(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)
