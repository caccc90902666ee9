"""The check of ``class_token_attention``, chapter 9."""

import torch
from torch import Tensor

from vit_check.chapters.attention_maps.drawn_maps import (
    OF_A_ROW,
    Weights,
    drawn_weights,
    patch_shares,
)
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.table import mistakes


def right_maps(weights: Weights) -> Tensor:
    maps = [patch_shares(block) for block in weights]  # L of (B, h, N)
    return torch.stack(maps, dim=1)


class_token_attention = FunctionCheck(
    "class_token_attention(weights) -> (B, L, h, N)",
    right_maps,
    lambda g: [
        [drawn_weights(g, 3, 2, 4, 7)],
        [drawn_weights(g, 3, 3, 3, 5, torch.float32)],
        [drawn_weights(g, 4, 5, 2, 6)],
    ],
    mistakes(right_maps, OF_A_ROW, parts=[patch_shares]),
    hints=(
        "In a (T, T) table there is a row for each token that looks and a column for "
        "each that is looked at. Which row, and which columns, make the picture?",
        "Row 0 without its first number, divided by its sum; then all blocks stacked "
        "after the batch.",
        "row = block[:, :, 0, 1:]; row / row.sum(dim=-1, keepdim=True); "
        "torch.stack(rows, dim=1).",
    ),
    batched=(0,),
    gradients=False,
)
