"""The check of ``class_token_attention``, chapter 9."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from vit_check.chapters.attention_maps.drawn_maps import (
    ROWS,
    Weights,
    drawn_weights,
    shares,
)
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake
from vit_steps import attention_maps as right


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
        *(Mistake(name, text, partial(_mapped, row=row)) for name, text, row in ROWS),
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
        "In a (T, T) table there is a row for each token that looks and a column for "
        "each that is looked at. Which row, and which columns, make the picture?",
        "Row 0 without its first number, divided by its sum; then all blocks stacked "
        "after the batch.",
        "row = block[:, :, 0, 1:]; row / row.sum(dim=-1, keepdim=True); "
        "torch.stack(rows, dim=1).",
    ),
    shape="(B, L, h, N)",
    batched=(0,),
    gradients=False,
)
