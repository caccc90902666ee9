from typing import Any

import torch
from torch import Generator
from torch.nn import functional as F

from vit_check.engine.drawing import Answer, Cases, normal
from vit_check.engine.functions import FunctionCheck
from vit_steps.variants import distillation


def _distilling(loss: Answer, *arguments: Any) -> Any:
    """Call a loss with the teacher detached: its gradient is not part of the task."""
    answers, labels, teacher_logits, *rest = arguments
    return loss(answers, labels, teacher_logits.detach(), *rest)


def _inputs(generator: Generator) -> Cases:
    for B, K, dtype, width, *settings in (
        (4, 7, torch.float32, 1, 3.0, 0.1),
        (6, 3, torch.float64, 1, 2.0, 0.3),
        (5, 5, torch.float32, 1, 4.0, 0.6),
        (3, 4, torch.float32, 300, 2.0, 0.4),  # then shares are 0
    ):
        labels = torch.randint(K, (B,), generator=generator)
        teacher, one, other = normal(generator, 3, B, K, dtype=dtype)
        # Labels, the teacher and both tokens have each their own favourite.
        choice = (labels + 1 + torch.arange(B) % (K - 1)) % K
        teacher = 2 * teacher + 5 * F.one_hot(choice, K)
        yield [(1.5 * one, width * other), labels, width * teacher, *settings]


TABLE = """
soft_distillation_loss(answers, labels, teacher_logits, temperature, share) -> one
    number
no τ²: temperature**2 * divergence -> divergence
    the divergence is not multiplied by τ²: its gradient fades as τ grows
τ once: temperature**2 -> temperature
    the divergence is multiplied by τ, expected τ²: its gradient shrinks with the square
temperature of the teacher alone: from_teacher / temperature -> from_teacher
    only the teacher's logits are divided by the temperature, expected both sides
temperature for the labels: from_class, labels -> from_class / temperature, labels
    the class token's logits are divided by the temperature; the labels' part has none
KL the other way round: ours, wanted -> wanted, ours
    the divergence is weighed by the student's shares, expected by the teacher's
cross-entropy for KL: F.kl_div(ours, wanted, reduction="batchmean", log_target=True)
  -> -(wanted.exp() * ours).sum(1).mean()
    the teacher's part is a cross-entropy, expected a divergence, 0 where both agree
mean over classes: "batchmean", log_target=True) -> "none", log_target=True).mean()
    the divergence is averaged over the classes too, expected summed
summed over the batch: "batchmean" -> "sum"
    the divergence is summed over the images, expected averaged
logarithms taken for shares: , log_target=True -> nothing
    the divergence is NaN: kl_div takes logarithms for shares without log_target=True
logarithm of 0: F.log_softmax(teacher_logits / temperature, dim=1)
  -> F.softmax(teacher_logits / temperature, dim=1).log()
    the divergence is NaN where logits lie hundreds apart: a share becomes 0 before its
    logarithm is taken; log_softmax takes both steps at once
shares taken for logarithms: kl_div(ours -> kl_div(ours.exp()
    the first argument of kl_div is the student's shares; it takes their logarithms
softmax over the batch: dim=1 -> dim=0
    the softmax runs over the images; the shares of one image's classes should sum to 1
share of the labels: (1 - share) * labelled + share -> share * labelled + (1 - share)
    λ weighs the labels here; it is the teacher's share, and the labels get 1 - λ
heads swapped: from_class, from_teacher = -> from_teacher, from_class =
    the tokens are swapped: here the class token learns from the teacher
? Compute it for one image and three classes by hand: the shares of both at τ, then the
  sum of p·ln(p/q), with p the teacher's.
? Both sets of logits are divided by τ before the softmax, the labels' part is not. The
  divergence is a sum over classes and a mean over images.
? (1 - share) * F.cross_entropy(from_class, labels) + share * temperature**2 *
  F.kl_div(said, wanted, reduction='batchmean', log_target=True).
"""

soft_distillation_loss = FunctionCheck(
    distillation.soft_distillation_loss,
    TABLE,
    inputs=_inputs,
    shape="one number",
    scenario=_distilling,
    without=["kl_div"],
)
