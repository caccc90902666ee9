"""Check of chapter 9: patches taken out of an image."""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake
from vit_steps import attention_maps as right


def _mask(
    images: Tensor,
    patch_size: int,
    indices: Tensor,
    fill: float = 0.0,
    count: str = "rows",
    shift: int = 0,
    put: str = "fill",
    which: str = "all",
    channels: str = "all",
    in_pixels: bool = False,
    short: int = 0,
) -> Tensor:
    """Patches taken out with a place for each usual mistake."""
    H, W, P = images.shape[2], images.shape[3], patch_size
    rows, columns = H // P, W // P
    output = images.clone()
    per_image = indices[:1].expand_as(indices) if which == "first image's" else indices
    if which == "everybody's":
        per_image = indices.flatten().expand(len(images), -1)
    if which == "first":
        per_image = per_image[:, :1]
    for picture, hidden in zip(output, per_image.tolist(), strict=True):
        taken = torch.zeros(1, H, W, dtype=torch.bool)
        for index in hidden:
            index = (index + shift) % (rows * columns)
            row, column = {
                "rows": divmod(index, columns),
                "columns": divmod(index, rows)[::-1],
                "by the rows": divmod(index, rows),
                "across first": divmod(index, columns)[::-1],
            }[count]
            top, left = (row, column) if in_pixels else (row * P, column * P)
            taken[:, top : top + P - short, left : left + P - short] = True
        if put == "kept":
            taken = ~taken
        value = {"zero": 0.0, "mean": picture.mean().item()}.get(put, fill)
        hole = picture.masked_fill(taken, value)
        if put == "added":
            hole = picture + fill * taken
        elif put == "multiplied":
            hole = picture * torch.where(taken, fill, 1.0)
        picture.copy_(hole)
    if channels == "first":
        output[:, 1:] = images[:, 1:]
    return output


def _mask_inputs(generator: Generator) -> Iterator[Case]:
    for B, C, (rows, columns), P, k, fill in (
        (3, 2, (3, 5), 4, 4, []),
        (2, 3, (5, 3), 2, 6, [0.7]),
        (4, 1, (3, 3), 5, 2, [-1.5]),
        (3, 3, (4, 4), 2, 3, [0.4]),
    ):
        images = torch.randn(B, C, rows * P, columns * P, generator=generator)
        # The first and the last patch are left alone: their neighbours are there too.
        draws = torch.rand(B, rows * columns - 2, generator=generator)
        yield [images, P, 1 + draws.argsort(dim=1)[:, :k], *fill]


mask_patches = FunctionCheck(
    "mask_patches",
    "mask_patches(images, patch_size, indices, fill=0.0) -> (B, C, H, W)",
    right.mask_patches,
    _mask_inputs,
    [
        Mistake(
            "the others taken",
            "the patches that are named stay, and all others are taken out",
            partial(_mask, put="kept"),
        ),
        Mistake(
            "columns first",
            "the patches are counted down the columns; they are numbered row by row",
            partial(_mask, count="columns"),
        ),
        Mistake(
            "rows for columns",
            "the row of a patch is its number divided by the number of rows; a new row "
            "begins after as many patches as there are columns",
            partial(_mask, count="by the rows"),
        ),
        Mistake(
            "counted from 1",
            "the patches are counted from 1: the one before is taken; the class token "
            "has no number here, patch 0 is the first",
            partial(_mask, shift=-1),
        ),
        Mistake(
            "one too late",
            "the patch after the one that is named is taken: there is no class token "
            "among the numbers",
            partial(_mask, shift=1),
        ),
        Mistake(
            "first image's patches",
            "all images lose the patches of the first; each has a row of its own",
            partial(_mask, which="first image's"),
        ),
        Mistake(
            "row and column exchanged",
            "index // columns is taken for the column and index % columns for the row; "
            "patches are numbered row by row",
            partial(_mask, count="across first"),
        ),
        Mistake(
            "patches for pixels",
            "the row and column of a patch are taken for pixels: patch (row, column) "
            "begins at row · P and column · P",
            partial(_mask, in_pixels=True),
        ),
        Mistake(
            "a pixel short",
            "each patch is covered but for its last row and column: a slice ends "
            "before its second number",
            partial(_mask, short=1),
        ),
        Mistake(
            "everybody's patches",
            "each image loses the patches of all; each has a row of its own",
            partial(_mask, which="everybody's"),
        ),
        Mistake(
            "first patch alone",
            "only the first of an image's patches is taken out",
            partial(_mask, which="first"),
        ),
        Mistake(
            "first channel alone",
            "only the first channel is covered",
            partial(_mask, channels="first"),
        ),
        Mistake(
            "fill ignored",
            "fill has no effect: the patches become 0",
            partial(_mask, put="zero"),
        ),
        Mistake(
            "fill added",
            "fill is added to what is there, expected in its place",
            partial(_mask, put="added"),
        ),
        Mistake(
            "fill multiplied",
            "the patches are multiplied by fill, expected replaced by it",
            partial(_mask, put="multiplied"),
        ),
        Mistake(
            "filled with the mean",
            "the patches get the mean of the image, expected fill",
            partial(_mask, put="mean"),
        ),
    ],
    hints=(
        "Patch 7 of a grid that has 5 columns: in which row and column is it, and "
        "which pixels are its?",
        "Row index // columns, column index % columns; from row · P to (row + 1) · P, "
        "likewise across, in a copy of the images.",
        "hidden = torch.zeros(B, N, dtype=torch.bool).scatter(1, indices, True), "
        "reshaped to (B, 1, rows, columns), each entry repeated P times along both "
        "axes.",
    ),
    shape="(B, C, H, W)",
    batched=(0, 2),
    gradients=False,
)
