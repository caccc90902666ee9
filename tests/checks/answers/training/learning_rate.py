import math

import torch
from torch import nn

from tests.checks.answers import right, wrong


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


def cosine(progress, peak):
    return peak * (1 + math.cos(math.pi * progress)) / 2


@wrong("learning_rate", "a step behind")
def rises_from_nothing(step, total_steps, warmup_steps, peak):
    if step < warmup_steps:
        return peak * step / (warmup_steps + 1)
    return cosine((step - warmup_steps) / (total_steps - warmup_steps), peak)


@wrong("learning_rate", "fall counted from 1")
def falls_at_once(step, total_steps, warmup_steps, peak):
    if step < warmup_steps:
        return peak * (step + 1) / (warmup_steps + 1)
    return cosine((step + 1 - warmup_steps) / (total_steps - warmup_steps), peak)


@wrong("learning_rate", "no pi")
def falls_a_little(step, total_steps, warmup_steps, peak):
    if step < warmup_steps:
        return peak * (step + 1) / (warmup_steps + 1)
    progress = (step - warmup_steps) / (total_steps - warmup_steps)
    return peak * 0.5 * (1 + math.cos(progress))


@right("learning_rate")
def the_smaller_of_two(step, total_steps, warmup_steps, peak):
    rise = peak * (step + 1) / (warmup_steps + 1)
    fallen = max(0, step - warmup_steps) / (total_steps - warmup_steps)
    return min(rise, cosine(fallen, peak))
