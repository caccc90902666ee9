"""The check of ``accuracy``, chapter 8."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Generator, Tensor

from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.observing import as_number
from vit_check.engine.verdict import Mistake


def _accuracies(
    function: Callable[..., Any], logits: list[Tensor], labels: list[Tensor]
) -> dict[str, Any]:
    """The accuracy of several batches, so that none is right by chance."""
    return {
        f"the accuracy of {len(y)} images (call {number})": as_number(function(x, y))
        for number, (x, y) in enumerate(zip(logits, labels, strict=True), start=1)
    }


def _fraction(logits: Tensor, labels: Tensor) -> float:
    return (logits.argmax(dim=1) == labels).double().mean().item()


def _accuracy_inputs(generator: Generator) -> Iterator[Case]:
    for sizes in ([(11, 7), (8, 6), (13, 7), (1, 6)], [(11, 11), (13, 13), (12, 12)]):
        logits, labels = [], []
        for B, K in sizes:
            x = torch.randn(B, K, generator=generator)
            # Ranks of the right class, 0 for the highest logit: some right, some last.
            last = K - 1
            ranks = torch.tensor([0, 1, last, 0, 3, 0, last, 5, 0, last, 4, 1, 2])[:B]
            order = x.argsort(dim=1, descending=True)
            labels.append(order.gather(1, ranks[:, None])[:, 0])
            logits.append(x)
        yield [logits, labels]


accuracy = FunctionCheck(
    "accuracy",
    "accuracy(logits, labels) -> a float from 0 to 1",
    _fraction,
    _accuracy_inputs,
    [
        Mistake(
            "a count",
            "the right answers are counted, expected their share, from 0 to 1",
            lambda x, y: (x.argmax(dim=1) == y).sum().item(),
        ),
        Mistake(
            "a count, as a float",
            "the right answers are counted, expected their share, from 0 to 1",
            lambda x, y: float((x.argmax(dim=1) == y).sum()),
        ),
        Mistake(
            "percent",
            "the share is in per cent, expected from 0 to 1",
            lambda x, y: 100 * _fraction(x, y),
        ),
        Mistake(
            "the share of wrong answers",
            "the share of wrong answers is returned, expected that of right ones",
            lambda x, y: 1 - _fraction(x, y),
        ),
        Mistake(
            "lowest logit",
            "the class with the lowest logit is taken for the answer",
            lambda x, y: _fraction(-x, y),
        ),
        Mistake(
            "every answer with every label",
            "answers (B, 1) are compared with labels (B,), which stretches both to "
            "B×B: every answer is held against every label",
            lambda x, y: (x.argmax(dim=1, keepdim=True) == y).double().mean().item(),
        ),
        Mistake(
            "argmax over the batch",
            "the largest logit is looked for along the batch: each class gets an "
            "image, and each image should get a class",
            lambda x, y: (x.argmax(dim=0) == y).double().mean().item(),
        ),
        Mistake(
            "value for place",
            "the largest logit itself is compared with the label, expected its place, "
            "the class",
            lambda x, y: (x.amax(dim=1) == y).double().mean().item(),
        ),
        Mistake(
            "divided by K",
            "the count is divided by the number of classes, expected by the number of "
            "images",
            lambda x, y: (x.argmax(dim=1) == y).sum().item() / x.shape[1],
        ),
        Mistake(
            "among the best five",
            "an answer counts as right if it is among the five highest logits, "
            "expected the highest alone",
            lambda x, y: (x.topk(5).indices == y[:, None]).any(1).double().mean(),
        ),
        Mistake(
            "probability of the right class",
            "the mean probability of the right class is returned: an answer is right "
            "or wrong, whatever its probability",
            lambda x, y: x.softmax(1).gather(1, y[:, None]).mean(),
        ),
        Mistake(
            "all or nothing",
            "one wrong answer makes the whole batch wrong, expected the share of right "
            "ones",
            lambda x, y: (x.argmax(dim=1) == y).all().double(),
        ),
        Mistake(
            "for each image",
            "there is a True or False for each image, expected their mean",
            lambda x, y: x.argmax(dim=1) == y,
        ),
    ],
    hints=(
        "What does the model answer for image 0: which of its K logits is the highest?",
        "argmax over the classes gives B answers; compare them with the B labels and "
        "take the mean.",
        "(logits.argmax(dim=1) == labels).float().mean().item().",
    ),
    gradients=False,
    scenario=_accuracies,
)
