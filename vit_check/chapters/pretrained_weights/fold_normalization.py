from torch import Tensor

from vit_check.engine.functions import checked_by

TABLE = """
fold_normalization(weight, bias, mean, std) -> (weight, bias)
  float64(5, 3, 4, 4), float64(5), float64(3), 0.2 + 0.3 * float64(3).abs()
  float32(7, 1, 2, 2), float32(7), float32(1), 0.2 + 0.3 * float32(1).abs()
  float64(3, 3, 3, 3), float64(3), float64(3), 0.2 + 0.3 * float64(3).abs()
  float32(6, 4, 5, 5), float32(6), float32(4), 0.2 + 0.3 * float32(4).abs()
multiplied by std: weight / std -> weight * std
    the weight is multiplied by the standard deviation, expected divided, as pixels are
variance: std.reshape -> std.square().reshape
    the weight is divided by the square of the standard deviation
bias unchanged: - shift.sum((1, 2, 3)) -> nothing
    the bias is as before, expected less the new weights times the mean
mean not scaled: folded * mean -> weight * mean
    in the bias the mean is multiplied by the old weight, expected by the new one
averaged over the patch: shift.sum((1, 2, 3)) -> shift.sum(1).mean((1, 2))
    the mean's share is averaged over the patch's pixels, expected summed
? Write down what the layer puts out for a patch whose pixels are (x - mean) / std, and
  collect what each x is multiplied by.
? Each weight of channel c is divided by std[c]. What is left is the same for every
  patch: minus the sum of new weight times mean[c], over channels, rows and columns.
? weight / std.reshape(1, -1, 1, 1), and then bias minus (that times mean.reshape(1, -1,
  1, 1)).sum((1, 2, 3)).
"""


@checked_by(TABLE, gradients=False)
def fold_normalization(
    weight: Tensor, bias: Tensor, mean: Tensor, std: Tensor
) -> tuple[Tensor, Tensor]:
    by_channel = (1, -1, 1, 1)
    folded = weight / std.reshape(by_channel)
    shift = folded * mean.reshape(by_channel)
    return folded, bias - shift.sum((1, 2, 3))
