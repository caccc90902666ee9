from vit_check.engine.functions import FunctionCheck
from vit_steps.attention_maps import inspecting

TABLE = """
attention_distance(weights, grid_size, patch_size) -> (L, h)
  [*(1.5 * float64(2, 3, 4, 16, 16)).softmax(-1)], (3, 5), 8
  [*(1.5 * float32(4, 2, 3, 9, 9)).softmax(-1)], (4, 2), 3
  [*(1.5 * float64(1, 3, 1, 10, 10)).softmax(-1)], (3, 3), 4
not divided: as_shares(block -> (block
    what a patch pays to the patches is not divided by its sum
one mean over all: as_shares(block[..., first:, first:])
  -> (s := block[..., first:, first:]) / s.sum(-1).mean((0, 2))[:, None, None]
    distances and shares are summed over all patches and then divided, expected each
    patch's own mean first: one that pays little to patches is to count as much
times T over N: as_shares(block -> (len(distances) + 1) / len(distances) * (block
    all shares are multiplied by one number, expected each patch's divided by their sum
first image alone: block[..., -> block[:1, ...,
    only the first image is looked at, expected the mean over all
without itself: first:, first:] -> first:, first:] * (distances > 0)
    what a patch pays to itself is left out: it counts, with a distance of 0
rows for columns: rows, columns = -> columns, rows =
    places are counted with the number of rows, expected with that of columns
squared in pixels: norm(dim=-1) -> square().sum(dim=-1)
    the squared distance is averaged: the root is missing
along the grid: norm(dim=-1) -> abs().sum(dim=-1)
    rows and columns are added up, as a rook moves, expected the straight distance
difference of indices: return (centres[:, None] - centres).norm(dim=-1)
  -> n = torch.arange(rows * columns); return height * (n[:, None] - n).abs()
    the difference of the patches' numbers is taken for their distance
columns ask: first:, first:] -> first:, first:].mT
    the shares are made of columns, expected of rows, those of the tokens that look
? Give it a table in which every patch attends only to itself, then one in which each
  attends to its right neighbour. What should come out?
? Without row 0 and column 0, each row divided by its sum; patch i is in row i //
  columns and column i % columns.
? shares = table[..., 1:, 1:]; shares / shares.sum(-1, keepdim=True); times distances
  (N, N), summed over the last axis, averaged over images and patches.
"""

attention_distance = FunctionCheck(
    inspecting.attention_distance,
    TABLE,
    parts=[inspecting.patch_distances],
    gradients=False,
)
