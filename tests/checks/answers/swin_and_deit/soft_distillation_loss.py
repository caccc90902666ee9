import math

import torch
from torch.nn import functional as F

from tests.checks.answers import right, wrong
from tests.checks.answers.swin_and_deit.distilling import (
    by_the_formula,
    divergence,
)


@right("soft_distillation_loss")
def as_deit_does(outputs, labels, teacher_outputs, T, alpha):
    base_loss = F.cross_entropy(outputs[0], labels)
    distillation_loss = (
        F.kl_div(
            F.log_softmax(outputs[1] / T, dim=1),
            F.log_softmax(teacher_outputs / T, dim=1),
            reduction="sum",
            log_target=True,
        )
        * (T * T)
        / outputs[1].size(0)
    )
    return base_loss * (1 - alpha) + distillation_loss * alpha


@right("soft_distillation_loss")
def with_shares_as_target(answers, labels, teacher_logits, temperature, share):
    said = F.log_softmax(answers[1] / temperature, dim=-1)
    wanted = F.softmax(teacher_logits.detach() / temperature, dim=-1)
    kl = F.kl_div(said, wanted, reduction="batchmean")
    labelled = F.cross_entropy(answers[0], labels)
    return torch.lerp(labelled, temperature**2 * kl, share)


@right("soft_distillation_loss")
def by_entropies(answers, labels, teacher_logits, temperature, share):
    wanted = (teacher_logits / temperature).softmax(-1)
    crossed = F.cross_entropy(answers[1] / temperature, wanted)
    entropy = F.cross_entropy(teacher_logits / temperature, wanted)
    kl = crossed - entropy
    return (1 - share) * F.cross_entropy(answers[0], labels) + (
        share * math.pow(temperature, 2) * kl
    )


@wrong("soft_distillation_loss", "no τ²")
def silent_when_hot(answers, labels, teacher_logits, temperature, share):
    kl = divergence(answers[1], teacher_logits, temperature).mean()
    return (1 - share) * F.cross_entropy(answers[0], labels) + share * kl


@wrong("soft_distillation_loss", "τ once")
def half_as_loud(answers, labels, teacher_logits, temperature, share):
    kl = temperature * divergence(answers[1], teacher_logits, temperature).mean()
    return (1 - share) * F.cross_entropy(answers[0], labels) + share * kl


@wrong("soft_distillation_loss", "KL the other way round")
def kl_div_with_arguments_swapped(answers, labels, teacher_logits, temperature, share):
    kl = divergence(teacher_logits, answers[1], temperature).mean() * temperature**2
    return (1 - share) * F.cross_entropy(answers[0], labels) + share * kl


@wrong("soft_distillation_loss", "mean over classes")
def kl_div_by_default(answers, labels, teacher_logits, temperature, share):
    kl = F.kl_div(
        F.log_softmax(answers[1] / temperature, 1),
        F.softmax(teacher_logits / temperature, 1),
        reduction="mean",
    )
    labelled = F.cross_entropy(answers[0], labels)
    return (1 - share) * labelled + share * temperature**2 * kl


@wrong("soft_distillation_loss", "logarithms taken for shares")
def kl_div_without_log_target(answers, labels, teacher_logits, temperature, share):
    kl = F.kl_div(
        F.log_softmax(answers[1] / temperature, 1),
        F.log_softmax(teacher_logits / temperature, 1),
        reduction="batchmean",
    )
    labelled = F.cross_entropy(answers[0], labels)
    return (1 - share) * labelled + share * temperature**2 * kl


@wrong("soft_distillation_loss", "shares taken for logarithms")
def kl_div_of_shares(answers, labels, teacher_logits, temperature, share):
    kl = F.kl_div(
        F.softmax(answers[1] / temperature, 1),
        F.softmax(teacher_logits / temperature, 1),
        reduction="batchmean",
    )
    labelled = F.cross_entropy(answers[0], labels)
    return (1 - share) * labelled + share * temperature**2 * kl


@wrong("soft_distillation_loss", "temperature for the labels")
def all_at_one_temperature(answers, labels, teacher_logits, temperature, share):
    answers = tuple(answer / temperature for answer in answers)
    kl = divergence(answers[1], teacher_logits / temperature, 1).mean()
    labelled = F.cross_entropy(answers[0], labels)
    return (1 - share) * labelled + share * temperature**2 * kl


@wrong("soft_distillation_loss", "temperature of the teacher alone")
def a_hot_teacher(answers, labels, teacher_logits, temperature, share):
    kl = divergence(answers[1], teacher_logits / temperature, 1).mean()
    labelled = F.cross_entropy(answers[0], labels)
    return (1 - share) * labelled + share * temperature**2 * kl


@wrong("soft_distillation_loss", "share of the labels")
def alpha_as_others_have_it(answers, labels, teacher_logits, temperature, share):
    return by_the_formula(answers, labels, teacher_logits, temperature, 1 - share)


@wrong("soft_distillation_loss", "heads swapped")
def soft_with_tokens_swapped(answers, labels, teacher_logits, temperature, share):
    a, b = answers
    return by_the_formula((b, a), labels, teacher_logits, temperature, share)


@wrong("soft_distillation_loss", "cross-entropy for KL")
def soft_labels(answers, labels, teacher_logits, temperature, share):
    wanted = (teacher_logits / temperature).softmax(-1)
    soft = F.cross_entropy(answers[1] / temperature, wanted)
    labelled = F.cross_entropy(answers[0], labels)
    return (1 - share) * labelled + share * temperature**2 * soft


@wrong("soft_distillation_loss", "softmax over the batch")
def softmax_of_the_first_axis(answers, labels, teacher_logits, temperature, share):
    kl = F.kl_div(
        F.log_softmax(answers[1] / temperature, 0),
        F.softmax(teacher_logits / temperature, 0),
        reduction="batchmean",
    )
    labelled = F.cross_entropy(answers[0], labels)
    return (1 - share) * labelled + share * temperature**2 * kl


@wrong("soft_distillation_loss", "class token for both")
def one_token_for_two(answers, labels, teacher_logits, temperature, share):
    kl = divergence(answers[0], teacher_logits, temperature).mean()
    labelled = F.cross_entropy(answers[0], labels)
    return (1 - share) * labelled + share * temperature**2 * kl


@wrong("soft_distillation_loss", "gradient")
def deaf_to_the_labels_gradient(answers, labels, teacher_logits, temperature, share):
    kl = divergence(answers[1], teacher_logits, temperature).mean()
    labelled = F.cross_entropy(answers[0], labels)
    kl = kl.detach() + 0 * kl
    return (1 - share) * labelled + share * temperature**2 * kl


@wrong("soft_distillation_loss", "mean over classes")
def as_in_deits_code(answers, labels, teacher_logits, temperature, share):
    """Divide the sum by the number of logits, which is not the mean over images."""
    from_class, from_teacher = answers
    divergence = F.kl_div(
        F.log_softmax(from_teacher / temperature, dim=1),
        F.log_softmax(teacher_logits / temperature, dim=1),
        reduction="sum",
        log_target=True,
    )
    divergence = divergence * temperature**2 / from_teacher.numel()
    return F.cross_entropy(from_class, labels) * (1 - share) + divergence * share
