import math

import torch
from torch.nn import functional as F

from tests.answers import right, wrong


@right("hard_distillation_loss")
def half_and_half(answers, labels, teacher_logits):
    from_class, from_teacher = answers
    teacher_labels = teacher_logits.argmax(dim=-1)
    return 0.5 * F.cross_entropy(from_class, labels) + 0.5 * F.cross_entropy(
        from_teacher, teacher_labels
    )


@right("hard_distillation_loss")
def by_logarithms(answers, labels, teacher_logits):
    total = 0.0
    for logits, target in zip(
        answers, (labels, teacher_logits.max(dim=1).indices), strict=True
    ):
        total = total - logits.log_softmax(1).gather(1, target[:, None]).mean()
    return total / 2


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


def divergence(student, teacher, tau):
    """KL of the teacher's shares from the student's, a number for each image."""
    p = (teacher / tau).softmax(-1)
    return (p * (p.log() - (student / tau).log_softmax(-1))).sum(-1)


@right("soft_distillation_loss")
def by_the_formula(answers, labels, teacher_logits, temperature, share):
    from_class, from_teacher = answers
    labelled = F.cross_entropy(from_class, labels)
    kl = divergence(from_teacher, teacher_logits, temperature).mean()
    return (1 - share) * labelled + share * kl * temperature**2


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


@right("distillation_step")
def as_in_a_loop(student, teacher, optimizer, augment, images, labels):
    student.train()
    teacher.eval()
    images = augment(images)
    with torch.no_grad():
        told = teacher(images)
    loss = half_and_half(student.two_answers(images), labels, told)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


@right("distillation_step")
def cleaning_up_behind_itself(student, teacher, optimizer, augment, images, labels):
    seen = augment(images)
    with torch.inference_mode():
        told = teacher.eval()(seen)
    from_class, from_teacher = student.train().two_answers(seen)
    loss = F.cross_entropy(from_class, labels) / 2
    loss = loss + F.cross_entropy(from_teacher, told.clone().argmax(-1)) / 2
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss


@right("distillation_step")
def putting_the_teacher_back(student, teacher, optimizer, augment, images, labels):
    was = teacher.training
    teacher.eval()
    images = augment(images)
    choice = teacher(images).detach().argmax(dim=1)
    teacher.train(was)
    student.train()
    for parameter in student.parameters():
        parameter.grad = None
    loss = by_logarithms(student.two_answers(images), labels, F.one_hot(choice))
    loss.backward()
    optimizer.step()
    return loss.detach()


def step(student, optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong("distillation_step", "teacher in training mode")
def forgets_eval(student, teacher, optimizer, augment, images, labels):
    images = augment(images)
    with torch.no_grad():
        told = teacher.train()(images)
    answers = student.train().two_answers(images)
    return step(student, optimizer, half_and_half(answers, labels, told))


@wrong("distillation_step", "teacher sees the original")
def tells_of_another_picture(student, teacher, optimizer, augment, images, labels):
    with torch.no_grad():
        told = teacher.eval()(images)
    answers = student.train().two_answers(augment(images))
    return step(student, optimizer, half_and_half(answers, labels, told))


@wrong("distillation_step", "augmented twice")
def crops_for_each(student, teacher, optimizer, augment, images, labels):
    answers = student.train().two_answers(augment(images))
    with torch.no_grad():
        told = teacher.eval()(augment(images))
    return step(student, optimizer, half_and_half(answers, labels, told))


@wrong("distillation_step", "augmented twice, teacher first")
def asks_the_teacher_first(student, teacher, optimizer, augment, images, labels):
    with torch.no_grad():
        told = teacher.eval()(augment(images))
    answers = student.train().two_answers(augment(images))
    return step(student, optimizer, half_and_half(answers, labels, told))


@wrong("distillation_step", "not augmented")
def forgets_to_augment(student, teacher, optimizer, augment, images, labels):
    with torch.no_grad():
        told = teacher.eval()(images)
    answers = student.train().two_answers(images)
    return step(student, optimizer, half_and_half(answers, labels, told))


@wrong("distillation_step", "student in eval mode")
def leaves_the_student_asleep(student, teacher, optimizer, augment, images, labels):
    teacher.eval()
    images = augment(images)
    with torch.no_grad():
        told = teacher(images)
    answers = student.two_answers(images)
    return step(student, optimizer, half_and_half(answers, labels, told))


@wrong("distillation_step", "no zero_grad")
def piles_gradients_up(student, teacher, optimizer, augment, images, labels):
    images = augment(images)
    with torch.no_grad():
        told = teacher.eval()(images)
    answers = student.train().two_answers(images)
    loss = half_and_half(answers, labels, told)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong("distillation_step", "no step")
def goes_nowhere(student, teacher, optimizer, augment, images, labels):
    images = augment(images)
    with torch.no_grad():
        told = teacher.eval()(images)
    answers = student.train().two_answers(images)
    optimizer.zero_grad()
    loss = half_and_half(answers, labels, told)
    loss.backward()
    return loss.item()


@wrong("distillation_step", "soft loss")
def takes_the_soft_loss(student, teacher, optimizer, augment, images, labels):
    images = augment(images)
    with torch.no_grad():
        told = teacher.eval()(images)
    answers = student.train().two_answers(images)
    return step(student, optimizer, by_the_formula(answers, labels, told, 3.0, 0.1))


@wrong("distillation_step", "teacher learns")
def teaches_the_teacher(student, teacher, optimizer, augment, images, labels):
    images = augment(images)
    told = teacher.eval()(images)
    answers = student.train().two_answers(images)
    loss = half_and_half(answers, labels, told) + 0.0 * told.square().mean()
    return step(student, optimizer, loss)


@wrong("distillation_step", "answers averaged first")
def asks_the_student_once(student, teacher, optimizer, augment, images, labels):
    images = augment(images)
    with torch.no_grad():
        choice = teacher.eval()(images).argmax(1)
    logits = student.train()(images)
    loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits, choice)) / 2
    return step(student, optimizer, loss)


@wrong("distillation_step", "heads swapped")
def mixes_the_tokens_up(student, teacher, optimizer, augment, images, labels):
    images = augment(images)
    with torch.no_grad():
        told = teacher.eval()(images)
    from_teacher, from_class = student.train().two_answers(images)
    loss = half_and_half((from_class, from_teacher), labels, told)
    return step(student, optimizer, loss)
