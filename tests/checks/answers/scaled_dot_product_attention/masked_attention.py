import math

import torch
from torch.nn import functional as F

from tests.checks.answers import wrong_edits


@wrong_edits("""
no scale: / math.sqrt(q.size(-1)) -> nothing
scale by d: math.sqrt(q.size(-1)) -> q.size(-1)
mask inverted: ~mask -> mask
shape: ~mask -> ~mask.unsqueeze(1)
as if: .masked_fill(~mask, float("-inf")) -> nothing
mask added: .masked_fill(~mask, float("-inf")) -> + mask
mask multiplied: .masked_fill(~mask, float("-inf")) -> * mask.to(q.dtype)
row of NaN: torch.nan_to_num(scores.softmax(-1), nan=0.0) -> scores.softmax(-1)
mask after softmax: .masked_fill(~mask, float("-inf")) -> nothing
  torch.nan_to_num(scores.softmax(-1), nan=0.0)
  -> scores.softmax(-1).masked_fill(~mask, 0)
raises: .masked_fill(~mask, float("-inf")) -> + mask.logarithm()
gradient not finite: .masked_fill(~mask, float("-inf")) -> + mask.log()
""")
def fills_with_minus_infinity(q, k, v, mask):
    scores = (q @ k.mT / math.sqrt(q.size(-1))).masked_fill(~mask, float("-inf"))
    weights = torch.nan_to_num(scores.softmax(-1), nan=0.0)
    return weights @ v, weights


def shares_out_again(q, k, v, mask):
    """Apply the mask after the softmax, and divide the rest by its sum."""
    weights = F.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1) * mask
    weights = weights / weights.sum(dim=-1, keepdim=True).clamp_min(1e-12)
    return weights @ v, weights


def with_pytorchs_own_mask(q, k, v, mask):
    every = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-1], -1)
    attention = F.scaled_dot_product_attention
    return attention(q, k, v, mask), attention(q, k, every, mask)


@wrong_edits("""
fill too high: -1e9 -> -30.0
row left level: * mask.any(-1, keepdim=True) -> nothing
""")
def fills_with_a_number(q, k, v, mask):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    weights = scores.masked_fill(~mask, -1e9).softmax(-1)
    weights = weights * mask.any(-1, keepdim=True)
    return weights @ v, weights
