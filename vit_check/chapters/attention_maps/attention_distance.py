import torch
from torch import Tensor

from vit_check.engine.functions import FunctionCheck


def right_distance(
    weights: list[Tensor], grid_size: tuple[int, int], patch_size: int
) -> Tensor:
    rows, columns = grid_size
    place = torch.arange(rows * columns)
    down = (place // columns)[:, None] - place // columns
    across = (place % columns)[:, None] - place % columns
    far = patch_size * (down**2 + across**2).double().sqrt()  # (N, N)
    means = []
    for block in weights:
        patches = block[..., 1:, 1:]
        shares = patches / patches.sum(dim=-1, keepdim=True)
        distance = (shares * far.to(block)).sum(dim=-1)  # (B, h, N)
        means.append(distance.mean(dim=(0, 2)))
    return torch.stack(means)  # (L, h)


TABLE = """
attention_distance(weights, grid_size, patch_size) -> (L, h)
  [*(1.5 * float64(2, 3, 4, 16, 16)).softmax(-1)], (3, 5), 8
  [*(1.5 * float32(4, 2, 3, 9, 9)).softmax(-1)], (4, 2), 3
  [*(1.5 * float64(3, 3, 2, 10, 10)).softmax(-1)], (3, 3), 4
not divided: / patches.sum(dim=-1, keepdim=True) -> nothing
    a patch's shares of the patches do not sum to 1 any more when the class token is
    left out: divide them by their sum
without itself: block[..., 1:, 1:] -> block[..., 1:, 1:] * (far > 0)
    what a patch pays to itself is left out: it counts, with a distance of 0
not divided, and rows for columns: / patches.sum(dim=-1, keepdim=True) -> nothing
  // columns -> // rows
  % columns -> % rows
    there are two mistakes: the shares of the patches do not sum to 1, and the places
    are counted with the number of rows instead of columns
rows for columns: // columns -> // rows
  % columns -> % rows
    places are counted with the number of rows instead of columns: a new row begins
    after as many patches as there are columns
in patches: patch_size * -> nothing
    the distance is in patches, expected in pixels
squared in pixels: patch_size * -> patch_size**2 *
  .sqrt() -> nothing
    the squared distance is averaged: the root is missing
along the grid: (down**2 + across**2).double().sqrt() -> (down.abs() + across.abs())
    rows and columns are added up, as a rook moves, expected the straight distance
the larger of the two
  (down**2 + across**2).double().sqrt() -> torch.maximum(down.abs(), across.abs())
    the larger of the distances down and across is taken, expected the straight distance
difference of indices
  (down**2 + across**2).double().sqrt() -> (place[:, None] - place).abs()
    the difference of the patches' numbers is taken for their distance: the patch below
    has a number that is larger by a whole row
columns ask: block[..., 1:, 1:] -> block[..., 1:, 1:].mT
    rows and columns of the table are exchanged: a row belongs to the token that looks,
    and its shares are the weights of the mean
? Give it a table in which every patch attends only to itself, then one in which each
  attends to its right neighbour. What should come out?
? Without row 0 and column 0, each row divided by its sum; patch i is in row i //
  columns and column i % columns.
? shares = table[..., 1:, 1:]; shares / shares.sum(-1, keepdim=True); times distances
  (N, N), summed over the last axis, averaged over images and patches.
"""

attention_distance = FunctionCheck(right_distance, TABLE, gradients=False)
