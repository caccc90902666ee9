"""The check of ``class_token_to_patches``, chapter 9."""

from collections.abc import Iterator

import torch
from torch import Generator

from vit_check.chapters.attention_maps.drawn_maps import ROWS, drawn_weights, shares
from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake
from vit_steps import attention_maps as right


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
        *(Mistake(name, text, row) for name, text, row in ROWS),
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
