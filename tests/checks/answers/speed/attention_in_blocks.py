import math

import torch
from torch.nn import functional as F

from tests.checks.answers import right, wrong
from vit_check.chapters.speed.attention_in_blocks import in_blocks


@right("attention_in_blocks")
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


@right("attention_in_blocks")
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


@right("attention_in_blocks")
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


@wrong("attention_in_blocks", "whole rows")
def attend_with_torch(q, k, v, block):
    return F.scaled_dot_product_attention(q[None], k[None], v[None])[0]


@wrong("attention_in_blocks", "whole rows")
def attend_cutting_the_weights(q, k, v, block):
    weights = torch.softmax(q @ k.T / math.sqrt(q.shape[1]), dim=-1)
    pairs = zip(weights.split(block, dim=1), v.split(block), strict=True)
    return sum(w @ values for w, values in pairs)


def changed(line, **replaced):
    """Return the usual loop with one of its lines replaced."""

    def attend(q, k, v, block):
        largest = q.new_full((len(q), 1), -math.inf)
        total, mixed = q.new_zeros(len(q), 1), q.new_zeros(len(q), v.shape[1])
        for start in range(0, len(k), block):
            keys, values = k[start : start + block], v[start : start + block]
            if line == "last" and len(keys) < block:
                break
            scores = q @ keys.T
            if line != "scale":
                scores = scores / math.sqrt(q.shape[1])
            new = torch.maximum(largest, scores.amax(dim=1, keepdim=True))
            shares = (scores - new).exp()
            factor = (largest - new).exp()
            if line == "factor":
                factor = (new - largest).exp()
            total = total * (1 if line in ("total", "both") else factor)
            total = total + shares.sum(1, keepdim=True)
            mixed = mixed * (1 if line in ("mixed", "both") else factor)
            mixed = mixed + shares @ values
            largest = new
        return mixed if line == "divide" else mixed / total

    attend.__name__ = f"attend_without_{line}"
    return attend


for line, mistake in {
    "mixed": "mixed not mended",
    "total": "sum not mended",
    "both": "nothing mended",
    "factor": "factor inverted",
    "scale": "no scale",
    "last": "last block dropped",
    "divide": "not divided",
}.items():
    wrong("attention_in_blocks", mistake)(changed(line))


@wrong("attention_in_blocks", "no maximum")
def attend_with_bare_exponentials(q, k, v, block):
    total, mixed = 0, 0
    for keys, values in zip(k.split(block), v.split(block), strict=True):
        powers = torch.exp(q @ keys.T / math.sqrt(q.shape[1]))
        total = total + powers.sum(dim=1, keepdim=True)
        mixed = mixed + powers @ values
    return mixed / total


@wrong("attention_in_blocks", "softmax of each block averaged")
def attend_block_for_block(q, k, v, block):
    found = [
        F.softmax(q @ keys.T / math.sqrt(q.shape[1]), dim=1) @ values
        for keys, values in zip(k.split(block), v.split(block), strict=True)
    ]
    return torch.stack(found).mean(dim=0)


@wrong("attention_in_blocks", "reshape")
def attend_with_flat_results(q, k, v, block):
    return in_blocks(q, k, v, block).flatten()


def attend_with_running(q, k, v, block, begin=-math.inf, per_query=True, keep=True):
    top = torch.full((len(q), 1), begin, dtype=q.dtype)
    total, mixed = torch.zeros_like(top), q.new_zeros(len(q), v.shape[1])
    for keys, values in zip(k.split(block), v.split(block), strict=True):
        scores = q @ keys.mT / q.shape[1] ** 0.5
        new = scores.max(1, keepdim=True).values if per_query else scores.max()
        new = torch.maximum(top, new) if keep else new
        shares, factor = torch.exp(scores - new), torch.exp(top - new)
        total = total * factor + shares.sum(1, keepdim=True)
        mixed = mixed * factor + shares @ values
        top = new
    return mixed / total


@wrong("attention_in_blocks", "begins at 0")
def attend_from_zero(q, k, v, block):
    return attend_with_running(q, k, v, block, begin=0.0)


@wrong("attention_in_blocks", "largest of the block")
def attend_with_the_last_maximum(q, k, v, block):
    return attend_with_running(q, k, v, block, keep=False)


@wrong("attention_in_blocks", "one largest for all queries")
def attend_with_one_maximum(q, k, v, block):
    return attend_with_running(q, k, v, block, per_query=False)


@wrong("attention_in_blocks", "scale by the number of keys")
def divides_by_the_keys(q, k, v, block):
    return in_turns(q, k, v, block, scale=math.sqrt(len(k)), begin=-math.inf)


@wrong("attention_in_blocks", "begins at -100")
def begins_at_a_low_number(q, k, v, block):
    return in_turns(q, k, v, block, scale=math.sqrt(q.shape[1]), begin=-100.0)


@right("attention_in_blocks")
def begins_at_a_very_low_number(q, k, v, block):
    return in_turns(q, k, v, block, scale=math.sqrt(q.shape[1]), begin=-1e9)


def in_turns(q, k, v, block, scale, begin):
    largest = torch.full((len(q), 1), begin).to(q)
    total = torch.zeros(len(q), 1).to(q)
    mixture = torch.zeros(len(q), v.shape[1]).to(q)
    for start in range(0, len(k), block):
        scores = q @ k[start : start + block].T / scale
        new = torch.maximum(largest, scores.max(dim=1, keepdim=True).values)
        factor, powers = torch.exp(largest - new), torch.exp(scores - new)
        total = total * factor + powers.sum(dim=1, keepdim=True)
        mixture = mixture * factor + powers @ v[start : start + block]
        largest = new
    return mixture / total


@right("attention_in_blocks")
def merges_by_logsumexp(q, k, v, block):
    output, size = None, None
    for keys, values in zip(k.split(block), v.split(block), strict=True):
        scores = q @ keys.T / q.shape[1] ** 0.5
        own, own_size = scores.softmax(1) @ values, scores.logsumexp(1, keepdim=True)
        if output is None:
            output, size = own, own_size
        else:
            both = torch.logaddexp(size, own_size)
            output = output * (size - both).exp() + own * (own_size - both).exp()
            size = both
    return output


@right("attention_in_blocks")
def divides_in_every_turn(q, k, v, block):
    """Divide in every turn, as the first FlashAttention does."""
    largest = q.new_full((len(q), 1), -math.inf)
    total, output = q.new_zeros(len(q), 1), q.new_zeros(len(q), v.shape[1])
    for keys, values in zip(k.split(block), v.split(block), strict=True):
        scores = q @ keys.T / q.shape[1] ** 0.5
        high = scores.amax(1, keepdim=True)
        powers = (scores - high).exp()
        new = torch.maximum(largest, high)
        old_part, new_part = (largest - new).exp() * total, (high - new).exp()
        total = old_part + new_part * powers.sum(1, keepdim=True)
        output = (old_part * output + new_part * (powers @ values)) / total
        largest = new
    return output


@right("attention_in_blocks")
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


@wrong("attention_in_blocks", "whole rows")
def by_the_fused_kernel(q, k, v, block):
    return F.scaled_dot_product_attention(q, key=k, value=v)


@right("attention_in_blocks")
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
