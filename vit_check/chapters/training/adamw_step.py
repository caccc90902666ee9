import torch
from torch import Tensor

from vit_check.engine.functions import checked_by

# 0 divided by 0 for a gradient of 0, if nothing is added to the root
_BUT_ONE = torch.arange(12).reshape(3, 4) > 0

TABLE = """
adamw_step(w, g, m, v, step, lr, weight_decay) -> (w, m, v)
  float64(3, 4), 2 * float64(3, 4) * _BUT_ONE, *torch.zeros(2, 3, 4).double(), 1, 1e-2,
    0.3
  float64(9), float64(9), 0.2 * float64(9), 5e-3 + 1e-2 * float64(9) ** 2, 4, 0.02, 0.1
  float64(3, 4), *(1e-4 * float64(2, 3, 4)), 5e-11 + 1e-10 * float64(3, 4) ** 2,
    3, 0.02, 0.1
  float32(3, 4), float32(3, 4), 0.2 * float32(3, 4), 5e-3 + 1e-2 * float32(3, 4) ** 2,
    7, 0.02, 0.1
no correction: **step -> ** math.inf
    the averages are not corrected: they hold only a part, 1 - βᵗ, of what they should
m alone corrected: / (1 - beta2**step) -> nothing
    m is corrected and v is not
decay in the gradient: beta1, beta2 = -> g = g + decay * w; beta1, beta2 =
  - pull -> nothing
    the decay goes through m and v, as in Adam with a penalty, expected past them
decay without lr: lr * decay -> decay
    the decay is not multiplied by the learning rate
decay of the new weight: w - pull - change -> (w - change) * (1 - lr * decay)
    the decay is taken of the new weight, after the step, expected of the old one
betas exchanged: 0.9, 0.999 -> 0.999, 0.9
    the two betas are exchanged: m keeps 0.9 of itself and v 0.999
no square: g**2 -> g.abs()
    v averages the gradient's size, expected its square
eps under the root: (v_hat.sqrt() + 1e-8) -> (v_hat + 1e-8).sqrt()
    eps is added under the root, where it is not small any more: add it to the root
uphill: - change -> + change
    the step goes uphill, with the gradient instead of against it
corrected averages returned: change, m, v -> change, m_hat, v_hat
    the corrected averages are returned: the next step would correct them again
? Take the first step, with m and v of 0, and work out by hand what a weight does.
? New averages first; then copies of them, divided by 1 - β₁ᵗ and 1 - β₂ᵗ; then two
  pulls on the old weight: its decay, and the step.
? w - lr * weight_decay * w - lr * m_hat / (v_hat.sqrt() + 1e-8), returned with the
  averages as they were before the correction.
"""


@checked_by(TABLE, gradients=False)
def adamw_step(
    w: Tensor, g: Tensor, m: Tensor, v: Tensor, step: int, lr: float, decay: float
) -> tuple[Tensor, Tensor, Tensor]:
    beta1, beta2 = 0.9, 0.999
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g**2
    m_hat = m / (1 - beta1**step)
    v_hat = v / (1 - beta2**step)
    pull = lr * decay * w
    change = lr * m_hat / (v_hat.sqrt() + 1e-8)
    return w - pull - change, m, v
