import math

import torch
from torch import nn

from tests.answers import right, wrong
from vit_steps.training import parameter_groups


@right("learning_rate")
def as_in_words(step, total_steps, warmup_steps, peak):
    if step < warmup_steps:
        return (step + 1) * peak / (warmup_steps + 1)
    done = (step - warmup_steps) / (total_steps - warmup_steps)
    return 0.5 * peak * (1 + math.cos(done * math.pi))


@right("learning_rate")
def with_tensors(step, total, warmup, peak):
    rising = torch.linspace(0, peak, warmup + 2, dtype=torch.float64)[1:-1]
    falling = torch.linspace(0, torch.pi, total - warmup + 1, dtype=torch.float64)
    return torch.cat([rising, peak * (falling.cos() + 1) / 2])[step]


@right("learning_rate")
def with_a_squared_cosine(step, total_steps, warmup_steps, peak):
    rise = min(1.0, (step + 1) / (warmup_steps + 1))
    angle = max(0, step - warmup_steps) / (total_steps - warmup_steps) * math.pi / 2
    return peak * rise * math.cos(angle) ** 2


@right("learning_rate")
def pytorchs_schedulers(step, total_steps, warmup_steps, peak):
    if step < warmup_steps:
        return peak * (1 + step) / (1 + warmup_steps)
    optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=peak)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(
        optimizer, total_steps - warmup_steps
    )
    for _ in range(step - warmup_steps):
        optimizer.step()
        falling.step()
    return optimizer.param_groups[0]["lr"]


@wrong("learning_rate", "first step of 0")
def as_in_most_tutorials(step, total_steps, warmup_steps, peak):
    if step < warmup_steps:
        return peak * step / max(1, warmup_steps)
    progress = (step - warmup_steps) / max(1, total_steps - warmup_steps)
    return peak * 0.5 * (1.0 + math.cos(math.pi * progress))


@wrong("learning_rate", "peak too soon")
def at_its_peak_twice(step, total_steps, warmup_steps, peak):
    if step < warmup_steps:
        return peak * (step + 1) / warmup_steps
    return as_in_words(step, total_steps, warmup_steps, peak)


@wrong("learning_rate", "cosine since the start")
def falls_from_step_0(step, total_steps, warmup_steps, peak):
    if step < warmup_steps:
        return peak * (step + 1) / (warmup_steps + 1)
    return peak * (1 + math.cos(math.pi * step / total_steps)) / 2


@wrong("learning_rate", "never at the end")
def falls_too_slowly(step, total_steps, warmup_steps, peak):
    if step < warmup_steps:
        return peak * (step + 1) / (warmup_steps + 1)
    return peak * (1 + math.cos(math.pi * (step - warmup_steps) / total_steps)) / 2


@wrong("learning_rate", "a step early")
def zero_in_the_last_step(step, total_steps, warmup_steps, peak):
    if step < warmup_steps:
        return peak * (step + 1) / (warmup_steps + 1)
    progress = (step - warmup_steps) / (total_steps - 1 - warmup_steps)
    return peak * (1 + math.cos(math.pi * progress)) / 2


@wrong("learning_rate", "not halved")
def twice_the_peak(step, total_steps, warmup_steps, peak):
    if step < warmup_steps:
        return peak * (step + 1) / (warmup_steps + 1)
    progress = (step - warmup_steps) / (total_steps - warmup_steps)
    return peak * (1 + math.cos(math.pi * progress))


@wrong("learning_rate", "below 0")
def negative_in_the_end(step, total_steps, warmup_steps, peak):
    if step < warmup_steps:
        return peak * (step + 1) / (warmup_steps + 1)
    return peak * math.cos(
        math.pi * (step - warmup_steps) / (total_steps - warmup_steps)
    )


@wrong("learning_rate", "a whole cosine")
def up_again(step, total_steps, warmup_steps, peak):
    if step < warmup_steps:
        return peak * (step + 1) / (warmup_steps + 1)
    turn = 2 * math.pi * (step - warmup_steps) / (total_steps - warmup_steps)
    return peak / 2 + peak / 2 * math.cos(turn)


@wrong("learning_rate", "a straight line")
def linear(step, total_steps, warmup_steps, peak):
    if step < warmup_steps:
        return peak * (step + 1) / (warmup_steps + 1)
    return peak * (total_steps - step) / (total_steps - warmup_steps)


@wrong("learning_rate", "no warm-up")
def forgets_the_warmup(step, total_steps, warmup_steps, peak):
    return peak * (1 + math.cos(math.pi * step / total_steps)) / 2


@wrong("learning_rate", "no fall")
def stays_up(step, total_steps, warmup_steps, peak):
    return peak * min(1.0, (step + 1) / (warmup_steps + 1))


@wrong("learning_rate", "degrees")
def in_degrees(step, total_steps, warmup_steps, peak):
    if step < warmup_steps:
        return peak * (step + 1) / (warmup_steps + 1)
    progress = (step - warmup_steps) / (total_steps - warmup_steps)
    return peak * (1 + math.cos(180 * progress)) / 2


right("parameter_groups")(parameter_groups)


@right("parameter_groups")
def one_group_a_parameter(model, weight_decay):
    groups = []
    for name, parameter in model.named_parameters():
        decays = parameter.ndim > 1 and "weight" in name.split(".")[-1]
        groups.append(
            {"params": [parameter], "weight_decay": weight_decay if decays else 0}
        )
    return groups


@right("parameter_groups")
def by_kinds_of_layers(model, decay):
    matrices = [
        layer.weight
        for layer in model.modules()
        if isinstance(layer, (nn.Linear, nn.Conv2d))
    ]
    known = {id(matrix) for matrix in matrices}
    rest = [p for p in model.parameters() if id(p) not in known]
    return (
        {"params": rest, "weight_decay": 0.0, "name": "rest"},
        {"params": matrices, "weight_decay": decay, "name": "matrices"},
    )


def in_two(model, weight_decay, decays):
    yes, no = [], []
    for name, parameter in model.named_parameters():
        (yes if decays(name, parameter) else no).append(parameter)
    return [
        {"params": yes, "weight_decay": weight_decay},
        {"params": no, "weight_decay": 0.0},
    ]


@wrong("parameter_groups", "class token and positions decay")
def as_for_a_language_model(model, weight_decay):
    return in_two(model, weight_decay, lambda name, p: p.dim() >= 2)


@wrong("parameter_groups", "biases alone spared")
def spares_biases(model, weight_decay):
    return in_two(model, weight_decay, lambda name, p: "bias" not in name)


@wrong("parameter_groups", "norms by their name")
def spares_by_name(model, weight_decay):
    spared = ("bias", "norm", "cls_token", "pos_embed", "gamma")
    return in_two(
        model, weight_decay, lambda name, p: all(s not in name for s in spared)
    )


@wrong("parameter_groups", "norms decay")
def all_called_weight(model, weight_decay):
    return in_two(model, weight_decay, lambda name, p: name.split(".")[-1] == "weight")


@wrong("parameter_groups", "convolution spared")
def linear_layers_alone(model, weight_decay):
    wanted = {id(m.weight) for m in model.modules() if isinstance(m, nn.Linear)}
    return in_two(model, weight_decay, lambda name, p: id(p) in wanted)


@wrong("parameter_groups", "groups exchanged")
def the_other_way_round(model, weight_decay):
    groups = parameter_groups(model, weight_decay)
    return [
        {"params": groups[0]["params"], "weight_decay": 0.0},
        {"params": groups[1]["params"], "weight_decay": weight_decay},
    ]


@wrong("parameter_groups", "no decay of its own")
def leaves_it_to_the_default(model, weight_decay):
    first, second = parameter_groups(model, weight_decay)
    return [first, {"params": second["params"]}]


@wrong("parameter_groups", "rest left out")
def only_what_decays(model, weight_decay):
    return parameter_groups(model, weight_decay)[:1]


@wrong("parameter_groups", "all decay")
def one_group(model, weight_decay):
    return [{"params": list(model.parameters()), "weight_decay": weight_decay}]


@wrong("parameter_groups", "raises")
def some_twice(model, weight_decay):
    biases = [p for name, p in model.named_parameters() if name.endswith("bias")]
    return [
        {"params": list(model.parameters()), "weight_decay": weight_decay},
        {"params": biases, "weight_decay": 0.0},
    ]


@wrong("parameter_groups", "value")
def two_lists(model, weight_decay):
    return tuple(g["params"] for g in parameter_groups(model, weight_decay))


@right("clip_gradients")
def pytorch_clips(gradients, max_norm):
    parameters = [nn.Parameter(torch.zeros_like(g)) for g in gradients]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient.clone()
    nn.utils.clip_grad_norm_(parameters, max_norm)
    return [parameter.grad for parameter in parameters]


@right("clip_gradients")
def as_one_arrow(gradients, max_norm):
    length = torch.cat([g.flatten() for g in gradients]).norm()
    if length <= max_norm:
        return gradients
    return [g * (max_norm / length) for g in gradients]


@right("clip_gradients")
def with_python_numbers(grads, limit):
    total = math.sqrt(sum(float((g**2).sum()) for g in grads))
    return tuple(g * min(1.0, limit / (total + 1e-9)) for g in grads)


@wrong("clip_gradients", "each alone")
def one_by_one(gradients, max_norm):
    return [g * min(1.0, max_norm / (g.norm().item() + 1e-9)) for g in gradients]


@wrong("clip_gradients", "by value")
def cut_off(gradients, max_norm):
    return [torch.clip(g, min=-max_norm, max=max_norm) for g in gradients]


@wrong("clip_gradients", "root forgotten")
def sum_of_squares(gradients, max_norm):
    total = sum((g**2).sum() for g in gradients)
    return [g * max_norm / total if total > max_norm else g for g in gradients]


@wrong("clip_gradients", "lengths added")
def sum_of_lengths(gradients, max_norm):
    total = sum(g.norm() for g in gradients)
    return [g * max_norm / total if total > max_norm else g for g in gradients]


@wrong("clip_gradients", "always at the limit")
def always_so_long(gradients, max_norm):
    length = sum((g**2).sum() for g in gradients).sqrt()
    return [max_norm * g / length for g in gradients]


@wrong("clip_gradients", "divided by the length")
def unit_length(gradients, max_norm):
    length = sum((g**2).sum() for g in gradients).sqrt()
    return [g / length if length > max_norm else g for g in gradients]


@wrong("clip_gradients", "the length is returned")
def returns_what_pytorch_returns(gradients, max_norm):
    parameters = [nn.Parameter(torch.zeros_like(g)) for g in gradients]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient.clone()
    return nn.utils.clip_grad_norm_(parameters, max_norm)


@wrong("clip_gradients", "changes its input")
def in_place(gradients, max_norm):
    length = torch.stack([g.norm() for g in gradients]).norm().item()
    for gradient in gradients:
        gradient.mul_(min(1.0, max_norm / max(length, 1e-9)))
    return gradients


@wrong("clip_gradients", "not clipped")
def the_wrong_way_round(gradients, max_norm):
    length = torch.stack([g.norm() for g in gradients]).norm()
    if length < max_norm and length > 0:
        return [g * max_norm / length for g in gradients]
    return gradients


@wrong("clip_gradients", "0 divided by 0")
def without_care_for_0(gradients, max_norm):
    length = torch.stack([g.norm() for g in gradients]).norm()
    return [g * (length.clamp(max=max_norm) / length) for g in gradients]


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
