"""Checks of chapter 4: attention of many queries, and under a mask."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor

from vit_steps.attention import scaled_dot_product_attention as right_attention
from vit_steps.check.checking import Case
from vit_steps.check.function_check import FunctionCheck
from vit_steps.check.verdict import Mistake


def _causal(num_tokens: int) -> Tensor:
    return torch.ones(num_tokens, num_tokens, dtype=torch.bool).tril()


def _all(num_tokens: int) -> Tensor:
    return torch.ones(num_tokens, num_tokens, dtype=torch.bool)


causal_mask = FunctionCheck(
    "causal_mask",
    "causal_mask(num_tokens) -> (T, T), True where a query may look",
    _causal,
    lambda generator: iter([[5], [1], [8]]),
    [
        Mistake(
            "future seen",
            "is the wrong way round: query 0 sees all tokens and the last one only "
            "itself; rows are queries, columns are keys",
            lambda n: _all(n).triu(),
        ),
        Mistake(
            "True forbids",
            "is True where a query must not look; here True says that it may",
            lambda n: ~_causal(n),
        ),
        Mistake(
            "itself hidden",
            "hides each token from itself, so that the first one has nothing to look "
            "at",
            lambda n: _all(n).tril(-1),
        ),
        Mistake(
            "one ahead",
            "lets each token see the next one, which is what it is to guess",
            lambda n: _all(n).tril(1),
        ),
        Mistake(
            "itself alone",
            "lets each token see itself and no other",
            lambda n: torch.eye(n, dtype=torch.bool),
        ),
        Mistake(
            "all seen",
            "hides nothing: every query sees every key",
            _all,
        ),
        Mistake(
            "one before",
            "lets a token see itself and one before it; it may see all before it",
            lambda n: _all(n).tril() & _all(n).triu(-1),
        ),
        Mistake(
            "to be added",
            "holds 0 and minus infinity, to be added to the scores; expected True and "
            "False",
            lambda n: torch.zeros(n, n).masked_fill(~_causal(n), -math.inf),
        ),
        Mistake(
            "one row",
            "has one row, which would go for all queries; each query has a row of its "
            "own",
            lambda n: _all(n)[-1],
        ),
    ],
    hints=(
        "Draw it for three tokens: a row for each query, a column for each key. What "
        "may token 0 see?",
        "Key j is allowed for query i if j is not larger than i: the diagonal and all "
        "below it.",
        "torch.ones(num_tokens, num_tokens, dtype=torch.bool).tril().",
    ),
    shape="(T, T)",
    gradients=False,
)


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
    if mask is not None and masked in ("rightly", "inverted", "nan", "level", "high"):
        keep = ~mask if masked == "inverted" else mask
        lowest = {"level": -1e9, "high": 1e9}.get(masked, -math.inf)
        scores = scores.masked_fill(~keep, lowest)
    if mask is not None and masked == "multiplied":
        scores = scores * mask
    if mask is not None and masked == "added":
        scores = scores + mask.to(scores.dtype)
    weights = scores.softmax(dim=axis)
    if mask is not None and masked == "late":
        weights = weights * mask
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


def _attention_inputs(generator: Generator, masks: bool) -> Iterator[Case]:
    def normal(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)

    for leading, queries, keys, d, values, dtype in (
        ((2, 3), 7, 5, 6, 4, torch.float32),
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


_OF_ATTENTION = [
    Mistake(
        "no scale",
        "the scores are not divided by √d before the softmax",
        partial(_scaled_by, "nothing"),
    ),
    Mistake(
        "scale by d",
        "the scores are divided by d; their width is √d, so divide by that",
        partial(_scaled_by, "d"),
    ),
    Mistake(
        "scale by tokens",
        "the scores are divided by the root of the number of keys; what makes them "
        "wide is d, the length of the vectors that are multiplied",
        partial(_scaled_by, "keys"),
    ),
    Mistake(
        "scale by queries",
        "the scores are divided by the root of the number of queries; what makes them "
        "wide is d, the length of the vectors that are multiplied",
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
    partial(_attention_inputs, masks=False),
    _OF_ATTENTION,
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

masked_attention = FunctionCheck(
    "masked_attention",
    "masked_attention(q, k, v, mask) -> (output, weights)",
    right_attention,
    partial(_attention_inputs, masks=True),
    [
        Mistake(
            "mask inverted",
            "the mask is the wrong way round: True says that a key may be attended",
            partial(attend, masked="inverted"),
        ),
        Mistake(
            "hidden keys win",
            "a masked key has the highest score of all and takes the weight: the large "
            "number has lost its minus",
            partial(attend, masked="high"),
        ),
        Mistake(
            "mask ignored",
            "the mask has no effect",
            partial(attend, masked="not"),
        ),
        Mistake(
            "mask multiplied",
            "a masked key has the score 0, or nearly, and that still gets weight, "
            "since e⁰ is 1; minus infinity gets none",
            partial(attend, masked="multiplied"),
        ),
        Mistake(
            "mask added",
            "the mask is added to the scores as the numbers 1 and 0: that favours a "
            "key a little and forbids none",
            partial(attend, masked="added"),
        ),
        Mistake(
            "mask transposed",
            "rows and columns of the mask are swapped: row i is to say where query i "
            "may look",
            lambda q, k, v, mask: right_attention(q, k, v, mask.mT),
        ),
        Mistake(
            "mask after softmax",
            "the mask comes after the softmax, and the weights that are left no longer "
            "sum to 1",
            partial(attend, masked="late"),
        ),
        Mistake(
            "row of NaN",
            "a query that may attend nothing gets NaN: its row is all minus infinity; "
            "give it zeros",
            partial(attend, masked="nan"),
        ),
        Mistake(
            "row left level",
            "a query that may attend nothing attends everything alike: all its scores "
            "are the same large negative number; give it zeros",
            partial(attend, masked="level"),
        ),
        *_OF_ATTENTION,
    ],
    hints=(
        "A key that is masked should get a weight of exactly 0, and the others should "
        "still sum to 1. Which score becomes a weight of 0?",
        "Before the softmax, put minus infinity where the mask is False. Then look at "
        "a row that is False throughout.",
        "scores.masked_fill(~mask, -math.inf), the softmax, and then "
        "weights.masked_fill(~mask, 0.0), which also clears a row of NaN.",
    ),
    shape="(..., T_q, d_v)",
    batched=(0, 1, 2, 3),
)
