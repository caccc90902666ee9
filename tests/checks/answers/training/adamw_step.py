import math

import torch
from torch import nn

from tests.checks.answers import right, wrong


@right("adamw_step")
def as_the_paper_has_it(w, g, m, v, t, lr, decay):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + (1 - 0.999) * g * g
    m_hat, v_hat = m / (1 - 0.9**t), v / (1 - 0.999**t)
    return w - lr * (m_hat / (torch.sqrt(v_hat) + 1e-8) + decay * w), m, v


@right("adamw_step")
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


@right("adamw_step")
def with_lerp(w, g, m, v, step, lr, weight_decay):
    m, v = torch.lerp(m, g, 0.1), v.lerp(g.square(), 0.001)
    size = lr / (1 - 0.9**step)
    w = w * (1 - lr * weight_decay)
    return [w - size * m / ((v / (1 - 0.999**step)).sqrt() + 1e-8), m, v]


@wrong("adamw_step", "no correction")
def uncorrected(w, g, m, v, step, lr, weight_decay):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    w = w - lr * weight_decay * w
    return w - lr * m / (v.sqrt() + 1e-8), m, v


@wrong("adamw_step", "decay in the gradient")
def adam_with_a_penalty(w, g, m, v, step, lr, weight_decay):
    return as_the_paper_has_it(w, g + weight_decay * w, m, v, step, lr, 0.0)


@wrong("adamw_step", "decay without lr")
def decays_too_fast(w, g, m, v, step, lr, weight_decay):
    moved, m, v = as_the_paper_has_it(w, g, m, v, step, lr, 0.0)
    return moved - weight_decay * w, m, v


@wrong("adamw_step", "betas exchanged")
def betas_swapped(w, g, m, v, step, lr, weight_decay, b1=0.999, b2=0.9):
    m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
    m_hat, v_hat = m / (1 - b1**step), v / (1 - b2**step)
    return w - lr * (m_hat / (v_hat.sqrt() + 1e-8) + weight_decay * w), m, v


@wrong("adamw_step", "betas the wrong way round")
def new_for_old(w, g, m, v, step, lr, weight_decay, b1=0.9, b2=0.999):
    m, v = (1 - b1) * m + b1 * g, (1 - b2) * v + b2 * g**2
    m_hat, v_hat = m / (1 - (1 - b1) ** step), v / (1 - (1 - b2) ** step)
    return w - lr * (m_hat / (v_hat.sqrt() + 1e-8) + weight_decay * w), m, v


@wrong("adamw_step", "no root")
def divides_by_v(w, g, m, v, step, lr, weight_decay):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    m_hat, v_hat = m / (1 - 0.9**step), v / (1 - 0.999**step)
    return w - lr * (m_hat / (v_hat + 1e-8) + weight_decay * w), m, v


@wrong("adamw_step", "eps under the root")
def eps_inside(w, g, m, v, step, lr, weight_decay):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    m_hat, v_hat = m / (1 - 0.9**step), v / (1 - 0.999**step)
    return w - lr * (m_hat / torch.sqrt(v_hat + 1e-8) + weight_decay * w), m, v


@wrong("adamw_step", "no eps")
def divides_by_the_bare_root(w, g, m, v, step, lr, weight_decay):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    m_hat, v_hat = m / (1 - 0.9**step), v / (1 - 0.999**step)
    return w - lr * (m_hat / v_hat.sqrt() + weight_decay * w), m, v


@wrong("adamw_step", "decay of the new weight")
def decays_afterwards(w, g, m, v, step, lr, weight_decay):
    w, m, v = as_the_paper_has_it(w, g, m, v, step, lr, 0.0)
    return w * (1 - lr * weight_decay), m, v


@wrong("adamw_step", "corrected averages returned")
def corrects_for_good(w, g, m, v, step, lr, weight_decay):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    m, v = m / (1 - 0.9**step), v / (1 - 0.999**step)
    return w - lr * (m / (v.sqrt() + 1e-8) + weight_decay * w), m, v


@wrong("adamw_step", "changes its input")
def averages_in_place(w, g, m, v, step, lr, weight_decay):
    m.mul_(0.9).add_(g, alpha=0.1)
    v.mul_(0.999).addcmul_(g, g, value=0.001)
    m_hat, v_hat = m / (1 - 0.9**step), v / (1 - 0.999**step)
    return w - lr * (m_hat / (v_hat.sqrt() + 1e-8) + weight_decay * w), m, v


@wrong("adamw_step", "weights alone")
def forgets_the_averages(w, g, m, v, step, lr, weight_decay):
    return as_the_paper_has_it(w, g, m, v, step, lr, weight_decay)[0]


@wrong("adamw_step", "uphill")
def goes_up(w, g, m, v, step, lr, weight_decay):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    m_hat, v_hat = m / (1 - 0.9**step), v / (1 - 0.999**step)
    return w - lr * weight_decay * w + lr * m_hat / (v_hat.sqrt() + 1e-8), m, v


@wrong("adamw_step", "no decay")
def plain_adam(w, g, m, v, step, lr, weight_decay):
    return as_the_paper_has_it(w, g, m, v, step, lr, 0.0)


@right("adamw_step")
def as_pytorch_writes_it(w, g, m, v, step, lr, weight_decay):
    w = w * (1 - lr * weight_decay)
    m = torch.lerp(m, g, 0.1)
    v = 0.999 * v + 0.001 * g * g
    divisor = v.sqrt() / math.sqrt(1 - 0.999**step) + 1e-8
    return w - lr / (1 - 0.9**step) * m / divisor, m, v


@right("adamw_step")
def by_pytorchs_own(w, g, m, v, step, lr, weight_decay):
    parameter = nn.Parameter(w.clone())
    parameter.grad = g.clone()
    optimizer = torch.optim.AdamW([parameter], lr=lr, weight_decay=weight_decay)
    state = {"step": torch.tensor(float(step - 1))}
    state |= {"exp_avg": m.clone(), "exp_avg_sq": v.clone()}
    optimizer.state[parameter] = state
    optimizer.step()
    return parameter.data, state["exp_avg"], state["exp_avg_sq"]


@wrong("adamw_step", "correction a step early")
def counts_one_more(w, g, m, v, step, lr, weight_decay):
    step += 1
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    m_hat, v_hat = m / (1 - 0.9**step), v / (1 - 0.999**step)
    return w * (1 - lr * weight_decay) - lr * m_hat / (v_hat.sqrt() + 1e-8), m, v


@wrong("adamw_step", "one square for all")
def squares_the_length(w, g, m, v, step, lr, weight_decay):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g.norm() ** 2
    m_hat, v_hat = m / (1 - 0.9**step), v / (1 - 0.999**step)
    return w * (1 - lr * weight_decay) - lr * m_hat / (v_hat.sqrt() + 1e-8), m, v


@wrong("adamw_step", "changes its input")
def in_place_throughout(w, g, m, v, step, lr, weight_decay):
    m.mul_(0.9).add_(g, alpha=0.1)
    v.mul_(0.999).addcmul_(g, g, value=0.001)
    w.mul_(1 - lr * weight_decay)
    divisor = (v / (1 - 0.999**step)).sqrt_().add_(1e-8)
    w.addcdiv_(m / (1 - 0.9**step), divisor, value=-lr)
    return w, m, v
