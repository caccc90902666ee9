import math

import torch
from torch.nn import functional as F

from tests.checks.answers import right, wrong
from tests.checks.answers.scaled_dot_product_attention.shared import (
    as_in_the_paper,
)


@right("masked_attention")
def fills_with_minus_infinity(q, k, v, mask):
    scores = (q @ k.mT / math.sqrt(q.size(-1))).masked_fill(~mask, float("-inf"))
    weights = torch.nan_to_num(scores.softmax(-1), nan=0.0)
    return weights @ v, weights


@right("masked_attention")
def fills_with_the_smallest_number(q, k, v, mask):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    scores = torch.where(mask, scores, torch.finfo(q.dtype).min)
    weights = torch.where(mask, F.softmax(scores, -1), 0.0).to(q.dtype)
    return weights @ v, weights


@right("masked_attention")
def sums_what_is_allowed(q, k, v, mask):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    powers = (scores - scores.amax(-1, keepdim=True)).exp() * mask
    total = powers.sum(-1, keepdim=True)
    weights = powers / torch.where(total == 0, 1, total)
    return weights @ v, weights


@wrong("masked_attention", "mask inverted")
def hides_what_it_may_see(q, k, v, mask):
    scores = (q @ k.mT / math.sqrt(q.size(-1))).masked_fill(mask, float("-inf"))
    weights = torch.nan_to_num(scores.softmax(-1))
    return weights @ v, weights


@wrong("masked_attention", "row of NaN")
def leaves_nan(q, k, v, mask):
    scores = (q @ k.mT / math.sqrt(q.size(-1))).masked_fill(mask == 0, float("-inf"))
    weights = scores.softmax(-1)
    return weights @ v, weights


@wrong("masked_attention", "hidden keys win")
def minus_forgotten(q, k, v, mask):
    scores = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).masked_fill(~mask, 1e9)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


@wrong("masked_attention", "mask ignored")
def takes_a_mask_and_forgets_it(q, k, v, mask=None):
    return as_in_the_paper(q, k, v)


@wrong("masked_attention", "mask multiplied")
def multiplies_scores(q, k, v, mask):
    weights = F.softmax(q @ k.mT / math.sqrt(q.size(-1)) * mask.to(q.dtype), dim=-1)
    return weights @ v, weights


@wrong("masked_attention", "mask after softmax")
def clears_weights(q, k, v, mask):
    weights = F.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1)
    weights = weights.masked_fill(~mask, 0)
    return weights @ v, weights


@wrong("masked_attention", "row left level")
def never_fully_masked(q, k, v, mask):
    scores = (q @ k.mT / math.sqrt(q.size(-1))).masked_fill(~mask, -1e9)
    weights = scores.softmax(-1)
    return weights @ v, weights


@wrong("masked_attention", "raises")
def a_mask_of_another_kind(q, k, v, mask):
    scores = q @ k.mT / math.sqrt(q.size(-1)) + mask.logarithm()
    return scores.softmax(-1) @ v, scores


@wrong("masked_attention", "no scale")
def masked_but_unscaled(q, k, v, mask):
    scores = (q @ k.mT).masked_fill(~mask, float("-inf"))
    weights = torch.nan_to_num(scores.softmax(-1))
    return weights @ v, weights


@right("masked_attention")
def shares_out_again(q, k, v, mask):
    """Apply the mask after the softmax, and divide the rest by its sum."""
    weights = F.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1) * mask
    weights = weights / weights.sum(dim=-1, keepdim=True).clamp_min(1e-12)
    return weights @ v, weights


@wrong("masked_attention", "gradient not finite")
def adds_minus_infinity(q, k, v, mask):
    bias = torch.zeros(mask.shape, dtype=q.dtype).masked_fill(~mask, -math.inf)
    weights = (q @ k.mT / math.sqrt(q.size(-1)) + bias).softmax(dim=-1)
    weights = torch.where(mask.any(dim=-1, keepdim=True), weights, 0)
    return weights @ v, weights


@right("masked_attention")
def with_pytorchs_own_mask(q, k, v, mask):
    every = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-1], -1)
    attention = F.scaled_dot_product_attention
    return attention(q, k, v, mask), attention(q, k, every, mask)


@wrong("masked_attention", "mask added")
def adds_ones(q, k, v, mask):
    scores = q @ k.mT / math.sqrt(q.size(-1)) + mask
    weights = F.softmax(scores, dim=-1)
    return weights @ v, weights


@wrong("masked_attention", "mask multiplied")
def a_typing_slip(q, k, v, mask):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    weights = F.softmax(scores.masked_fill(mask == 0, 1e-9), dim=-1)
    return weights @ v, weights


@wrong("masked_attention", "mask transposed")
def mask_by_columns(q, k, v, mask):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    scores = scores.masked_fill(~mask.transpose(-2, -1), -math.inf)
    weights = F.softmax(scores, dim=-1).nan_to_num(0)
    return weights @ v, weights


@wrong("masked_attention", "shape")
def one_axis_too_many(q, k, v, mask):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    weights = scores.masked_fill(~mask.unsqueeze(1), -math.inf).softmax(-1)
    return weights.nan_to_num(0) @ v, weights


@wrong("masked_attention", "scale by d")
def masked_and_divided_by_d(q, k, v, mask):
    scores = (q @ k.mT / q.size(-1)).masked_fill(~mask, -math.inf)
    weights = scores.softmax(-1).nan_to_num(0)
    return weights @ v, weights


def with_a_fill_of(fill):
    def fills_with_a_number(q, k, v, mask):
        scores = q @ k.mT / math.sqrt(q.size(-1))
        weights = scores.masked_fill(~mask, fill).softmax(-1)
        weights = weights * mask.any(-1, keepdim=True)
        return weights @ v, weights

    return fills_with_a_number


right("masked_attention")(with_a_fill_of(-1e9))
for fill in (-20.0, -30.0, -50.0, -100.0):
    wrong("masked_attention", "fill too high")(with_a_fill_of(fill))


@wrong("masked_attention", "row left level")
def fills_with_minus_a_hundred_and_no_more(q, k, v, mask):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    weights = scores.masked_fill(mask == 0, -100).softmax(-1)
    return weights @ v, weights


@wrong("masked_attention", "gradient not finite")
def adds_a_table_of_minus_infinity(q, k, v, mask):
    bias = torch.zeros_like(mask, dtype=q.dtype).masked_fill(~mask, -math.inf)
    weights = torch.softmax(q @ k.mT / math.sqrt(q.size(-1)) + bias, dim=-1)
    weights = weights.masked_fill(mask.logical_not(), 0)
    return torch.matmul(weights, v), weights


@right("masked_attention")
def multiplies_exponentials_in_einsum(q, k, v, mask):
    scores = torch.einsum("...qd,...kd->...qk", q, k) / q.shape[-1] ** 0.5
    scores = scores.masked_fill(~mask, -torch.inf)
    top = scores.amax(-1, keepdim=True).clamp(min=-1e30)
    exps = (scores - top).exp()
    weights = exps / exps.sum(-1, keepdim=True).clamp(min=1e-30)
    return torch.einsum("...qk,...kv->...qv", weights, v), weights
