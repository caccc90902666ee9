import math
from typing import Any

import torch
from torch import Tensor

from vit_check.chapters.scaled_dot_product_attention import (
    scaled_dot_product_attention as of_all,
)
from vit_check.engine.functions import checked_by
from vit_check.engine.observing import as_number


def _rows_as_tensors(output: Any) -> Any:
    """Convert lists of numbers to tensors."""
    if not isinstance(output, tuple | list):
        return output
    if all(isinstance(as_number(item), float | int) for item in output):
        return torch.tensor([float(n) for n in output], dtype=torch.float64)
    return [*map(_rows_as_tensors, output)]


TABLE = f"""
attend_one_query(query, keys, values) -> (output, weights)
  0.7 * float64(6), 0.7 * float64(5, 6), 0.7 * float64(5, 4)
  0.7 * float64(4), 0.7 * float64(4, 4), 0.7 * float64(4, 4)
  0.7 * float64(3), 0.7 * float64(1, 3), 0.7 * float64(1, 2)
{of_all.OF_SCORES}
{of_all.OF_QUERIES}
scores for weights: v, weights -> v, scores
    the second thing returned is the scores, expected the weights, after the softmax
first value left out: weights @ v -> weights[1:] @ v[1:]
    the sum of the values leaves out the first
no exponential: scores.softmax(dim=-1) -> scores / scores.sum()
    the scores are divided by their sum as they are: the exponential is missing
? Do it with a pencil for two keys of two numbers, and print every step.
? A score for each key, divided by the root of the query's length; the softmax of the
  scores; then each value times its weight, added up.
? scores = keys @ query / math.sqrt(len(query)), weights = scores.softmax(0), output =
  weights @ values.
"""


@checked_by(TABLE, gradients=False, normalize=_rows_as_tensors)
def attend_one_query(q: Tensor, k: Tensor, v: Tensor) -> Any:
    scores = k @ q / math.sqrt(q.shape[-1])
    weights = scores.softmax(dim=-1)
    return weights @ v, weights
