import itertools

from einops import rearrange

from tests.checks.answers import wrong_edits


@wrong_edits("""
columns first: (i j) -> (j i)
order: (b m n) -> (b n m)
dilated: (m i) (n j) -> (i m) (j n)
not joined: b (m i) (n j) c -> b m i n j c
reshape: n=n) -> n=n).squeeze()
""")
def paste_with_einops(windows, height, width):
    w = int(windows.shape[1] ** 0.5)
    m, n = height // w, width // w
    return rearrange(windows, "(b m n) (i j) c -> b (m i) (n j) c", i=w, m=m, n=n)


@wrong_edits("""
no transpose: .permute(0, 1, 3, 2, 4, 5) -> nothing
as if
  = lambda windows, height, width: paste_as_swin_does(windows, width, height)
map flattened: height, width, -1 -> height * width, -1
none: return x.permute -> x.permute
""")
def paste_as_swin_does(windows, height, width):
    w = round(windows.shape[1] ** 0.5)
    B = windows.shape[0] // ((height // w) * (width // w))
    x = windows.view(B, height // w, width // w, w, w, -1)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(B, height, width, -1)


def paste_with_loops(windows, height, width):
    w = round(windows.shape[1] ** 0.5)
    count = (height // w) * (width // w)
    maps = windows.new_zeros(len(windows) // count, height, width, windows.shape[2])
    tops, lefts = range(0, height, w), range(0, width, w)
    for number, (top, left) in enumerate(itertools.product(tops, lefts)):
        piece = windows[number::count].unflatten(1, (w, w))
        maps[:, top : top + w, left : left + w] = piece
    return maps
