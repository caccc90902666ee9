import math

import torch
from einops import reduce
from torch import nn
from torch.nn import functional as F

from tests.checks.answers import right, wrong, wrong_edits
from tests.checks.answers.encoder_block.shared import by_the_formula


@right("layer_norm")
def with_torchs_variance(x, weight, bias, eps=1e-6):
    var, mean = torch.var_mean(x, dim=-1, unbiased=False, keepdim=True)
    return (x - mean) * torch.rsqrt(var + eps) * weight + bias


@right("layer_norm")
def with_torchs_own(x, weight, bias, eps=1e-6):
    return F.layer_norm(x, (x.shape[-1],), weight, bias, eps)


@right("layer_norm")
def token_by_token(x, weight, bias, eps=1e-6):
    samples = []
    for sample in x:
        rows = []
        for token in sample:
            centred = token - token.sum() / len(token)
            rows.append(
                centred
                / math.e ** (0.5 * torch.log(centred @ centred / len(token) + eps))
            )
        samples.append(torch.stack(rows))
    return torch.stack(samples) * weight + bias


@wrong("layer_norm", "difference of squares")
def squares_less_the_square_by_einops(x, weight, bias, eps=1e-6):
    mean = reduce(x, "b t d -> b t 1", "mean")
    var = reduce(x * x, "b t d -> b t 1", "sum") / x.shape[-1] - mean * mean
    return weight * (x - mean) * torch.rsqrt(var.clamp(min=0) + eps) + bias


@right("layer_norm")
def by_the_module(x, weight, bias, eps=1e-6):
    norm = nn.LayerNorm(x.shape[-1], eps=eps, dtype=x.dtype)
    return torch.func.functional_call(norm, {"weight": weight, "bias": bias}, x)


OF_FORMULA = """
unbiased
  torch.sqrt(var + eps) -> (x.std(-1, keepdim=True) + eps)
unbiased
  ((x - mean) ** 2).mean -> x.var
eps outside the root
  torch.sqrt(var + eps) -> (torch.sqrt(var) + eps)
no eps
  var + eps -> var
over tokens
  -1, keepdim -> 1, keepdim
no root
  torch.sqrt(var + eps) -> (var + eps)
no shift
  weight * (x - mean) -> weight * x
RMS
  (x - mean) -> x
squares not centred
  (x - mean) ** 2 -> x**2
difference of squares
  ((x - mean) ** 2).mean(-1, keepdim=True)
  -> (x**2).mean(-1, keepdim=True) - mean**2
neither weight nor bias
  weight * -> nothing
  + bias -> nothing
no keepdim
  x.mean(-1, keepdim=True) -> x.mean(-1)
  ((x - mean) ** 2).mean(-1, keepdim=True) -> x.var(-1, correction=0)
changes its input
  mean = x.mean(-1, keepdim=True) -> mean = 0; x -= x.mean(-1, keepdim=True)
gradient
  x.mean -> x.detach().mean
  (x - mean) ** 2 -> (x.detach() - mean) ** 2
"""

OF_TORCHS_OWN = """
eps 1e-5
  bias, eps) -> bias)
eps 1e-5
  eps=1e-6 -> eps=1e-5
eps ignored
  bias, eps) -> bias, 1e-6)
over tokens and numbers
  (x.shape[-1],), weight, bias, eps) -> x.shape[1:], eps=eps) * weight + bias
"""

wrong_edits("layer_norm", by_the_formula, OF_FORMULA)
wrong_edits("layer_norm", with_torchs_own, OF_TORCHS_OWN)


@wrong("layer_norm", "no eps")
def variance_cut_off_at_eps(x, weight, bias, eps=1e-6):
    variance = x.var(dim=-1, unbiased=False, keepdim=True).clamp(min=eps)
    return (x - x.mean(dim=-1, keepdim=True)) / variance.sqrt() * weight + bias
