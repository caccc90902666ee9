import math

import torch
from torch.nn import functional as F

from tests.checks.answers import right_edits, wrong, wrong_edits


def _divergence(student, teacher, tau):
    """Return the KL divergence of the student from the teacher, one for each image."""
    log_p = (teacher / tau).log_softmax(-1)
    return (log_p.exp() * (log_p - (student / tau).log_softmax(-1))).sum(-1)


@right_edits(
    "the sum of the images: temperature).mean() -> temperature).sum() / len(labels)"
)
@wrong_edits("""
no τ²: * temperature**2 -> nothing
τ once: temperature**2 -> temperature
KL the other way round: from_teacher, teacher_logits -> teacher_logits, from_teacher
temperature for the labels: from_class, labels -> from_class / temperature, labels
temperature of the teacher alone: from_teacher, teacher_logits, temperature
  -> from_teacher, teacher_logits / temperature, 1
share of the labels
  (1 - share) * labelled + share * -> share * labelled + (1 - share) *
heads swapped: from_class, from_teacher = -> from_teacher, from_class =
gradient: share * kl -> share * (kl.detach() + 0 * kl)
""")
def by_the_formula(answers, labels, teacher_logits, temperature, share):
    from_class, from_teacher = answers
    labelled = F.cross_entropy(from_class, labels)
    kl = _divergence(from_teacher, teacher_logits, temperature).mean()
    return (1 - share) * labelled + share * kl * temperature**2


@wrong("forbidden")
@wrong_edits("""
cross-entropy for KL: F.kl_div(said, wanted, reduction="batchmean")
  -> F.cross_entropy(answers[1] / temperature, wanted)
mean over classes: reduction="batchmean" -> reduction="mean"
logarithms taken for shares: F.softmax -> F.log_softmax
shares taken for logarithms: F.log_softmax -> F.softmax
""")
def with_shares_as_target(answers, labels, teacher_logits, temperature, share):
    said = F.log_softmax(answers[1] / temperature, dim=-1)
    wanted = F.softmax(teacher_logits.detach() / temperature, dim=-1)
    kl = F.kl_div(said, wanted, reduction="batchmean")
    labelled = F.cross_entropy(answers[0], labels)
    return torch.lerp(labelled, temperature**2 * kl, share)


def by_entropies(answers, labels, teacher_logits, temperature, share):
    wanted = (teacher_logits / temperature).softmax(-1)
    crossed = F.cross_entropy(answers[1] / temperature, wanted)
    entropy = F.cross_entropy(teacher_logits / temperature, wanted)
    kl = crossed - entropy
    return (1 - share) * F.cross_entropy(answers[0], labels) + (
        share * math.pow(temperature, 2) * kl
    )
