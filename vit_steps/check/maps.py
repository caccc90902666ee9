"""Checks of chapter 9: the class token's attention as maps."""

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from vit_steps import attention_maps as right
from vit_steps.check.checking import Case
from vit_steps.check.function_check import FunctionCheck
from vit_steps.check.verdict import Mistake

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


def _mapped(
    weights: Weights,
    row: Callable[[Tensor], Tensor] = lambda a: shares(a[..., 0, 1:]),
    order: str = "(B, L, h, N)",
) -> Tensor:
    """The class token's maps with a place for each usual mistake."""
    maps = [row(block) for block in weights]  # L of (B, h, N)
    return {
        "(B, L, h, N)": lambda: torch.stack(maps, dim=1),
        "(L, B, h, N)": lambda: torch.stack(maps),
        "(B, h, L, N)": lambda: torch.stack(maps, dim=2),
        "(B, L, N)": lambda: torch.stack(maps, dim=1).mean(dim=2),
        "last block": lambda: maps[-1],
        "over blocks": lambda: torch.stack(maps, dim=1).mean(dim=1),
        "reversed": lambda: torch.stack(maps[::-1], dim=1),
    }[order]()


_ROWS: list[tuple[str, str, Callable[[Tensor], Tensor]]] = [
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
        "mean over all rows",
        "the rows of all tokens are averaged, expected the class token's alone",
        lambda a: shares(a[..., 1:].mean(dim=-2)),
    ),
]

class_token_attention = FunctionCheck(
    "class_token_attention",
    "class_token_attention(weights) -> (B, L, h, N)",
    right.class_token_attention,
    lambda g: iter(
        [
            [drawn_weights(g, 3, 2, 4, 7)],
            [drawn_weights(g, 3, 3, 3, 5, torch.float32)],
            [drawn_weights(g, 4, 5, 2, 6)],
        ]
    ),
    [
        *(Mistake(name, text, partial(_mapped, row=row)) for name, text, row in _ROWS),
        Mistake(
            "blocks first",
            "the blocks stand before the batch, (L, B, h, N), expected (B, L, h, N)",
            partial(_mapped, order="(L, B, h, N)"),
        ),
        Mistake(
            "heads before blocks",
            "the heads stand before the blocks, (B, h, L, N), expected (B, L, h, N)",
            partial(_mapped, order="(B, h, L, N)"),
        ),
        Mistake(
            "heads averaged",
            "the heads are averaged, which hides what a single one does: keep them",
            partial(_mapped, order="(B, L, N)"),
        ),
        Mistake(
            "last block alone",
            "only the last block's map is returned, expected every block's",
            partial(_mapped, order="last block"),
        ),
        Mistake(
            "blocks averaged",
            "the blocks are averaged, expected each by itself",
            partial(_mapped, order="over blocks"),
        ),
        Mistake(
            "blocks reversed",
            "the last block comes first",
            partial(_mapped, order="reversed"),
        ),
        Mistake(
            "a list of blocks",
            "the blocks are returned one by one, expected one tensor (B, L, h, N)",
            lambda weights: [shares(a[..., 0, 1:]) for a in weights],
        ),
    ],
    hints=(
        "In a (T, T) table, row is who asks and column who is asked. Which row, and "
        "which columns, make the picture?",
        "Row 0 without its first number, divided by its sum; then all blocks stacked "
        "behind the batch.",
        "row = block[:, :, 0, 1:]; row / row.sum(dim=-1, keepdim=True); "
        "torch.stack(rows, dim=1).",
    ),
    shape="(B, L, h, N)",
    batched=(0,),
    gradients=False,
)


def _with_a_lonely_token(generator: Generator) -> Iterator[Case]:
    yield [drawn_weights(generator, 1, 2, 3, 6)[0]]
    yield [drawn_weights(generator, 1, 3, 1, 5, torch.float32)[0][:, 0]]
    lonely = drawn_weights(generator, 1, 2, 4, 4)[0]
    lonely[1, 2, 0] = torch.tensor([1.0, 0.0, 0.0, 0.0])
    yield [lonely]


class_token_to_patches = FunctionCheck(
    "class_token_to_patches",
    "class_token_to_patches(attention) -> (..., N)",
    right.class_token_to_patches,
    _with_a_lonely_token,
    [
        *(Mistake(name, text, row) for name, text, row in _ROWS),
        Mistake(
            "row of NaN",
            "where the class token pays the patches nothing, 0 is divided by 0: such a "
            "row should be zeros",
            lambda a: shares(a[..., 0, 1:]),
        ),
        Mistake(
            "divided over everything",
            "all rows of the batch are divided by one sum, expected each row by its "
            "own",
            lambda a: a[..., 0, 1:] / a[..., 0, 1:].sum(),
        ),
    ],
    hints=(
        "Which row of the table is the class token's, and which of its numbers is no "
        "patch's?",
        "Leave the first number of row 0 out and divide by what the others sum to; "
        "look at a row in which that is 0.",
        "row = attention[..., 0, 1:]; total = row.sum(dim=-1, keepdim=True); "
        "row / total.clamp_min(1e-12).",
    ),
    shape="(..., N)",
    batched=(0,),
    gradients=False,
)
