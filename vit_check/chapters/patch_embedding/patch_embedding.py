"""Check of chapter 2: patches made into vectors."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import permutations
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn import functional as F

from vit_check.chapters.patch_embedding.patchify import (
    cut,
    every_nth_pixel,
    viewed,
    without_last,
)
from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.modules import ModuleCheck, run_module
from vit_check.engine.reading import Part, Weights
from vit_check.engine.verdict import Finding, Mistake
from vit_steps.patch_embedding import PatchEmbedding
from vit_steps.patch_embedding import patchify as right_patchify
from vit_steps.sizes import Size, as_pair


def _numbers(sizes: Mapping[str, Any]) -> tuple[int, int, int]:
    """C and the patch's height and width."""
    return (sizes["in_channels"], *as_pair(sizes["patch_size"], "patch_size"))


def _embedding_readings(
    parts: Sequence[Part], sizes: Mapping[str, Any]
) -> Iterator[Weights]:
    """A weight for every order in which a linear layer's patches may be flattened.

    A convolution's weight has only one. Nothing but the weight and a bias is allowed.
    """
    C, height, width = _numbers(sizes)
    D = sizes["embed_dim"]
    weights = [p for p in parts if p.value.squeeze().ndim > 1]
    others = [p for p in parts if p.value.squeeze().ndim <= 1]
    biased = [p for p in others if p.value.numel() == D]
    if len(weights) != 1 or len(biased) != len(others) or len(biased) > 1:
        return
    bias = biased[0].value.flatten() if biased else weights[0].value.new_zeros(D)
    for weight in _as_filters(weights[0], D, (C, height, width)):
        yield {"proj.weight": weight, "proj.bias": bias}


def _as_filters(part: Part, D: int, patch: tuple[int, int, int]) -> Iterator[Tensor]:
    """Each way to read a weight as (D, C, P, P)."""
    value, wanted = part.value, (D, *patch)
    if tuple(value.shape) == wanted and part.kind == "convolution":
        yield value
        return
    if value.ndim == 4 and value.shape[2:] != (1, 1):
        for order in permutations(range(4)):
            if tuple(value.permute(order).shape) == wanted:
                yield value.permute(order)
        return
    matrix, numbers = value.squeeze(), patch[0] * patch[1] * patch[2]
    if matrix.ndim == 2 and tuple(matrix.shape) == (D, numbers):
        yield from _in_every_order(matrix, patch)
    if matrix.ndim == 2 and tuple(matrix.shape) == (numbers, D):
        if part.kind not in ("linear", "convolution"):
            yield from _in_every_order(matrix.T, patch)


def _in_every_order(matrix: Tensor, patch: tuple[int, int, int]) -> Iterator[Tensor]:
    """(D, C·P·P) as (D, C, P, P), the C·P·P flattened in any order of the three."""
    for order in permutations(range(3)):
        split = matrix.unflatten(1, tuple(patch[axis] for axis in order))
        back = [1 + order.index(axis) for axis in range(3)]
        yield split.permute(0, *back)


def _embedding_lacks(parts: list[Part], sizes: Mapping[str, Any]) -> Finding | None:
    C, height, width = _numbers(sizes)
    D, numbers = sizes["embed_dim"], C * height * width
    for part in parts:
        found = _too_much(part, D)
        if found is not None:
            return found
    weights = [p for p in parts if p.value.squeeze().ndim > 1]
    if not weights:
        return Finding(
            "no weight",
            "has no matrix: what makes D numbers of a patch is learned, so make a "
            "layer in __init__",
        )
    first = weights[0]
    if len(weights) > 1 and all(p.value.shape == first.value.shape for p in weights):
        return Finding(
            "one matrix per patch",
            f"has {len(weights)} matrices of one shape; all patches share one, "
            "wherever they are",
        )
    if first.value.ndim == 3 and first.value.shape[0] not in (1, D):
        return Finding(
            "one matrix per patch",
            f"has a parameter {first.name} {tuple(first.value.shape)}, which is a "
            "matrix for each patch; all patches share one, wherever they are",
        )
    if len(weights) > 1:
        return Finding(
            "several layers",
            f"has {len(weights)} layers with weights ({_listed(weights)}); a patch "
            "becomes a vector by one matrix",
        )
    return _wrong_matrix(first, D, (C, height, width), numbers)


def _too_much(part: Part, D: int) -> Finding | None:
    """A parameter that belongs to another part of the model."""
    if part.kind == "norm":
        return Finding(
            "norm",
            f"has a norm, {part.owner or part.name}; patches go through one matrix "
            "and nothing else",
        )
    shape = tuple(part.value.shape)
    if part.kind == "table" or (len(shape) == 3 and shape[::2] == (1, D)):
        return Finding(
            "class token or positions inside",
            f"has a parameter {part.name} {shape}; the class token and the positions "
            "come after the patch embedding, which gives (B, N, D)",
        )
    return None


def _wrong_matrix(
    part: Part, D: int, patch: tuple[int, int, int], numbers: int
) -> Finding | None:
    shape, (C, height, width) = tuple(part.value.shape), patch
    text = f"{part.name} has shape {shape}"
    if part.kind == "convolution":
        if shape[1] != C:
            return Finding(
                "channels apart",
                f"{text}: each output sees {shape[1]} of the {C} channels, and should "
                "see all of them",
            )
        if shape[2:] != (height, width):
            return Finding(
                "window",
                f"{text}: its window is {shape[2]}×{shape[3]} pixels, expected that "
                f"of a patch, {height}×{width}",
            )
        return _wrong_width(text, shape[0], D)
    if part.kind == "linear":
        if shape[1] == height * width:
            return Finding(
                "channels apart",
                f"{text}: it takes the {height * width} numbers of one channel, "
                f"expected the {numbers} of all {C}",
            )
        if shape[1] == C:
            return Finding(
                "pooled",
                f"{text}: it takes {C} numbers, a colour; a patch has C·P·P = "
                f"{numbers}, and averaging them away loses what is in it",
            )
        if shape[1] != numbers:
            return Finding(
                "inputs",
                f"{text}: it takes {shape[1]:,} numbers, expected C·P·P = {numbers}, "
                "those of one patch",
            )
        return _wrong_width(text, shape[0], D)
    return None


def _wrong_width(text: str, outs: int, D: int) -> Finding:
    return Finding(
        "width",
        f"{text}: it makes {outs} numbers of a patch, expected D = embed_dim = {D}",
    )


def _listed(parts: Sequence[Part]) -> str:
    return ", ".join(f"{part.name} {tuple(part.value.shape)}" for part in parts[:4])


def _starts_too_wide(weights: Weights, sizes: Mapping[str, Any]) -> Finding | None:
    C, height, width = _numbers(sizes)
    inputs = C * height * width
    std = weights["proj.weight"].double().std().item()
    if inputs < 20 or std < 3 / inputs**0.5:
        return None
    return Finding(
        "starts too wide",
        f"starts with weights of standard deviation {std:.2g}: a sum of C·P·P = "
        f"{inputs} products then has {std * inputs**0.5:.0f} times the spread of a "
        "pixel; divide by the root of C·P·P, or let a layer of PyTorch start itself",
    )


def _embed(
    weights: Weights,
    sizes: Mapping[str, Any],
    images: Tensor,
    cut: Callable[[Tensor, Size], Tensor] = right_patchify,
    bias: bool = True,
) -> Tensor:
    """Patches, cut rightly or not, times the one matrix."""
    offset = weights["proj.bias"] if bias else None
    patches = cut(images, sizes["patch_size"])
    return F.linear(patches, weights["proj.weight"].flatten(1), offset)


def _maps(
    weights: Weights, sizes: Mapping[str, Any], images: Tensor, **changed: Any
) -> Tensor:
    """The convolution's output, (B, D, rows, columns)."""
    height, width = as_pair(sizes["patch_size"], "patch_size")
    options = {"stride": (height, width), **changed}
    weight, bias = weights["proj.weight"], weights["proj.bias"]
    return F.conv2d(images, weight, bias, **options)


def _tokens(maps: Tensor) -> Tensor:
    return maps.flatten(2).transpose(1, 2)


def _halves(sizes: Mapping[str, Any]) -> tuple[int, int]:
    height, width = as_pair(sizes["patch_size"], "patch_size")
    return max(1, height // 2), max(1, width // 2)


def _with_all_weights(
    images: Tensor,
    weight: Tensor,
    bias: Tensor,
    patch_size: Size,
    variant: Any = _embed,
) -> Tensor:
    weights = {"proj.weight": weight, "proj.bias": bias}
    return variant(weights, {"patch_size": patch_size}, images)


def _weight_reordered(
    order: Sequence[int], weights: Weights, sizes: Mapping[str, Any], images: Tensor
) -> Tensor:
    """Patches flattened in another order than the weight."""
    offset = weights["proj.bias"]
    patches = cut(images, sizes["patch_size"], order)
    return F.linear(patches, weights["proj.weight"].flatten(1), offset)


def _weight_reshaped(
    weights: Weights, sizes: Mapping[str, Any], images: Tensor
) -> Tensor:
    patches = right_patchify(images, sizes["patch_size"])
    weight = weights["proj.weight"]
    return patches @ weight.reshape(-1, len(weight)) + weights["proj.bias"]


def _weight_turned_round(
    weights: Weights, sizes: Mapping[str, Any], images: Tensor
) -> Tensor:
    patches = right_patchify(images, sizes["patch_size"])
    turned = weights["proj.weight"].permute(3, 2, 1, 0)  # (P, P, C, D)
    return patches @ turned.flatten(0, 2) + weights["proj.bias"]


_OF_EMBEDDING = [
    Mistake(
        "view instead of cutting",
        "the image is viewed as (B, N, C·P·P) and not cut: each row holds lines of the "
        "image, from its left edge to its right, and no square",
        partial(_embed, cut=viewed),
    ),
    Mistake(
        "channels left in front",
        "the channels are left in front of the patches when the axes are joined: a "
        "row mixes patches of one channel, where it should hold one patch of all",
        partial(_embed, cut=partial(cut, order=(0, 1, 2, 4, 3, 5))),
    ),
    Mistake(
        "every n-th pixel",
        "a patch holds pixels from all over the image: H is split as (P, H/P), where "
        "it should be (H/P, P)",
        partial(_embed, cut=every_nth_pixel),
    ),
    Mistake(
        "reshaped instead of transposed",
        "(B, D, rows, columns) is reshaped to (B, N, D): the shape fits, and a vector "
        "holds one output of many patches; flatten the grid, then swap the last two "
        "axes",
        lambda weights, sizes, x: (m := _maps(weights, sizes, x)).reshape(
            len(m), -1, m.shape[1]
        ),
    ),
    Mistake(
        "tokens last",
        "the tokens are the last axis, (B, D, N), expected (B, N, D)",
        lambda weights, sizes, x: _maps(weights, sizes, x).flatten(2),
    ),
    Mistake(
        "grid not flattened",
        "the output is still the convolution's grid, (B, D, H/P, W/P), expected "
        "(B, N, D)",
        _maps,
    ),
    Mistake(
        "grid not flattened, D last",
        "the rows and columns of patches are still two axes, expected one of N",
        lambda weights, sizes, x: _maps(weights, sizes, x).permute(0, 2, 3, 1),
    ),
    Mistake(
        "everything flattened",
        "all but the batch is flattened into one axis, expected (B, N, D)",
        lambda weights, sizes, x: _maps(weights, sizes, x).flatten(1),
    ),
    Mistake(
        "batch joined",
        "the vectors of all images are in one list, (B·N, D), expected (B, N, D)",
        lambda weights, sizes, x: _embed(weights, sizes, x).flatten(0, 1),
    ),
    Mistake(
        "rows and columns swapped",
        "the patches run down the columns: vector 1 is of the patch below patch 0, and "
        "should be of the one to its right",
        lambda weights, sizes, x: _tokens(_maps(weights, sizes, x).mT),
    ),
    Mistake(
        "image transposed",
        "height and width of the image are exchanged before it is cut",
        lambda weights, sizes, x: _tokens(_maps(weights, sizes, x.mT)),
    ),
    Mistake(
        "stride left out",
        "the window moves by one pixel, so that patches overlap: the stride is 1 where "
        "it should be P",
        lambda weights, sizes, x: _tokens(_maps(weights, sizes, x, stride=1)),
    ),
    Mistake(
        "overlapping stride",
        "the window moves by half its width, so that patches overlap: the stride "
        "should be P",
        lambda weights, sizes, x: _tokens(
            _maps(weights, sizes, x, stride=_halves(sizes))
        ),
    ),
    Mistake(
        "padding",
        "the image is padded by half a patch, so that no window lies on a patch any "
        "more",
        lambda weights, sizes, x: _tokens(
            _maps(weights, sizes, x, padding=_halves(sizes))
        ),
    ),
    Mistake(
        "padding by one",
        "the image is padded by one pixel, so that every window lies one pixel off its "
        "patch",
        lambda weights, sizes, x: _tokens(_maps(weights, sizes, x, padding=1)),
    ),
    Mistake(
        "last ones left out",
        "the last row and the last column of patches are left out",
        partial(_embed, cut=without_last),
    ),
    Mistake(
        "averaged over patches",
        "the vectors of all patches are averaged; each patch keeps its own",
        lambda weights, sizes, x: _embed(weights, sizes, x).mean(1),
    ),
    Mistake(
        "first patch alone",
        "only the first patch is embedded, expected all N",
        lambda weights, sizes, x: _embed(weights, sizes, x)[:, :1],
    ),
    Mistake(
        "activation",
        "the vectors go through a ReLU; a patch goes through one matrix and nothing "
        "else",
        lambda weights, sizes, x: _embed(weights, sizes, x).relu(),
    ),
    Mistake(
        "gelu",
        "the vectors go through a GELU; a patch goes through one matrix and nothing "
        "else",
        lambda weights, sizes, x: F.gelu(_embed(weights, sizes, x)),
    ),
    Mistake(
        "normalised",
        "the vectors are normalised; a patch goes through one matrix and nothing else",
        lambda weights, sizes, x: F.layer_norm(
            _embed(weights, sizes, x), weights["proj.bias"].shape
        ),
    ),
    Mistake(
        "scaled by √D",
        "the vectors are multiplied by √D, as the original Transformer does with "
        "words; patches are not",
        lambda weights, sizes, x: (
            _embed(weights, sizes, x) * weights["proj.bias"].numel() ** 0.5
        ),
    ),
    Mistake(
        "divided by 255",
        "the images are divided by 255 inside; what comes in are numbers already, and "
        "bytes are the caller's to divide",
        lambda weights, sizes, x: _embed(weights, sizes, x / 255),
    ),
    Mistake(
        "bias unused",
        "the bias is there but never added",
        partial(_embed, bias=False),
    ),
]


def _embedding_inputs(generator: Generator, sizes: Mapping[str, Any]) -> list[Tensor]:
    shape = (2, sizes["in_channels"], *as_pair(sizes["image_size"], "image_size"))
    return [torch.randn(shape, generator=generator, dtype=torch.float64)]


def _embedding_function_inputs(generator: Generator) -> Iterator[Case]:
    for B, C, rows, columns, P, D, dtype in (
        (2, 3, 5, 6, 4, 10, torch.float64),
        (3, 2, 4, 6, 3, 24, torch.float32),  # N = D
        (2, 3, 4, 3, 2, 12, torch.float32),  # C·P·P = D
    ):
        shapes = ((B, C, rows * P, columns * P), (D, C, P, P), (D,))
        images, weight, bias = (
            torch.randn(shape, generator=generator, dtype=torch.float64)
            for shape in shapes
        )
        weight = weight / (C * P * P) ** 0.5
        yield [t.to(dtype) for t in (images, weight, bias)] + [P]


def _right_embedding(
    weights: Weights, sizes: Mapping[str, Any], images: Tensor
) -> Tensor:
    names = ("image_size", "patch_size", "in_channels", "embed_dim")
    with torch.device("meta"):
        module = PatchEmbedding(*(sizes[name] for name in names))
    output: Tensor = run_module(module, weights, images)
    return output


_HINTS_OF_EMBEDDING = (
    "Write the shape after every line. Which axis holds the patches before and after "
    "you join the grid?",
    "Either patchify and one nn.Linear from C·P·P to D, or an nn.Conv2d whose window "
    "and stride are both P, its grid flattened, and D moved to the end.",
    "self.proj = nn.Conv2d(in_channels, embed_dim, patch_size, stride=patch_size); "
    "then self.proj(images).flatten(2).transpose(1, 2).",
)

patch_embedding = ModuleCheck(
    "patch_embedding",
    "class PatchEmbedding(image_size, patch_size, in_channels, embed_dim), called with "
    "images (B, C, H, W)",
    sizes={"image_size": 24, "patch_size": 4, "in_channels": 3, "embed_dim": 10},
    other_sizes={"image_size": 18, "patch_size": 6, "in_channels": 2, "embed_dim": 16},
    inputs=_embedding_inputs,
    reading=_embedding_readings,
    reference=_right_embedding,
    package=lambda sizes: PatchEmbedding(**sizes),
    mistakes=_OF_EMBEDDING,
    hints=_HINTS_OF_EMBEDDING,
    shape="(B, N, D)",
    lacking=_embedding_lacks,
    initial=_starts_too_wide,
    function=FunctionCheck(
        "patch_embedding",
        "patch_embedding(images, weight, bias, patch_size) -> (B, N, D), the weight "
        "(D, C, P, P) as a convolution's",
        partial(_with_all_weights, variant=_embed),
        _embedding_function_inputs,
        [
            Mistake(
                "flatten order",
                "the patches are flattened (P, P, C) and the weight (C, P, P): every "
                "number of a patch meets a weight that is meant for another",
                partial(
                    _with_all_weights,
                    variant=partial(_weight_reordered, (0, 2, 4, 3, 5, 1)),
                ),
            ),
            Mistake(
                "patches transposed",
                "your patches are transposed: pixel row 0 meets the weight's column 0",
                partial(
                    _with_all_weights,
                    variant=partial(_weight_reordered, (0, 2, 4, 1, 5, 3)),
                ),
            ),
            Mistake(
                "weight reshaped",
                "the weight is not transposed: flattened it is (D, C·P·P), and its two "
                "axes are to be swapped, which a reshape to (C·P·P, D) does not do",
                partial(_with_all_weights, variant=_weight_reshaped),
            ),
            Mistake(
                "weight turned round",
                "all four axes of the weight are reversed, as .T does with more than "
                "two; flatten it to (D, C·P·P) first, and then transpose",
                partial(_with_all_weights, variant=_weight_turned_round),
            ),
            *(
                Mistake(m.name, m.sentence, partial(_with_all_weights, variant=m.wrong))
                for m in _OF_EMBEDDING
            ),
        ],
        _HINTS_OF_EMBEDDING,
        shape="(B, N, D)",
        batched=(0,),
    ),
)
