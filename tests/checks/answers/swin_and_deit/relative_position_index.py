import itertools

import torch

from tests.checks.answers import wrong_edits


@wrong_edits("""
key minus query
  coords[:, :, None] - coords[:, None, :] -> coords[:, None, :] - coords[:, :, None]
rows by w: 2 * window_size - 1 -> window_size
rows and columns swapped: "ij" -> "xy"
only added: relative[:, :, 0] *= 2 * window_size - 1 -> nothing
without sign: permute(1, 2, 0) -> abs().permute(1, 2, 0)
  += window_size - 1 -> += 0
columns not shifted: relative[:, :, 1] += window_size - 1 -> nothing
""")
def index_as_swin_does(window_size):
    coords = torch.stack(
        torch.meshgrid(
            torch.arange(window_size), torch.arange(window_size), indexing="ij"
        )
    ).flatten(1)
    relative = (coords[:, :, None] - coords[:, None, :]).permute(1, 2, 0).contiguous()
    relative[:, :, 0] += window_size - 1
    relative[:, :, 1] += window_size - 1
    relative[:, :, 0] *= 2 * window_size - 1
    return relative.sum(-1)


def index_with_loops(window_size):
    places = list(itertools.product(range(window_size), repeat=2))
    differences = sorted({(a - c, b - d) for a, b in places for c, d in places})
    return torch.tensor(
        [[differences.index((a - c, b - d)) for c, d in places] for a, b in places]
    )


@wrong_edits("dtype: .int() -> .float()")
def index_by_division(window_size):
    token, side = torch.arange(window_size**2), 2 * window_size - 1
    code = token // window_size * side + token % window_size
    return (code[:, None] - code[None, :] + (side**2 - 1) // 2).int()
