"""The check of ``fold_normalization``, chapter 10."""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from vit_check.engine.check import Case
from vit_check.engine.drawing import normal
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake


def _over(weight: Tensor, numbers: Tensor) -> Tensor:
    """One number a channel, as wide as a convolution's weight."""
    return numbers.reshape(1, -1, 1, 1).expand_as(weight)


def _fold(
    weight: Tensor,
    bias: Tensor,
    mean: Tensor,
    std: Tensor,
    scaled: str = "divided",
    of_mean: str = "scaled",
    sign: int = -1,
    old: int = 1,
) -> tuple[Tensor, Tensor]:
    """Folding with a place for each usual mistake."""
    by = {"divided": 1 / std, "multiplied": std, "squared": std**-2, "not": std**0}
    folded = weight * _over(weight, by[scaled])
    shift = (folded if of_mean == "scaled" else weight) * _over(weight, mean)
    if of_mean == "twice":
        shift = folded * _over(weight, mean / std)
    return folded, old * bias + sign * shift.sum((1, 2, 3))


def _fold_inputs(generator: Generator) -> Iterator[Case]:
    for D, C, rows, columns, dtype in (
        (5, 3, 4, 2, torch.float64),
        (7, 1, 2, 3, torch.float32),
        (3, 3, 3, 3, torch.float64),
        (6, 4, 2, 5, torch.float32),
    ):
        weight = normal(generator, D, C, rows, columns)
        mean = 0.2 + 0.5 * torch.rand(C, generator=generator, dtype=torch.float64)
        std = 0.2 + 0.3 * torch.rand(C, generator=generator, dtype=torch.float64)
        yield [tensor.to(dtype) for tensor in (weight, normal(generator, D), mean, std)]


fold_normalization = FunctionCheck(
    "fold_normalization",
    "fold_normalization(weight, bias, mean, std) -> (weight, bias)",
    _fold,
    _fold_inputs,
    [
        Mistake(
            "multiplied by std",
            "the weight is multiplied by the standard deviation; the pixels are "
            "divided by it, so the weight is too",
            partial(_fold, scaled="multiplied"),
        ),
        Mistake(
            "variance",
            "the weight is divided by the square of the standard deviation",
            partial(_fold, scaled="squared"),
        ),
        Mistake(
            "std left out",
            "the weight is not divided by the standard deviation",
            partial(_fold, scaled="not"),
        ),
        Mistake(
            "bias unchanged",
            "the bias is as before; subtracting the mean from every pixel moves what "
            "the layer puts out, and that goes into the bias",
            lambda weight, bias, mean, std: (
                _fold(weight, bias, mean, std)[0],
                bias.clone(),
            ),
        ),
        Mistake(
            "mean not scaled",
            "the bias takes the mean times the old weight; the mean is divided by the "
            "standard deviation as well, so the new weight is the one",
            partial(_fold, of_mean="plain"),
        ),
        Mistake(
            "mean scaled twice",
            "the mean is divided by the standard deviation twice: once in the new "
            "weight and once more",
            partial(_fold, of_mean="twice"),
        ),
        Mistake(
            "sign",
            "the mean's share is added to the bias; the mean is subtracted from the "
            "pixels",
            partial(_fold, sign=1),
        ),
        Mistake(
            "old bias lost",
            "the old bias is gone: what the mean does is added to it",
            partial(_fold, old=0),
        ),
        Mistake(
            "averaged over the patch",
            "the mean's share is averaged over the pixels of the patch; a convolution "
            "sums over them",
            lambda weight, bias, mean, std: (
                weight / _over(weight, std),
                bias - (weight * _over(weight, mean / std)).sum(1).mean((1, 2)),
            ),
        ),
        Mistake(
            "one pixel",
            "the mean's share is taken at one pixel of the patch; all pixels have it",
            lambda weight, bias, mean, std: (
                weight / _over(weight, std),
                bias - (weight * _over(weight, mean / std))[:, :, 0, 0].sum(1),
            ),
        ),
        Mistake(
            "summed over the outputs",
            "the mean's share is one number for all outputs; each of the D outputs has "
            "a sum of its own",
            lambda weight, bias, mean, std: (
                weight / _over(weight, std),
                bias - (weight * _over(weight, mean / std)).sum(),
            ),
        ),
        Mistake(
            "mean without weights",
            "the bias loses mean / std as it is; the pixels are multiplied by the "
            "weights before they are summed, and so is the mean",
            lambda weight, bias, mean, std: (
                weight / _over(weight, std),
                bias - (mean / std).sum(),
            ),
        ),
        Mistake(
            "weights normalised",
            "the mean is subtracted from the weights; it is subtracted from the "
            "pixels, which are multiplied by the weights",
            lambda weight, bias, mean, std: (
                (weight - _over(weight, mean)) / _over(weight, std),
                bias.clone(),
            ),
        ),
        Mistake(
            "columns for channels",
            "mean and standard deviation are laid along the columns of the patch; they "
            "belong to the channels, axis 1",
            lambda weight, bias, mean, std: (
                weight / std,
                bias - (weight * (mean / std)).sum((1, 2, 3)),
            ),
        ),
        Mistake(
            "weight alone",
            "only the weight is returned, expected (weight, bias)",
            lambda weight, bias, mean, std: weight / _over(weight, std),
        ),
        Mistake(
            "bias first",
            "the bias is returned first, expected (weight, bias)",
            lambda *given: _fold(*given)[::-1],
        ),
    ],
    hints=(
        "Write down what the layer puts out for a patch whose pixels are "
        "(x - mean) / std, and collect what each x is multiplied by.",
        "Each weight of channel c is divided by std[c]. What is left is the same for "
        "every patch: minus the sum of new weight times mean[c], over channels, rows "
        "and columns.",
        "weight / std.reshape(1, -1, 1, 1), and then bias minus (that times "
        "mean.reshape(1, -1, 1, 1)).sum((1, 2, 3)).",
    ),
    shape="(D, C, P, P)",
    gradients=False,
)
