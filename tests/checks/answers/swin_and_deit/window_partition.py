import torch
from einops import rearrange

from tests.checks.answers import wrong_edits


@wrong_edits("""
columns first: (i j) -> (j i)
order: (b m n) -> (b n m)
    "… along axis 0 it holds what belongs at 0, 3, 1, …"
order: (b m n) -> (m n b)
    "… along axis 0 it holds what belongs at 0, 6, 1, …"
order: (b m n) (i j) -> (m n b) (j i)
    "… belongs at …"
dilated: (m i) (n j) -> (i m) (j n)
size taken for number: i=w, j=w -> m=w, n=w
reshape: j=w) -> j=w).squeeze()
""")
def cut_with_einops(x, window_size):
    w = window_size
    return rearrange(x, "b (m i) (n j) c -> (b m n) (i j) c", i=w, j=w)


@wrong_edits("""
a list of windows: torch.stack(windows) -> windows
no gradient: torch.stack(windows) -> torch.stack(windows).detach()
order: torch.stack(windows) -> torch.stack([windows[0], *windows[:0:-1]])
    "… belongs at …"
order: window.flatten(0, 1)
  -> (window if windows else window.transpose(0, 1)).flatten(0, 1)
    "… belongs at …"
order: torch.stack(windows) -> torch.stack(windows[::-1])
    "… axis 0 it holds what belongs at 11, 10, 9, …"
order: torch.stack(windows) -> torch.stack(windows).roll(1, 1)
    "… axis 1 it holds what belongs at 8, 0, 1, …"
""")
def cut_with_loops(x, window_size):
    windows = []
    for image in x:
        for top in range(0, image.shape[0], window_size):
            for left in range(0, image.shape[1], window_size):
                window = image[top : top + window_size, left : left + window_size]
                windows.append(window.flatten(0, 1))
    return torch.stack(windows)


@wrong_edits("""
no transpose: .permute(0, 1, 3, 2, 4, 5) -> nothing
reshape: window_size * window_size, C -> window_size, window_size, C
raises: W // window_size -> H // window_size
""")
def cut_as_swin_does(x, window_size):
    B, H, W, C = x.shape
    x = x.view(B, H // window_size, window_size, W // window_size, window_size, C)
    windows = x.permute(0, 1, 3, 2, 4, 5).contiguous()
    return windows.view(-1, window_size * window_size, C)


def cut_with_unfold(x, window_size):
    w = window_size
    windows = x.unfold(1, w, w).unfold(2, w, w)  # (B, H/w, W/w, C, w, w)
    return windows.permute(0, 1, 2, 4, 5, 3).flatten(3, 4).flatten(0, 2)
