import torch
from torch.nn import functional as F

from tests.checks.answers import right, wrong
from tests.checks.answers.swin_and_deit.distilling import (
    by_logarithms,
    by_the_formula,
    half_and_half,
)


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


@wrong("distillation_step", "cleared at the end alone")
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
def in_inference_mode(student, teacher, optimizer, augment, images, labels):
    seen = augment(images)
    with torch.inference_mode():
        told = teacher.eval()(seen)
    from_class, from_teacher = student.train().two_answers(seen)
    loss = F.cross_entropy(from_class, labels) / 2
    loss = loss + F.cross_entropy(from_teacher, told.clone().argmax(-1)) / 2
    student.zero_grad(set_to_none=False)
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
