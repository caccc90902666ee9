"""The check of ``mean_pool``, chapter 13."""

import torch
from torch import Generator, Tensor

from vit_check.engine.drawing import Cases
from vit_check.engine.functions import FunctionCheck


def _tokens_inputs(generator: Generator) -> Cases:
    for B, T, D, dtype in (
        (3, 8, 5, torch.float32),
        (2, 70, 4, torch.float64),
        (4, 4, 4, torch.float32),
        (2, 5, 3, torch.bfloat16),
    ):
        yield [(2 * torch.randn(B, T, D, generator=generator) + 0.5).to(dtype)]


def pooled(tokens: Tensor) -> Tensor:
    patches = tokens[:, 1:]
    return patches.mean(dim=1)


MISTAKES = """
class token too: [:, 1:] -> nothing
    the class token is in the mean; only the patches belong there
class token alone: patches.mean(dim=1) -> tokens[:, 0]
    the class token is returned; the mean of the patches is asked for
last token left out: 1: -> :-1
    the last patch is left out and the class token is not: it comes first
divided by T: patches.mean(dim=1) -> patches.sum(dim=1) / tokens.shape[1]
    the sum of the patches is divided by T, which counts the class token, not by N
sum: mean -> sum
    the patches are summed and not averaged
largest: mean -> amax
    the largest number of each column is taken; the mean is asked for
over D: dim=1 -> dim=2
    the mean runs over the D numbers of each token, which leaves (B, N); it has to run
    over the tokens
first image left out: [:, 1:] -> [1:]
    the slice takes away the first image, and the class token stays
? Which of the T tokens is no patch, and where is it?
? Leave token 0 out, then average along the axis of the tokens.
? tokens[:, 1:].mean(dim=1).
"""

mean_pool = FunctionCheck(
    "mean_pool(tokens), class token first -> (B, D)",
    pooled,
    _tokens_inputs,
    MISTAKES,
    batched=(0,),
)
