import math

import torch
from torch import Generator, Tensor

from vit_check.engine.check import Case
from vit_check.engine.functions import checked_by

_PADDING = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])[:, None, None]


def _mask(generator: Generator, *shape: int) -> Tensor:
    """Draw what may be attended: nothing for the first query, all for the second."""
    mask = torch.rand(shape, generator=generator) < 0.6
    mask[..., 0, :] = False
    mask[..., 1, :] = True
    return mask


def _far_from_zero(generator: Generator, loud: float = 20.0) -> Case:
    """Return inputs with scores near -300 or 300, and one key that is hidden.

    If ``loud`` is 7, scores are near -105 or 105, and float32 cannot hold e^105. The
    queries are large and the keys are not, because the gradient of a query is a sum of
    keys, in which large ones would cancel and leave rounding errors.
    """
    q, k = (
        torch.randn(shape, generator=generator, dtype=torch.float64)
        for shape in ((2, 4, 6), (2, 5, 6))
    )
    seen = torch.tensor([True, False, True, True, True])
    q[..., 0] = 15.0 * loud * torch.tensor([1.0, 1.0, 1.0, -1.0])
    k[..., 0] = -(6**0.5)
    v = torch.randn((2, 5, 3), generator=generator, dtype=torch.float64)
    return [q, k, v, seen.expand(2, 4, 5)]


OF_SCORES = """\
no scale: / math.sqrt(q.shape[-1]) -> nothing
    the scores are not divided by √d before the softmax
scale by d: math.sqrt(q.shape[-1]) -> q.shape[-1]
    the scores are divided by d; their standard deviation grows like √d: divide by √d
multiplied: / math.sqrt(q.shape[-1]) -> * math.sqrt(q.shape[-1])
    the scores are multiplied by √d, expected divided
no softmax: scores.softmax(dim=-1) -> scores
    the scores themselves weigh the values: the softmax is missing
scale by tokens: q.shape[-1] -> k.shape[-2]
    the scores are divided by the root of the number of keys; their spread grows with d,
    the length of the vectors that are multiplied"""

OF_QUERIES = """\
scale by d_v: q.shape[-1] -> v.shape[-1]
    the scores are divided by the root of the values' length; it is queries and keys
    that are multiplied, and theirs is d
scale late: / math.sqrt(q.shape[-1]) -> nothing
  scores.softmax(dim=-1) -> (scores.softmax(dim=-1) / math.sqrt(q.shape[-1]))
    the division by √d comes after the softmax: the weights no longer sum to 1
weights times keys: weights @ v -> weights @ k
    the weights gather keys; what they are to gather is the values"""

OVER_QUERIES = """\
softmax over queries: softmax(dim=-1) -> softmax(dim=-2)
    the softmax runs over the queries: each column of the attention weights sums to 1,
    but each row should"""

TABLE = f"""
scaled_dot_product_attention(q, k, v) -> (output, weights)
  float32(3, 2, 7, 6), float32(3, 2, 5, 6), float32(3, 2, 5, 4)
  *float64(3, 3, 4, 5)
  *float32(3, 2, 3, 3)
  bfloat16(2, 5, 8), *bfloat16(2, 2, 6, 8)
  float64(5, 4), float64(3, 4), float64(3, 2)
  *(x.float() for x in _far_from_zero(generator, 7.0)[:3])
{OF_SCORES}
{OF_QUERIES}
{OVER_QUERIES}
scale by queries: q.shape[-1] -> q.shape[-2]
    the scores are divided by the root of the number of queries, axis -2; d is axis -1
scale by 8: math.sqrt(q.shape[-1]) -> 8
    the scores are divided by 8, which is √64; d is the length of these queries
softmax over heads: softmax(dim=-1) -> softmax(dim=1)
    the softmax runs over axis 1, the heads: they compete, and the keys do not
keys reshaped: k.transpose(-2, -1) -> k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])
    the keys are reshaped where they should be transposed: the shape fits, and the
    scores mix numbers of different keys
causal: scores.softmax(dim=-1)
  -> (scores - scores.new_full(scores.shape, math.inf).triu(1)).softmax(dim=-1)
    a causal mask is built in, and nothing here is to be hidden for its place
scores returned: v, weights -> v, scores
    the second thing returned is the scores, expected the weights, after the softmax
? Write the shape beside each line, then look at which axis the softmax takes.
? Scores are q times k transposed in its last two axes, divided by the root of
  q.shape[-1]; each query's row of weights sums to 1.
? scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), then
  scores.softmax(dim=-1), then weights @ v.
"""


@checked_by(TABLE, batched=(0, 1, 2), any_dtype=True)
def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(dim=-1).nan_to_num(0.0)
    return weights @ v, weights
