import math

import torch
from torch.nn import functional as F

from tests.checks.answers import wrong, wrong_edits


@wrong_edits("""
mixed not mended: * mend[:, None] -> nothing
sum not mended: total * mend -> total
no scale: / math.sqrt(q.shape[-1]) -> nothing
no maximum: float("-inf") -> 0.0
  torch.maximum(m, scores.max(dim=1).values) -> m
reshape: mixed / total[:, None] -> (mixed / total[:, None]).flatten()
begins at 0: float("-inf") -> 0.0
largest of the block
  torch.maximum(m, scores.max(dim=1).values) -> scores.max(dim=1).values
one largest for all queries: scores.max(dim=1).values -> scores.max()
whole rows: = lambda q, k, v, block: F.scaled_dot_product_attention(q, key=k, value=v)
whole rows
  = lambda q, k, v, block: F.scaled_dot_product_attention(q[None], k[None], v[None])[0]
whole rows: k.split(block) -> (q @ k.mT).split(block, dim=1)
  q @ keys.mT -> keys
""")
def attend_with_split(q, k, v, block):
    m = torch.full((len(q),), float("-inf"), dtype=q.dtype)
    total = torch.zeros(len(q), dtype=q.dtype)
    mixed = torch.zeros(len(q), v.shape[1], dtype=q.dtype)
    for keys, values in zip(k.split(block), v.split(block), strict=True):
        scores = q @ keys.mT / math.sqrt(q.shape[-1])
        new = torch.maximum(m, scores.max(dim=1).values)
        p = torch.exp(scores - new[:, None])
        mend = torch.exp(m - new)
        total = total * mend + p.sum(1)
        mixed = mixed * mend[:, None] + p @ values
        m = new
    return mixed / total[:, None]


def attend_divided_on_the_way(q, k, v, block):
    """Keep the result so far and the log of the sum, as FlashAttention-2 does."""
    output, log_sum = None, None
    for start in range(0, k.size(0), block):
        scores = (q * q.size(1) ** -0.5) @ k[start : start + block].t()
        here = torch.logsumexp(scores, dim=1, keepdim=True)
        part = torch.softmax(scores, dim=1) @ v[start : start + block]
        if output is None:
            output, log_sum = part, here
        else:
            both = torch.logaddexp(log_sum, here)
            output = (log_sum - both).exp() * output + (here - both).exp() * part
            log_sum = both
    return output


@wrong_edits("last block dropped: math.ceil(k.shape[0] / block) -> k.shape[0] // block")
def attend_in_place(q, k, v, block):
    T, d = q.shape
    largest = torch.empty(T, 1).fill_(-torch.inf).to(q)
    total = torch.zeros_like(largest)
    mixed = torch.zeros(T, v.shape[1]).to(q)
    for i in range(math.ceil(k.shape[0] / block)):
        rows = slice(i * block, (i + 1) * block)
        scores = torch.einsum("td,sd->ts", q, k[rows]).div_(d**0.5)
        new = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        scores.sub_(new).exp_()
        factor = (largest - new).exp_()
        total.mul_(factor).add_(scores.sum(-1, keepdim=True))
        mixed.mul_(factor).add_(scores @ v[rows])
        largest = new
    return mixed.div_(total)


@wrong("whole rows")
def attend_with_blocks_of_queries(q, k, v, block):
    scale = 1 / math.sqrt(q.shape[1])
    return torch.cat([(p @ k.T * scale).softmax(1) @ v for p in q.split(block)])


def begins_at_a_very_low_number(q, k, v, block):
    largest = torch.full((len(q), 1), -1e9).to(q)
    total = torch.zeros(len(q), 1).to(q)
    mixture = torch.zeros(len(q), v.shape[1]).to(q)
    for start in range(0, len(k), block):
        scores = q @ k[start : start + block].T / math.sqrt(q.shape[1])
        new = torch.maximum(largest, scores.max(dim=1, keepdim=True).values)
        factor, powers = torch.exp(largest - new), torch.exp(scores - new)
        total = total * factor + powers.sum(dim=1, keepdim=True)
        mixture = mixture * factor + powers @ v[start : start + block]
        largest = new
    return mixture / total


def merged_by_logaddexp(q, k, v, block):
    output = largest = None
    for keys, values in zip(k.split(block), v.split(block), strict=True):
        found = F.scaled_dot_product_attention(q, keys, value=values)
        scores = (q @ keys.T / q.shape[-1] ** 0.5).logsumexp(dim=1)
        if output is None:
            output, largest = found, scores
            continue
        total = torch.logaddexp(largest, scores)
        output = output * (largest - total).exp()[:, None]
        output = output + found * (scores - total).exp()[:, None]
        largest = total
    return output


@wrong_edits("""
softmax of each block averaged
  (factors[..., None] * mixed).sum(dim=0) / total[:, None]
  -> (mixed / totals[..., None]).mean(dim=0)
""")
def statistics_in_a_list(q, k, v, block):
    kept = []
    for keys, values in zip(k.split(block), v.split(block), strict=True):
        scores = q @ keys.T / math.sqrt(q.shape[-1])
        largest = scores.amax(dim=1)
        shares = (scores - largest[:, None]).exp()
        kept.append([largest, shares.sum(dim=1), shares @ values])
    largest, totals, mixed = (torch.stack(each) for each in zip(*kept, strict=True))
    factors = (largest - largest.amax(dim=0)).exp()  # (blocks, T_q)
    total = (factors * totals).sum(dim=0)
    return (factors[..., None] * mixed).sum(dim=0) / total[:, None]
