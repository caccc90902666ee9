"""Checks of chapter 4: a softmax, and the attention of one query."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn import functional as F

from vit_steps.check.checking import Case
from vit_steps.check.function_check import FunctionCheck
from vit_steps.check.verdict import Mistake


def _share(scores: Tensor, taken_off: Any = 0.0, axis: int = -1) -> Tensor:
    """A softmax with a place for each usual mistake."""
    exps = (scores - taken_off).exp()
    return exps / exps.sum(dim=axis, keepdim=True)


def _softmax_inputs(generator: Generator) -> Iterator[Case]:
    def normal(*shape: int) -> Tensor:
        return 1.5 * torch.randn(shape, generator=generator, dtype=torch.float64)

    yield [normal(2, 3, 5).float() + 3.0]
    yield [normal(4, 4)]
    yield [normal(7)]
    yield [normal(3, 6) + 1000]
    yield [normal(3, 6) - 2000]
    apart = normal(2, 5)
    apart[0] += 3000
    apart[1] -= 2000
    yield [apart]
    towering = normal(3, 5)
    towering[:, 1] += 3000
    yield [towering - 500]


softmax = FunctionCheck(
    "softmax",
    "softmax(scores) -> weights of the same shape, over the last axis",
    partial(torch.softmax, dim=-1),
    _softmax_inputs,
    [
        Mistake(
            "one for all rows",
            "gives NaN for a row far below another: one number is taken off the whole "
            "table, and each row should lose its own largest score",
            lambda s: _share(s, s.max()),
        ),
        Mistake(
            "mean subtracted",
            "gives NaN where one score towers over its row: taking off the row's mean, "
            "or its smallest score, leaves that one too large for the exponential",
            lambda s: _share(s, s.mean(dim=-1, keepdim=True)),
        ),
        Mistake(
            "size subtracted",
            "gives NaN for scores far below 0: what is taken off is the largest "
            "absolute value, where it should be the largest score",
            lambda s: _share(s, s.abs().amax(dim=-1, keepdim=True)),
        ),
        Mistake(
            "overflow",
            "gives NaN for scores far from 0: an exponential of 1000 is infinite, and "
            "those of a row around -1000 are all 0; take the row's largest score off "
            "first",
            _share,
        ),
        Mistake(
            "NaN covered",
            "turns the NaN of large scores into zeros, and such a row adds up to 0; "
            "take its largest score off first, and there is no NaN",
            lambda s: _share(s).nan_to_num(0.0),
        ),
        Mistake(
            "over the first axis",
            "adds up over the first axis; the weights are to add up to 1 over the last",
            lambda s: s.softmax(dim=0),
        ),
        Mistake(
            "over the axis before the last",
            "adds up over the axis before the last: each column sums to 1, and each "
            "row should",
            lambda s: s.softmax(dim=-2),
        ),
        Mistake(
            "over everything",
            "divides by the sum of all exponentials, so that only the whole adds up to "
            "1; each row has a sum of its own",
            lambda s: s.exp() / s.exp().sum(),
        ),
        Mistake(
            "one sum for all rows",
            "divides by the sum of all exponentials; each row has a sum of its own",
            lambda s: (
                (s - s.amax(dim=-1, keepdim=True)).exp()
                / (s - s.amax(dim=-1, keepdim=True)).exp().sum()
            ),
        ),
        Mistake(
            "keepdim missing",
            "divides column j by the sum of row j: without keepdim=True the sums lie "
            "along the last axis, and a square table takes them there without a word",
            lambda s: s.exp() / s.exp().sum(dim=-1),
        ),
        Mistake(
            "keepdim missing twice",
            "takes the largest of row j off column j, and divides by the sum of row j "
            "there: without keepdim=True both lie along the last axis",
            lambda s: (
                (s - s.amax(dim=-1)).exp() / (s - s.amax(dim=-1)).exp().sum(dim=-1)
            ),
        ),
        Mistake(
            "keepdim missing at the largest",
            "takes the largest of row j off column j: without keepdim=True the largest "
            "scores lie along the last axis",
            lambda s: _share(s, s.amax(dim=-1)),
        ),
        Mistake(
            "divided by the largest score",
            "divides the scores by the largest of their row, which changes their "
            "differences; take it off instead",
            lambda s: (s / s.amax(dim=-1, keepdim=True)).softmax(dim=-1),
        ),
        Mistake(
            "not normalised",
            "the exponentials are not divided by their sum, so that no row adds up to "
            "1",
            torch.exp,
        ),
        Mistake(
            "divided by the largest",
            "the largest weight of each row is 1: the exponentials are not divided by "
            "their sum",
            lambda s: (s - s.amax(dim=-1, keepdim=True)).exp(),
        ),
        Mistake(
            "no exponential",
            "the scores themselves are divided by their sum: there is no exponential, "
            "and a weight can be negative",
            lambda s: s / s.sum(dim=-1, keepdim=True),
        ),
        Mistake(
            "largest of each column",
            "takes off the largest of each column, which is another number for each "
            "key and so changes the weights; it should be one number for a row",
            lambda s: (s - s.amax(dim=-2, keepdim=True)).softmax(dim=-1),
        ),
        Mistake(
            "logarithm",
            "gives the logarithms of the weights, as log_softmax does",
            lambda s: s.log_softmax(dim=-1),
        ),
        Mistake(
            "sigmoid",
            "each score is squeezed for itself, as sigmoid does: the scores of a row "
            "do not compete, and their weights do not add up to 1",
            torch.sigmoid,
        ),
        Mistake(
            "sign",
            "the smallest score gets the largest weight: the sign is turned round",
            lambda s: (-s).softmax(dim=-1),
        ),
        Mistake(
            "hard",
            "the largest score gets all the weight: that is argmax, and no softmax",
            lambda s: F.one_hot(s.argmax(-1), s.shape[-1]).to(s.dtype),
        ),
        Mistake(
            "powers of two",
            "raises 2 to the scores, where it should be e",
            lambda s: (s * math.log(2)).softmax(dim=-1),
        ),
    ],
    hints=(
        "Print the sum of each row for a small table, then try scores of 1000.",
        "Exponentials first, then each divided by the sum of its row, with keepdim. "
        "Taking one number off all scores of a row changes nothing and keeps the "
        "exponentials small.",
        "exps = (scores - scores.amax(dim=-1, keepdim=True)).exp(), then "
        "exps / exps.sum(dim=-1, keepdim=True).",
    ),
    shape="as the scores",
)


def _rows_as_tensors(output: Any) -> Any:
    """Lists of numbers as tensors, and every tensor in double precision."""
    if not isinstance(output, tuple | list):
        return output.double() if isinstance(output, Tensor) else output
    return [
        torch.tensor([float(number) for number in part], dtype=torch.float64)
        if isinstance(part, tuple | list)
        and all(isinstance(n, float | int) or _is_number(n) for n in part)
        else part.double()
        if isinstance(part, Tensor)
        else part
        for part in output
    ]


def _is_number(thing: Any) -> bool:
    return isinstance(thing, Tensor) and thing.ndim == 0


def _one_query(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    scale: str = "√d",
    share: Callable[[Tensor], Tensor] = _share,
    by: str = "weights",
) -> Any:
    """One query's attention with a place for each usual mistake."""
    d, T = len(query), len(keys)
    divisor = {"√d": d**0.5, "1": 1.0, "d": float(d), "√T": T**0.5, "1/√d": d**-0.5}
    weights = share(keys @ query / divisor[scale])  # (T,)
    gathered = {
        "weights": values,
        "keys": keys,
        "mean": values.mean(dim=0).expand_as(values),
        "sum": T * values,
    }
    return weights @ gathered[by], weights


def _scaled_late(query: Tensor, keys: Tensor, values: Tensor) -> Any:
    weights = _share(keys @ query) / len(query) ** 0.5  # (T,)
    return weights @ values, weights


def _one_query_inputs(generator: Generator) -> Iterator[Case]:
    for d, keys, values in ((6, 5, 4), (4, 4, 4), (3, 1, 2)):
        shapes = ((d,), (keys, d), (keys, values))
        yield [
            0.7 * torch.randn(shape, generator=generator, dtype=torch.float64)
            for shape in shapes
        ]


attend_one_query = FunctionCheck(
    "attend_one_query",
    "attend_one_query(query, keys, values) -> (output, weights)",
    _one_query,
    _one_query_inputs,
    [
        Mistake(
            "no scale",
            "the scores are not divided by √d before the softmax",
            partial(_one_query, scale="1"),
        ),
        Mistake(
            "scale by d",
            "the scores are divided by d; their width is √d, so divide by that",
            partial(_one_query, scale="d"),
        ),
        Mistake(
            "scale by keys",
            "the scores are divided by the root of the number of keys; what makes them "
            "wide is d, the length of the query",
            partial(_one_query, scale="√T"),
        ),
        Mistake(
            "scale inverted",
            "the scores are multiplied by √d instead of divided",
            partial(_one_query, scale="1/√d"),
        ),
        Mistake(
            "scale late",
            "the division by √d comes after the softmax, where the weights no longer "
            "add up to 1",
            _scaled_late,
        ),
        Mistake(
            "not normalised",
            "the exponentials are not divided by their sum: the weights do not add up "
            "to 1",
            partial(_one_query, share=torch.exp),
        ),
        Mistake(
            "no exponential",
            "the scores are divided by their sum as they are: the exponential is "
            "missing",
            partial(_one_query, share=lambda s: s / s.sum()),
        ),
        Mistake(
            "no softmax",
            "the scores themselves weigh the values: the softmax is missing",
            partial(_one_query, share=lambda s: s),
        ),
        Mistake(
            "hard",
            "the best key gets all the weight, as in a dictionary; each key should get "
            "a share",
            partial(_one_query, share=lambda s: F.one_hot(s.argmax(), len(s)).to(s)),
        ),
        Mistake(
            "weights times keys",
            "the weights gather keys; what they are to gather is the values",
            partial(_one_query, by="keys"),
        ),
        Mistake(
            "plain mean",
            "the output is the plain mean of the values: the weights take no part",
            partial(_one_query, by="mean"),
        ),
        Mistake(
            "keys and values swapped",
            "keys and values are swapped: the query is compared with the values",
            lambda query, keys, values: _one_query(query, values, keys),
        ),
        Mistake(
            "not added up",
            "the weighted values are returned one by one, expected their sum",
            lambda query, keys, values: (
                _one_query(query, keys, values)[1][:, None] * values,
                _one_query(query, keys, values)[1],
            ),
        ),
        Mistake(
            "averaged",
            "the weighted values are averaged, expected their sum: the weights add up "
            "to 1, so nothing is left to divide by",
            lambda query, keys, values: (
                _one_query(query, keys, values)[0] / len(values),
                _one_query(query, keys, values)[1],
            ),
        ),
        Mistake(
            "weights along the numbers",
            "the weights lie along the numbers of a value, and there should be one "
            "for each value: give them an axis more before they are multiplied",
            lambda query, keys, values: (
                (_one_query(query, keys, values)[1] * values).sum(dim=0),
                _one_query(query, keys, values)[1],
            ),
        ),
        Mistake(
            "numbers added up",
            "the numbers of each weighted value are added up with one another; the "
            "sum runs over the values",
            lambda query, keys, values: (
                (_one_query(query, keys, values)[1][:, None] * values).sum(dim=1),
                _one_query(query, keys, values)[1],
            ),
        ),
        Mistake(
            "output alone",
            "only the output is returned, expected (output, weights)",
            lambda *three: _one_query(*three)[0],
        ),
        Mistake(
            "weights first",
            "the weights are returned first, expected the output first",
            lambda *three: _one_query(*three)[::-1],
        ),
    ],
    hints=(
        "Do it with a pencil for two keys of two numbers, and print every step.",
        "A score for each key, divided by the root of the query's length; the softmax "
        "of the scores; then each value times its weight, added up.",
        "scores = keys @ query / math.sqrt(len(query)), weights = scores.softmax(0), "
        "output = weights @ values.",
    ),
    shape="(d_v,)",
    gradients=False,
    normalise=_rows_as_tensors,
)
