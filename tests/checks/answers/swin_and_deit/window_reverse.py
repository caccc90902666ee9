import itertools

from einops import rearrange

from tests.checks.answers import right, wrong


@right("window_reverse")
def paste_with_einops(windows, height, width):
    w = int(windows.shape[1] ** 0.5)
    m, n = height // w, width // w
    return rearrange(windows, "(b m n) (i j) c -> b (m i) (n j) c", i=w, m=m, n=n)


@right("window_reverse")
def paste_as_swin_does(windows, height, width):
    w = round(windows.shape[1] ** 0.5)
    B = windows.shape[0] // ((height // w) * (width // w))
    x = windows.view(B, height // w, width // w, w, w, -1)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(B, height, width, -1)


@right("window_reverse")
def paste_with_loops(windows, height, width):
    w = round(windows.shape[1] ** 0.5)
    count = (height // w) * (width // w)
    maps = windows.new_zeros(len(windows) // count, height, width, windows.shape[2])
    tops, lefts = range(0, height, w), range(0, width, w)
    for number, (top, left) in enumerate(itertools.product(tops, lefts)):
        piece = windows[number::count].unflatten(1, (w, w))
        maps[:, top : top + w, left : left + w] = piece
    return maps


@wrong("window_reverse", "no transpose")
def paste_with_one_view(windows, height, width):
    return windows.view(-1, height, width, windows.shape[-1])


@wrong("window_reverse", "columns first inside")
def paste_turned(windows, height, width):
    w = int(windows.shape[1] ** 0.5)
    m, n = height // w, width // w
    return rearrange(windows, "(b m n) (j i) c -> b (m i) (n j) c", i=w, m=m, n=n)


@wrong("window_reverse", "windows column by column")
def paste_down_the_map(windows, height, width):
    w = int(windows.shape[1] ** 0.5)
    m, n = height // w, width // w
    return rearrange(windows, "(b n m) (i j) c -> b (m i) (n j) c", i=w, m=m, n=n)


@wrong("window_reverse", "height and width swapped")
def paste_on_a_map_that_lies(windows, height, width):
    return paste_as_swin_does(windows, width, height)


@wrong("window_reverse", "images in between")
def paste_windows_first(windows, height, width):
    w = int(windows.shape[1] ** 0.5)
    m, n = height // w, width // w
    return rearrange(windows, "(m n b) (i j) c -> b (m i) (n j) c", i=w, m=m, n=n)


@wrong("window_reverse", "dilated")
def paste_scattered(windows, height, width):
    w = int(windows.shape[1] ** 0.5)
    m, n = height // w, width // w
    return rearrange(windows, "(b m n) (i j) c -> b (i m) (j n) c", i=w, m=m, n=n)


@wrong("window_reverse", "map flattened")
def paste_for_the_next_layer(windows, height, width):
    return paste_with_loops(windows, height, width).flatten(1, 2)


@wrong("window_reverse", "channels first")
def paste_as_an_image(windows, height, width):
    return paste_with_einops(windows, height, width).permute(0, 3, 1, 2)


@wrong("window_reverse", "not joined")
def paste_without_the_last_reshape(windows, height, width):
    w = int(windows.shape[1] ** 0.5)
    m, n = height // w, width // w
    return rearrange(windows, "(b m n) (i j) c -> b m i n j c", i=w, m=m, n=n)


@wrong("window_reverse", "none")
def paste_without_return(windows, height, width):
    paste_with_loops(windows, height, width)
