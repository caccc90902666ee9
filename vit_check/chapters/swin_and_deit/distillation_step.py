import itertools
import weakref
from typing import Any

import torch
from torch import Tensor, nn

from vit_check.engine.drawing import Answer
from vit_check.engine.functions import checked_by
from vit_check.engine.observing import as_number, draw
from vit_steps.variants import distillation


class _Student(nn.Module):
    """A student with two heads, whose norm depends on the mode."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(features)
        self.head = nn.Linear(features, classes)
        self.head_dist = nn.Linear(features, classes)
        self.asked_in: list[str] = []

    def two_answers(self, images: Tensor) -> tuple[Tensor, Tensor]:
        self.asked_in.append("training" if self.norm.training else "eval")
        features = self.norm(images.flatten(1))  # (B, C·H·W)
        return self.head(features), self.head_dist(features)

    def forward(self, images: Tensor) -> Tensor:
        from_class, from_teacher = self.two_answers(images)
        return (from_class + from_teacher) / 2


def _two_steps(
    step: Answer, images: Tensor, labels: Tensor, classes: int, seed: int
) -> dict[str, Any]:
    """Return student and teacher after two steps that began with old gradients."""
    features = images[0, 0].numel()
    with torch.random.fork_rng(devices=[]):  # the constructors draw weights
        student = _Student(features, classes)
        teacher = nn.Sequential(
            nn.Flatten(), nn.BatchNorm1d(features), nn.Linear(features, classes)
        )
    for number, module in enumerate((student, teacher)):
        draw(module.to(images.dtype), seed + number)
    student.eval()
    for parameter in student.parameters():
        parameter.grad = parameter.detach().flip(0)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    told: list[weakref.ref[Tensor]] = []  # what the teacher said, while it is kept
    teacher.register_forward_hook(lambda _, given, out: told.append(weakref.ref(out)))
    graphs: list[bool] = []

    def stepping(*_: Any) -> None:
        graphs.extend(out.requires_grad for ref in told if (out := ref()) is not None)

    optimizer.register_step_pre_hook(stepping)
    calls = itertools.count(1)

    def augment(images: Tensor) -> Tensor:  # in each call in another way
        shift = next(calls)
        return images.roll((shift, 2 * shift), dims=(2, 3))

    losses = [
        step(student, teacher, optimizer, augment, images[number], labels[number])
        for number in range(2)
    ]
    return {
        "the number of calls of augment in two steps": next(calls) - 1,
        "the student's mode when it is asked": " and then ".join(student.asked_in),
        "the loss": [as_number(loss) for loss in losses],
        "the student": [*student.parameters(), *student.buffers()],
        "the teacher": list(teacher.buffers()),
        "the teacher's graph": "kept" if any(graphs) else "not kept",
        "gradients of the teacher": [p.grad is not None for p in teacher.parameters()],
    }


TABLE = """
distillation_step(student, teacher, optimizer, augment, images, labels) -> loss
  float64(2, 6, 1, 3, 4), below(5, 2, 6), 5, whole(0, 2**31)
  float64(2, 7, 1, 2, 3), below(4, 2, 7), 4, whole(0, 2**31)
teacher in training mode: teacher.eval() -> teacher.train()
    the teacher is in training mode, expected in eval mode
teacher with a graph: no_grad -> enable_grad
    a graph for the teacher's gradients is kept, which nobody needs: use torch.no_grad()
teacher sees the original: teacher(seen) -> teacher(images)
    the teacher is asked about the images as they were before the augmentation
augmented twice: teacher(seen) -> teacher(augment(images))
    the images are augmented once for the student and once more for the teacher
not augmented: augment(images) -> images
    the images are not augmented
student in eval mode: student.train() -> student.eval()
    the student is not in training mode
no zero_grad: optimizer.zero_grad() -> nothing
    the gradients of the step before are still there: they are never set to zero
cleared at the end alone: optimizer.zero_grad() -> nothing
  optimizer.step() -> optimizer.step(); optimizer.zero_grad()
    the gradients are cleared only after the step: those that were there before go in
no step: optimizer.step() -> nothing
    nothing is learned: there is no step(), or it finds gradients that are zero again
heads swapped: (answers, -> (answers[::-1],
    the tokens are swapped: here the class token learns from the teacher
labels for both: labels, told) -> labels, F.one_hot(labels))
    both tokens learn from the labels; what the teacher says is not used
answers averaged first: (answers, -> ([sum(answers) / 2] * 2,
    the mean of the two answers is taught; two_answers teaches each on its own
? Which network is in which mode, which images does it see, and whose gradients count?
? Augment once, and give both the same. The teacher is in eval() and under no_grad(),
  the student in train() and asked for two_answers.
? images = augment(images); told = teacher(images) under no_grad; the loss of
  student.two_answers(images), labels and told; zero_grad, backward, step.
"""


@checked_by(TABLE, gradients=False, scenario=_two_steps)
def distillation_step(
    student: Any, teacher: Any, optimizer: Any, augment: Any, images: Any, labels: Any
) -> Tensor:
    student.train()
    teacher.eval()
    seen = augment(images)
    with torch.no_grad():
        told = teacher(seen)
    answers = student.two_answers(seen)
    loss = distillation.hard_distillation_loss(answers, labels, told)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()
