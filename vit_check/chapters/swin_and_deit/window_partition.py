from vit_check.engine.functions import FunctionCheck
from vit_steps.variants import swin

TABLE = """
window_partition(x, window_size) -> (B·windows, w², D)
  moves image row column number -> window token number
  float32(2, 6, 9, 5), 3
  float64(3, 8, 20, 7), 4
  float32(2, 4, 6, 3), 2
  float32(1, 2, 2, 3), 2
no transpose: .transpose(2, 3) -> nothing
    the windows hold pieces of whole rows: the axis of the windows side by side and that
    of a window's rows are to change places before the last reshape
dilated: rows // w, w, columns // w, w -> w, rows // w, w, columns // w
  transpose(2, 3) -> permute(0, 2, 4, 1, 3, 5)
    a window holds tokens far apart: rows are split as (w, rows/w), expected (rows/w, w)
columns first: .transpose(2, 3) -> .permute(0, 1, 3, 4, 2, 5)
    inside a window the tokens run down the columns, expected along the rows
size taken for number: rows // w, w, columns // w, w -> w, rows // w, w, columns // w
  reshape(-1, w * w, D) -> reshape(B * w * w, -1, D)
    window_size is taken for the number of windows, expected for their side in tokens
a list of windows: = lambda x, w: list(window_partition(x, w))
    the windows are returned one by one, expected one tensor (B·windows, w², D)
? Number the tokens of a 4 × 6 map, cut it into windows of 2, read the first aloud.
? A window needs its w rows and its w columns beside each other. Split the axes of rows
  and of columns into two each, and look at which two have to swap.
? x.reshape(B, rows // w, w, columns // w, w, D).transpose(2, 3).reshape(-1, w * w, D).
"""

window_partition = FunctionCheck(swin.window_partition, TABLE, batched=(0,))
