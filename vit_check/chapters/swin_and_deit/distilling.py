"""Inputs for the checks of distillation losses."""

from typing import Any

import torch
from torch import Generator, Tensor

from vit_check.engine.drawing import Answer, Cases, normal


def distilling(loss: Answer, *arguments: Any) -> Any:
    """Call a loss with a teacher that cannot learn, so that it need not see to that."""
    answers, labels, teacher_logits, *rest = arguments
    return loss(answers, labels, teacher_logits.detach(), *rest)


def distilling_inputs(generator: Generator) -> Cases:
    for B, K, dtype in (
        (4, 7, torch.float32),
        (6, 3, torch.float64),
        (5, 5, torch.float32),
    ):

        def logits(wide: float, B: int = B, K: int = K, d: Any = dtype) -> Tensor:
            drawn = normal(generator, B, K)
            return (wide * drawn).to(d)

        labels = torch.randint(K, (B,), generator=generator)
        teacher = logits(2.0)
        # Labels, the teacher and the two tokens each favour another class.
        for row in range(B):
            teacher[row, (labels[row] + 1) % K] += 5.0
        yield [(logits(1.5), logits(1.0)), labels, teacher]
