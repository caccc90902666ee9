import math

import torch
from torch import nn
from torch.nn import functional as F

from tests.checks.answers import right, wrong
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
def query_by_query(q, k, v):
    outputs, rows = [], []
    for t in range(q.shape[-2]):
        scores = (q[..., t : t + 1, :] * k).sum(-1) / math.sqrt(q.shape[-1])
        row = scores.softmax(-1)
        rows.append(row)
        outputs.append((row.unsqueeze(-1) * v).sum(-2))
    return torch.stack(outputs, -2), torch.stack(rows, -2)


@wrong("scaled_dot_product_attention", "no scale")
def unscaled(q, k, v):
    weights = F.softmax(torch.matmul(q, k.transpose(-1, -2)), dim=-1)
    return torch.matmul(weights, v), weights


@wrong("scaled_dot_product_attention", "scale by tokens")
def scaled_by_sequence_length(q, k, v):
    weights = F.softmax(q @ k.mT / math.sqrt(k.size(-2)), dim=-1)
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "softmax over queries")
def softmax_without_minus_one(q, k, v):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    weights = nn.Softmax(dim=scores.ndim - 2)(scores)
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "q and k swapped")
def keys_ask(q, k, v):
    weights = F.softmax(k @ q.transpose(-2, -1) / math.sqrt(q.size(-1)), dim=-1)
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "keys reshaped")
def reshaped_until_it_fits(q, k, v):
    turned = k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])
    weights = F.softmax(q @ turned / math.sqrt(q.size(-1)), dim=-1)
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "not repeatable")
def dropout_always_on(q, k, v):
    weights = F.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1)
    return F.dropout(weights, 0.1) @ v, weights


@wrong("scaled_dot_product_attention", "not repeatable")
def shows_weights_after_dropout(q, k, v, drop=nn.Dropout(0.1)):  # noqa: B008
    weights = drop(F.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1))
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "changes its input")
def scales_in_place(q, k, v):
    q /= math.sqrt(q.size(-1))
    weights = (q @ k.mT).softmax(-1)
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "output alone")
def forgets_the_weights(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


@wrong("scaled_dot_product_attention", "gradient")
def detaches_the_weights(q, k, v):
    weights = F.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1)
    return weights.detach() @ v, weights


@wrong("scaled_dot_product_attention", "dtype")
def in_float32(q, k, v):
    q, k, v = q.float(), k.float(), v.float()
    weights = F.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1)
    return weights @ v, weights


@right("scaled_dot_product_attention")
def with_pytorchs_own(q, k, v):
    """Use the fused function, with the identity as values to get the weights."""
    every = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-1], -1)
    attention = F.scaled_dot_product_attention
    return attention(q, k, v), attention(q, k, every)


@right("scaled_dot_product_attention")
def as_hugging_face(query, key, value):
    scores = torch.matmul(query, key.transpose(-1, -2)) * query.shape[-1] ** -0.5
    probs = F.softmax(scores, dim=-1, dtype=torch.float32).to(query.dtype)
    probs = F.dropout(probs, p=0.1, training=False)
    return torch.matmul(probs, value), probs


@right("scaled_dot_product_attention")
def as_d2l(queries, keys, values):
    """Merge the leading axes, since bmm takes three."""
    leading, d = queries.shape[:-2], queries.shape[-1]
    q, k, v = (y.reshape(-1, *y.shape[-2:]) for y in (queries, keys, values))
    weights = torch.softmax(torch.bmm(q, k.transpose(1, 2)) / math.sqrt(d), dim=-1)
    output = torch.bmm(weights, v)
    return [y.reshape(*leading, *y.shape[-2:]) for y in (output, weights)]


@wrong("scaled_dot_product_attention", "scale by d")
def divides_by_the_width(q, k, v):
    weights = torch.softmax(q @ k.mT / q.shape[-1], dim=-1)
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "scale by d")
def scales_twice(q, k, v):
    q = q * q.shape[-1] ** -0.5
    weights = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1)
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "scale by axis 1")
def takes_the_size_of_axis_1(q, k, v):
    weights = torch.softmax(q @ k.mT / math.sqrt(q.size(1)), dim=-1)
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "scale by d_v")
def takes_d_from_the_values(q, k, v):
    d = v.size(-1)
    weights = torch.softmax(q @ k.mT / math.sqrt(d), dim=-1)
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "scale inverted")
def multiplies_by_the_root(q, k, v):
    weights = torch.softmax(q @ k.mT * math.sqrt(q.size(-1)), dim=-1)
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "scale late")
def divides_the_weights(q, k, v):
    weights = F.softmax(q @ k.mT, dim=-1) / math.sqrt(q.size(-1))
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "softmax over heads")
def names_no_axis(q, k, v):
    weights = F.softmax(q @ k.mT / math.sqrt(q.size(-1)))  # axis 1 of four
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "softmax over the batch")
def softmax_of_axis_0(q, k, v):
    weights = torch.softmax(q @ k.mT / math.sqrt(q.size(-1)), 0)
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "softmax over everything")
def one_sum_for_the_table(q, k, v):
    exps = (q @ k.mT / math.sqrt(q.size(-1))).exp()
    weights = exps / exps.sum(dim=(-2, -1), keepdim=True)
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "no softmax")
def linear_attention(q, k, v):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    return scores @ v, scores


@wrong("scaled_dot_product_attention", "weights times keys")
def gathers_keys(q, k, v):
    weights = F.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1)
    return weights @ k, weights


@wrong("scaled_dot_product_attention", "k and v swapped")
def takes_them_as_q_v_k(q, v, k):
    weights = F.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1)
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "summed over queries")
def einsum_with_k_on_both_sides(q, k, v):
    scores = torch.einsum("...qd,...kd->...qk", q, k) / math.sqrt(q.shape[-1])
    weights = scores.softmax(-1)
    return torch.einsum("...qk,...kd->...kd", weights, v), weights


@wrong("scaled_dot_product_attention", "values summed")
def einsum_with_a_letter_too_many(q, k, v):
    scores = torch.einsum("...qd,...kd->...qk", q, k) / math.sqrt(q.shape[-1])
    weights = scores.softmax(-1)
    return torch.einsum("...qk,...vd->...qd", weights, v), weights


@wrong("scaled_dot_product_attention", "weights transposed")
def einsum_with_letters_turned(q, k, v):
    scores = torch.einsum("...qd,...kd->...qk", q, k) / math.sqrt(q.shape[-1])
    weights = scores.softmax(-1)
    return torch.einsum("...kq,...kd->...qd", weights, v), weights


@wrong("scaled_dot_product_attention", "causal")
def as_in_a_language_model(q, k, v):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    past = torch.tril(torch.ones(scores.shape[-2:]))
    weights = F.softmax(scores.masked_fill(past == 0, float("-inf")), dim=-1)
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "weights averaged")
def one_map_for_all_heads(q, k, v):
    weights = F.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1)
    return weights @ v, weights.mean(dim=1)


@wrong("scaled_dot_product_attention", "scores for weights")
def shows_the_scores(q, k, v):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    return F.softmax(scores, dim=-1) @ v, scores


@wrong("scaled_dot_product_attention", "weights first")
def weights_and_output(q, k, v):
    weights = F.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1)
    return weights, weights @ v


@wrong("scaled_dot_product_attention", "softmax twice")
def logits_of_logits(q, k, v):
    weights = F.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1)
    return F.softmax(weights, dim=-1) @ v, F.softmax(weights, dim=-1)


@wrong("scaled_dot_product_attention", "raises")
def four_axes_and_no_less(q, k, v):
    weights = F.softmax(q @ k.transpose(2, 3) / math.sqrt(q.size(-1)), dim=-1)
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "no gradient")
def without_gradients(q, k, v):
    with torch.no_grad():
        return as_in_the_paper(q, k, v)


@wrong("scaled_dot_product_attention", "scale by 8")
def as_wide_as_a_head_of_vit_base(q, k, v):
    weights = torch.softmax(q @ k.transpose(-2, -1) / 8, dim=-1)
    return weights @ v, weights


@right("scaled_dot_product_attention")
def fused_and_weights_beside_it(q, k, v):
    weights = F.softmax(q @ k.mT * q.shape[-1] ** -0.5, dim=-1)
    return F.scaled_dot_product_attention(q, k, v), weights


@wrong("scaled_dot_product_attention", "axes")
def weights_of_each_key(q, k, v):
    weights = torch.softmax(k @ q.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-2)
    return weights.transpose(-2, -1) @ v, weights


@wrong("scaled_dot_product_attention", "not repeatable")
def drops_some_of_the_weights(q, k, v):
    weights = F.dropout(torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1), 0.1)
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "not finite")
def exponentials_too_large(q, k, v):
    shares = (q @ k.mT / math.sqrt(q.shape[-1])).exp()
    shares = shares / shares.sum(dim=-1, keepdim=True)
    return shares @ v, shares
