import torch
from torch.nn import functional as F

from tests.checks.answers import wrong_edits
from tests.checks.answers.swin_and_deit.soft_distillation_loss import by_the_formula


def _half_and_half(answers, labels, teacher_logits):
    from_class, from_teacher = answers
    teacher_labels = teacher_logits.argmax(dim=-1)
    return 0.5 * F.cross_entropy(from_class, labels) + 0.5 * F.cross_entropy(
        from_teacher, teacher_labels
    )


def _by_logarithms(answers, labels, teacher_logits):
    total = 0.0
    for logits, target in zip(
        answers, (labels, teacher_logits.max(dim=1).indices), strict=True
    ):
        total = total - logits.log_softmax(1).gather(1, target[:, None]).mean()
    return total / 2


def as_in_a_loop(student, teacher, optimizer, augment, images, labels):
    student.train()
    teacher.eval()
    images = augment(images)
    with torch.no_grad():
        told = teacher(images)
    loss = _half_and_half(student.two_answers(images), labels, told)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong_edits("""
cleared at the end alone: student.zero_grad(set_to_none=False) -> nothing
""")
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


def putting_the_teacher_back(student, teacher, optimizer, augment, images, labels):
    was = teacher.training
    teacher.eval()
    images = augment(images)
    choice = teacher(images).detach().argmax(dim=1)
    teacher.train(was)
    student.train()
    for parameter in student.parameters():
        parameter.grad = None
    loss = _by_logarithms(student.two_answers(images), labels, F.one_hot(choice))
    loss.backward()
    optimizer.step()
    return loss.detach()


wrong_edits(
    """
teacher in training mode: teacher.eval() -> teacher.train()
teacher sees the original: images = augment(images) -> seen = augment(images)
  two_answers(images) -> two_answers(seen)
augmented twice: images = augment(images) -> seen = augment(images)
  teacher(images) -> teacher(augment(images))
  two_answers(images) -> two_answers(seen)
not augmented: images = augment(images) -> nothing
student in eval mode: student.train() -> nothing
no zero_grad: optimizer.zero_grad() -> nothing
no step: optimizer.step() -> nothing
teacher with a graph: no_grad -> enable_grad
answers averaged first: student.two_answers(images) -> [student(images)] * 2
heads swapped: two_answers(images) -> two_answers(images)[::-1]
""",
    by_the_formula=by_the_formula,
)(as_in_a_loop)
