import torch
from torch.nn import functional as F

from tests.checks.answers import wrong_edits
from tests.checks.answers.a_vit_of_2026.apply_rope import by_rotate_half
from vit_steps.variants.rotary import apply_rope


@wrong_edits("""
no eps: weight, 1e-6 -> weight
another eps: 1e-6 -> 1e-5
as if: apply_rope(F.rms_norm(x, x.shape[-1:], weight, 1e-6), angles)
  -> F.rms_norm(x, x.shape[-1:], weight, 1e-6)
normed after the turn: weight, 1e-6), angles) -> None, 1e-6), angles) * weight
    its weight
""")
def with_the_package(x, weight, angles):
    return apply_rope(F.rms_norm(x, x.shape[-1:], weight, 1e-6), angles)


@wrong_edits("""
as if: * weight -> nothing
length 1: .mean(dim=-1, keepdim=True) + 1e-6 -> .sum(dim=-1, keepdim=True)
layer norm: x = x / -> x = x - x.mean(dim=-1, keepdim=True); x = x /
over all heads: mean(dim=-1, -> mean(dim=(1, 3),
""")
def by_hand(x, weight, angles):
    x = x / (x.square().mean(dim=-1, keepdim=True) + 1e-6).sqrt() * weight
    return by_rotate_half(x, angles)


def with_a_module(x, weight, angles):
    norm = torch.nn.RMSNorm(x.shape[-1], eps=1e-6)
    norm.weight = torch.nn.Parameter(weight, requires_grad=False)
    return by_rotate_half(norm(x), angles)


def head_by_head(x, weight, angles):
    heads = []
    for head in x.unbind(1):
        size = head.pow(2).mean(2, True).add(1e-6).rsqrt()
        heads.append(by_rotate_half(head * size * weight, angles))
    return torch.stack(heads, dim=1)
