import math

import torch
from torch import nn
from torch.nn import functional as F

from tests.checks.answers import wrong, wrong_edits


@wrong_edits("""
unbiased: torch.sqrt(var + eps) -> (x.std(-1, keepdim=True) + eps)
eps outside the root: torch.sqrt(var + eps) -> (torch.sqrt(var) + eps)
over tokens: -1, keepdim -> 1, keepdim
no shift: weight * (x - mean) -> weight * x
no keepdim: x.mean(-1, keepdim=True) -> x.mean(-1)
  ((x - mean) ** 2).mean(-1, keepdim=True) -> x.var(-1, correction=0)
changes its input
  mean = x.mean(-1, keepdim=True) -> mean = 0; x -= x.mean(-1, keepdim=True)
gradient: x.mean -> x.detach().mean
  (x - mean) ** 2 -> (x.detach() - mean) ** 2
""")
def by_the_formula(x, weight, bias, eps=1e-6):
    mean = x.mean(-1, keepdim=True)
    var = ((x - mean) ** 2).mean(-1, keepdim=True)
    return weight * (x - mean) / torch.sqrt(var + eps) + bias


def with_torchs_variance(x, weight, bias, eps=1e-6):
    var, mean = torch.var_mean(x, dim=-1, unbiased=False, keepdim=True)
    return (x - mean) * torch.rsqrt(var + eps) * weight + bias


@wrong("forbidden")
@wrong_edits("eps 1e-5: bias, eps) -> bias)")
def with_torchs_own(x, weight, bias, eps=1e-6):
    return F.layer_norm(x, (x.shape[-1],), weight, bias, eps)


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


@wrong("forbidden")
def by_the_module(x, weight, bias, eps=1e-6):
    norm = nn.LayerNorm(x.shape[-1], eps=eps, dtype=x.dtype)
    return torch.func.functional_call(norm, {"weight": weight, "bias": bias}, x)
