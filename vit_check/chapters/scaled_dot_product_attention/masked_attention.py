from vit_check.chapters.scaled_dot_product_attention import (
    scaled_dot_product_attention as unmasked,
)
from vit_check.engine.functions import FunctionCheck

TABLE = f"""
masked_attention(q, k, v, mask) -> (output, weights)
  *float64(3, 2, 3, 5, 4), _mask(generator, 2, 3, 5, 5) | torch.eye(5).bool()
  float32(3, 2, 7, 6), float32(3, 2, 5, 6), float32(3, 2, 5, 4),
    _mask(generator, 3, 2, 7, 5)
  *float64(3, 3, 4, 5), _mask(generator, 3, 4, 4)
  *float32(3, 2, 3, 3), _mask(generator, 2, 3, 3)
  float64(4, 3), float64(1, 3), float64(1, 2), torch.ones(4, 1) > 0
  bfloat16(2, 5, 8), *bfloat16(2, 2, 6, 8), _mask(generator, 2, 5, 6)
  float32(2, 3, 4, 6), float32(2, 3, 5, 6), float32(2, 3, 5, 7), _PADDING
  *_far_from_zero(generator)
fill too high: -math.inf -> -100.0
  .nan_to_num(0.0) -> * mask.any(-1, keepdim=True)
    the score that a hidden key is left with is not low enough: where the visible ones
    are -300, it gets all the weight; only minus infinity lies below every score
not low enough: -math.inf -> -10.0
  .nan_to_num(0.0) -> * mask.any(-1, keepdim=True)
    a hidden key has the score -10 and keeps a little weight; minus infinity leaves none
causal instead: ~mask -> ~mask.new_ones(scores.shape[-2:]).tril()
    a causal mask of its own hides keys, whatever mask says
causal as well: ~mask -> ~(mask & mask.new_ones(scores.shape[-2:]).tril())
    a causal mask of its own hides more keys than mask does
mask inverted: ~mask -> mask
    the mask is the wrong way round: True says that a key may be attended
mask multiplied: scores.masked_fill(~mask, -math.inf) -> scores * mask
    a masked key has the score 0, or nearly, and e⁰ is 1; minus infinity gets no weight
mask added: scores.masked_fill(~mask, -math.inf) -> scores + mask.to(scores.dtype)
    the mask is added as the numbers 1 and 0: that favours a key and forbids none
mask after softmax: if mask is not None -> if False
  .nan_to_num(0.0) -> * mask
    the mask comes after the softmax, and the weights that are left no longer sum to 1
row of NaN: .nan_to_num(0.0) -> nothing
    a query that may look at nothing gets NaN: all its scores are -∞; give it zeros
row left level: -math.inf -> -1e9
    a query that may look at nothing looks at everything alike: all its scores are the
    same large negative number; give it zeros
{unmasked.OF_SCORES}
{unmasked.OVER_QUERIES}
? A key that is masked should get a weight of exactly 0, and the others should still sum
  to 1. Which score becomes a weight of 0?
? Before the softmax, put minus infinity where the mask is False. Then look at a row
  that is False throughout.
? scores.masked_fill(~mask, -math.inf), the softmax, and then weights.masked_fill(~mask,
  0.0), which also clears a row of NaN.
"""

attend = unmasked.scaled_dot_product_attention.reference
masked_attention = FunctionCheck(attend, TABLE, batched=(0, 1, 2, 3))
