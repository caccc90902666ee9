"""Measure distillation on few digits, for chapter 13.

    python -m experiments.distillation

A small convolutional network, the teacher, learns 280 labelled digits. Then three
students learn the same images in the same order: one from the labels alone, one from
labels and the teacher's most probable classes, one from labels and the teacher's
probabilities. Each of three seeds draws its own digits, augmentation, teacher and
students, which takes half a minute on one core. Accuracy is measured on 1067 digits
that none of them was trained on: those of the training part that were not drawn, and
the validation part. The test part is not used. The results are written to
vit_book/measured/distillation.json.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from experiments.writing import write_results
from vit_steps import data
from vit_steps.data.sets import ImageSet, stratified_split
from vit_steps.recipes import RECIPES
from vit_steps.training import learning_rate, parameter_groups
from vit_steps.variants import (
    DistilledVisionTransformer,
    hard_distillation_loss,
    soft_distillation_loss,
)
from vit_steps.vision_transformer import VisionTransformer

DIGITS, VARIATIONS = 280, 20
STEPS, BATCH = 280, 64
RECIPE = RECIPES["digits"]

Loss = Callable[[nn.Module, Tensor, Tensor, Tensor], Tensor]


def draw_digits(seed: int) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
    """Return digits in several variations each, their labels, and the other digits."""
    augmented = data.load("digits")
    unchanged = data.load("digits", augment=False)
    assert isinstance(augmented.train, ImageSet)
    assert isinstance(unchanged.train, ImageSet)
    assert isinstance(unchanged.validation, ImageSet)
    left, chosen = stratified_split(augmented.train.labels, DIGITS, seed)
    torch.manual_seed(seed)
    pool, labels = augmented.train.batch(chosen.repeat(VARIATIONS))  # (n, 1, 8, 8)
    rest, rest_labels = unchanged.train.batch(left)
    held, held_labels = unchanged.validation.batch()
    unseen = torch.cat([rest, held]), torch.cat([rest_labels, held_labels])
    return pool, labels, unseen


def new_teacher() -> nn.Module:
    """Return chapter 8's convolutional network."""

    def filters(channels_in: int, channels_out: int) -> nn.Module:
        conv = nn.Conv2d(channels_in, channels_out, kernel_size=3, padding=1)
        return nn.Sequential(conv, nn.BatchNorm2d(channels_out), nn.ReLU())

    return nn.Sequential(
        filters(1, 32),
        filters(32, 64),
        nn.MaxPool2d(2),  # (B, 64, 4, 4)
        filters(64, 128),
        nn.MaxPool2d(2),  # (B, 128, 2, 2)
        nn.Flatten(),
        nn.Linear(512, 10),
    )


def new_student(kind: type[VisionTransformer]) -> VisionTransformer:
    student = kind(RECIPE.model)
    nn.init.trunc_normal_(student.pos_embed, std=RECIPE.position_std)
    return student


def labels_alone(
    model: nn.Module, images: Tensor, labels: Tensor, teacher_logits: Tensor
) -> Tensor:
    return F.cross_entropy(model(images), labels)


def hard_way(
    model: nn.Module, images: Tensor, labels: Tensor, teacher_logits: Tensor
) -> Tensor:
    assert isinstance(model, DistilledVisionTransformer)
    return hard_distillation_loss(model.two_answers(images), labels, teacher_logits)


def soft_way(
    model: nn.Module, images: Tensor, labels: Tensor, teacher_logits: Tensor
) -> Tensor:
    assert isinstance(model, DistilledVisionTransformer)
    return soft_distillation_loss(model.two_answers(images), labels, teacher_logits)


WAYS: dict[str, tuple[type[VisionTransformer], Loss]] = {
    "labels": (VisionTransformer, labels_alone),
    "hard": (DistilledVisionTransformer, hard_way),
    "soft": (DistilledVisionTransformer, soft_way),
}


def learn(
    model: nn.Module,
    loss_of: Loss,
    pool: Tensor,
    labels: Tensor,
    teacher_logits: Tensor,
    seed: int,
    steps: int = STEPS,
    lr: float = 3e-3,
) -> nn.Module:
    """Train a model as chapter 8 does; ``teacher_logits`` are (n, K)."""
    torch.manual_seed(seed)  # so that all learn the images in the same order
    optimizer = torch.optim.AdamW(parameter_groups(model, 0.3))
    model.train()
    for step in range(steps):
        rows = torch.randint(len(pool), (BATCH,))
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, steps, steps / 10, lr)
        loss = loss_of(model, pool[rows], labels[rows], teacher_logits[rows])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model.eval()


def share_right(logits: Tensor, labels: Tensor) -> float:
    return (logits.argmax(dim=1) == labels).double().mean().item()


def run(seed: int, steps: int = STEPS) -> dict[str, Any]:
    """Return accuracies of teacher and students, and how sure the teacher is."""
    pool, labels, (unseen, answers) = draw_digits(seed)
    torch.manual_seed(seed)
    nothing = torch.zeros(len(pool), 10)
    teacher = new_teacher()
    learn(teacher, labels_alone, pool, labels, nothing, seed, steps)
    with torch.no_grad():
        teacher_logits = teacher(pool)  # (n, K), the same for all students
        right = {"CNN": share_right(teacher(unseen), answers)}
    found: dict[str, Any] = {"right_on_its_own": share_right(teacher_logits, labels)}
    for name, temperature in (("sure", 1), ("sure_at_3", 3)):
        shares = (teacher_logits / temperature).softmax(dim=1)  # (n, K)
        found[name] = shares.amax(dim=1).mean().item()
    heads = {}
    for name, (kind, loss_of) in WAYS.items():
        torch.manual_seed(seed)
        student = new_student(kind)
        learn(student, loss_of, pool, labels, teacher_logits, seed, steps)
        with torch.no_grad():
            right[name] = share_right(student(unseen), answers)
            if isinstance(student, DistilledVisionTransformer):
                both = student.two_answers(unseen)
                heads[name] = [share_right(one, answers) for one in both]
    return {"seed": seed, "right": right, "heads": heads} | found


def main() -> None:
    torch.set_num_threads(1)
    runs = [run(seed) for seed in range(3)]
    write_results("distillation", "python -m experiments.distillation", runs=runs)


if __name__ == "__main__":
    main()
