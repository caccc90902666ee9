"""Checks of chapter 12: the mean of the patches, and registers."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from vit_steps.check.checking import Case
from vit_steps.check.function_check import FunctionCheck
from vit_steps.check.verdict import Mistake


def _tokens_inputs(generator: Generator) -> Iterator[Case]:
    for B, T, D, dtype in (
        (3, 8, 5, torch.float32),
        (2, 6, 4, torch.float64),
        (4, 4, 4, torch.float32),
        (2, 5, 3, torch.bfloat16),
    ):
        yield [(2 * torch.randn(B, T, D, generator=generator) + 0.5).to(dtype)]


mean_pool = FunctionCheck(
    "mean_pool",
    "mean_pool(tokens), class token first -> (B, D)",
    lambda tokens: tokens[:, 1:].mean(dim=1),
    _tokens_inputs,
    [
        Mistake(
            "class token too",
            "the class token is in the mean; the patches alone are asked for",
            lambda t: t.mean(dim=1),
        ),
        Mistake(
            "class token alone",
            "the class token is returned; the mean of the patches is asked for",
            lambda t: t[:, 0],
        ),
        Mistake(
            "last token left out",
            "the last patch is left out and the class token is not: it stands first",
            lambda t: t[:, :-1].mean(dim=1),
        ),
        Mistake(
            "divided by T",
            "the patches are summed and divided by T, which counts the class token; "
            "there are N of them",
            lambda t: t[:, 1:].sum(dim=1) / t.shape[1],
        ),
        Mistake(
            "sum",
            "the patches are summed and not averaged",
            lambda t: t[:, 1:].sum(dim=1),
        ),
        Mistake(
            "largest",
            "the largest number of each column is taken; the mean is asked for",
            lambda t: t[:, 1:].amax(dim=1),
        ),
        Mistake(
            "over D",
            "the mean runs over the D numbers of each token, which leaves (B, N); it "
            "is to run over the tokens",
            lambda t: t[:, 1:].mean(dim=2),
        ),
        Mistake(
            "over the batch",
            "the mean runs over the images, which leaves (N, D); it is to run over the "
            "tokens",
            lambda t: t[:, 1:].mean(dim=0),
        ),
        Mistake(
            "first image left out",
            "the slice takes away the first image, and the class token stays",
            lambda t: t[1:].mean(dim=1),
        ),
        Mistake(
            "axis kept",
            "the tokens' axis is still there, (B, 1, D), expected (B, D)",
            lambda t: t[:, 1:].mean(dim=1, keepdim=True),
        ),
        Mistake(
            "two tokens left out",
            "two tokens are left out; only the class token is no patch",
            lambda t: t[:, 2:].mean(dim=1),
        ),
        Mistake(
            "class token averaged in",
            "the class token is averaged with the mean of the patches; the mean alone "
            "is asked for",
            lambda t: (t[:, 0] + t[:, 1:].mean(dim=1)) / 2,
        ),
    ],
    hints=(
        "Which of the T tokens is no patch, and where does it stand?",
        "Leave token 0 out, then average along the axis of the tokens.",
        "tokens[:, 1:].mean(dim=1).",
    ),
    shape="(B, D)",
    batched=(0,),
)


def _registers_inputs(generator: Generator) -> Iterator[Case]:
    for B, N, R, D, dtype in (
        (3, 7, 3, 5, torch.float32),
        (2, 6, 4, 3, torch.float64),
        (2, 4, 0, 6, torch.float32),
        (2, 5, 1, 4, torch.bfloat16),
    ):
        drawn = torch.randn(B, 1 + R + N, D, generator=generator)
        yield [drawn.to(dtype), R]


def _without(tokens: Tensor, first: int, last: int, dim: int = 1) -> Tensor:
    """The tokens but those from ``first`` up to ``last``."""
    rest = [i for i in range(tokens.shape[dim]) if not first <= i < last]
    return tokens.index_select(dim, torch.tensor(rest, dtype=torch.int64))


def _registers_zeroed(tokens: Tensor, R: int) -> Tensor:
    tokens = tokens.clone()
    tokens[:, 1 : 1 + R] = 0
    return tokens


drop_registers = FunctionCheck(
    "drop_registers",
    "drop_registers(tokens, num_registers) -> (B, 1 + N, D)",
    lambda tokens, R: _without(tokens, 1, 1 + R),
    _registers_inputs,
    [
        Mistake(
            "class token dropped",
            "the class token is gone and the last register is not: the class token "
            "stands first, the registers behind it",
            lambda t, R: t[:, R:],
        ),
        Mistake(
            "class token dropped as well",
            "the class token is dropped with the registers",
            lambda t, R: t[:, 1 + R :],
        ),
        Mistake(
            "last tokens dropped",
            "the last R tokens are dropped, which are patches; the registers stand "
            "behind the class token",
            lambda t, R: _without(t, t.shape[1] - R, t.shape[1]),
        ),
        Mistake(
            "patches dropped",
            "the registers are kept and the patches are gone",
            lambda t, R: t[:, : 1 + R],
        ),
        Mistake(
            "registers alone",
            "the registers are returned; everything else is asked for",
            lambda t, R: t[:, 1 : 1 + R],
        ),
        Mistake(
            "one too few",
            "one register is left: they are tokens 1 to R, and a slice ends before its "
            "second number",
            lambda t, R: _without(t, 1, R),
        ),
        Mistake(
            "one too many",
            "a patch is dropped with the registers: they are tokens 1 to R",
            lambda t, R: _without(t, 1, 2 + R),
        ),
        Mistake(
            "one register",
            "only one register is dropped, whatever R is",
            lambda t, R: _without(t, 1, 2),
        ),
        Mistake(
            "class token last",
            "the class token stands behind the patches; it is to stay in front",
            lambda t, R: torch.cat([t[:, 1 + R :], t[:, :1]], dim=1),
        ),
        Mistake(
            "zeroed",
            "the registers are zero but still there: others go on attending to them, "
            "and a mean counts them",
            _registers_zeroed,
        ),
        Mistake(
            "nothing dropped",
            "the registers are still there",
            lambda t, R: t.clone(),
        ),
        Mistake(
            "numbers dropped",
            "R of the D numbers of each token are dropped; R of the tokens are to be",
            lambda t, R: _without(t, 1, 1 + R, dim=2),
        ),
    ],
    hints=(
        "Write the order of the tokens down for R = 2 and three patches, with their "
        "places.",
        "Token 0 stays, tokens 1 to R go, the rest stays.",
        "torch.cat([tokens[:, :1], tokens[:, 1 + num_registers :]], dim=1).",
    ),
    shape="(B, 1 + N, D)",
    batched=(0,),
)
