import torch
from einops import rearrange

from tests.checks.answers import right, wrong
from tests.checks.answers.swin_and_deit.windows import cut_with_loops


@right("window_partition")
def cut_as_swin_does(x, window_size):
    B, H, W, C = x.shape
    x = x.view(B, H // window_size, window_size, W // window_size, window_size, C)
    windows = x.permute(0, 1, 3, 2, 4, 5).contiguous()
    return windows.view(-1, window_size * window_size, C)


@right("window_partition")
def cut_with_unfold(x, window_size):
    w = window_size
    windows = x.unfold(1, w, w).unfold(2, w, w)  # (B, H/w, W/w, C, w, w)
    return windows.permute(0, 1, 2, 4, 5, 3).flatten(3, 4).flatten(0, 2)


@wrong("window_partition", "no transpose")
def cut_with_one_view(x, window_size):
    return x.contiguous().view(-1, window_size**2, x.size(-1))


@wrong("window_partition", "not flattened")
def cut_and_left_square(x, window_size):
    B, H, W, C = x.shape
    x = x.view(B, H // window_size, window_size, W // window_size, window_size, C)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, window_size, window_size, C)


@wrong("window_partition", "columns first inside")
def cut_with_the_wrong_letters(x, window_size):
    w = window_size
    return rearrange(x, "b (m i) (n j) c -> (b m n) (j i) c", i=w, j=w)


@wrong("window_partition", "windows column by column")
def cut_down_the_map(x, window_size):
    w = window_size
    return rearrange(x, "b (m i) (n j) c -> (b n m) (i j) c", i=w, j=w)


@wrong("window_partition", "windows before images")
def cut_and_concatenated(x, window_size):
    w, windows = window_size, []
    for top in range(0, x.shape[1], w):
        for left in range(0, x.shape[2], w):
            windows.append(x[:, top : top + w, left : left + w].flatten(1, 2))
    return torch.cat(windows)


@wrong("window_partition", "images apart")
def cut_and_stacked(x, window_size):
    w, windows = window_size, []
    for top in range(0, x.shape[1], w):
        for left in range(0, x.shape[2], w):
            windows.append(x[:, top : top + w, left : left + w].flatten(1, 2))
    return torch.stack(windows, dim=1)


@wrong("window_partition", "dilated")
def cut_with_letters_in_the_wrong_place(x, window_size):
    w = window_size
    return rearrange(x, "b (i m) (j n) c -> (b m n) (i j) c", i=w, j=w)


@wrong("window_partition", "size taken for number")
def cut_into_a_number_of_windows(x, window_size):
    w = window_size
    return rearrange(x, "b (m i) (n j) c -> (b m n) (i j) c", m=w, n=w)


@wrong("window_partition", "a list of windows")
def cut_into_a_list(x, window_size):
    return list(cut_with_loops(x, window_size))


@wrong("window_partition", "no gradient")
def cut_by_numpy(x, window_size):
    return torch.stack([window.detach() for window in cut_with_loops(x, window_size)])


@wrong("window_partition", "raises")
def cut_with_height_for_width(x, window_size):
    B, H, _, C = x.shape
    m = H // window_size
    x = x.view(B, m, window_size, m, window_size, C)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, window_size**2, C)


@right("window_partition")
def by_unfolding(x, window_size):
    w = window_size
    windows = x.unfold(1, w, w).unfold(2, w, w)  # (B, H/w, W/w, C, w, w)
    return windows.permute(0, 1, 2, 4, 5, 3).flatten(3, 4).flatten(0, 2)
