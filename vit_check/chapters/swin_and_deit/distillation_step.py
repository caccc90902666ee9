"""Check of chapter 13: a student's step of training."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F

from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.observing import draw
from vit_check.engine.verdict import Mistake
from vit_steps.variants import distillation


class _Student(nn.Module):
    """Two tokens' worth of a student: two heads, and something that knows its mode."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(features)
        self.head = nn.Linear(features, classes)
        self.head_dist = nn.Linear(features, classes)

    def two_answers(self, images: Tensor) -> tuple[Tensor, Tensor]:
        features = self.norm(images.flatten(1))  # (B, C·H·W)
        return self.head(features), self.head_dist(features)

    def forward(self, images: Tensor) -> Tensor:
        from_class, from_teacher = self.two_answers(images)
        return (from_class + from_teacher) / 2


class _AnotherCrop:
    """An augmentation that does something else each time, the same for everybody."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, images: Tensor) -> Tensor:
        self.calls += 1
        return images.roll((self.calls, 2 * self.calls), dims=(2, 3))


def _two_steps(
    step: Callable[..., Any], images: Tensor, labels: Tensor, classes: int, seed: int
) -> dict[str, Any]:
    """Student and teacher after two steps, with gradients there from an earlier one."""
    features = images[0, 0].numel()
    with torch.random.fork_rng(devices=[]):  # layers are drawn when they are made
        student = _Student(features, classes)
        teacher = nn.Sequential(
            nn.Flatten(), nn.BatchNorm1d(features), nn.Linear(features, classes)
        )
    for number, module in enumerate((student, teacher)):
        draw(module.double(), seed + number)
    student.eval()
    for parameter in student.parameters():
        parameter.grad = parameter.detach().flip(0)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    augment = _AnotherCrop()
    losses = [
        step(student, teacher, optimizer, augment, images[number], labels[number])
        for number in range(2)
    ]
    return {
        "the loss": [
            float(loss) if isinstance(loss, Tensor) and loss.numel() == 1 else loss
            for loss in losses
        ],
        "the student": [*student.parameters(), *student.buffers()],
        "the teacher": list(teacher.buffers()),
        "gradients of the teacher": [p.grad is not None for p in teacher.parameters()],
    }


def _step(
    student: Any,
    teacher: Any,
    optimizer: Any,
    augment: Any,
    images: Tensor,
    labels: Tensor,
    loss: Callable[..., Tensor] = distillation.hard_distillation_loss,
    mode: bool = True,
    teacher_mode: bool = False,
    no_grad: bool = True,
    teacher_sees: str = "the same",
    student_sees: str = "augmented",
    moves: str = "zero backward step",
) -> Tensor:
    """One step with a teacher, with a place for each usual mistake."""
    student.train(mode)
    teacher.train(teacher_mode)
    original = images
    first = augment(original) if teacher_sees == "another, first" else None
    images = augment(images) if student_sees == "augmented" else images
    seen = {"the same": images, "original": original}.get(teacher_sees, first)
    with torch.set_grad_enabled(not no_grad):
        told = teacher(augment(original) if seen is None else seen)
    value = loss(student.two_answers(images), labels, told)
    for move in moves.split():
        if move == "zero":
            optimizer.zero_grad()
        elif move == "backward":
            value.backward()
        else:
            optimizer.step()
    return value.detach()


def _stepping(**changes: Any) -> Callable[..., Tensor]:
    return lambda *arguments: _step(*arguments, **changes)


def _step_inputs(generator: Generator) -> Iterator[Case]:
    for B, H, W, K in ((6, 3, 4, 5), (7, 2, 3, 4)):
        images = torch.randn(2, B, 1, H, W, generator=generator, dtype=torch.float64)
        labels = torch.randint(K, (2, B), generator=generator)
        seed = int(torch.randint(2**31, (), generator=generator))
        yield [images, labels, K, seed]


distillation_step = FunctionCheck(
    "distillation_step",
    "distillation_step(student, teacher, optimizer, augment, images, labels) -> loss",
    _step,
    _step_inputs,
    [
        Mistake(
            "teacher in training mode",
            "the teacher is in training mode: its batch norm takes the statistics of "
            "this batch, and changes those it has learned",
            _stepping(teacher_mode=True),
        ),
        Mistake(
            "teacher learns",
            "gradients are computed for the teacher, which is not meant to learn",
            _stepping(
                no_grad=False,
                loss=lambda answers, labels, told: (
                    distillation.hard_distillation_loss(answers, labels, told)
                    + 0 * told.sum()
                ),
            ),
        ),
        Mistake(
            "teacher sees the original",
            "the teacher is asked about the images as they were before the "
            "augmentation; it should see what the student sees",
            _stepping(teacher_sees="original"),
        ),
        Mistake(
            "augmented twice",
            "the images are augmented once for the student and once more for the "
            "teacher, so that they see different pictures",
            _stepping(teacher_sees="another"),
        ),
        Mistake(
            "augmented twice, teacher first",
            "the images are augmented once for the teacher and once more for the "
            "student, so that they see different pictures",
            _stepping(teacher_sees="another, first"),
        ),
        Mistake(
            "not augmented",
            "the images are not augmented",
            _stepping(student_sees="original"),
        ),
        Mistake(
            "student sees the original",
            "the student sees the images as they were before the augmentation",
            _stepping(student_sees="original", teacher_sees="another"),
        ),
        Mistake(
            "student in eval mode",
            "the student is not in training mode",
            _stepping(mode=False),
        ),
        Mistake(
            "both in the wrong mode",
            "student and teacher are both left in the mode they came in",
            _stepping(mode=False, teacher_mode=True),
        ),
        Mistake(
            "no zero_grad",
            "the gradients of the step before are still there: they are never set to "
            "zero",
            _stepping(moves="backward step"),
        ),
        Mistake(
            "cleared at the end alone",
            "the gradients are cleared only after the step: those of an earlier step "
            "that are there when the function is called are added to this one's",
            _stepping(moves="backward step zero"),
        ),
        Mistake(
            "no step",
            "nothing is learned: there is no step(), or it comes when the gradients "
            "have been set to zero again",
            _stepping(moves="zero backward"),
        ),
        Mistake(
            "heads swapped",
            "the tokens are swapped: the class token learns from the teacher here and "
            "the distillation token from the labels",
            _stepping(
                loss=lambda answers, labels, told: distillation.hard_distillation_loss(
                    answers[::-1], labels, told
                )
            ),
        ),
        Mistake(
            "labels for both",
            "both tokens learn from the labels; what the teacher says is not used",
            _stepping(
                loss=lambda answers, labels, told: (
                    (
                        F.cross_entropy(answers[0], labels)
                        + F.cross_entropy(answers[1], labels)
                    )
                    / 2
                )
            ),
        ),
        Mistake(
            "answers averaged first",
            "the mean of the two answers is taught; in training each token is taught "
            "on its own, by two_answers",
            _stepping(
                loss=lambda answers, labels, told: distillation.hard_distillation_loss(
                    ((answers[0] + answers[1]) / 2,) * 2, labels, told
                )
            ),
        ),
        Mistake(
            "soft loss",
            "the loss is the soft one; the hard one is asked for",
            _stepping(loss=distillation.soft_distillation_loss),
        ),
    ],
    hints=(
        "Which network has to be in which mode, which images does each of them see, "
        "and whose gradients are wanted?",
        "Augment once, and give both the same. The teacher is in eval() and under "
        "no_grad(), the student in train() and asked for two_answers.",
        "images = augment(images); told = teacher(images) under no_grad; loss = "
        "hard_distillation_loss(student.two_answers(images), labels, told); zero_grad, "
        "backward, step.",
    ),
    gradients=False,
    scenario=_two_steps,
)
