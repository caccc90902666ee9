import math

import torch
from torch import nn

from tests.checks.answers import wrong_edits


@wrong_edits("""
no correction: m / (1 - b1**step), v / (1 - b2**step) -> m, v
decay in the gradient: m, v = b1 -> g = g + weight_decay * w; m, v = b1
  + weight_decay * w), -> ),
decay without lr: + weight_decay * w), -> ) - weight_decay * w,
betas exchanged: b1=0.9, b2=0.999 -> b1=0.999, b2=0.9
eps under the root: (v_hat.sqrt() + 1e-8) -> torch.sqrt(v_hat + 1e-8)
corrected averages returned: weight_decay * w), m, v -> weight_decay * w), m_hat, v_hat
uphill: (m_hat / -> (-m_hat /
as if: m, v = b1 -> step += 1; m, v = b1
values: weight_decay * w), -> weight_decay * (w.ndim > 1) * w),
values: m_hat / (v_hat.sqrt() + 1e-8) + weight_decay * w
  -> (m_hat + weight_decay * w) / (v_hat.sqrt() + 1e-8)
""")
def with_betas(w, g, m, v, step, lr, weight_decay, b1=0.9, b2=0.999):
    m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
    m_hat, v_hat = m / (1 - b1**step), v / (1 - b2**step)
    return w - lr * (m_hat / (v_hat.sqrt() + 1e-8) + weight_decay * w), m, v


def pytorch_steps(w, g, m, v, step, lr, weight_decay):
    parameter = nn.Parameter(w.clone())
    optimizer = torch.optim.AdamW([parameter], lr=lr, weight_decay=weight_decay)
    optimizer.state[parameter] = {
        "step": torch.tensor(step - 1.0),
        "exp_avg": m.clone(),
        "exp_avg_sq": v.clone(),
    }
    parameter.grad = g.clone()
    optimizer.step()
    state = optimizer.state[parameter]
    return parameter.detach(), state["exp_avg"], state["exp_avg_sq"]


@wrong_edits("""
changes its input: w = w * (1 - lr * weight_decay) -> w *= 1 - lr * weight_decay
  torch.lerp(m, g, 0.1) -> m.lerp_(g, 0.1)
  v = 0.999 * v + 0.001 * g * g -> v *= 0.999; v += 0.001 * g * g
""")
def as_pytorch_writes_it(w, g, m, v, step, lr, weight_decay):
    w = w * (1 - lr * weight_decay)
    m = torch.lerp(m, g, 0.1)
    v = 0.999 * v + 0.001 * g * g
    divisor = v.sqrt() / math.sqrt(1 - 0.999**step) + 1e-8
    return w - lr / (1 - 0.9**step) * m / divisor, m, v
