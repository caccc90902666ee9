"""Checks of chapter 10: weights of others, rearranged."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor

from vit_steps.check.checking import Case
from vit_steps.check.drawing import normal
from vit_steps.check.function_check import FunctionCheck
from vit_steps.check.verdict import Mistake


def _join(*parts: Tensor, weights: str = "qkv", biases: str = "qkv") -> Any:
    """Stacked in an order, one for the weights and one for the biases."""
    weight = torch.cat([parts[2 * "qkv".index(letter)] for letter in weights])
    bias = torch.cat([parts[2 * "qkv".index(letter) + 1] for letter in biases])
    return weight, bias


def _join_inputs(generator: Generator) -> Iterator[Case]:
    for D, dtype in ((6, torch.float32), (5, torch.float64), (4, torch.bfloat16)):
        shapes = ((D, D), (D,)) * 3
        yield [normal(generator, *shape, dtype=dtype) for shape in shapes]


_ORDERS = {
    "q and k swapped": ("kqv", "the keys come before the queries"),
    "k and v swapped": ("qvk", "the values come before the keys"),
    "reversed": ("vkq", "the order is v, k, q"),
    "v first": ("vqk", "the values come first"),
    "k first": ("kvq", "the queries come last"),
}

join_qkv = FunctionCheck(
    "join_qkv",
    "join_qkv(q_weight, q_bias, k_weight, k_bias, v_weight, v_bias) -> (weight, bias)",
    _join,
    _join_inputs,
    [
        *(
            Mistake(
                name,
                f"{sentence}: the rows of the joint matrix are those of q, then k, "
                "then v",
                partial(_join, weights=order, biases=order),
            )
            for name, (order, sentence) in _ORDERS.items()
        ),
        Mistake(
            "biases in another order",
            "weight and bias are joined in two different orders: a row of the matrix "
            "then gets the bias of another one",
            partial(_join, biases="kqv"),
        ),
        Mistake(
            "rows interleaved",
            "the rows of q, k and v take turns; all D rows of q are to come first, "
            "then those of k, then those of v",
            lambda *p: (
                torch.stack(p[0::2], dim=1).flatten(0, 1),
                torch.stack(p[1::2], dim=1).flatten(),
            ),
        ),
        Mistake(
            "side by side",
            "the matrices are joined side by side, (D, 3D); a weight is (out, in), and "
            "it is the outputs that there are three times as many of",
            lambda *p: (torch.cat(p[0::2], dim=1), torch.cat(p[1::2])),
        ),
        Mistake(
            "transposed",
            "the joint matrix is transposed at the end, (D, 3D): nn.Linear keeps its "
            "weight as (out, in)",
            lambda *p: (torch.cat(p[0::2]).T, torch.cat(p[1::2])),
        ),
        Mistake(
            "each transposed",
            "each matrix is transposed before it is joined; both sides keep weights as "
            "(out, in), so there is nothing to turn",
            lambda *p: (torch.cat([w.T for w in p[0::2]]), torch.cat(p[1::2])),
        ),
        Mistake(
            "stacked",
            "the matrices are stacked along a new axis, (3, D, D); no axis is to be "
            "added",
            lambda *p: (torch.stack(p[0::2]), torch.stack(p[1::2])),
        ),
        Mistake(
            "biases of zero",
            "the biases are replaced by zeros: the three that came are to be kept",
            lambda *p: (torch.cat(p[0::2]), torch.zeros_like(torch.cat(p[1::2]))),
        ),
        Mistake(
            "keys without bias",
            "the bias of the keys is left at zero; these weights have one",
            lambda *p: _join(*p[:3], torch.zeros_like(p[3]), *p[4:]),
        ),
        Mistake(
            "biases forgotten",
            "only the weight is returned; the biases are joined as well and make the "
            "second of two",
            lambda *p: torch.cat(p[0::2]),
        ),
        Mistake(
            "bias first",
            "the bias is returned first, expected (weight, bias)",
            lambda *p: (torch.cat(p[1::2]), torch.cat(p[0::2])),
        ),
        Mistake(
            "queries three times",
            "the queries stand in all three places",
            partial(_join, weights="qqq", biases="qqq"),
        ),
        Mistake(
            "summed",
            "the matrices are added up, (D, D); the sum cannot be taken apart again",
            lambda *p: (p[0] + p[2] + p[4], p[1] + p[3] + p[5]),
        ),
    ],
    hints=(
        "The joint layer puts out 3·D numbers a token, and the model cuts them into "
        "three pieces of D. Which piece does it take for the queries?",
        "A weight of nn.Linear is (out, in), so more outputs are more rows; the biases "
        "go in the same order as the rows.",
        "torch.cat([q_weight, k_weight, v_weight]) and the same with the biases.",
    ),
    shape="(3D, D)",
    gradients=False,
)


def _to_conv(weight: Tensor, P: int) -> Tensor:
    return weight.reshape(len(weight), P, P, -1).permute(0, 3, 1, 2)


def _conv_inputs(generator: Generator) -> Iterator[Case]:
    for D, P, C, dtype in (
        (5, 4, 3, torch.float32),
        (7, 3, 2, torch.float64),
        (4, 3, 3, torch.float64),
        (6, 2, 4, torch.bfloat16),
    ):
        yield [normal(generator, D, P * P * C, dtype=dtype), P]


linear_to_conv = FunctionCheck(
    "linear_to_conv",
    "linear_to_conv(weight, patch_size) -> (D, C, P, P)",
    _to_conv,
    _conv_inputs,
    [
        Mistake(
            "reshaped alone",
            "the shape is right and the order is not: the numbers come as row, column, "
            "channel, and a reshape to (D, C, P, P) reads them as channel, row, column",
            lambda w, P: w.reshape(len(w), -1, P, P),
        ),
        Mistake(
            "rows and columns swapped",
            "rows and columns of the patch are swapped",
            lambda w, P: _to_conv(w, P).mT,
        ),
        Mistake(
            "channels reshaped, then swapped",
            "the channels are read first and rows and columns swapped; in the vector "
            "the channels come last",
            lambda w, P: w.reshape(len(w), -1, P, P).mT,
        ),
        Mistake(
            "channels last",
            "the channels still stand last, (D, P, P, C), expected (D, C, P, P)",
            lambda w, P: w.reshape(len(w), P, P, -1),
        ),
        Mistake(
            "channels in the middle",
            "the vector is read as row, channel, column; it is row, column, channel",
            lambda w, P: w.reshape(len(w), P, -1, P).transpose(1, 2),
        ),
        Mistake(
            "weight turned",
            "the weight is read as (P·P·C, D); nn.Linear keeps it as (out, in), so D "
            "comes first",
            lambda w, P: w.reshape(P, P, -1, len(w)).permute(3, 2, 0, 1),
        ),
        Mistake(
            "D last",
            "D stands last, expected (D, C, P, P)",
            lambda w, P: _to_conv(w, P).permute(1, 2, 3, 0),
        ),
        Mistake(
            "C before D",
            "the first two axes are (C, D); a convolution's weight is (out, in, rows, "
            "columns)",
            lambda w, P: _to_conv(w, P).transpose(0, 1),
        ),
        Mistake(
            "flipped",
            "the patch is flipped, as a convolution in mathematics has it; PyTorch's "
            "conv2d does not flip",
            lambda w, P: _to_conv(w, P).flip(2, 3),
        ),
        Mistake(
            "channels reversed",
            "the channels come in reverse order, blue first",
            lambda w, P: _to_conv(w, P).flip(1),
        ),
        Mistake(
            "flattened",
            "the channel stands first now, but the axes are not apart: (D, C·P·P), "
            "expected (D, C, P, P)",
            lambda w, P: _to_conv(w, P).flatten(1),
        ),
    ],
    hints=(
        "Take D = 1 and number the weights 0, 1, 2, ... Which three belong to the "
        "pixel in the upper left corner?",
        "Give the vector its three axes in the order in which it was flattened, and "
        "only then move the channels to the front.",
        "weight.reshape(D, P, P, C), then .permute(0, 3, 1, 2).",
    ),
    shape="(D, C, P, P)",
    gradients=False,
)


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


fold_normalisation = FunctionCheck(
    "fold_normalisation",
    "fold_normalisation(weight, bias, mean, std) -> (weight, bias)",
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
        "(x - mean) / std, and collect what stands before each x.",
        "Each weight of channel c is divided by std[c]. What is left is the same for "
        "every patch: minus the sum of new weight times mean[c], over channels, rows "
        "and columns.",
        "weight / std.reshape(1, -1, 1, 1), and then bias minus (that times "
        "mean.reshape(1, -1, 1, 1)).sum((1, 2, 3)).",
    ),
    shape="(D, C, P, P)",
    gradients=False,
)
