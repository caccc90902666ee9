"""Check of chapter 6: a LayerNorm."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor

from vit_check.engine.check import Case
from vit_check.engine.drawing import normal
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake


def normed(
    x: Tensor,
    weight: Tensor | float,
    bias: Tensor | float,
    eps: float = 1e-6,
    axes: tuple[int, ...] = (-1,),
    correction: int = 0,
    centre: bool = True,
    variance: str = "centred",
    root: str = "around eps",
    keepdim: bool = True,
) -> Tensor:
    """LayerNorm with a place for each usual mistake."""
    mean = x.mean(dim=axes, keepdim=keepdim)
    if variance == "centred":
        var = x.var(dim=axes, correction=correction, keepdim=keepdim)
    else:
        var = x.square().mean(dim=axes, keepdim=keepdim)
        var = var - mean.square() if variance == "of squares less mean" else var
    width = {
        "around eps": (var + eps).sqrt(),
        "before eps": var.sqrt() + eps,
        "missing": var + eps,
        "no division": torch.ones_like(var),
    }[root]
    return (x - mean if centre else x) / width * weight + bias


def _normed_late(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-6) -> Tensor:
    return (normed(x, 1.0, 0.0, eps) + bias) * weight


def _norm_inputs(generator: Generator) -> Iterator[Case]:
    for B, T, D, spread, dtype in (
        (2, 5, 6, 100.0, torch.float64),  # eps has no effect
        (3, 3, 3, 100.0, torch.float64),
        (4, 2, 7, 1e-2, torch.float64),  # narrow enough for eps to be seen
        (3, 4, 8, 1.0, torch.float32),
    ):
        x = 2.0 * spread + spread * normal(generator, B, T, D)
        weight, bias = 1 + 0.3 * normal(generator, D), 0.5 * normal(generator, D)
        yield [x.to(dtype), weight.to(dtype), bias.to(dtype)]
    yield [0.1 * normal(generator, 2, 3, 5), *normal(generator, 2, 5), 1e-2]
    yield _far_and_narrow(generator)


def _far_and_narrow(generator: Generator) -> Case:
    """Tokens near 256 that differ by 16ths: by powers of two, so that their mean is
    exact in float32, and the 16ths are lost when they are squared."""
    side = 2.0 * torch.randint(2, (2, 3, 1), generator=generator) - 1
    x = 256 + side * torch.tensor([1.0, -1.0, 3.0, -3.0]) / 16  # (B, T, 4)
    weight, bias = 1 + 0.3 * normal(generator, 4), 0.5 * normal(generator, 4)
    return [x, weight.float(), bias.float()]


def _normed_by(answer: Any, x: Tensor, *others: Any) -> Any:
    """The answer's output, without a gradient where float32 leaves no digit of it."""
    with torch.set_grad_enabled(x.dtype == torch.float64 or bool(x.mean() < 100)):
        return answer(x, *others)


layer_norm = FunctionCheck(
    "layer_norm",
    "layer_norm(x, weight, bias, eps=1e-6) -> (B, T, D)",
    normed,
    _norm_inputs,
    [
        Mistake(
            "unbiased",
            "the variance is divided by D - 1, as torch.var and torch.std do unless "
            "told otherwise; LayerNorm divides by D",
            partial(normed, correction=1),
        ),
        Mistake(
            "over tokens",
            "mean and variance run over the tokens; each token is normed by itself, "
            "over its D numbers",
            partial(normed, axes=(1,)),
        ),
        Mistake(
            "over the batch",
            "mean and variance run over the batch; each token is normed by itself, "
            "over its D numbers",
            partial(normed, axes=(0,)),
        ),
        Mistake(
            "over batch and tokens",
            "mean and variance run over all tokens of the batch, as in a BatchNorm; "
            "each token is normed by itself, over its D numbers",
            partial(normed, axes=(0, 1)),
        ),
        Mistake(
            "over tokens and numbers",
            "mean and variance run over all numbers of an image; each token is normed "
            "for itself",
            partial(normed, axes=(1, 2)),
        ),
        Mistake(
            "over everything",
            "mean and variance run over the whole tensor; each token is normed for "
            "itself, over its D numbers",
            partial(normed, axes=(0, 1, 2)),
        ),
        Mistake(
            "no shift",
            "the mean is not subtracted",
            partial(normed, centre=False),
        ),
        Mistake(
            "RMS",
            "neither the token nor its variance has the mean subtracted: this is "
            "RMSNorm, another norm",
            partial(normed, centre=False, variance="of squares"),
        ),
        Mistake(
            "squares not centred",
            "the variance is the mean of the squares; subtract the mean before you "
            "square",
            partial(normed, variance="of squares"),
        ),
        Mistake(
            "difference of squares",
            "the variance is the mean of the squares less the square of the mean: for "
            "numbers far from 0 both are large, and in float32 what lies between them "
            "is lost; subtract the mean first, then square",
            partial(normed, variance="of squares less mean"),
        ),
        Mistake(
            "no division",
            "the mean is subtracted, but nothing is divided by the standard deviation",
            partial(normed, root="no division"),
        ),
        Mistake(
            "no root",
            "it is divided by the variance; divide by its root",
            partial(normed, root="missing"),
        ),
        Mistake(
            "eps outside the root",
            "eps is added to the standard deviation; it belongs under the root, to "
            "the variance",
            partial(normed, root="before eps"),
        ),
        Mistake(
            "eps 1e-5",
            "eps is 1e-5, PyTorch's default; the Vision Transformer's is 1e-6",
            lambda x, weight, bias, eps=1e-6: normed(x, weight, bias, 1e-5),
        ),
        Mistake(
            "no eps",
            "eps has no effect here: it is to be added to the variance of every token, "
            "under the root",
            lambda x, weight, bias, eps=1e-6: normed(x, weight, bias, 1e-12),
        ),
        Mistake(
            "eps ignored",
            "the argument eps has no effect",
            lambda x, weight, bias, eps=1e-6: normed(x, weight, bias, 1e-6),
        ),
        Mistake(
            "neither weight nor bias",
            "weight and bias have no effect",
            lambda x, weight, bias, eps=1e-6: normed(x, 1.0, 0.0, eps),
        ),
        Mistake(
            "no weight",
            "the weight has no effect",
            lambda x, weight, bias, eps=1e-6: normed(x, 1.0, bias, eps),
        ),
        Mistake(
            "no bias",
            "the bias has no effect",
            lambda x, weight, bias, eps=1e-6: normed(x, weight, 0.0, eps),
        ),
        Mistake(
            "bias before weight",
            "the bias is added before the weight is multiplied, and so is multiplied "
            "too",
            _normed_late,
        ),
        Mistake(
            "no keepdim",
            "mean and variance have lost their last axis, and (B, T) stretched over "
            "(B, T, D) pairs them with the wrong tokens: keepdim=True keeps the axis",
            partial(normed, keepdim=False),
        ),
    ],
    hints=(
        "Take one token by hand: which numbers go into its mean, and how many of "
        "them are there?",
        "Mean and variance run over the last axis, keepdim=True; the variance is "
        "divided by D; eps is added to it before the root.",
        "(x - mean) / torch.sqrt(var + eps) * weight + bias, with "
        "var = x.var(dim=-1, correction=0, keepdim=True).",
    ),
    shape="(B, T, D)",
    batched=(0,),
    scenario=_normed_by,
)
