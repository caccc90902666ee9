"""The check of ``drop_registers``, chapter 13."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake


def _registers_inputs(generator: Generator) -> Iterator[Case]:
    for B, N, R, D, dtype in (
        (3, 7, 3, 5, torch.float32),
        (2, 70, 4, 3, torch.float64),
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
            "comes first, the registers after it",
            lambda t, R: t[:, R:],
        ),
        Mistake(
            "class token dropped as well",
            "the class token is dropped with the registers",
            lambda t, R: t[:, 1 + R :],
        ),
        Mistake(
            "last tokens dropped",
            "the last R tokens are dropped, which are patches; the registers come "
            "right after the class token",
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
            "the class token comes after the patches; it has to stay in front",
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
