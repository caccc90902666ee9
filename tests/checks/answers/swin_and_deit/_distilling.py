from torch.nn import functional as F


def half_and_half(answers, labels, teacher_logits):
    from_class, from_teacher = answers
    teacher_labels = teacher_logits.argmax(dim=-1)
    return 0.5 * F.cross_entropy(from_class, labels) + 0.5 * F.cross_entropy(
        from_teacher, teacher_labels
    )


def by_logarithms(answers, labels, teacher_logits):
    total = 0.0
    for logits, target in zip(
        answers, (labels, teacher_logits.max(dim=1).indices), strict=True
    ):
        total = total - logits.log_softmax(1).gather(1, target[:, None]).mean()
    return total / 2


def divergence(student, teacher, tau):
    """Return the KL divergence of the student from the teacher, one for each image."""
    p = (teacher / tau).softmax(-1)
    return (p * (p.log() - (student / tau).log_softmax(-1))).sum(-1)


def by_the_formula(answers, labels, teacher_logits, temperature, share):
    from_class, from_teacher = answers
    labelled = F.cross_entropy(from_class, labels)
    kl = divergence(from_teacher, teacher_logits, temperature).mean()
    return (1 - share) * labelled + share * kl * temperature**2
