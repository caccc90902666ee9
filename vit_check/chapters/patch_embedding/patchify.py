from vit_check.engine.functions import FunctionCheck
from vit_steps.patch_embedding import patchify as right_patchify

TABLE = """
patchify(images, patch_size) -> (B, N, C·P·P)
  moves image channel row column -> image patch number
  float32(2, 3, 20, 30), 5
  float64(3, 2, 15, 12), 3
  float32(2, 3, 6, 8), 2  # N = C·P·P
  float32(2, 3, 16, 16), 4
  bfloat16(2, 4, 8, 20), 4
view instead of cutting: x.permute(0, 2, 4, 1, 3, 5) -> x
    a view or reshape cuts no squares: the first row holds the topmost lines of the
    image, from its left edge to its right; split H and W, move the axes, then join
rows and columns swapped: 2, 4, 1, 3, 5 -> 4, 2, 1, 3, 5
    the patches run down the columns: patch 1 should be the one to the right of patch 0
channels last: 2, 4, 1, 3, 5 -> 2, 4, 3, 5, 1
    each patch is flattened pixel by pixel, (P, P, C), with the channels of a pixel side
    by side; a convolution's weight has all of channel 0 first, (C, P, P)
patches last: C * height * width) -> C * height * width).mT
    the patches are the last axis, (B, C·P·P, N), as in unfold, expected (B, N, C·P·P)
reshaped instead of turned: return x.reshape(B, rows * columns, C * height * width)
  -> x = x.reshape(B, rows * columns, -1); return x.mT.reshape(x.shape)
    the output of unfold is reshaped to (B, N, C·P·P), where its last two axes should be
    swapped: the shape fits, and a row mixes patches
? Try images = torch.arange(16.).reshape(1, 1, 4, 4) with patches of 2: the first row
  should be 0, 1, 4, 5.
? Split H into (H/P, P) and W into (W/P, P); move the axes to (B, rows, columns, C, P,
  P); join the two that name a patch and the three inside it.
? images.reshape(B, C, H // P, P, W // P, P).permute(0, 2, 4, 1, 3, 5), then .reshape(B,
  N, C * P * P).
"""

patchify = FunctionCheck(right_patchify, TABLE, batched=(0,))
