"""The check of ``mean_pool``, chapter 13."""

from collections.abc import Iterator

import torch
from torch import Generator

from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake


def _tokens_inputs(generator: Generator) -> Iterator[Case]:
    for B, T, D, dtype in (
        (3, 8, 5, torch.float32),
        (2, 70, 4, torch.float64),
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
            "the class token is in the mean; only the patches belong there",
            lambda t: t.mean(dim=1),
        ),
        Mistake(
            "class token alone",
            "the class token is returned; the mean of the patches is asked for",
            lambda t: t[:, 0],
        ),
        Mistake(
            "last token left out",
            "the last patch is left out and the class token is not: it comes first",
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
            "has to run over the tokens",
            lambda t: t[:, 1:].mean(dim=2),
        ),
        Mistake(
            "over the batch",
            "the mean runs over the images, which leaves (N, D); it has to run over "
            "the tokens",
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
            "the class token is averaged with the mean of the patches; only that mean "
            "is asked for",
            lambda t: (t[:, 0] + t[:, 1:].mean(dim=1)) / 2,
        ),
    ],
    hints=(
        "Which of the T tokens is no patch, and where is it?",
        "Leave token 0 out, then average along the axis of the tokens.",
        "tokens[:, 1:].mean(dim=1).",
    ),
    shape="(B, D)",
    batched=(0,),
)
