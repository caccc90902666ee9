from vit_check.engine.functions import FunctionCheck
from vit_steps.variants import swin

TABLE = """
relative_position_index(window_size) -> (w², w²)
  3
  2
  4
  1
key minus query: difference + -> difference.mT +
    the table is transposed: it is that of key minus query, expected query minus key
rows and columns swapped: down, across = -> across, down =
    rows and columns are swapped: either the columns' difference is multiplied by 2w - 1
    where the rows' should be, or the tokens of a window are numbered down its columns
rows by w: 2 * window_size - 1 -> window_size
    the rows' difference is multiplied by w, expected by 2w - 1, as columns differ
rows by 2w: 2 * window_size - 1 -> 2 * window_size
    the rows' difference is multiplied by 2w, expected by 2w - 1
brackets missing: down * (2 * window_size - 1) -> down * 2 * window_size - 1
    the rows' difference is multiplied by 2w, less 1: brackets around 2w - 1 are missing
only added: down * (2 * window_size - 1) -> down
    the differences are added as they are: one down and one across are the same
not shifted: difference + window_size - 1 -> difference
    the numbers begin below 0: add w - 1 to both differences before one is multiplied
columns not shifted: + across -> + across - window_size + 1
    the rows' difference is shifted to begin at 0 and the columns' is not
shifted by w: difference + window_size - 1 -> difference + window_size
    the differences are shifted by w, so that the numbers do not begin at 0
without sign: difference + window_size - 1 -> difference.abs()
    the differences have lost their sign: left and right of a token get the same number
? Take w = 2 and write the difference of rows and of columns for all 16 pairs.
? Shift both differences so that they begin at 0. A number with two digits then names
  the pair: how many values can the second digit take?
? (row_q - row_k + w - 1) * (2 * w - 1) + (column_q - column_k + w - 1).
"""

relative_position_index = FunctionCheck(swin.relative_position_index, TABLE)
