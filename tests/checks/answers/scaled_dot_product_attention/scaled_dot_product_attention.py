import math

import torch
from torch.nn import functional as F

from tests.checks.answers import wrong_edits


@wrong_edits("""
no scale: / math.sqrt(q.size(-1)) -> nothing
scale by d: math.sqrt(q.size(-1)) -> q.shape[-1]
scale late: / math.sqrt(q.size(-1)) -> nothing
  dim=-1) -> dim=-1) / math.sqrt(q.size(-1))
softmax over queries: dim=-1 -> dim=-2
softmax over heads: torch.softmax -> F.softmax
  , dim=-1 -> nothing
    no axis is named: that is axis 1 of four
keys reshaped: k.transpose(-2, -1) -> k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])
not repeatable: weights @ v -> F.dropout(weights, 0.1) @ v
not repeatable: return -> weights = F.dropout(weights, 0.1); return
changes its input: weights = -> q /= math.sqrt(q.size(-1)); weights =
  / math.sqrt(q.size(-1)), dim -> , dim
gradient: weights @ v -> weights.detach() @ v
dtype: weights = -> q, k, v = q.float(), k.float(), v.float(); weights =
raises: k.transpose(-2, -1) -> k.transpose(2, 3)
    four axes and no less
no gradient: return weights @ v, weights -> return (weights @ v).data, weights.data
axes: v, weights -> v, weights.mT
""")
def as_in_the_paper(q, k, v):
    weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), dim=-1)
    return weights @ v, weights


@wrong_edits("scores returned: v), weights -> v), scores")
def with_einsum(q, k, v):
    scores = torch.einsum("...qd,...kd->...qk", q * q.shape[-1] ** -0.5, k)
    weights = F.softmax(scores, -1)
    return torch.einsum("...qk,...kd->...qd", weights, v), weights


@wrong_edits("not finite: scores - scores.amax(-1, keepdim=True) -> scores")
def with_its_own_softmax(q, k, v):
    scores = torch.matmul(q, k.mT) / q.shape[-1] ** 0.5
    scores = (scores - scores.amax(-1, keepdim=True)).exp()
    weights = scores / scores.sum(-1, keepdim=True)
    return (torch.matmul(weights, v), weights)


def by_the_logarithm_of_the_sum(q, k, v):
    scores = torch.einsum("...id,...jd->...ij", q, k) / q.shape[-1] ** 0.5
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    return torch.einsum("...ij,...je->...ie", weights, v), weights


def query_by_query(q, k, v):
    outputs, rows = [], []
    for t in range(q.shape[-2]):
        scores = (q[..., t : t + 1, :] * k).sum(-1) / math.sqrt(q.shape[-1])
        row = scores.softmax(-1)
        rows.append(row)
        outputs.append((row.unsqueeze(-1) * v).sum(-2))
    return torch.stack(outputs, -2), torch.stack(rows, -2)


def with_pytorchs_own(q, k, v):
    """Use the fused function, with the identity as values to get the weights."""
    every = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-1], -1)
    attention = F.scaled_dot_product_attention
    return attention(q, k, v), attention(q, k, every)


def fused_and_weights_beside_it(q, k, v):
    weights = F.softmax(q @ k.mT * q.shape[-1] ** -0.5, dim=-1)
    return F.scaled_dot_product_attention(q, k, v), weights
