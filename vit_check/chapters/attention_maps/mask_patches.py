import torch
from torch import Generator, Tensor

from vit_check.engine.functions import checked_by


def _some(generator: Generator, images: int, patches: int, k: int) -> Tensor:
    """Draw indices of patches, never the first or last, so that index ± 1 exists."""
    draws = torch.rand(images, patches - 2, generator=generator)
    return 1 + draws.argsort(dim=1)[:, :k]


TABLE = """
mask_patches(images, patch_size, indices, fill=0.0) -> (B, C, H, W)
  float32(2, 3, 5 * 2, 3 * 2), 2, _some(generator, 2, 5 * 3, 6), 0.7
  float64(4, 1, 3 * 5, 3 * 5), 5, _some(generator, 4, 3 * 3, 1), -1.5
  float32(3, 3, 4 * 2, 4 * 2), 2, _some(generator, 3, 4 * 4, 3), 0.4
  float32(2, 2, 2 * 3, 3 * 3), 3, torch.tensor([[0, 5], [5, 0]]), 0.5  # the corners
  float32(3, 2, 3 * 4, 5 * 4), 4, _some(generator, 3, 3 * 5, 4)
the others taken: return output -> return images.where(output != images, fill)
    the patches that are named stay, and all others are taken out
columns first
  divmod(index, columns) -> divmod(index, images.shape[2] // patch_size)[::-1]
    the patches are counted down the columns, expected row by row
rows for columns: divmod(index, columns) -> divmod(index, images.shape[2] // patch_size)
    a patch's number is divided by the number of rows, expected by that of columns
counted from 1: divmod(index, columns) -> divmod(index - 1, columns)
    the patches are counted from 1, expected from 0, without the class token
first image's patches: indices.tolist() -> indices[:1].expand_as(indices).tolist()
    all images lose the patches of the first, expected each its own
all images' patches: indices.tolist() -> [indices.flatten().tolist()] * len(indices)
    every image loses the patches of all, expected its own
first patch alone: in hidden: -> in hidden[:1]:
    only the first of an image's patches is taken out
first channel alone: picture[:, -> picture[:1,
    only the first channel is covered
a pixel too small: top + patch_size -> top + patch_size - 1
  left + patch_size -> left + patch_size - 1
    the last row and column of each patch stay, expected covered
fill added: ] = fill -> ] += fill
    fill is added to what is there, expected in its place
fill everywhere: return output -> return output.where(output != images, images + fill)
    fill is added to the pixels that stay, too, expected only in place of the hidden
? Patch 7 of a grid of 5 columns: in which row and column is it, and at which pixels?
? Row index // columns, column index % columns; from row · P to (row + 1) · P, likewise
  across, in a copy of the images.
? hidden = torch.zeros(B, N, dtype=torch.bool).scatter(1, indices, True), reshaped to
  (B, 1, rows, columns), each entry repeated P times along both axes.
"""


@checked_by(TABLE, batched=(0, 2), gradients=False)
def mask_patches(
    images: Tensor, patch_size: int, indices: Tensor, fill: float = 0.0
) -> Tensor:
    output, columns = images.clone(), images.shape[3] // patch_size
    for picture, hidden in zip(output, indices.tolist(), strict=True):
        for index in hidden:
            row, column = divmod(index, columns)
            top, left = row * patch_size, column * patch_size
            picture[:, top : top + patch_size, left : left + patch_size] = fill
    return output
