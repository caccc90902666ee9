"""The check of ``class_token_to_patches``, chapter 9."""

from collections.abc import Iterator

import torch
from torch import Generator

from vit_check.chapters.attention_maps.drawn_maps import (
    OF_A_ROW,
    drawn_weights,
    patch_shares,
)
from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.table import mistakes


def _with_a_lonely_token(generator: Generator) -> Iterator[Case]:
    yield [drawn_weights(generator, 1, 2, 3, 6)[0]]
    yield [drawn_weights(generator, 1, 3, 1, 5, torch.float32)[0][:, 0]]
    lonely = drawn_weights(generator, 1, 2, 4, 4)[0]
    lonely[1, 2, 0] = torch.tensor([1.0, 0.0, 0.0, 0.0])
    yield [lonely]


MISTAKES = """
row of NaN
  .clamp_min(1e-12) -> nothing
    where the class token pays the patches nothing, 0 is divided by 0: such a row should
    be zeros
divided over everything
  paid.sum(dim=-1, keepdim=True) -> paid.sum()
    all rows of the batch are divided by one sum, expected each row by its own
"""

class_token_to_patches = FunctionCheck(
    "class_token_to_patches",
    "class_token_to_patches(attention) -> (..., N)",
    patch_shares,
    _with_a_lonely_token,
    mistakes(patch_shares, OF_A_ROW + MISTAKES),
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
