from torch import Tensor

from vit_check.engine.functions import checked_by

TABLE = """
linear_to_conv(weight, patch_size) -> (D, C, P, P)
  moves filter number -> filter channel row column
  float32(5, 4 * 4 * 3), 4
  float64(7, 3 * 3 * 2), 3
  float64(27, 3 * 3 * 3), 3
  float32(6, 2 * 2 * 1), 2
reshaped alone: reshape(D, P, P, -1) -> reshape(D, -1, P, P)
  .permute(0, 3, 1, 2) -> nothing
    the shape is right and the order is not: the numbers come as row, column, channel,
    and a reshape to (D, C, P, P) reads them as channel, row, column
rows and columns swapped: permute(0, 3, 1, 2) -> permute(0, 3, 2, 1)
    rows and columns of the patch are swapped
channels in the middle: reshape(D, P, P, -1) -> reshape(D, P, -1, P)
  permute(0, 3, 1, 2) -> permute(0, 2, 1, 3)
    the vector is read as row, channel, column; it is row, column, channel
weight turned: reshape(D, P, P, -1) -> reshape(P, P, -1, D)
  permute(0, 3, 1, 2) -> permute(3, 2, 0, 1)
    the weight is read as (P·P·C, D); nn.Linear keeps it as (out, in), so D comes first
flipped: permute(0, 3, 1, 2) -> permute(0, 3, 1, 2).flip(2, 3)
    the patch is flipped, as in mathematics; PyTorch's conv2d does not flip
? Take D = 1 and number the weights. Which belong to the pixel in the upper left corner?
? Give the vector its axes as it was flattened, then move the channels to the front.
? weight.reshape(D, P, P, C), then .permute(0, 3, 1, 2).
"""


@checked_by(TABLE, gradients=False)
def linear_to_conv(weight: Tensor, patch_size: int) -> Tensor:
    D, P = len(weight), patch_size
    patches = weight.reshape(D, P, P, -1)  # (D, P, P, C)
    return patches.permute(0, 3, 1, 2)
