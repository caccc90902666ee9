"""The check of ``attend_one_query``, chapter 4."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn import functional as F

from vit_check.chapters.scaled_dot_product_attention.softmax import share
from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake


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
    share: Callable[[Tensor], Tensor] = share,
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
    weights = share(keys @ query) / len(query) ** 0.5  # (T,)
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
            "the scores are divided by d; their standard deviation grows like √d, so "
            "divide by that",
            partial(_one_query, scale="d"),
        ),
        Mistake(
            "scale by keys",
            "the scores are divided by the root of the number of keys; their spread "
            "grows with d, the length of the query",
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
            "softmax of single scores",
            "all weights are 1: the softmax runs over an axis of length 1, and the "
            "scores lie along the other",
            partial(_one_query, share=torch.ones_like),
        ),
        Mistake(
            "scores for weights",
            "the second thing returned is the scores, expected the weights, after the "
            "softmax",
            lambda query, keys, values: (
                _one_query(query, keys, values)[0],
                keys @ query / len(query) ** 0.5,
            ),
        ),
        Mistake(
            "exponentials for weights",
            "the second thing returned is the exponentials, expected the weights, "
            "which are what is left when they are divided by their sum",
            lambda query, keys, values: (
                _one_query(query, keys, values)[0],
                (keys @ query / len(query) ** 0.5).exp(),
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
    normalize=_rows_as_tensors,
)
