from typing import Any

import torch
from torch import Tensor

from vit_check.engine.functions import checked_by


def _normed_by(answer: Any, x: Tensor, *arguments: Any) -> Any:
    """Return the output, without a gradient where float32 is too coarse for one."""
    with torch.set_grad_enabled(x.dtype == torch.float64 or bool(x.mean() < 100)):
        return answer(x, *arguments)


TABLE = """
layer_norm(x, weight, bias, eps=1e-6) -> (B, T, D)
  200 + 100 * float64(2, 5, 6), 1 + 0.3 * float64(6), 0.5 * float64(6)
  200 + 100 * float64(3, 3, 3), 1 + 0.3 * float64(3), 0.5 * float64(3)
  0.02 + 0.01 * float64(4, 2, 7), 1 + 0.3 * float64(7), 0.5 * float64(7)  # eps is seen
  2 + float32(3, 4, 8), 1 + 0.3 * float32(8), 0.5 * float32(8)
  0.1 * float64(2, 3, 5), *float64(2, 5), 1e-2
  256 + (below(2, 2, 3, 1) - 0.5) * torch.tensor([1, -1, 3, -3]) / 8, 1 + 0.3 *
    float32(4), 0.5 * float32(4)  # near 256, squares lose the differences
unbiased: correction=0 -> correction=1
    the variance is divided by D - 1, torch.var's default; LayerNorm divides by D
over tokens: dim=-1 -> dim=1
    mean and variance run over the tokens; they are to run over a token's D numbers
over tokens and numbers: dim=-1 -> dim=(1, 2)
    mean and variance run over all numbers of an image, expected over a token's
no shift: x - mean -> x
    the mean is not subtracted
RMS: x - mean -> x
  x.var(dim=-1, correction=0, keepdim=True) -> x.square().mean(dim=-1, keepdim=True)
    the mean is subtracted nowhere: this is RMSNorm, another norm
no root: torch.sqrt(var + eps) -> (var + eps)
    it is divided by the variance; divide by its root
eps outside the root: torch.sqrt(var + eps) -> (torch.sqrt(var) + eps)
    eps is added to the standard deviation; it belongs under the root, to the variance
eps 1e-5: var + eps -> var + 1e-5
    eps is 1e-5, PyTorch's default, expected the argument eps, 1e-6 if none is given
squares: x.var(dim=-1, correction=0, keepdim=True)
  -> x.square().mean(dim=-1, keepdim=True) - mean.square()
    the variance is the mean of squares less the mean's square, which loses digits where
    numbers lie far from 0 and close together: take the mean of (x - mean)²
no eps: var + eps -> var
    eps is not added to the variance, expected under the root
bias before weight: normed * weight + bias -> (normed + bias) * weight
    the bias is added before the weight is multiplied, and so is multiplied too
no keepdim: , keepdim=True -> nothing
    mean and variance have lost their last axis, and (B, T) stretched over (B, T, D)
    pairs them with the wrong tokens: keepdim=True keeps the axis
? Take one token by hand: which numbers go into its mean, and how many?
? Mean and variance run over the last axis, keepdim=True; the variance is divided by D;
  eps is added to it before the root.
? (x - mean) / torch.sqrt(var + eps) * weight + bias, with var = x.var(dim=-1,
  correction=0, keepdim=True).
"""


@checked_by(TABLE, batched=(0,), scenario=_normed_by, without=["layer_norm"])
def layer_norm(x: Tensor, weight: Any, bias: Any, eps: float = 1e-6) -> Tensor:
    mean = x.mean(dim=-1, keepdim=True)
    var = x.var(dim=-1, correction=0, keepdim=True)
    normed = (x - mean) / torch.sqrt(var + eps)
    return normed * weight + bias
