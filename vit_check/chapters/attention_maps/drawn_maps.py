"""Attention maps that the checks of chapter 9 draw, and what goes wrong with them."""

import torch
from torch import Generator, Tensor

from vit_check.engine.drawing import normal

Weights = list[Tensor]


def drawn_weights(
    generator: Generator,
    blocks: int,
    B: int,
    h: int,
    T: int,
    dtype: torch.dtype = torch.float64,
) -> Weights:
    """Return attention as a model has it: rows that sum to 1, no two of them alike."""
    return [
        (1.5 * normal(generator, B, h, T, T)).softmax(dim=-1).to(dtype)
        for _ in range(blocks)
    ]


def patch_shares(attention: Tensor) -> Tensor:
    """Return the class token's row, which may be all zeros: (..., T, T) -> (..., N)."""
    paid = attention[..., 0, 1:]
    total = paid.sum(dim=-1, keepdim=True)
    return paid / total.clamp_min(1e-12)


OF_A_ROW = """
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
"""
