"""Attention maps that the checks of chapter 9 draw, and what goes wrong with them."""

from collections.abc import Callable

import torch
from torch import Generator, Tensor
from torch.nn import functional as F

Weights = list[Tensor]


def drawn_weights(
    generator: Generator,
    blocks: int,
    B: int,
    h: int,
    T: int,
    dtype: torch.dtype = torch.float64,
) -> Weights:
    """Attention as a model has it: rows that sum to 1, no two alike."""
    return [
        (1.5 * torch.randn(B, h, T, T, generator=generator, dtype=torch.float64))
        .softmax(dim=-1)
        .to(dtype)
        for _ in range(blocks)
    ]


def shares(amounts: Tensor) -> Tensor:
    return amounts / amounts.sum(dim=-1, keepdim=True)


def _stretched(weights: Tensor) -> Tensor:
    row = weights[..., 0, 1:]
    row = row - row.amin(dim=-1, keepdim=True)
    return row / row.amax(dim=-1, keepdim=True)


ROWS: list[tuple[str, str, Callable[[Tensor], Tensor]]] = [
    (
        "not divided",
        "the shares do not sum to 1: what the class token pays to itself is left out, "
        "and the rest is not divided by its sum",
        lambda a: a[..., 0, 1:],
    ),
    (
        "class token kept",
        "the class token's share of itself is still in the row: it has no place in the "
        "picture",
        lambda a: a[..., 0, :],
    ),
    (
        "last token dropped",
        "the last token is dropped instead of the first: the class token is at index "
        "0, and every patch's share stands one place too late",
        lambda a: shares(a[..., 0, :-1]),
    ),
    (
        "column for row",
        "the column of the class token is taken, what the patches pay to it; its row "
        "is what it pays to them",
        lambda a: shares(a[..., 1:, 0]),
    ),
    (
        "last row",
        "the row of the last token is taken for the class token's, which is at index 0",
        lambda a: shares(a[..., -1, 1:]),
    ),
    (
        "class token last",
        "the class token is taken to be the last token; it is at index 0",
        lambda a: shares(a[..., -1, :-1]),
    ),
    (
        "first patch's row",
        "the row of the first patch is taken: index 1 is a patch, 0 the class token",
        lambda a: shares(a[..., 1, 1:]),
    ),
    (
        "softmax again",
        "a softmax is taken of shares, which levels them out: divide by their sum",
        lambda a: a[..., 0, 1:].softmax(dim=-1),
    ),
    (
        "divided by the largest",
        "the row is divided by its largest share, expected by its sum: maps of "
        "different images could no longer be compared",
        lambda a: a[..., 0, 1:] / a[..., 0, 1:].amax(dim=-1, keepdim=True),
    ),
    (
        "divided by the root of the squares",
        "the row is divided by the root of its squares' sum, as F.normalize does "
        "unless it is told p=1, expected by its sum",
        lambda a: F.normalize(a[..., 0, 1:], dim=-1),
    ),
    (
        "stretched from 0 to 1",
        "the row is stretched until its smallest share is 0 and its largest 1: it does "
        "not sum to 1, and says nothing any more about how level it was",
        _stretched,
    ),
    (
        "divided over the heads",
        "the shares are divided by their sum over the heads, expected over the patches",
        lambda a: a[..., 0, 1:] / a[..., 0, 1:].sum(dim=-2, keepdim=True),
    ),
    (
        "mean over all rows",
        "the rows of all tokens are averaged, expected the class token's alone",
        lambda a: shares(a[..., 1:].mean(dim=-2)),
    ),
]
