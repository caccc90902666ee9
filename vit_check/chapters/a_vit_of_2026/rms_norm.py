import torch
from torch import Tensor

from vit_check.engine.functions import checked_by

TABLE = """
rms_norm(x, weight, eps=1e-6) -> (B, T, D)
  50 + 100 * float64(2, 5, 6), 1 + 0.3 * float64(6)  # eps does not matter
  0.5 + float64(3, 3, 3), 1 + 0.3 * float64(3)
  1e-3 * (0.5 + float64(4, 2, 7)), 1 + 0.3 * float64(7)  # eps is seen
  0.1 * (0.5 + float64(2, 3, 5)), 1 + 0.3 * float64(5), 1e-2
mean subtracted: mean_square = -> x = x - x.mean(dim=-1, keepdim=True); mean_square =
    the mean is subtracted: this is LayerNorm without a bias. RMSNorm leaves the mean in
variance below: x.square() -> (x - x.mean(dim=-1, keepdim=True)).square()
    the mean is subtracted before the squares are taken, expected nothing subtracted
eps outside the root: torch.sqrt(mean_square + eps) -> (torch.sqrt(mean_square) + eps)
    eps is added to the root, expected under it, to the mean of the squares
no eps: mean_square + eps -> mean_square
    eps has no effect: it is to be added to the mean of the squares, under the root
sum: .mean(dim=-1 -> .sum(dim=-1
    the squares are summed, expected their mean: the root is about √D times too large
over tokens and numbers: dim=-1 -> dim=(1, 2)
    the mean runs over all numbers of an image, expected over those of each token
over the tokens: x.square().mean(dim=-1 -> x.square().mean(dim=1
    the mean runs over the tokens, expected over the D numbers of each
? Which of the steps of a LayerNorm are left if nothing is subtracted?
? Square, take the mean over the last axis with keepdim=True, add eps, take the root;
  divide x by that and multiply by the weight.
? x / torch.sqrt(x.square().mean(dim=-1, keepdim=True) + eps) * weight.
"""


@checked_by(TABLE, batched=(0,), without=["rms_norm"])
def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    mean_square = x.square().mean(dim=-1, keepdim=True)
    return x / torch.sqrt(mean_square + eps) * weight
