import torch
from torch.nn import functional as F

from tests.checks.answers import right, wrong
from tests.checks.answers.swin_and_deit.distilling import half_and_half


@right("hard_distillation_loss")
def image_by_image(answers, labels, teacher_logits):
    losses = []
    for row in range(len(labels)):
        choice = teacher_logits[row].argmax()
        for logits, target in ((answers[0], labels[row]), (answers[1], choice)):
            losses.append(logits[row].logsumexp(0) - logits[row, target])
    return torch.stack(losses).mean()


@right("hard_distillation_loss")
def without_a_way_to_the_teacher(answers, labels, teacher_logits):
    with torch.no_grad():
        choice = teacher_logits.argmax(1)
    both = torch.cat(answers)
    return F.cross_entropy(both, torch.cat([labels, choice]))


@wrong("hard_distillation_loss", "heads swapped")
def unpacked_in_the_wrong_order(answers, labels, teacher_logits):
    from_teacher, from_class = answers
    return half_and_half((from_class, from_teacher), labels, teacher_logits)


@wrong("hard_distillation_loss", "not halved")
def added(answers, labels, teacher_logits):
    from_class, from_teacher = answers
    loss = F.cross_entropy(from_class, labels)
    return loss + F.cross_entropy(from_teacher, teacher_logits.argmax(1))


@wrong("hard_distillation_loss", "labels for both")
def taught_twice(answers, labels, teacher_logits):
    return (
        F.cross_entropy(answers[0], labels) + F.cross_entropy(answers[1], labels)
    ) / 2


@wrong("hard_distillation_loss", "answers averaged first")
def taught_the_mean(answers, labels, teacher_logits):
    mean = (answers[0] + answers[1]) / 2
    return half_and_half((mean, mean), labels, teacher_logits)


@wrong("hard_distillation_loss", "teacher's shares")
def softened(answers, labels, teacher_logits):
    soft = F.softmax(teacher_logits, dim=-1)
    return (F.cross_entropy(answers[0], labels) + F.cross_entropy(answers[1], soft)) / 2


@wrong("hard_distillation_loss", "softmax twice")
def softmax_before_the_loss(answers, labels, teacher_logits):
    shares = tuple(answer.softmax(dim=-1) for answer in answers)
    return half_and_half(shares, labels, teacher_logits)


@wrong("hard_distillation_loss", "choice of an image")
def argmax_over_images(answers, labels, teacher_logits):
    choice = teacher_logits.argmax(0)
    return (
        F.cross_entropy(answers[0], labels) + F.cross_entropy(answers[1], choice)
    ) / 2


@wrong("hard_distillation_loss", "no softmax")
def nll_of_logits(answers, labels, teacher_logits):
    choice = teacher_logits.argmax(1)
    return (F.nll_loss(answers[0], labels) + F.nll_loss(answers[1], choice)) / 2


@wrong("hard_distillation_loss", "teacher alone")
def deaf_to_labels(answers, labels, teacher_logits):
    return F.cross_entropy(answers[1], teacher_logits.argmax(1))


@wrong("hard_distillation_loss", "type")
def as_a_number(answers, labels, teacher_logits):
    return half_and_half(answers, labels, teacher_logits).item()


@wrong("hard_distillation_loss", "no gradient")
def cut_off(answers, labels, teacher_logits):
    return half_and_half([a.detach() for a in answers], labels, teacher_logits)


@wrong("hard_distillation_loss", "two losses")
def side_by_side(answers, labels, teacher_logits):
    label_loss = F.cross_entropy(answers[0], labels)
    return label_loss, F.cross_entropy(answers[1], teacher_logits.argmax(1))


@wrong("hard_distillation_loss", "teacher's logits")
def logits_as_a_target(answers, labels, teacher_logits):
    labelled = F.cross_entropy(answers[0], labels)
    return (labelled + F.cross_entropy(answers[1], teacher_logits)) / 2


@right("hard_distillation_loss")
def both_at_once(answers, labels, teacher_logits):
    return F.cross_entropy(
        torch.cat(answers), torch.cat([labels, teacher_logits.argmax(dim=1)])
    )
