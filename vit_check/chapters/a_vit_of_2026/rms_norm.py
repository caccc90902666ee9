"""The check of ``rms_norm``, chapter 15."""

import torch
from torch import Generator, Tensor

from vit_check.engine.drawing import Cases, normal
from vit_check.engine.functions import FunctionCheck


def by_root_mean_square(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    mean_square = x.square().mean(dim=-1, keepdim=True)
    return x / torch.sqrt(mean_square + eps) * weight


def _norm_inputs(generator: Generator) -> Cases:
    for B, T, D, spread, *eps in (
        (2, 5, 6, 100.0),  # so large that eps does not matter
        (3, 3, 3, 1.0),
        (4, 2, 7, 1e-3),  # so small that eps matters
        (2, 3, 5, 0.1, 1e-2),
    ):
        x = spread * (0.5 + normal(generator, B, T, D))
        yield [x, 1 + 0.3 * normal(generator, D), *eps]


MISTAKES = """
mean subtracted: x.square() -> (x - x.mean(dim=-1, keepdim=True)).square()
  x / -> (x - x.mean(dim=-1, keepdim=True)) /
    the mean is subtracted: this is LayerNorm without a bias. RMSNorm leaves the mean in
variance below: x.square() -> (x - x.mean(dim=-1, keepdim=True)).square()
    the mean is subtracted before the squares are taken; RMSNorm divides by the root of
    the mean of x² itself
eps outside the root: torch.sqrt(mean_square + eps) -> (torch.sqrt(mean_square) + eps)
    eps is added to the root; it belongs under it, to the mean of the squares
no eps: mean_square + eps -> mean_square
    eps has no effect: it is to be added to the mean of the squares, under the root
sum: .mean(dim=-1 -> .sum(dim=-1
    the squares are summed and not averaged, which makes every token √D times too short
over tokens and numbers: dim=-1 -> dim=(1, 2)
    the mean runs over all numbers of an image; each token is normed by itself
no weight: * weight -> nothing
    the weight has no effect
? Which of the steps of a LayerNorm are left if nothing is subtracted?
? Square, take the mean over the last axis with keepdim=True, add eps, take the root;
  divide x by that and multiply by the weight.
? x / torch.sqrt(x.square().mean(dim=-1, keepdim=True) + eps) * weight.
"""

rms_norm = FunctionCheck(
    "rms_norm(x, weight, eps=1e-6) -> (B, T, D)",
    by_root_mean_square,
    _norm_inputs,
    MISTAKES,
    batched=(0,),
)
