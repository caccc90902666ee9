"""Checks of chapter 2: images cut into patches, and patches made into vectors."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import permutations
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn import functional as F

from vit_steps.check.checking import Case
from vit_steps.check.function_check import FunctionCheck
from vit_steps.check.module_check import ModuleCheck, run_module
from vit_steps.check.reading import Part, Weights
from vit_steps.check.verdict import Finding, Mistake
from vit_steps.patch_embedding import PatchEmbedding
from vit_steps.patch_embedding import patchify as right_patchify
from vit_steps.patch_embedding import unpatchify as right_unpatchify
from vit_steps.sizes import Size, as_pair

_ROWS_FIRST = (0, 2, 4, 1, 3, 5)  # (B, rows, columns, C, P, P), of what _split makes


def _split(images: Tensor, patch_size: Size) -> Tensor:
    B, C, H, W = images.shape
    height, width = as_pair(patch_size, "patch_size")
    rows, columns = H // height, W // width
    return images.reshape(B, C, rows, height, columns, width)


def _cut(
    images: Tensor, patch_size: Size, order: Sequence[int] = _ROWS_FIRST
) -> Tensor:
    """Patches with the axes moved into an order, right or wrong."""
    split = _split(images, patch_size)  # (B, C, rows, P, columns, P)
    B, C, rows, height, columns, width = split.shape
    return split.permute(*order).reshape(B, rows * columns, C * height * width)


def _viewed(images: Tensor, patch_size: Size) -> Tensor:
    B, C = images.shape[:2]
    height, width = as_pair(patch_size, "patch_size")
    return images.reshape(B, -1, C * height * width)


def _every_nth_pixel(images: Tensor, patch_size: Size) -> Tensor:
    B, C, H, W = images.shape
    height, width = as_pair(patch_size, "patch_size")
    split = images.reshape(B, C, height, H // height, width, W // width)
    return split.permute(0, 3, 5, 1, 2, 4).reshape(B, -1, C * height * width)


def _overlapping(images: Tensor, patch_size: Size) -> Tensor:
    return F.unfold(images, as_pair(patch_size, "patch_size"))


def _without_last(images: Tensor, patch_size: Size) -> Tensor:
    height, width = as_pair(patch_size, "patch_size")
    return right_patchify(images[:, :, :-height, :-width], patch_size)


def _axes_left(images: Tensor, patch_size: Size, start: int, end: int) -> Tensor:
    return _split(images, patch_size).permute(*_ROWS_FIRST).flatten(start, end)


def _pairs_if_taken(
    answer: Callable[..., Any], right: Callable[..., Any], *arguments: Any
) -> Any:
    """What an answer gives; one that takes only an int for P need not take a pair."""
    if isinstance(arguments[1], int):
        return answer(*arguments)
    try:
        return answer(*arguments)
    except Exception:
        return right(*arguments)


def _patchify_scenario(answer: Any, images: Tensor, patch_size: Size) -> Any:
    return _pairs_if_taken(answer, right_patchify, images, patch_size)


def _unpatchify_scenario(answer: Any, *arguments: Any) -> Any:
    return _pairs_if_taken(answer, right_unpatchify, *arguments)


def _patchify_inputs(generator: Generator) -> Iterator[Case]:
    for B, C, rows, columns, P, dtype in (
        (2, 3, 4, 6, 5, torch.float32),
        (3, 2, 5, 4, 3, torch.float64),
        (2, 3, 3, 4, 2, torch.float32),  # N = C·P·P
        (2, 3, 4, 4, 4, torch.float32),
        (2, 3, 2, 5, 4, torch.bfloat16),
        (3, 2, 5, 4, (3, 6), torch.float32),
    ):
        height, width = as_pair(P, "patch_size")
        shape = (B, C, rows * height, columns * width)
        yield [torch.randn(shape, generator=generator).to(dtype), P]


patchify = FunctionCheck(
    "patchify",
    "patchify(images, patch_size) -> (B, N, C·P·P)",
    right_patchify,
    _patchify_inputs,
    [
        Mistake(
            "view instead of cutting",
            "a view or reshape cuts no squares: the first row holds the topmost lines "
            "of the image, from its left edge to its right; split H and W, move the "
            "axes, then join",
            _viewed,
        ),
        Mistake(
            "rows and columns swapped",
            "the patches run down the columns: patch 1 is the one below patch 0, and "
            "should be the one to its right",
            partial(_cut, order=(0, 4, 2, 1, 3, 5)),
        ),
        Mistake(
            "patches transposed",
            "your patches are transposed: row 0 holds column 0",
            partial(_cut, order=(0, 2, 4, 1, 5, 3)),
        ),
        Mistake(
            "image transposed",
            "height and width are exchanged throughout: the patches run down the "
            "columns, and so do the pixels in each",
            partial(_cut, order=(0, 4, 2, 1, 5, 3)),
        ),
        Mistake(
            "channels last",
            "each patch is flattened pixel by pixel, (P, P, C), with the channels of "
            "a pixel side by side; a convolution's weight has all of channel 0 first, "
            "(C, P, P)",
            partial(_cut, order=(0, 2, 4, 3, 5, 1)),
        ),
        Mistake(
            "channels between",
            "each patch is flattened (P, C, P), with the channels between the pixel "
            "rows and the pixel columns, expected (C, P, P)",
            partial(_cut, order=(0, 2, 4, 3, 1, 5)),
        ),
        Mistake(
            "channels left in front",
            "the channels are left in front of the patches when the axes are joined: a "
            "row mixes patches of one channel, where it should hold one patch of all "
            "channels",
            partial(_cut, order=(0, 1, 2, 4, 3, 5)),
        ),
        Mistake(
            "channels in front of the patches",
            "the channels are still an axis in front of the patches, (B, C, N, P·P); a "
            "patch has all its channels, (B, N, C·P·P)",
            lambda images, P: (
                _split(images, P).transpose(3, 4).flatten(4, 5).flatten(2, 3)
            ),
        ),
        Mistake(
            "height for width",
            "goes as far to the right as the image is high: its width W may be another",
            lambda images, P: right_patchify(images[..., : images.shape[2]], P),
        ),
        Mistake(
            "a patch for each channel",
            "each channel's squares are patches of their own, (B, C·N, P·P); a patch "
            "has all its channels, (B, N, C·P·P)",
            lambda images, P: right_patchify(images.flatten(0, 1)[:, None], P).reshape(
                len(images), -1, as_pair(P, "")[0] * as_pair(P, "")[1]
            ),
        ),
        Mistake(
            "first channel alone",
            "only the first channel is cut, expected all C",
            lambda images, P: right_patchify(images[:, :1], P),
        ),
        Mistake(
            "channels averaged",
            "the channels are averaged; cutting is to lose nothing",
            lambda images, P: right_patchify(images.mean(1, keepdim=True), P),
        ),
        Mistake(
            "patches averaged",
            "each patch is reduced to its mean; cutting is to lose nothing",
            lambda images, P: F.avg_pool2d(images, P).flatten(2).mT,
        ),
        Mistake(
            "every n-th pixel",
            "a patch holds pixels from all over the image: H is split as (P, H/P), "
            "where it should be (H/P, P)",
            _every_nth_pixel,
        ),
        Mistake(
            "patches last",
            "the patches are the last axis, (B, C·P·P, N), as unfold returns them, "
            "expected (B, N, C·P·P)",
            lambda images, P: right_patchify(images, P).mT,
        ),
        Mistake(
            "reshaped instead of turned",
            "the output of unfold is reshaped to (B, N, C·P·P), where its last two "
            "axes should be swapped: the shape fits, and a row mixes patches",
            lambda images, P: right_patchify(images, P).mT.reshape(
                right_patchify(images, P).shape
            ),
        ),
        Mistake(
            "overlapping, patches last",
            "the windows move by one pixel and overlap; patches move by their own "
            "width: set the stride",
            _overlapping,
        ),
        Mistake(
            "overlapping",
            "the windows move by one pixel and overlap; patches move by P",
            lambda images, P: _overlapping(images, P).mT,
        ),
        Mistake(
            "last ones left out",
            "the last row and the last column of patches are left out: "
            "range(0, H - P, P) stops one step early",
            _without_last,
        ),
        Mistake(
            "patches not flattened",
            "each patch is still (C, P, P), expected a row of C·P·P numbers",
            lambda images, P: _axes_left(images, P, 1, 2),
        ),
        Mistake(
            "grid not flattened",
            "the rows and columns of patches are still two axes, expected one of N",
            lambda images, P: _axes_left(images, P, 3, 5),
        ),
        Mistake(
            "batch joined",
            "the patches of all images stand in one list, (B·N, C·P·P), expected "
            "(B, N, C·P·P)",
            lambda images, P: right_patchify(images, P).flatten(0, 1),
        ),
        Mistake(
            "patches before the batch",
            "the patches stand before the batch, (N, B, C·P·P), expected (B, N, C·P·P)",
            lambda images, P: right_patchify(images, P).transpose(0, 1),
        ),
    ],
    hints=(
        "Try images = torch.arange(16.).reshape(1, 1, 4, 4) with patches of 2: the "
        "first row should be 0, 1, 4, 5.",
        "Split H into (H/P, P) and W into (W/P, P); move the axes to (B, rows, "
        "columns, C, P, P); join the two that name a patch and the three inside it.",
        "images.reshape(B, C, H // P, P, W // P, P).permute(0, 2, 4, 1, 3, 5), then "
        ".reshape(B, N, C * P * P).",
    ),
    shape="(B, N, C·P·P)",
    batched=(0,),
    scenario=_patchify_scenario,
)


def _together(
    patches: Tensor,
    patch_size: Size,
    image_size: Size,
    axes: str = "rcCpq",
    order: str = "Crpcq",
) -> Tensor:
    """Patches put together, with the axes read and moved as two words say.

    The letters are r and c for the rows and columns of patches, C for the channels, p
    and q for the rows and columns of pixels.
    """
    (H, W), (height, width) = as_pair(image_size, ""), as_pair(patch_size, "")
    C = patches.shape[-1] // (height * width)
    sizes = {"r": H // height, "c": W // width, "C": C, "p": height, "q": width}
    split = patches.reshape(len(patches), *(sizes[axis] for axis in axes))
    moved = split.permute(0, *(1 + axes.index(axis) for axis in order))
    return moved.reshape(len(patches), C, H, W)


def _sizes_swapped(patches: Tensor, patch_size: Size, image_size: Size) -> Tensor:
    H, W = as_pair(image_size, "image_size")
    return right_unpatchify(patches, patch_size, (W, H))


def _without_last_put(patches: Tensor, patch_size: Size, image_size: Size) -> Tensor:
    images = right_unpatchify(patches, patch_size, image_size)
    height, width = as_pair(patch_size, "patch_size")
    images[:, :, -height:] = 0
    images[:, :, :, -width:] = 0
    return images


def _side_by_side(patches: Tensor, patch_size: Size, image_size: Size) -> Tensor:
    """The axes of the grid and the pixels, moved to their places but not joined."""
    (H, W), (height, width) = as_pair(image_size, ""), as_pair(patch_size, "")
    split = patches.reshape(len(patches), H // height, W // width, -1, height, width)
    return split.permute(0, 3, 1, 4, 2, 5)


def _unpatchify_inputs(generator: Generator) -> Iterator[Case]:
    for images, patch_size in _patchify_inputs(generator):
        H, W = images.shape[2:]
        yield [right_patchify(images, patch_size), patch_size, (H, W)]


unpatchify = FunctionCheck(
    "unpatchify",
    "unpatchify(patches, patch_size, image_size) -> (B, C, H, W)",
    right_unpatchify,
    _unpatchify_inputs,
    [
        Mistake(
            "view instead of joining",
            "a view or reshape puts no squares together: it lays each patch out as "
            "lines of the image; split the axes, move them, then join",
            lambda patches, P, image_size: patches.reshape(
                len(patches), -1, *as_pair(image_size, "")
            ),
        ),
        Mistake(
            "grid and pixels not interleaved",
            "the axes are joined as (rows, columns, P, P); an image's height is rows "
            "of patches with rows of pixels, so P has to stand right behind H/P",
            partial(_together, order="Crcpq"),
        ),
        Mistake(
            "pixels before the grid",
            "the height is joined as (P, H/P), which puts neighbouring pixels far "
            "apart; a row of patches comes first, then the rows of pixels in it",
            partial(_together, order="Cprqc"),
        ),
        Mistake(
            "rows and columns swapped",
            "the patches are laid down column by column; patch 1 belongs to the right "
            "of patch 0",
            partial(_together, axes="crCpq"),
        ),
        Mistake(
            "patches transposed",
            "the patches lie where they should, and each is transposed: its pixel "
            "rows and pixel columns are exchanged",
            partial(_together, axes="rcCqp"),
        ),
        Mistake(
            "channels last in a patch",
            "a row is read as (P, P, C); it holds all of channel 0 first, (C, P, P)",
            partial(_together, axes="rcpqC"),
        ),
        Mistake(
            "channels in front",
            "the channels are read before the patches, (C, rows, columns, P, P); in "
            "a row of C·P·P numbers they are inside the patch",
            partial(_together, axes="Crcpq"),
        ),
        Mistake(
            "channels behind",
            "the image is (B, H, W, C), expected (B, C, H, W)",
            lambda patches, P, image_size: right_unpatchify(
                patches, P, image_size
            ).permute(0, 2, 3, 1),
        ),
        Mistake(
            "image transposed",
            "the image comes out transposed, (B, C, W, H), expected (B, C, H, W)",
            lambda patches, P, image_size: right_unpatchify(patches, P, image_size).mT,
        ),
        Mistake(
            "sizes swapped",
            "the grid has as many rows as it should have columns: image_size is "
            "(height, width), and H/P is the number of rows",
            _sizes_swapped,
        ),
        Mistake(
            "axes not joined",
            "the axes stand in the right places and are not joined yet, "
            "(B, C, rows, P, columns, P), expected (B, C, H, W)",
            _side_by_side,
        ),
        Mistake(
            "folded without turning",
            "fold wants the patches as its last axis; these have them in the middle, "
            "so swap the last two axes first",
            lambda patches, P, image_size: F.fold(patches, image_size, P, stride=P),
        ),
        Mistake(
            "last ones left out",
            "the last row and the last column of patches are left empty: "
            "range(0, H - P, P) stops one step early",
            _without_last_put,
        ),
        Mistake(
            "first channel alone",
            "only the first channel comes back, expected all C",
            lambda patches, P, image_size: right_unpatchify(patches, P, image_size)[
                :, :1
            ],
        ),
        Mistake(
            "upside down",
            "the rows of patches are laid from the bottom to the top",
            lambda patches, P, image_size: (
                _side_by_side(patches, P, image_size)
                .flip(2)
                .reshape(len(patches), -1, *as_pair(image_size, ""))
            ),
        ),
    ],
    hints=(
        "unpatchify(patchify(images, P), P, (H, W)) should be images. Do the steps of "
        "patchify backwards.",
        "Split N into (H/P, W/P) and C·P·P into (C, P, P); move the axes to (B, C, "
        "rows, P, columns, P); join.",
        "patches.reshape(B, H // P, W // P, C, P, P).permute(0, 3, 1, 4, 2, 5), then "
        ".reshape(B, C, H, W).",
    ),
    shape="(B, C, H, W)",
    batched=(0,),
    scenario=_unpatchify_scenario,
)


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
            "wherever they lie",
        )
    if first.value.ndim == 3 and first.value.shape[0] not in (1, D):
        return Finding(
            "one matrix per patch",
            f"has a parameter {first.name} {tuple(first.value.shape)}, which is a "
            "matrix for each patch; all patches share one, wherever they lie",
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
        f"starts with weights of width {std:.2g}: a sum of C·P·P = {inputs} products "
        f"is then {std * inputs**0.5:.0f} times as wide as a pixel; divide by the root "
        "of C·P·P, or let a layer of PyTorch start itself",
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
    patches = _cut(images, sizes["patch_size"], order)
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
        partial(_embed, cut=_viewed),
    ),
    Mistake(
        "channels left in front",
        "the channels are left in front of the patches when the axes are joined: a "
        "row mixes patches of one channel, where it should hold one patch of all",
        partial(_embed, cut=partial(_cut, order=(0, 1, 2, 4, 3, 5))),
    ),
    Mistake(
        "every n-th pixel",
        "a patch holds pixels from all over the image: H is split as (P, H/P), where "
        "it should be (H/P, P)",
        partial(_embed, cut=_every_nth_pixel),
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
        "the vectors of all images stand in one list, (B·N, D), expected (B, N, D)",
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
        partial(_embed, cut=_without_last),
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
        "the bias is there and never added",
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
    "Write the shape behind every line. Which axis holds the patches before and after "
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
    inputs=_embedding_inputs,
    reading=_embedding_readings,
    reference=_right_embedding,
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
