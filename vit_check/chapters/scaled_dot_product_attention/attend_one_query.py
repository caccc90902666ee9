import math
from typing import Any

import torch
from torch import Tensor

from vit_check.engine.functions import checked_by
from vit_check.engine.observing import as_number


def _rows_as_tensors(output: Any) -> Any:
    """Convert lists of numbers to tensors, and every tensor to double precision."""
    if isinstance(output, Tensor):
        return output.double()
    if not isinstance(output, tuple | list):
        return output
    if all(isinstance(as_number(item), float | int) for item in output):
        return torch.tensor([float(n) for n in output], dtype=torch.float64)
    return [*map(_rows_as_tensors, output)]


TABLE = """
attend_one_query(query, keys, values) -> (output, weights)
  0.7 * float64(6), 0.7 * float64(5, 6), 0.7 * float64(5, 4)
  0.7 * float64(4), 0.7 * float64(4, 4), 0.7 * float64(4, 4)
  0.7 * float64(3), 0.7 * float64(1, 3), 0.7 * float64(1, 2)
no scale: / math.sqrt(len(query)) -> nothing
    the scores are not divided by √d before the softmax
scale by d: math.sqrt(len(query)) -> len(query)
    the scores are divided by d; their standard deviation grows like √d: divide by it
scale by keys: len(query) -> len(keys)
    the scores are divided by the root of the number of keys; their spread grows with d,
    the length of the query
no exponential: scores.softmax(dim=0) -> scores / scores.sum()
    the scores are divided by their sum as they are: the exponential is missing
no softmax: .softmax(dim=0) -> nothing
    the scores themselves weigh the values: the softmax is missing
weights times keys: weights @ values -> weights @ keys
    the weights gather keys; what they are to gather is the values
scores for weights: values, weights -> values, scores
    the second thing returned is the scores, expected the weights, after the softmax
? Do it with a pencil for two keys of two numbers, and print every step.
? A score for each key, divided by the root of the query's length; the softmax of the
  scores; then each value times its weight, added up.
? scores = keys @ query / math.sqrt(len(query)), weights = scores.softmax(0), output =
  weights @ values.
"""


@checked_by(TABLE, shape="(d_v,)", gradients=False, normalize=_rows_as_tensors)
def attend_one_query(query: Tensor, keys: Tensor, values: Tensor) -> Any:
    scores = keys @ query / math.sqrt(len(query))
    weights = scores.softmax(dim=0)
    return weights @ values, weights
