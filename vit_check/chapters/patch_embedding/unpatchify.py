from vit_check.engine.functions import FunctionCheck
from vit_steps.patch_embedding import unpatchify as right_unpatchify

TABLE = """
unpatchify(patches, patch_size, image_size) -> (B, C, H, W)
  moves image patch number -> image channel row column
  float32(2, 4 * 6, 75), 5, (20, 30)
  float64(3, 5 * 4, 18), 3, (15, 12)
  float32(2, 3 * 4, 12), 2, (6, 8)  # N = C·P·P
  float32(2, 4 * 4, 48), 4, (16, 16)
  bfloat16(2, 2 * 5, 64), 4, (8, 20)
view instead of joining: x.permute(0, 3, 1, 4, 2, 5) -> x
    a view or reshape puts no squares together: it lays each patch out as lines of the
    image; split the axes, move them, then join
rows and columns swapped: B, rows, columns, C -> B, columns, rows, C
  3, 1, 4, 2, 5 -> 3, 2, 4, 1, 5
    the patches are laid down column by column; patch 1 belongs to the right of patch 0
channels last in a patch: columns, C, height, width) -> columns, height, width, C)
  3, 1, 4, 2, 5 -> 5, 1, 3, 2, 4
    each patch is read as (P, P, C); it holds all of channel 0 first, (C, P, P)
sizes swapped: = lambda patches, P, image_size: unpatchify(patches, P, image_size[::-1])
    the grid has as many rows as it should have columns: image_size is (height, width),
    and H/P is the number of rows
folded without turning: = lambda x, P, size: F.fold(x, size, P, stride=P)
    fold wants the patches as its last axis, so swap the last two axes first
? unpatchify(patchify(images, P), P, (H, W)) should be images: do its steps backwards.
? Split N into (H/P, W/P) and C·P·P into (C, P, P); move the axes to (B, C, rows, P,
  columns, P); join.
? patches.reshape(B, H // P, W // P, C, P, P).permute(0, 3, 1, 4, 2, 5), then
  .reshape(B, C, H, W).
"""

unpatchify = FunctionCheck(right_unpatchify, TABLE, batched=(0,))
