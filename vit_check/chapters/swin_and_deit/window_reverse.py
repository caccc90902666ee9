from vit_check.engine.functions import FunctionCheck
from vit_steps.variants import swin

TABLE = """
window_reverse(windows, height, width) -> (B, rows, columns, D)
  moves window token number -> image row column number
  float32(2 * 2 * 3, 9, 5), 6, 9
  float64(3 * 2 * 5, 16, 7), 8, 20
  float32(2 * 2 * 3, 4, 3), 4, 6
  float32(1, 4, 3), 2, 2
no transpose: .transpose(2, 3) -> nothing
    the windows are laid one after the other: the axis of the windows side by side and
    that of a window's rows are to change places before the last reshape
dilated: transpose(2, 3) -> permute(0, 3, 1, 4, 2, 5)
    rows of windows are joined as (w, rows/w), expected as (rows/w, w)
columns first: .transpose(2, 3) -> .permute(0, 1, 4, 2, 3, 5)
    inside a window the tokens are laid down its columns, expected along its rows
not joined: .reshape(-1, height, width, D) -> nothing
    the windows are in their places but not joined to (B, rows, columns, D)
map flattened: height, width, D -> height * width, D
    the map is a list of tokens, (B, rows·columns, D), expected (B, rows, columns, D)
? Cut a small map with numbered tokens, put it back: where does the second window begin?
? Go the way of the cut backwards: split the first axis into images, rows and columns of
  windows, the second into w and w; swap; join.
? windows.reshape(-1, height // w, width // w, w, w, D), then .transpose(2, 3), then
  .reshape(-1, height, width, D), with w the root of windows.shape[1].
"""

window_reverse = FunctionCheck(swin.window_reverse, TABLE)
