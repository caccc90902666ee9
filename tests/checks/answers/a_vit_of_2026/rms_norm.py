import torch
from torch import nn
from torch.nn import functional as F

from tests.checks.answers import wrong, wrong_edits


@wrong_edits("""
variance below: (x**2).mean(-1, keepdim=True) -> x.var(-1, correction=0, keepdim=True)
eps outside the root: torch.rsqrt((x**2).mean(-1, keepdim=True) + eps)
  -> 1 / ((x**2).mean(-1, keepdim=True).sqrt() + eps)
no eps: + eps -> nothing
sum: (x**2).mean -> (x**2).sum
over tokens and numbers: mean(-1 -> mean((1, 2)
as if: * weight -> nothing
gradient: (x**2) -> (x.detach() ** 2)
""")
def with_rsqrt(x, weight, eps=1e-6):
    return x * torch.rsqrt((x**2).mean(-1, keepdim=True) + eps) * weight


@wrong("forbidden")
@wrong_edits("""
as if: weight, eps) -> weight, 1e-6)
mean subtracted: F.rms_norm(x, (x.shape[-1],), weight, eps)
  -> F.layer_norm(x, x.shape[-1:], weight, None, eps)
""")
def with_torchs_own(x, weight, eps=1e-6):
    return F.rms_norm(x, (x.shape[-1],), weight, eps)


def token_by_token(x, weight, eps=1e-6):
    rows = [
        token / (token @ token / len(token) + eps) ** 0.5 for token in x.flatten(0, 1)
    ]
    return torch.stack(rows).reshape(x.shape) * weight


def by_the_length(x, weight, eps=1e-6):
    length = x.pow(2).sum(dim=2, keepdim=True).add(x.shape[2] * eps).sqrt()
    return weight * x / length * x.shape[2] ** 0.5


@wrong("forbidden")
def by_the_module(x, weight, eps=1e-6):
    norm = nn.RMSNorm(x.shape[-1], eps=eps, dtype=x.dtype)
    return torch.func.functional_call(norm, {"weight": weight}, x)
