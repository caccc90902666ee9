from torch import Tensor

from vit_check.engine.functions import checked_by

TABLE = """
reorder_qkv(rows, num_heads) -> the same rows, those of q first, then k, then v
  moves row column -> row column
  float32(3 * 20, 20), 4
  float32(3 * 20), 4
  float64(3 * 8, 8), 2
  float64(3 * 8), 2
left as they were: .transpose(0, 1) -> nothing
    the rows are in the order in which they came: a reshape there and back moves nothing
the other way: (num_heads, 3 -> (3, num_heads
    the rows are moved the other way: they come as (h, 3, d) and leave as (3, h, d)
d before h: transpose(0, 1) -> movedim(0, 2)
    within q, k and v the heads' rows are mixed: a head's d rows should stay together
read as (h, d, 3): 3, -1)).transpose(0, 1) -> -1, 3)).movedim(2, 0)
    the rows are read as (h, d, 3), q, k and v in turn; they come as (h, 3, d)
d first: transpose(0, 1) -> movedim(2, 0)
    number 0 of all heads comes first: d is moved to the front, but the 3 belongs there
? Write a label on each row, such as k1.0 for number 0 of head 1's key, for two heads of
  two numbers. In which order do they come, and in which should they be?
? Cut the row axis into (h, 3, d), bring the 3 to the front, join the three again.
? rows.unflatten(0, (num_heads, 3, -1)), then .transpose(0, 1), then .flatten(0, 2).
"""


@checked_by(TABLE, shape="(3·D, ...)")
def reorder_qkv(rows: Tensor, num_heads: int) -> Tensor:
    return rows.unflatten(0, (num_heads, 3, -1)).transpose(0, 1).flatten(0, 2)
