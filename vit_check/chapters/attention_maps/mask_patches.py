"""Check of chapter 9: patches taken out of an image."""

import torch
from torch import Generator, Tensor

from vit_check.engine.drawing import Cases
from vit_check.engine.functions import FunctionCheck


def right_mask(
    images: Tensor, patch_size: int, indices: Tensor, fill: float = 0.0
) -> Tensor:
    output, columns = images.clone(), images.shape[3] // patch_size
    for picture, hidden in zip(output, indices.tolist(), strict=True):
        for index in hidden:
            row, column = divmod(index, columns)
            top, left = row * patch_size, column * patch_size
            picture[:, top : top + patch_size, left : left + patch_size] = fill
    return output


def _mask_inputs(generator: Generator) -> Cases:
    for B, C, (rows, columns), P, k, fill in (
        (3, 2, (3, 5), 4, 4, []),
        (2, 3, (5, 3), 2, 6, [0.7]),
        (4, 1, (3, 3), 5, 2, [-1.5]),
        (3, 3, (4, 4), 2, 3, [0.4]),
    ):
        images = torch.randn(B, C, rows * P, columns * P, generator=generator)
        # Neither the first nor the last patch is masked, so that all have neighbours.
        draws = torch.rand(B, rows * columns - 2, generator=generator)
        yield [images, P, 1 + draws.argsort(dim=1)[:, :k], *fill]


MISTAKES = """
the others taken: return output -> return images.where(output != images, fill)
    the patches that are named stay, and all others are taken out
columns first
  divmod(index, columns) -> divmod(index, images.shape[2] // patch_size)[::-1]
    the patches are counted down the columns; they are numbered row by row
rows for columns: divmod(index, columns) -> divmod(index, images.shape[2] // patch_size)
    the row of a patch is its number divided by the number of rows; a new row begins
    after as many patches as there are columns
counted from 1: divmod(index, columns) -> divmod(index - 1, columns)
    the patches are counted from 1: the one before is taken; the class token has no
    number here, patch 0 is the first
first image's patches: indices.tolist() -> indices[:1].expand_as(indices).tolist()
    all images lose the patches of the first; each has a row of its own
first patch alone: in hidden: -> in hidden[:1]:
    only the first of an image's patches is taken out
first channel alone: picture[:, -> picture[:1,
    only the first channel is covered
fill added: ] = fill -> ] += fill
    fill is added to what is there, expected in its place
? Patch 7 of a grid that has 5 columns: in which row and column is it, and which pixels
  are its?
? Row index // columns, column index % columns; from row · P to (row + 1) · P, likewise
  across, in a copy of the images.
? hidden = torch.zeros(B, N, dtype=torch.bool).scatter(1, indices, True), reshaped to
  (B, 1, rows, columns), each entry repeated P times along both axes.
"""

mask_patches = FunctionCheck(
    "mask_patches(images, patch_size, indices, fill=0.0) -> (B, C, H, W)",
    right_mask,
    _mask_inputs,
    MISTAKES,
    batched=(0, 2),
    gradients=False,
)
