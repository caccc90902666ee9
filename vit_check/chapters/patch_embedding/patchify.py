"""The check of ``patchify``, chapter 2."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn import functional as F

from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake
from vit_steps.patch_embedding import patchify as right_patchify
from vit_steps.sizes import Size, as_pair

_ROWS_FIRST = (0, 2, 4, 1, 3, 5)  # (B, rows, columns, C, P, P), of what _split makes


def _split(images: Tensor, patch_size: Size) -> Tensor:
    B, C, H, W = images.shape
    height, width = as_pair(patch_size, "patch_size")
    rows, columns = H // height, W // width
    return images.reshape(B, C, rows, height, columns, width)


def cut(images: Tensor, patch_size: Size, order: Sequence[int] = _ROWS_FIRST) -> Tensor:
    """Patches with the axes moved into an order, right or wrong."""
    split = _split(images, patch_size)  # (B, C, rows, P, columns, P)
    B, C, rows, height, columns, width = split.shape
    return split.permute(*order).reshape(B, rows * columns, C * height * width)


def viewed(images: Tensor, patch_size: Size) -> Tensor:
    B, C = images.shape[:2]
    height, width = as_pair(patch_size, "patch_size")
    return images.reshape(B, -1, C * height * width)


def every_nth_pixel(images: Tensor, patch_size: Size) -> Tensor:
    B, C, H, W = images.shape
    height, width = as_pair(patch_size, "patch_size")
    split = images.reshape(B, C, height, H // height, width, W // width)
    return split.permute(0, 3, 5, 1, 2, 4).reshape(B, -1, C * height * width)


def _overlapping(images: Tensor, patch_size: Size) -> Tensor:
    return F.unfold(images, as_pair(patch_size, "patch_size"))


def without_last(images: Tensor, patch_size: Size) -> Tensor:
    height, width = as_pair(patch_size, "patch_size")
    return right_patchify(images[:, :, :-height, :-width], patch_size)


def _axes_left(images: Tensor, patch_size: Size, start: int, end: int) -> Tensor:
    return _split(images, patch_size).permute(*_ROWS_FIRST).flatten(start, end)


def pairs_if_taken(
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
    return pairs_if_taken(answer, right_patchify, images, patch_size)


def patchify_inputs(generator: Generator) -> Iterator[Case]:
    for B, C, rows, columns, P, dtype in (
        (2, 3, 4, 6, 5, torch.float32),
        (3, 2, 5, 4, 3, torch.float64),
        (2, 3, 3, 4, 2, torch.float32),  # N = C·P·P
        (2, 3, 4, 4, 4, torch.float32),
        (2, 4, 2, 5, 4, torch.bfloat16),
        (3, 2, 5, 4, (3, 6), torch.float32),
    ):
        height, width = as_pair(P, "patch_size")
        shape = (B, C, rows * height, columns * width)
        yield [torch.randn(shape, generator=generator).to(dtype), P]


patchify = FunctionCheck(
    "patchify",
    "patchify(images, patch_size) -> (B, N, C·P·P)",
    right_patchify,
    patchify_inputs,
    [
        Mistake(
            "view instead of cutting",
            "a view or reshape cuts no squares: the first row holds the topmost lines "
            "of the image, from its left edge to its right; split H and W, move the "
            "axes, then join",
            viewed,
        ),
        Mistake(
            "rows and columns swapped",
            "the patches run down the columns: patch 1 is the one below patch 0, and "
            "should be the one to its right",
            partial(cut, order=(0, 4, 2, 1, 3, 5)),
        ),
        Mistake(
            "patches transposed",
            "your patches are transposed: row 0 holds column 0",
            partial(cut, order=(0, 2, 4, 1, 5, 3)),
        ),
        Mistake(
            "a list of patches",
            "the patches are returned one by one, expected one tensor: stack them "
            "along axis 1",
            lambda images, patch: right_patchify(images, patch).unbind(1),
        ),
        Mistake(
            "image transposed",
            "height and width are exchanged throughout: the patches run down the "
            "columns, and so do the pixels in each",
            partial(cut, order=(0, 4, 2, 1, 5, 3)),
        ),
        Mistake(
            "channels last",
            "each patch is flattened pixel by pixel, (P, P, C), with the channels of "
            "a pixel side by side; a convolution's weight has all of channel 0 first, "
            "(C, P, P)",
            partial(cut, order=(0, 2, 4, 3, 5, 1)),
        ),
        Mistake(
            "channels between",
            "each patch is flattened (P, C, P), with the channels between the pixel "
            "rows and the pixel columns, expected (C, P, P)",
            partial(cut, order=(0, 2, 4, 3, 1, 5)),
        ),
        Mistake(
            "channels left in front",
            "the channels are left in front of the patches when the axes are joined: a "
            "row mixes patches of one channel, where it should hold one patch of all "
            "channels",
            partial(cut, order=(0, 1, 2, 4, 3, 5)),
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
            "goes as far to the right as the image is high: its width W may differ",
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
            every_nth_pixel,
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
            without_last,
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
            "the patches of all images are in one list, (B·N, C·P·P), expected "
            "(B, N, C·P·P)",
            lambda images, P: right_patchify(images, P).flatten(0, 1),
        ),
        Mistake(
            "patches before the batch",
            "the patches come before the batch, (N, B, C·P·P), expected (B, N, C·P·P)",
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
