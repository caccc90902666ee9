import torch
from torch import Tensor

from vit_check.engine.functions import FunctionCheck


def patch_shares(attention: Tensor) -> Tensor:
    """Divide the class token's row by its sum, if not 0: (..., T, T) -> (..., N)."""
    paid = attention[..., 0, 1:]
    total = paid.sum(dim=-1, keepdim=True)
    return paid / total.clamp_min(1e-12)


def right_maps(weights: list[Tensor]) -> Tensor:
    maps = [patch_shares(block) for block in weights]  # L of (B, h, N)
    return torch.stack(maps, dim=1)


TABLE = """
class_token_attention(weights) -> (B, L, h, N)
  [*(1.5 * float64(3, 2, 4, 7, 7)).softmax(-1)]
  [*(1.5 * float32(3, 3, 3, 5, 5)).softmax(-1)]
  [*(1.5 * float64(4, 5, 2, 6, 6)).softmax(-1)]
not divided: / total.clamp_min(1e-12) -> nothing
    the shares do not sum to 1: what the class token pays to itself is left out, and the
    rest is not divided by its sum
class token kept: [..., 0, 1:] -> [..., 0, :]
    the class token's own share is still in the row: it has no place in the picture
last token dropped: [..., 0, 1:] -> [..., 0, :-1]
    the last token is dropped instead of the first: the class token is at index 0, and
    every patch's share stands one place too late
column for row: [..., 0, 1:] -> [..., 1:, 0]
    the column of the class token is taken, what the patches pay to it; its row is what
    it pays to them
class token last: [..., 0, 1:] -> [..., -1, :-1]
    the class token is taken to be the last token; it is at index 0
softmax again: paid / total.clamp_min(1e-12) -> paid.softmax(dim=-1)
    a softmax is taken of shares, which levels them out: divide by their sum
divided by the largest: paid.sum -> paid.amax
    the row is divided by its largest share, expected by its sum: maps of different
    images could no longer be compared
divided by the root of the squares: paid.sum -> paid.norm
    the row is divided by the root of its squares' sum, as F.normalize does unless it is
    told p=1, expected by its sum
stretched from 0 to 1
  [..., 0, 1:] -> [..., 0, 1:] - attention[..., 0, 1:].amin(dim=-1, keepdim=True)
  paid.sum -> paid.amax
    the row is stretched until its smallest share is 0 and its largest 1: it does not
    sum to 1, and says nothing any more about how level it was
divided over the heads: paid.sum(dim=-1 -> paid.sum(dim=-2
    the shares are divided by their sum over the heads, expected over the patches
? In a (T, T) table there is a row for each token that looks and a column for each that
  is looked at. Which row, and which columns, make the picture?
? Row 0 without its first number, divided by its sum; then all blocks stacked after the
  batch.
? row = block[:, :, 0, 1:]; row / row.sum(dim=-1, keepdim=True); torch.stack(rows,
  dim=1).
"""

class_token_attention = FunctionCheck(
    right_maps, TABLE, parts=[patch_shares], batched=(0,), gradients=False
)
