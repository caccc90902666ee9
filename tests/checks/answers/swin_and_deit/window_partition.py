from tests.checks.answers import right, wrong, wrong_edits
from tests.checks.answers.swin_and_deit._windows import cut_with_einops, cut_with_loops

right(cut_with_einops)
right(cut_with_loops)


@wrong_edits("""
no transpose: .permute(0, 1, 3, 2, 4, 5) -> nothing
not flattened: window_size * window_size, C -> window_size, window_size, C
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


OF_CUT_WITH_EINOPS = """
moved: (i j) -> (j i)
moved: (b m n) -> (b n m)
dilated: (m i) (n j) -> (i m) (j n)
size taken for number: i=w, j=w -> m=w, n=w
"""


OF_CUT_WITH_LOOPS = """
a list of windows: torch.stack(windows) -> windows
no gradient: torch.stack(windows) -> torch.stack(windows).detach()
"""

wrong_edits(OF_CUT_WITH_EINOPS)(cut_with_einops)
wrong_edits(OF_CUT_WITH_LOOPS)(cut_with_loops)


@wrong("reshape")
def squeezed(x, window_size):
    return cut_with_einops(x, window_size).squeeze()
