from torch import Tensor
from torch.nn import functional as F

from vit_check.engine.functions import checked_by
from vit_steps.variants.rotary import apply_rope


def all_heads_normed(x: Tensor, weight: Tensor) -> Tensor:
    """Normalise queries or keys over the D numbers of all heads together."""
    squares = x.square().mean(dim=(1, 3), keepdim=True)
    return x * (squares + 1e-6).rsqrt() * weight


TABLE = """
normed_and_turned(x, weight, angles) -> (B, h, T, d)
  1e-3 * float64(2, 2, 3, 4), 1 + 0.5 * float64(4), 2 * float64(3, 2)  # eps is seen
  3 * float64(2, 3, 5, 8), 1 + 0.5 * float64(8), 2 * float64(5, 4)
  3 * float64(3, 2, 4, 12), 1 + 0.5 * float64(12), 2 * float64(4, 6)
normed after the turn
  F.rms_norm(x, x.shape[-1:], weight, 1e-6) -> apply_rope(x, angles)
  apply_rope(normed, angles) -> F.rms_norm(normed, x.shape[-1:], weight, 1e-6)
    the norm's weight acts after the turn and stretches the two numbers of a turned pair
    differently; then the score depends on more than the difference of two places
over all heads: F.rms_norm(x, x.shape[-1:], weight, 1e-6) -> all_heads_normed(x, weight)
    the norm runs over the D numbers of all heads, expected over each head's d
no eps: weight, 1e-6 -> weight
    without an eps F.rms_norm takes the dtype's own, in float64 far smaller than 1e-6
another eps: weight, 1e-6 -> weight, 1e-5
    eps is 1e-5, expected 1e-6
length 1: F.rms_norm(x, x.shape[-1:], weight, 1e-6) -> F.normalize(x, dim=-1) * weight
    each vector is brought to length 1, expected to length √d
layer norm: F.rms_norm -> F.layer_norm
  weight, 1e-6 -> weight, None, 1e-6
    the mean is subtracted: this is a LayerNorm, and an RMSNorm is asked for
? What does the weight of a norm do to the two numbers of one pair?
? First the norm over the d numbers of each head, with its weight; then the turn.
? apply_rope(F.rms_norm(x, x.shape[-1:], weight, 1e-6), angles).
"""


@checked_by(
    TABLE,
    batched=(0,),
    scenario=lambda step, x, *rest: step(x, *(given.detach() for given in rest)),
)
def normed_and_turned(x: Tensor, weight: Tensor, angles: Tensor) -> Tensor:
    normed = F.rms_norm(x, x.shape[-1:], weight, 1e-6)
    return apply_rope(normed, angles)
