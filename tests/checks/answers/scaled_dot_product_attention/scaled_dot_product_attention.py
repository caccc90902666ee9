import math

import torch
from torch.nn import functional as F

from tests.checks.answers import right, wrong, wrong_edits
from tests.checks.answers.scaled_dot_product_attention.shared import (
    as_in_the_paper,
)


@right("scaled_dot_product_attention")
def with_einsum(q, k, v):
    scores = torch.einsum("...qd,...kd->...qk", q * q.shape[-1] ** -0.5, k)
    weights = F.softmax(scores, -1)
    return torch.einsum("...qk,...kd->...qd", weights, v), weights


@right("scaled_dot_product_attention")
def with_its_own_softmax(q, k, v):
    scores = torch.matmul(q, k.mT) / q.shape[-1] ** 0.5
    scores = (scores - scores.amax(-1, keepdim=True)).exp()
    weights = scores / scores.sum(-1, keepdim=True)
    return (torch.matmul(weights, v), weights)


@right("scaled_dot_product_attention")
def by_the_logarithm_of_the_sum(q, k, v):
    scores = torch.einsum("...id,...jd->...ij", q, k) / q.shape[-1] ** 0.5
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    return torch.einsum("...ij,...je->...ie", weights, v), weights


@right("scaled_dot_product_attention")
def query_by_query(q, k, v):
    outputs, rows = [], []
    for t in range(q.shape[-2]):
        scores = (q[..., t : t + 1, :] * k).sum(-1) / math.sqrt(q.shape[-1])
        row = scores.softmax(-1)
        rows.append(row)
        outputs.append((row.unsqueeze(-1) * v).sum(-2))
    return torch.stack(outputs, -2), torch.stack(rows, -2)


@right("scaled_dot_product_attention")
def with_pytorchs_own(q, k, v):
    """Use the fused function, with the identity as values to get the weights."""
    every = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-1], -1)
    attention = F.scaled_dot_product_attention
    return attention(q, k, v), attention(q, k, every)


@wrong("scaled_dot_product_attention", "causal")
def as_in_a_language_model(q, k, v):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    past = torch.tril(torch.ones(scores.shape[-2:]))
    weights = F.softmax(scores.masked_fill(past == 0, float("-inf")), dim=-1)
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "no gradient")
def without_gradients(q, k, v):
    with torch.no_grad():
        return as_in_the_paper(q, k, v)


@right("scaled_dot_product_attention")
def fused_and_weights_beside_it(q, k, v):
    weights = F.softmax(q @ k.mT * q.shape[-1] ** -0.5, dim=-1)
    return F.scaled_dot_product_attention(q, k, v), weights


@wrong("scaled_dot_product_attention", "axes")
def weights_of_each_key(q, k, v):
    weights = torch.softmax(k @ q.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-2)
    return weights.transpose(-2, -1) @ v, weights


OF_PAPER = """
no scale
  / math.sqrt(q.size(-1)) -> nothing
scale by d
  math.sqrt(q.size(-1)) -> q.shape[-1]
scale by d
  weights = -> q = q * q.shape[-1] ** -0.5; weights =
    scaled twice
scale by tokens
  q.size(-1) -> k.size(-2)
scale by axis 1
  q.size(-1) -> q.size(1)
scale by 8
  math.sqrt(q.size(-1)) -> 8
scale inverted
  / math.sqrt -> * math.sqrt
scale late
  / math.sqrt(q.size(-1)) -> nothing
  dim=-1) -> dim=-1) / math.sqrt(q.size(-1))
softmax over queries
  dim=-1 -> dim=-2
softmax over heads
  torch.softmax -> F.softmax
  , dim=-1 -> nothing
    no axis is named: that is axis 1 of four
softmax over everything
  weights = torch.softmax -> exps = torch.exp
  , dim=-1) -> ); weights = exps / exps.sum(dim=(-2, -1), keepdim=True)
softmax twice
  return -> weights = F.softmax(weights, dim=-1); return
no softmax
  torch.softmax -> nothing
  , dim=-1 -> nothing
q and k swapped
  q @ k.transpose -> k @ q.transpose
k and v swapped
  q, k, v -> q, v, k
keys reshaped
  k.transpose(-2, -1) -> k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])
weights times keys
  weights @ v -> weights @ k
not repeatable
  weights @ v -> F.dropout(weights, 0.1) @ v
not repeatable
  return -> weights = F.dropout(weights, 0.1); return
changes its input
  weights = -> q /= math.sqrt(q.size(-1)); weights =
  / math.sqrt(q.size(-1)), dim -> , dim
gradient
  weights @ v -> weights.detach() @ v
dtype
  weights = -> q, k, v = q.float(), k.float(), v.float(); weights =
raises
  k.transpose(-2, -1) -> k.transpose(2, 3)
    four axes and no less
"""

OF_EINSUM = """
values summed
  ...kd->...qd -> ...vd->...qd
scores for weights
  v), weights -> v), scores
"""

OF_PYTORCHS_OWN = """
"""

wrong_edits("scaled_dot_product_attention", as_in_the_paper, OF_PAPER)
wrong_edits("scaled_dot_product_attention", with_einsum, OF_EINSUM)
wrong_edits("scaled_dot_product_attention", with_pytorchs_own, OF_PYTORCHS_OWN)


@wrong("scaled_dot_product_attention", "not finite")
def exponentials_too_large(q, k, v):
    shares = (q @ k.mT / math.sqrt(q.shape[-1])).exp()
    shares = shares / shares.sum(dim=-1, keepdim=True)
    return shares @ v, shares
