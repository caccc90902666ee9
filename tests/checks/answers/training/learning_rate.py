import math

import torch
from torch import nn

from tests.checks.answers import wrong_edits


@wrong_edits("""
first step of 0
  (step + 1) * peak / (warmup_steps + 1) -> step * peak / max(1, warmup_steps)
cosine since the start
  (step - warmup_steps) / (total_steps - warmup_steps) -> step / total_steps
a step early: (total_steps - warmup_steps) -> (total_steps - 1 - warmup_steps)
not halved: 0.5 * -> nothing
a straight line: 0.5 * peak * (1 + math.cos(done * math.pi)) -> peak * (1 - done)
as if: step < warmup_steps -> False
  (step - warmup_steps) / (total_steps - warmup_steps) -> step / total_steps
a step behind: (step + 1) -> step
""")
def as_in_words(step, total_steps, warmup_steps, peak):
    if step < warmup_steps:
        return (step + 1) * peak / (warmup_steps + 1)
    done = (step - warmup_steps) / (total_steps - warmup_steps)
    return 0.5 * peak * (1 + math.cos(done * math.pi))


def with_tensors(step, total, warmup, peak):
    rising = torch.linspace(0, peak, warmup + 2, dtype=torch.float64)[1:-1]
    falling = torch.linspace(0, torch.pi, total - warmup + 1, dtype=torch.float64)
    return torch.cat([rising, peak * (falling.cos() + 1) / 2])[step]


@wrong_edits("""
value: peak * rise -> 3e-3 * rise
value: peak * rise -> peak**2 * rise
value: max(0, step - warmup_steps) -> (step - warmup_steps)
  rise * math.cos(angle) ** 2 -> min(rise, math.cos(angle) ** 2)
""")
def with_a_squared_cosine(step, total_steps, warmup_steps, peak):
    rise = min(1.0, (step + 1) / (warmup_steps + 1))
    angle = max(0, step - warmup_steps) / (total_steps - warmup_steps) * math.pi / 2
    return peak * rise * math.cos(angle) ** 2


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
