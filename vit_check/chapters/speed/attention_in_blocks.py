import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from vit_check.engine.drawing import Answer
from vit_check.engine.functions import checked_by
from vit_check.engine.observing import tensors_in


class _Rows(TorchFunctionMode):
    """A mode that notes whether a whole row of scores is made, for any query."""

    def __init__(self, keys: int, widths: set[int]) -> None:
        super().__init__()
        self.keys, self.widths, self.found = keys, widths, False

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        output = func(*args, **(kwargs or {}))
        for tensor in tensors_in(output):
            flat = tensor.numel() < 2 or bool(tensor.min() == tensor.max())  # no scores
            flat |= func is Tensor.__getitem__  # a piece of something larger
            if self.keys in tensor.shape and tensor.is_floating_point() and not flat:
                self.found |= tensor.numel() // self.keys not in self.widths
        if func is F.scaled_dot_product_attention:  # it makes whole rows inside
            key = {**dict(enumerate(args)), **(kwargs or {})}.get("key", args[1:2])
            self.found |= tensors_in(key)[0].shape[-2] >= self.keys
        return output


def _attend_watched(
    attend: Answer, q: Tensor, k: Tensor, v: Tensor, block: int
) -> dict[str, Any]:
    widths = {k.shape[1], v.shape[1], v.shape[1] + 1, k.shape[1] + v.shape[1]}
    with _Rows(len(k), widths) as rows:
        output = attend(q, k, v, block)
    # If a block is one key, a number for each block is a whole row.
    whole = rows.found and 1 < block < len(k)
    return {"the output": output, "a whole row of scores": "there" if whole else "no"}


def _drawn(q: Tensor, width: float = 1.5) -> Tensor:
    """Return queries that are wider from the first to the last."""
    return width * torch.linspace(0.2, 1, len(q), dtype=q.dtype)[:, None] * q


TABLE = """
attention_in_blocks(q, k, v, block) -> (T_q, d_v)
  _drawn(float64(24, 4)), float64(48, 4), float64(48, 3), 8
  _drawn(float32(18, 5)), float32(53, 5), float32(53, 4), 10
  _drawn(float32(12, 5)), float32(16, 5), float32(16, 3), 1
  _drawn(float32(20, 4), 200.0), float32(47, 4), float32(47, 3), 11
  _drawn(1 + float32(19, 4).abs(), 200.0), -1 - float32(46, 4).abs(), float32(46, 3), 6
  _drawn(float64(9, 4)), float64(13, 4), float64(13, 6), 20
whole rows: = lambda q, k, v, block: (q @ k.T / math.sqrt(q.shape[1])).softmax(-1) @ v
    the scores of a query with all keys are held at once, expected a block at a time
mixed not mended: factor * mixed -> mixed
    the mixture of earlier blocks is not multiplied by the factor, only the sum is
sum not mended: factor * total -> total
    the sum of earlier blocks is not multiplied by the factor, only the mixture is
nothing mended: factor * mixed -> mixed
  factor * total -> total
    what was summed before a larger score turned up lacks the factor, sum and mixture
begins at 0: -math.inf -> 0.0
    the largest score begins at 0: where a query's scores lie far below, 0/0 is NaN
no maximum: -math.inf -> 0.0
  torch.maximum(largest, scores.amax(1, keepdim=True)) -> largest
    the exponentials are taken of bare scores, expected with the largest subtracted
largest of the block: torch.maximum(largest, -> (
    the new largest score is that of this block alone, expected the largest so far
one largest for all queries: scores.amax(1, keepdim=True) -> scores.amax()
    one largest score serves all queries, expected one for each
softmax of each block averaged: factor * mixed + shares -> mixed + scores.softmax(1)
  / total -> / -(-len(k) // block)
    each block has a softmax of its own, and they are averaged, expected one over all
no scale: / math.sqrt(q.shape[1]) -> nothing
    the scores are not divided by √d
scaled by the values: math.sqrt(q.shape[1]) -> math.sqrt(v.shape[1])
    the scores are divided by √d_v, expected by √d
last block dropped: len(k), block -> len(k) // block * block, block
    the keys after the last whole block are left out: the last one may be shorter
? Work through two blocks of one key each on paper. What did the first block's
  exponential subtract, and what should it have subtracted?
? Keep three things for each query: the largest score so far, the sum of exponentials
  and the mixture of values, both relative to that largest. When it rises from a to b,
  both are multiplied by e to the a - b.
? new = torch.maximum(largest, scores.amax(1, keepdim=True)); factor = (largest -
  new).exp(); shares = (scores - new).exp(); total = factor * total + shares.sum(1,
  keepdim=True); mixture = factor * mixture + shares @ values.
"""


@checked_by(TABLE, gradients=False, scenario=_attend_watched)
def attention_in_blocks(q: Tensor, k: Tensor, v: Tensor, block: int) -> Tensor:
    largest = q.new_full((len(q), 1), -math.inf)
    total, mixed = q.new_zeros(len(q), 1), q.new_zeros(len(q), v.shape[1])
    for start in range(0, len(k), block):
        keys, values = k[start : start + block], v[start : start + block]
        scores = q @ keys.T / math.sqrt(q.shape[1])  # (T_q, block)
        new = torch.maximum(largest, scores.amax(1, keepdim=True))
        shares = (scores - new).exp()
        factor = (largest - new).exp()
        total = factor * total + shares.sum(1, keepdim=True)
        mixed = factor * mixed + shares @ values
        largest = new
    return mixed / total
