"""The check of ``unpatchify``, chapter 2."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from torch import Generator, Tensor
from torch.nn import functional as F

from vit_check.chapters.patch_embedding.patchify import pairs_if_taken, patchify_inputs
from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake
from vit_steps.patch_embedding import patchify as right_patchify
from vit_steps.patch_embedding import unpatchify as right_unpatchify
from vit_steps.sizes import Size, as_pair


def _unpatchify_scenario(answer: Any, *arguments: Any) -> Any:
    return pairs_if_taken(answer, right_unpatchify, *arguments)


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
    for images, patch_size in patchify_inputs(generator):
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
            "of patches with rows of pixels, so P has to come right after H/P",
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
            "the patches are where they should be, but each is transposed: its pixel "
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
            "the axes are in the right places but not joined yet, "
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
