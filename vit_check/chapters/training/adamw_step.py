"""The check of ``adamw_step``, chapter 8."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor

from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake


def _adamw(
    w: Tensor,
    g: Tensor,
    m: Tensor,
    v: Tensor,
    step: int,
    lr: float,
    weight_decay: float,
    betas: tuple[float, float] = (0.9, 0.999),
    correct: str = "both",
    decay: str = "apart",
    square: str = "squared",
    root: str = "then eps",
    returned: str = "averages",
    sign: float = 1.0,
) -> Any:
    """A step of AdamW with a place for each usual mistake."""
    beta1, beta2 = betas
    if decay == "in the gradient":
        g = g + weight_decay * w
    m = beta1 * m + (1 - beta1) * g
    squares = {
        "squared": g**2,
        "size": g.abs(),
        "of all": g.square().sum().expand_as(g),
    }[square]
    v = beta2 * v + (1 - beta2) * squares
    at = step + {"a step late": -1, "a step early": 1}.get(correct, 0)
    m_hat = m / (1 - beta1**at) if correct != "none" else m
    v_hat = v / (1 - beta2**at) if correct not in ("none", "m alone") else v
    divisor = {
        "then eps": v_hat.sqrt() + 1e-8,
        "of eps too": (v_hat + 1e-8).sqrt(),
        "none": v_hat + 1e-8,
        "no eps": v_hat.sqrt(),
    }[root]
    step_taken = sign * lr * m_hat / divisor
    pulls: dict[str, Any] = {
        "apart": lr * weight_decay * w,
        "in the gradient": 0.0,
        "none": 0.0,
        "without lr": weight_decay * w,
        "away": -lr * weight_decay * w,
        "of the new weight": lr * weight_decay * (w - step_taken),
    }
    moved = w - pulls[decay] - step_taken
    if returned == "corrected":
        return moved, m_hat, v_hat
    return moved if returned == "weights alone" else (moved, m, v)


def _adamw_inputs(generator: Generator) -> Iterator[Case]:
    def normal(width: float) -> Tensor:
        return width * torch.randn(3, 4, generator=generator, dtype=torch.float64)

    zeros = torch.zeros(3, 4, dtype=torch.float64)
    gradient = normal(2.0)
    gradient[0, 0] = 0.0  # 0 divided by 0, if nothing is added to the root
    yield [normal(1.0), gradient, zeros, zeros, 1, 0.01, 0.3]
    for step, size, dtype in (
        (4, 1.0, torch.float64),
        (3, 1e-4, torch.float64),
        (7, 1.0, torch.float32),
    ):
        v = size**2 * (0.005 + 0.01 * normal(1.0).square())
        parts = normal(1.0), normal(size), normal(0.2 * size), v
        yield [*(part.to(dtype) for part in parts), step, 0.02, 0.1]


adamw_step = FunctionCheck(
    "adamw_step",
    "adamw_step(w, g, m, v, step, lr, weight_decay) -> (w, m, v)",
    _adamw,
    _adamw_inputs,
    [
        Mistake(
            "no correction",
            "the averages are not corrected: they begin at 0, and in the first steps "
            "hold only the part 1 - βᵗ of what they should",
            partial(_adamw, correct="none"),
        ),
        Mistake(
            "m alone corrected",
            "m is corrected and v is not",
            partial(_adamw, correct="m alone"),
        ),
        Mistake(
            "correction a step late",
            "the correction counts the steps from 0; the first step is step 1",
            partial(_adamw, correct="a step late"),
        ),
        Mistake(
            "correction a step early",
            "the correction is that of the next step; the first step is step 1, and "
            "step counts from there already",
            partial(_adamw, correct="a step early"),
        ),
        Mistake(
            "decay in the gradient",
            "the decay is added to the gradient and goes through m and v: that is Adam "
            "with a penalty, and AdamW keeps the two apart",
            partial(_adamw, decay="in the gradient"),
        ),
        Mistake(
            "no decay",
            "the weights do not decay",
            partial(_adamw, decay="none"),
        ),
        Mistake(
            "decay without lr",
            "the decay is not multiplied by the learning rate",
            partial(_adamw, decay="without lr"),
        ),
        Mistake(
            "decay away from 0",
            "the decay pushes the weights away from 0",
            partial(_adamw, decay="away"),
        ),
        Mistake(
            "decay of the new weight",
            "the decay pulls at the weight after the step; it is taken of the old one",
            partial(_adamw, decay="of the new weight"),
        ),
        Mistake(
            "betas exchanged",
            "the two betas are exchanged: m keeps 0.9 of itself and v 0.999",
            partial(_adamw, betas=(0.999, 0.9)),
        ),
        Mistake(
            "betas the wrong way round",
            "the betas are the wrong way round: β is the share of the old average that "
            "is kept, and 1 - β that of the new gradient",
            partial(_adamw, betas=(1 - 0.9, 1 - 0.999)),
        ),
        Mistake(
            "no square",
            "v averages the gradient's size, expected its square",
            partial(_adamw, square="size"),
        ),
        Mistake(
            "one square for all",
            "v averages the square of the gradient's whole length, expected of each "
            "number by itself: every weight has a step of its own",
            partial(_adamw, square="of all"),
        ),
        Mistake(
            "no root",
            "the step is divided by v, expected by its root",
            partial(_adamw, root="none"),
        ),
        Mistake(
            "eps under the root",
            "eps is added under the root, where it is not small any more: it belongs "
            "after it",
            partial(_adamw, root="of eps too"),
        ),
        Mistake(
            "no eps",
            "nothing is added to the root of v: for a weight whose gradient is 0 the "
            "step is 0 divided by 0",
            partial(_adamw, root="no eps"),
        ),
        Mistake(
            "uphill",
            "the step goes uphill, with the gradient instead of against it",
            partial(_adamw, sign=-1.0),
        ),
        Mistake(
            "corrected averages returned",
            "the corrected averages are returned: the next step would correct them "
            "again",
            partial(_adamw, returned="corrected"),
        ),
        Mistake(
            "weights alone",
            "only the weights are returned, expected (w, m, v): the next step needs "
            "the averages",
            partial(_adamw, returned="weights alone"),
        ),
    ],
    hints=(
        "Take the first step, where m and v come in as 0, and work out by hand what "
        "one weight should do.",
        "New averages first; then copies of them, divided by 1 - β₁ᵗ and 1 - β₂ᵗ; then "
        "two pulls on the old weight: its decay, and the step.",
        "w - lr * weight_decay * w - lr * m_hat / (v_hat.sqrt() + 1e-8), returned with "
        "the averages as they were before the correction.",
    ),
    gradients=False,
)
