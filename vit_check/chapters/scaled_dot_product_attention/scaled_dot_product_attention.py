"""The check of ``scaled_dot_product_attention``, chapter 4."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor

from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake
from vit_steps.attention import scaled_dot_product_attention as right_attention


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    scale: float | None = None,
    axis: int = -1,
    masked: str = "rightly",
) -> tuple[Tensor, Tensor]:
    """Attention with a place for each usual mistake."""
    scale = q.shape[-1] ** 0.5 if scale is None else scale
    scores = q @ k.transpose(-2, -1) / scale  # (..., T_q, T_k)
    fills = {"rightly": -math.inf, "inverted": -math.inf, "nan": -math.inf}
    fills |= {"level": -1e9, "high": 1e9, "low": -100.0}
    if mask is not None and masked in fills:
        keep = ~mask if masked == "inverted" else mask
        scores = scores.masked_fill(~keep, fills[masked])
    if mask is not None and masked == "multiplied":
        scores = scores * mask
    if mask is not None and masked == "added":
        scores = scores + mask.to(scores.dtype)
    weights = scores.softmax(dim=axis)
    if mask is not None and masked == "late":
        weights = weights * mask
    if mask is not None and masked == "low":
        weights = weights * mask.any(-1, keepdim=True)
    if masked != "nan":
        weights = weights.nan_to_num(0.0)
    return weights @ v, weights


def _scaled_by(size: str, q: Tensor, k: Tensor, v: Tensor, *mask: Any) -> Any:
    scales = {
        "nothing": 1.0,
        "d": float(q.shape[-1]),
        "keys": k.shape[-2] ** 0.5,
        "queries": q.shape[-2] ** 0.5,
        "values": v.shape[-1] ** 0.5,
        "8": 8.0,
        "axis 1": q.shape[1] ** 0.5,
        "inverse": q.shape[-1] ** -0.5,
    }
    return attend(q, k, v, mask[0] if mask else None, scales[size])


def _scaled_late(q: Tensor, k: Tensor, v: Tensor, *mask: Any) -> Any:
    _, weights = attend(q, k, v, mask[0] if mask else None, 1.0)
    weights = weights / q.shape[-1] ** 0.5
    return weights @ v, weights


def _unshared(q: Tensor, k: Tensor, v: Tensor, *mask: Any) -> Any:
    scores = _scores(q, k)
    return scores @ v, scores


def _scores(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.mT / q.shape[-1] ** 0.5


def _shared_over_everything(q: Tensor, k: Tensor, v: Tensor, *mask: Any) -> Any:
    scores = _scores(q, k)
    if mask:
        scores = scores.masked_fill(~mask[0], -math.inf)
    weights = scores.flatten(-2).softmax(dim=-1).reshape(scores.shape)
    return weights @ v, weights


def _shared_twice(q: Tensor, k: Tensor, v: Tensor, *mask: Any) -> Any:
    weights = right_attention(q, k, v, *mask)[1].softmax(dim=-1)
    return weights @ v, weights


def _scores_for_weights(q: Tensor, k: Tensor, v: Tensor, *mask: Any) -> Any:
    return right_attention(q, k, v, *mask)[0], _scores(q, k)


def _keys_reshaped(q: Tensor, k: Tensor, v: Tensor, *mask: Any) -> Any:
    turned = k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])
    return attend(q, turned.transpose(-2, -1), v, *mask)


def _weights_turned(*arguments: Any) -> Any:
    weights = right_attention(*arguments)[1]
    return weights.mT @ arguments[2], weights


def _weights_summed(*arguments: Any) -> Any:
    """What the letters "qk,kd->kd" or "qk,vd->qd" gather in an einsum."""
    weights = right_attention(*arguments)[1]
    return weights.sum(dim=-2).unsqueeze(-1) * arguments[2], weights


def _values_summed(*arguments: Any) -> Any:
    weights = right_attention(*arguments)[1]
    values = arguments[2].sum(dim=-2, keepdim=True)
    return weights.sum(dim=-1, keepdim=True) * values, weights


def _heads_averaged(*arguments: Any) -> Any:
    output, weights = right_attention(*arguments)
    return output, weights.mean(dim=-3)


def _without_future(q: Tensor, k: Tensor, v: Tensor, *mask: Any) -> Any:
    past = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril()
    return right_attention(q, k, v, past & mask[0] if mask else past)


def attention_inputs(generator: Generator, masks: bool) -> Iterator[Case]:
    def normal(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)

    for leading, queries, keys, d, values, dtype in (
        ((3, 2), 7, 5, 6, 4, torch.float32),
        ((3,), 4, 4, 5, 5, torch.float64),
        ((2,), 3, 3, 3, 3, torch.float32),
        ((2,), 5, 6, 8, 8, torch.bfloat16),
    ):
        q = normal(*leading, queries, d, dtype=dtype)
        k = normal(*leading, keys, d, dtype=dtype)
        v = normal(*leading, keys, values, dtype=dtype)
        mask = torch.rand((*leading, queries, keys), generator=generator) < 0.6
        mask[..., 0, :] = False
        mask[..., 1, :] = True
        yield [q, k, v, mask] if masks else [q, k, v]
    if masks:  # one for all heads and queries
        padding = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
        yield [
            normal(2, 3, 4, 6),
            normal(2, 3, 5, 6),
            normal(2, 3, 5, 7),
            padding[:, None, None],
        ]
        yield _far_from_zero(generator)
    else:
        yield [x.float() for x in _far_from_zero(generator, 7.0)[:3]]


def _far_from_zero(generator: Generator, loud: float = 20.0) -> Case:
    """Scores near -300, or near 300; one key is hidden.

    With 7 for ``loud`` they are near -105, or near 105, and float32 has no e^105.
    """
    q, k = (
        torch.randn(shape, generator=generator, dtype=torch.float64)
        for shape in ((2, 4, 6), (2, 5, 6))
    )
    seen = torch.tensor([True, False, True, True, True])
    q[..., 0] = loud * torch.tensor([1.0, 1.0, 1.0, -1.0])
    k[..., 0] = -15.0 * 6**0.5
    v = torch.randn((2, 5, 3), generator=generator, dtype=torch.float64)
    return [q, k, v, seen.expand(2, 4, 5)]


OF_ATTENTION = [
    Mistake(
        "no scale",
        "the scores are not divided by √d before the softmax",
        partial(_scaled_by, "nothing"),
    ),
    Mistake(
        "scale by d",
        "the scores are divided by d; their standard deviation grows like √d, so "
        "divide by that",
        partial(_scaled_by, "d"),
    ),
    Mistake(
        "scale by tokens",
        "the scores are divided by the root of the number of keys; their spread "
        "grows with d, the length of the vectors that are multiplied",
        partial(_scaled_by, "keys"),
    ),
    Mistake(
        "scale by queries",
        "the scores are divided by the root of the number of queries; their spread "
        "grows with d, the length of the vectors that are multiplied",
        partial(_scaled_by, "queries"),
    ),
    Mistake(
        "scale by axis 1",
        "the scores are divided by the root of q.shape[1], which is not d: d is the "
        "last axis, whatever stands in front",
        partial(_scaled_by, "axis 1"),
    ),
    Mistake(
        "scale by d_v",
        "the scores are divided by the root of the values' length; it is queries and "
        "keys that are multiplied, and theirs is d",
        partial(_scaled_by, "values"),
    ),
    Mistake(
        "scale by 8",
        "the scores are divided by 8, which is √d where d is 64; here d is the length "
        "of the queries that come in",
        partial(_scaled_by, "8"),
    ),
    Mistake(
        "scale inverted",
        "the scores are multiplied by √d instead of divided",
        partial(_scaled_by, "inverse"),
    ),
    Mistake(
        "scale late",
        "the division by √d comes after the softmax, where the weights of a query no "
        "longer sum to 1",
        _scaled_late,
    ),
    Mistake(
        "softmax over queries",
        "the softmax runs over the queries: each column of the weights sums to 1, and "
        "each row should",
        partial(attend, axis=-2),
    ),
    Mistake(
        "softmax over heads",
        "the softmax runs over axis 1, the heads: they compete with each other, and "
        "the keys do not",
        partial(attend, axis=1),
    ),
    Mistake(
        "softmax over the batch",
        "the softmax runs over axis 0, the batch: its samples compete with each other, "
        "and the keys do not",
        partial(attend, axis=0),
    ),
    Mistake(
        "softmax over everything",
        "the softmax runs over queries and keys together: the whole table sums to 1, "
        "and each of its rows should",
        _shared_over_everything,
    ),
    Mistake(
        "softmax twice",
        "the softmax is taken twice, which leaves the weights nearly level",
        _shared_twice,
    ),
    Mistake(
        "no softmax",
        "there is no softmax: the scores themselves weigh the values",
        _unshared,
    ),
    Mistake(
        "q and k swapped",
        "q and k are swapped: the keys ask and the queries answer",
        lambda q, k, v, *mask: attend(k, q, v, *mask),
    ),
    Mistake(
        "k and v swapped",
        "k and v are swapped: the queries are compared with the values",
        lambda q, k, v, *mask: attend(q, v, k, *mask),
    ),
    Mistake(
        "weights times keys",
        "the weights gather keys; what they are to gather is the values",
        lambda q, k, v, *mask: attend(q, k, k, *mask),
    ),
    Mistake(
        "weights times queries",
        "the weights gather queries; what they are to gather is the values",
        lambda q, k, v, *mask: attend(q, k, q, *mask),
    ),
    Mistake(
        "weights transposed",
        "the weights are transposed before they meet the values: a token gathers by "
        "how much it is looked at, not by how it looks",
        _weights_turned,
    ),
    Mistake(
        "summed over queries",
        "each value is multiplied by all the attention it gets, and nothing is "
        "gathered: the sum runs over the queries, and it should run over the keys",
        _weights_summed,
    ),
    Mistake(
        "values summed",
        "every query gets the sum of all values: weights and values are added up "
        "apart, each over a letter of its own",
        _values_summed,
    ),
    Mistake(
        "keys reshaped",
        "the keys are reshaped where they should be transposed: the shape fits, and "
        "the scores mix numbers of different keys",
        _keys_reshaped,
    ),
    Mistake(
        "causal",
        "a causal mask is built in: no query sees the keys behind its own place, and "
        "nothing here is to be hidden for its place",
        _without_future,
    ),
    Mistake(
        "scores for weights",
        "the second thing returned is the scores, expected the weights, after the "
        "softmax",
        _scores_for_weights,
    ),
    Mistake(
        "weights averaged",
        "the weights returned are averaged over the heads; each head has its own",
        _heads_averaged,
    ),
    Mistake(
        "weights first",
        "the weights are returned first, expected the output first",
        lambda *qkv: right_attention(*qkv)[::-1],
    ),
    Mistake(
        "output alone",
        "only the output is returned, expected (output, weights)",
        lambda *qkv: right_attention(*qkv)[0],
    ),
    Mistake(
        "weights alone",
        "only the weights are returned, expected (output, weights)",
        lambda *qkv: right_attention(*qkv)[1],
    ),
]


scaled_dot_product_attention = FunctionCheck(
    "scaled_dot_product_attention",
    "scaled_dot_product_attention(q, k, v) -> (output, weights)",
    right_attention,
    partial(attention_inputs, masks=False),
    OF_ATTENTION,
    hints=(
        "Write the shape of q, k, v and of the scores beside each line, then look at "
        "which axis the softmax takes.",
        "Scores are q times k transposed in its last two axes, divided by the root of "
        "q.shape[-1]; each query's row of weights sums to 1.",
        "scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), then "
        "scores.softmax(dim=-1), then weights @ v.",
    ),
    shape="(..., T_q, d_v)",
    batched=(0, 1, 2),
)
