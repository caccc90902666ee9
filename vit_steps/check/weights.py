"""Checks of chapter 10: weights of others, renamed, rearranged and loaded."""

import contextlib
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor, nn

from vit_steps.check.checking import Case
from vit_steps.check.function_check import FunctionCheck
from vit_steps.check.verdict import Mistake
from vit_steps.check.watching import Trouble
from vit_steps.pretrained import load_weights
from vit_steps.vision_transformer import VisionTransformer, ViTConfig
from vit_steps.weight_names import TORCHVISION
from vit_steps.weight_names import rename as rename_by_table

DTYPES = {"float32": torch.float32, "float64": torch.float64, "half": torch.bfloat16}


def _normal(generator: Generator, *shape: int, dtype: str = "float64") -> Tensor:
    drawn = torch.randn(shape, generator=generator, dtype=torch.float64)
    return drawn.to(DTYPES[dtype])


# -- Three matrices that become one


def _join(*parts: Tensor, weights: str = "qkv", biases: str = "qkv") -> Any:
    """Stacked in an order, one for the weights and one for the biases."""
    weight = torch.cat([parts[2 * "qkv".index(letter)] for letter in weights])
    bias = torch.cat([parts[2 * "qkv".index(letter) + 1] for letter in biases])
    return weight, bias


def _join_inputs(generator: Generator) -> Iterator[Case]:
    for D, dtype in ((6, "float32"), (5, "float64"), (4, "half")):
        shapes = ((D, D), (D,)) * 3
        yield [_normal(generator, *shape, dtype=dtype) for shape in shapes]


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


# -- Whether two models say the same


def _agree(
    got: Tensor,
    expected: Tensor,
    atol: float,
    signed: bool = False,
    nan_passes: bool = False,
    broadcast: bool = False,
    of: str = "max",
    rtol: float = 0.0,
) -> bool:
    """A comparison with a place for each usual mistake."""
    if got.shape != expected.shape and not broadcast:
        return False
    off = got - expected
    if of == "sum":
        off = off.sum().abs()
    off = off if signed else off.abs()
    off = off - rtol * expected.abs()
    largest = off.mean() if of == "mean" else off.max()
    return not bool(largest > atol) if nan_passes else bool(largest <= atol)


def _agree_inputs(generator: Generator) -> Iterator[Case]:
    B, K, atol = 4, 7, 1e-4
    expected = _normal(generator, B, K, dtype="float32")

    def off_at(*places: tuple[int, int, float]) -> list[Tensor]:
        got = expected.clone()
        for row, column, by in places:
            got[row, column] += by
        return [got, expected.clone()]

    large = 1000 + 100 * _normal(generator, B, K)
    nan = torch.full((B, K), math.nan)
    column = expected[:, :1]
    pairs = {
        "two that differ by rounding": off_at((0, 1, 0.8 * atol), (3, 6, -0.7 * atol)),
        "one logit that is too low": off_at((1, 2, -0.5)),
        "one logit that is too high": off_at((1, 2, 0.5)),
        "one logit of the last image": off_at((B - 1, 3, 4 * atol)),
        "one that is higher and one that is lower": off_at((0, 0, 0.25), (2, 1, -0.25)),
        "one logit that is NaN": off_at((2, 5, math.nan)),
        "NaN on both sides": [nan, nan.clone()],
        "(B, 1) beside (B, K)": [column, column.expand(B, K).clone()],
        "one image beside B of them": [expected[:1], expected[:1].repeat(B, 1)],
        "(B, K) beside (B, 1)": [column.expand(B, K).clone(), column],
        "logits near 1000": [large + 3 * atol, large],
    }
    yield [list(pairs), list(pairs.values()), atol]


def _compare_them(
    agree: Callable[..., Any], names: list[str], pairs: list[Any], atol: float
) -> dict[str, Any]:
    return {
        f"the answer for {name}": _in_a_word(agree(got, expected, atol))
        for name, (got, expected) in zip(names, pairs, strict=True)
    }


def _in_a_word(output: Any) -> Any:
    """True or False as a word, from a bool or a tensor of one."""
    if isinstance(output, Tensor) and output.dtype == torch.bool:
        return str(output.item()) if output.numel() == 1 else output
    if type(output).__module__ == "numpy" and hasattr(output, "item"):
        output = output.item()
    if isinstance(output, int | float) and not isinstance(output, bool):
        return "a number"
    return str(output) if isinstance(output, bool) else output


logits_agree = FunctionCheck(
    "logits_agree",
    "logits_agree(got, expected, atol) -> True or False",
    _agree,
    _agree_inputs,
    [
        Mistake(
            "as it was",
            "three kinds of wrong logits still pass: some too low, NaN, and logits of "
            "another shape",
            partial(_agree, signed=True, nan_passes=True, broadcast=True),
        ),
        Mistake(
            "sign",
            "a logit that is far too low passes: the sign of a difference does not "
            "matter, its size does",
            partial(_agree, signed=True),
        ),
        Mistake(
            "NaN passes",
            "NaN passes: a comparison with NaN is never true, so ask whether the "
            "difference is small, not whether it is large",
            partial(_agree, nan_passes=True),
        ),
        Mistake(
            "NaN and shapes",
            "NaN passes, since no comparison with it is true, and so do logits of "
            "another shape, which are stretched until they fit",
            partial(_agree, nan_passes=True, broadcast=True),
        ),
        Mistake(
            "two NaN agree",
            "NaN on both sides passes: equal_nan=True takes it for agreement, and a "
            "NaN is no answer, whoever gives it",
            lambda got, expected, atol: (
                got.shape == expected.shape
                and torch.allclose(got, expected, rtol=0, atol=atol, equal_nan=True)
            ),
        ),
        Mistake(
            "broadcast",
            "logits of another shape pass: (B, 1) is stretched to (B, K) before it is "
            "subtracted",
            partial(_agree, broadcast=True),
        ),
        Mistake(
            "mean",
            "a single logit that is off passes, since the mean over all is small: one "
            "wrong logit is a wrong model",
            partial(_agree, of="mean"),
        ),
        Mistake(
            "sum",
            "differences that cancel pass: take their sizes before anything is summed",
            partial(_agree, of="sum"),
        ),
        Mistake(
            "relative",
            "large logits may be off by more than atol: a relative tolerance is added, "
            "as torch.allclose and assert_close do unless they are told rtol=0",
            lambda got, expected, atol: (
                torch.allclose(got, expected, atol=atol) and got.shape == expected.shape
            ),
        ),
        Mistake(
            "answers alone",
            "only the answers are compared, the largest logit of each row: a wrong "
            "model may give the same ones",
            lambda got, expected, atol: torch.equal(
                got.argmax(-1), expected.argmax(-1)
            ),
        ),
        Mistake(
            "first image",
            "only the first image is compared",
            lambda got, expected, atol: _agree(got[:1], expected[:1], atol),
        ),
        Mistake(
            "to the bit",
            "differences below atol are refused: two right models round differently",
            lambda got, expected, atol: torch.equal(got, expected),
        ),
        Mistake(
            "one is enough",
            "a single logit that agrees is enough; all of them have to",
            lambda got, expected, atol: (
                got.shape == expected.shape
                and bool(((got - expected).abs() <= atol).any())
            ),
        ),
        Mistake(
            "reversed",
            "says True where they differ and False where they agree",
            lambda *given: not _agree(*given),
        ),
    ],
    hints=(
        "Try it on logits that are 0.5 too low, on one that is NaN, and on a column "
        "(B, 1) beside (B, K).",
        "Compare the shapes first. Then every difference, without its sign, must be at "
        "most atol; said that way round, NaN fails by itself.",
        "return got.shape == expected.shape and bool(((got - expected).abs() <= "
        "atol).all())",
    ),
    gradients=False,
    scenario=_compare_them,
)


# -- A linear layer that becomes a convolution


def _to_conv(weight: Tensor, P: int) -> Tensor:
    return weight.reshape(len(weight), P, P, -1).permute(0, 3, 1, 2)


def _conv_inputs(generator: Generator) -> Iterator[Case]:
    for D, P, C, dtype in (
        (5, 4, 3, "float32"),
        (7, 3, 2, "float64"),
        (4, 3, 3, "float64"),
        (6, 2, 4, "half"),
    ):
        yield [_normal(generator, D, P * P * C, dtype=dtype), P]


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


# -- Mean and standard deviation that move into the weights


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
        (5, 3, 4, 2, "float64"),
        (7, 1, 2, 3, "float32"),
        (3, 3, 3, 3, "float64"),
        (6, 4, 2, 5, "float32"),
    ):
        weight = _normal(generator, D, C, rows, columns)
        mean = 0.2 + 0.5 * torch.rand(C, generator=generator, dtype=torch.float64)
        std = 0.2 + 0.3 * torch.rand(C, generator=generator, dtype=torch.float64)
        yield [
            tensor.to(DTYPES[dtype])
            for tensor in (weight, _normal(generator, D), mean, std)
        ]


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


# -- Names


def _ours(generator: Generator, depth: int, D: int, dtype: str) -> list[Any]:
    """Our model's names, and tensors in shapes that all differ."""
    shapes: dict[str, tuple[int, ...]] = {
        "cls_token": (1, 1, D),
        "pos_embed": (1, 7, D),
        "patch_embed.proj.weight": (D, 3, 2, 2),
        "patch_embed.proj.bias": (D,),
    }
    M = 2 * D - 1
    for block in range(depth):
        layers = {
            "norm1": (D,),
            "attn.qkv": (3 * D, D),
            "attn.proj": (D, D),
            "norm2": (D,),
            "mlp.fc1": (M, D),
            "mlp.fc2": (D, M),
        }
        for layer, shape in layers.items():
            shapes[f"blocks.{block}.{layer}.weight"] = shape
            shapes[f"blocks.{block}.{layer}.bias"] = shape[:1]
    shapes |= {
        "norm.weight": (D,),
        "norm.bias": (D,),
        "head.weight": (4, D),
        "head.bias": (4,),
    }
    tensors = [_normal(generator, *shape, dtype=dtype) for shape in shapes.values()]
    return [list(shapes), tensors]


def _rename_inputs(generator: Generator) -> Iterator[Case]:
    yield _ours(generator, 2, 6, "float32")
    yield _ours(generator, 12, 3, "half")
    names, tensors = _ours(generator, 1, 5, "float64")
    yield [[*names, "mask_token"], [*tensors, _normal(generator, 1, 5)]]


def _rename_them(
    rename: Callable[..., Any], names: list[str], tensors: list[Tensor]
) -> Any:
    given = dict(zip(names, tensors, strict=True))
    output = rename(given)
    if list(given) != names or any(
        given[name] is not tensor for name, tensor in zip(names, tensors, strict=True)
    ):
        raise Trouble(
            "changes its input",
            "changes the dictionary it is given, which its caller still needs: put "
            "what you rename into a new one",
        )
    return output


def _sorted(output: Any) -> Any:
    """A state dict in the order of its names, for the order says nothing."""
    if not isinstance(output, Mapping):
        return output
    return dict(sorted(output.items(), key=lambda pair: str(pair[0])))


def _to_torchvision(given: dict[str, Tensor]) -> dict[str, Tensor]:
    return rename_by_table(given, TORCHVISION)


def _renamed(
    name: Callable[[str], str] = lambda name: name,
    keep: Callable[[str], bool] = lambda name: True,
    tensor: Callable[[str, Tensor], Tensor] = lambda name, tensor: tensor,
) -> Callable[[dict[str, Tensor]], dict[str, Tensor]]:
    """Renaming that goes on to change their names, drop some, or change tensors."""

    def rename(given: dict[str, Tensor]) -> dict[str, Tensor]:
        right = _to_torchvision(given)
        return {name(n): tensor(n, t) for n, t in right.items() if keep(n)}

    return rename


def _swapped(one: str, other: str) -> Callable[[str], str]:
    def swap(name: str) -> str:
        name = name.replace(one, "\0").replace(other, one)
        return name.replace("\0", other)

    return swap


def _numbered(number: Callable[[str], Any]) -> Callable[[str], str]:
    """A block's number replaced."""
    return lambda name: re.sub(
        r"(?<=encoder_layer_)\d+", lambda found: str(number(found[0])), name
    )


def _text_order(given: dict[str, Tensor]) -> dict[str, Tensor]:
    numbers = {n.split(".")[1] for n in given if n.startswith("blocks.")}
    places = {number: place for place, number in enumerate(sorted(numbers))}
    return _renamed(_numbered(places.__getitem__))(given)


def _taken_apart(given: dict[str, Tensor]) -> dict[str, Tensor]:
    apart = {}
    for name, tensor in _to_torchvision(given).items():
        if ".in_proj_" in name:
            for letter, part in zip("qkv", tensor.chunk(3), strict=True):
                apart[name.replace(".in_proj_", f".{letter}_proj_")] = part
        else:
            apart[name] = tensor
    return apart


rename_weights = FunctionCheck(
    "rename_weights",
    "rename_weights(state_dict) -> dict of the same tensors under torchvision's names",
    _to_torchvision,
    _rename_inputs,
    [
        Mistake(
            "unchanged",
            "the names are still ours",
            lambda given: dict(given),
        ),
        Mistake(
            "old names kept",
            "every tensor is there twice, under its old name and its new one: start "
            "with an empty dictionary",
            lambda given: {**given, **_to_torchvision(given)},
        ),
        Mistake(
            "norm inside norm1",
            "the norms of the blocks are named after the last norm: norm is a piece of "
            "norm1 as well, so what replaces norm reaches into the blocks",
            _renamed(lambda name: name.replace("ln_", "encoder.ln")),
        ),
        Mistake(
            "blocks from 1",
            "the blocks are numbered from 1; blocks.0 is encoder_layer_0",
            _renamed(_numbered(lambda number: int(number) + 1)),
        ),
        Mistake(
            "first digit",
            "of a block's number only the first digit is read: blocks 10 and 11 land "
            "on block 1",
            _renamed(_numbered(lambda number: number[0])),
        ),
        Mistake(
            "blocks in text order",
            "the blocks are counted in the order of the alphabet, where 10 comes "
            "before 2: take the number that the name has",
            _text_order,
        ),
        Mistake(
            "norms swapped",
            "ln_1 and ln_2 are swapped: norm1 stands before the attention, as ln_1",
            _renamed(_swapped("ln_1", "ln_2")),
        ),
        Mistake(
            "MLP swapped",
            "mlp.0 and mlp.3 are swapped: 0 is the first layer, from D to M",
            _renamed(_swapped("mlp.0", "mlp.3")),
        ),
        Mistake(
            "MLP by number",
            "fc2 has become mlp.1; a GELU and a dropout stand between the two layers "
            "and are counted too, so it is mlp.3",
            _renamed(lambda name: name.replace("mlp.3", "mlp.1")),
        ),
        Mistake(
            "MLP numbers kept",
            "fc1 and fc2 have become mlp.1 and mlp.2; their numbers are the places 0 "
            "and 3 in a row that has a GELU and a dropout as well",
            _renamed(lambda name: name.replace("mlp.0", "mlp.1").replace("p.3", "p.2")),
        ),
        Mistake(
            "dot left",
            "in_proj has a dot before weight and bias; theirs has an underscore there "
            "and nowhere else",
            _renamed(lambda name: name.replace("in_proj_", "in_proj.")),
        ),
        Mistake(
            "biases of qkv forgotten",
            "attn.qkv.bias has no place: in_proj_bias is missing in every block",
            _renamed(keep=lambda name: not name.endswith("in_proj_bias")),
        ),
        Mistake(
            "biases forgotten",
            "only the weights are there; every layer has a bias as well",
            _renamed(keep=lambda name: not name.endswith("bias")),
        ),
        Mistake(
            "class token dropped",
            "the class token is missing: its name does not end in weight or bias",
            _renamed(keep=lambda name: name != "class_token"),
        ),
        Mistake(
            "positions dropped",
            "the positions are missing: their name does not end in weight or bias",
            _renamed(keep=lambda name: name != "encoder.pos_embedding"),
        ),
        Mistake(
            "token and positions dropped",
            "class token and positions are missing: they belong to no layer, and their "
            "names end in neither weight nor bias",
            _renamed(
                keep=lambda name: name not in ("class_token", "encoder.pos_embedding")
            ),
        ),
        Mistake(
            "head dropped",
            "the head is missing; whoever wants another leaves it out later",
            _renamed(keep=lambda name: not name.startswith("head")),
        ),
        Mistake(
            "head left",
            "the head is still called head; theirs has a longer name",
            _renamed(lambda name: name.replace("heads.head", "head")),
        ),
        Mistake(
            "heads alone",
            "the head has become heads; theirs is called head within heads, with a dot",
            _renamed(lambda name: name.replace("heads.head", "heads")),
        ),
        Mistake(
            "encoder forgotten",
            "encoder. is missing: it stands before positions, blocks and last norm",
            _renamed(lambda name: name.removeprefix("encoder.")),
        ),
        Mistake(
            "weights transposed",
            "the matrices are transposed; both keep a linear layer's weight as "
            "(out, in)",
            _renamed(tensor=lambda name, t: t.T if t.ndim == 2 else t),
        ),
        Mistake(
            "qkv taken apart",
            "attn.qkv is cut into q, k and v; theirs is one matrix too, in_proj, in "
            "the same order",
            _taken_apart,
        ),
        Mistake(
            "unknown names vanish",
            "a name that is not in the table vanishes: leave it as it is, so that "
            "whoever loads the weights hears of it",
            _renamed(keep=lambda name: name != "mask_token"),
        ),
    ],
    hints=(
        "Print the names of both models side by side and go through them line by line. "
        "Which of our names are pieces of others?",
        "A dictionary from pieces of our names to pieces of theirs is enough, if no "
        "piece is found where it is not meant: norm also stands in norm1, and norm. "
        "with its dot does not.",
        "for name, tensor in state_dict.items(), and inside for old, new in "
        "PIECES.items(): name = name.replace(old, new); then renamed[name] = tensor. "
        "One piece is 'blocks.', which becomes 'encoder.layers.encoder_layer_'.",
    ),
    gradients=False,
    scenario=_rename_them,
    normalise=_sorted,
)


# -- All or nothing

_TINY = ViTConfig(
    (4, 6), 2, num_classes=5, embed_dim=8, depth=2, num_heads=2, mlp_ratio=1.5
)
_REFUSALS = (RuntimeError, KeyError, AssertionError)


def _tiny_model() -> VisionTransformer:
    """With a buffer as well, which a state dict has and ``parameters()`` has not."""
    with torch.random.fork_rng(devices=[]):
        model = VisionTransformer(_TINY).double()
    model.register_buffer("pixel_mean", torch.zeros(3, dtype=torch.float64))
    return model


def _load_inputs(generator: Generator) -> Iterator[Case]:
    state = _tiny_model().state_dict()
    for fault in ("none", "order", "all", "missing", "unexpected", "shape"):
        yield [fault, [_normal(generator, *tensor.shape) for tensor in state.values()]]


def _with_fault(
    fault: str, state: dict[str, Tensor]
) -> tuple[dict[str, Tensor], list[str]]:
    """Weights in which something does not fit, and the names that say so."""
    state = dict(state)
    if fault == "order":
        names = list(state)
        one = names.index("blocks.0.norm1.weight")
        other = names.index("blocks.0.norm2.weight")
        names[one], names[other] = names[other], names[one]
        return {name: state[name] for name in names}, []
    wrong = []
    if fault in ("all", "missing"):
        wrong += ["blocks.1.norm1.bias", "cls_token"]
        for name in wrong:
            del state[name]
    if fault in ("all", "unexpected"):
        wrong += ["mask_token", "fc_norm.scale"]
        state |= {name: torch.zeros(8) for name in wrong[-2:]}
    if fault in ("all", "shape"):
        state["head.weight"] = torch.zeros(2, 8, dtype=torch.float64)
        wrong += ["head.weight"]
    if fault == "shape":
        state["blocks.0.mlp.fc2.weight"] = state["blocks.0.mlp.fc2.weight"].T
        wrong += ["blocks.0.mlp.fc2.weight"]
    return state, wrong


def _load_them(load: Callable[..., Any], fault: str, tensors: list[Tensor]) -> Any:
    model = _tiny_model()
    with torch.no_grad():
        for number, parameter in enumerate(model.parameters()):
            parameter.fill_(0.01 * number)
    names = list(model.state_dict())
    state, wrong = _with_fault(fault, dict(zip(names, tensors, strict=True)))
    before = list(state)
    raised, message = "nothing", ""
    try:
        load(model, state)
    except ValueError as error:
        raised, message = "ValueError", str(error)
    except _REFUSALS as error:
        if type(error) not in _REFUSALS or not wrong:  # such as NotImplementedError
            raise
        raised = type(error).__name__
        message = str(error) if raised == "RuntimeError" else ""
    if list(state) != before:
        raise Trouble(
            "changes its input",
            "changes the dictionary of weights, which its caller still needs",
        )
    told = [name for name in wrong if name in message]
    case = {
        "none": "weights that fit",
        "order": "weights that fit, in another order",
        "all": "weights with faults of all three kinds",
        "missing": "weights in which two are missing",
        "unexpected": "weights in which two are unexpected",
        "shape": "weights of which two have another shape",
    }[fault]
    output = {
        f"what is raised for {case}": raised,
        f"what its message tells by name, for {case},": ", ".join(told) or "nothing",
    }
    return output | {
        f"{name} of the model, after {case},": tensor
        for name, tensor in model.state_dict().items()
    }


def _load(
    model: nn.Module,
    state: dict[str, Tensor],
    kinds: str = "missing unexpected shape",
    at_once: bool = True,
    first: bool = False,
    by_count: bool = False,
    named: bool = True,
    error: type[Exception] = ValueError,
    load: bool = True,
    no_buffers: bool = False,
) -> None:
    """Loading with a place for each usual mistake."""
    own = dict(model.named_parameters()) if no_buffers else model.state_dict()
    found = {
        "missing": [name for name in own if name not in state],
        "unexpected": [name for name in state if name not in own],
        "shape": [
            name
            for name in own
            if name in state
            and (
                own[name].numel() != state[name].numel()
                if by_count
                else own[name].shape != state[name].shape
            )
        ],
    }
    groups = [found[kind] for kind in kinds.split() if found[kind]]
    if groups:
        names = [name for group in groups for name in group]
        names = groups[0] if not at_once else names[:1] if first else names
        raise error(", ".join(names) if named else "the weights do not fit")
    if load:
        with torch.no_grad():
            for name, tensor in own.items():
                if name in state:
                    tensor.copy_(state[name].reshape(tensor.shape))


def _load_parameters(model: nn.Module, state: dict[str, Tensor]) -> None:
    buffers = {name: tensor.clone() for name, tensor in model.named_buffers()}
    _load(model, state)
    model.load_state_dict(buffers, strict=False)


def _load_and_translate(model: nn.Module, state: dict[str, Tensor]) -> None:
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        raise ValueError(str(error)) from None


def _load_what_fits(model: nn.Module, state: dict[str, Tensor]) -> None:
    own = model.state_dict()
    fits = {n: t for n, t in state.items() if n in own and t.shape == own[n].shape}
    model.load_state_dict(fits, strict=False)


def _load_by_place(model: nn.Module, state: dict[str, Tensor]) -> None:
    with torch.no_grad():
        for parameter, tensor in zip(
            model.state_dict().values(), state.values(), strict=True
        ):
            parameter.copy_(tensor)


def _load_in_this_order(model: nn.Module, state: dict[str, Tensor]) -> None:
    own = model.state_dict()
    if set(state) == set(own) and list(state) != list(own):
        raise ValueError("another order")
    _load(model, state)


def _load_without_raising(model: nn.Module, state: dict[str, Tensor]) -> None:
    with contextlib.suppress(ValueError):  # and print it
        _load(model, state)


load_checked = FunctionCheck(
    "load_checked",
    "load_checked(model, state_dict)",
    load_weights,
    _load_inputs,
    [
        Mistake(
            "not loaded",
            "weights that fit do not arrive in the model",
            partial(_load, load=False),
        ),
        Mistake(
            "by place",
            "the tensors are loaded by their place in the dictionary; what says where "
            "a tensor belongs is its name",
            _load_by_place,
        ),
        Mistake(
            "PyTorch's own error",
            "leaves the check to load_state_dict, which raises RuntimeError after it "
            "has copied the tensors that fit: compare names and shapes before",
            lambda model, state: model.load_state_dict(state),
        ),
        Mistake(
            "half loaded",
            "raises ValueError, but the tensors that fit have been copied by then: the "
            "model is part old, part new",
            _load_and_translate,
        ),
        Mistake(
            "strict=False",
            "strict=False copies what fits before anything is told, and is silent "
            "about names that are missing or unexpected: compare before you load",
            lambda model, state: model.load_state_dict(state, strict=False),
        ),
        Mistake(
            "what fits",
            "what fits is loaded, and the rest is dropped without a word",
            _load_what_fits,
        ),
        Mistake(
            "printed",
            "the fault is printed and nothing is raised: a program that goes on does "
            "not read what it prints",
            _load_without_raising,
        ),
        Mistake(
            "missing ignored",
            "names that the model has and the weights have not are not told, at least "
            "not beside the other faults",
            partial(_load, kinds="unexpected shape"),
        ),
        Mistake(
            "unexpected ignored",
            "names that the weights have and the model has not are not told, at least "
            "not beside the other faults",
            partial(_load, kinds="missing shape"),
        ),
        Mistake(
            "shapes ignored",
            "tensors with the right name and another shape are not told, at least not "
            "beside names that are missing or unexpected",
            partial(_load, kinds="missing unexpected"),
        ),
        Mistake(
            "first alone",
            "stops at the first tensor that does not fit: whoever reads the message "
            "has to try again for each of the others",
            partial(_load, first=True),
        ),
        Mistake(
            "one kind at a time",
            "tells one kind of fault and stops: missing, unexpected and misshapen "
            "tensors belong into one message",
            partial(_load, at_once=False),
        ),
        Mistake(
            "no names",
            "the message does not say which tensors do not fit",
            partial(_load, named=False),
        ),
        Mistake(
            "assert",
            "refuses with assert, which raises AssertionError and is left out by "
            "python -O: raise ValueError",
            partial(_load, error=AssertionError),
        ),
        Mistake(
            "looked up too early",
            "ends in KeyError, expected ValueError: is a tensor looked up under a name "
            "that one of the two does not have?",
            partial(_load, error=KeyError),
        ),
        Mistake(
            "order matters",
            "weights that fit are refused because they come in another order; what "
            "says where a tensor belongs is its name",
            _load_in_this_order,
        ),
        Mistake(
            "parameters alone",
            "takes the model's parameters for all there is; its state dict has buffers "
            "too, such as a mean that is not trained",
            partial(_load, no_buffers=True),
        ),
        Mistake(
            "buffers not loaded",
            "the parameters arrive and the buffers do not: model.state_dict() has both",
            _load_parameters,
        ),
        Mistake(
            "shapes by count",
            "compares how many numbers a tensor has: a transposed matrix has as many, "
            "so compare the shapes",
            partial(_load, by_count=True),
        ),
    ],
    hints=(
        "Three lists: names of the model that are not among the weights, names of the "
        "weights that are not in the model, and names that both have with different "
        "shapes. Make all three before anything is loaded.",
        "model.state_dict() has the names and shapes that are expected. If any list is "
        "not empty, raise ValueError with all the names in its message; only behind "
        "that, load.",
        "missing = [n for n in own if n not in state_dict], and so on; if missing or "
        "unexpected or misshapen: raise ValueError(f'missing {missing}, unexpected "
        "{unexpected}, shape {misshapen}'); then model.load_state_dict(state_dict).",
    ),
    gradients=False,
    scenario=_load_them,
)
