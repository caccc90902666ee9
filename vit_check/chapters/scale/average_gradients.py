"""The check of ``average_gradients``, chapter 12."""

from collections.abc import Iterator, Sequence

import torch
from torch import Generator, Tensor

from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake


def _weighted(gradients: Sequence[Tensor], weights: Sequence[float]) -> Tensor:
    total = torch.zeros_like(gradients[0])
    for gradient, weight in zip(gradients, weights, strict=True):
        total = total + weight * gradient
    return total


def _average(gradients: Sequence[Tensor], counts: Sequence[int]) -> Tensor:
    return _weighted(gradients, [count / sum(counts) for count in counts])


def _average_of_who_had_some(
    gradients: Sequence[Tensor], counts: Sequence[int]
) -> Tensor:
    there = [i for i, count in enumerate(counts) if count > 0]
    return _average([gradients[i] for i in there], [counts[i] for i in there])


def _gradient_inputs(generator: Generator) -> Iterator[Case]:
    for counts, shape, dtype in (
        ([5, 3, 2], (4, 5), torch.float64),
        ([6, 6, 6], (4, 5), torch.float64),
        ([24, 16], (7,), torch.float32),
        ([3, 4, 0, 1], (2, 3), torch.float64),
    ):
        gradients = [
            torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)
            for _ in counts
        ]
        yield [gradients, counts]
    gradients = [
        torch.randn(3, 2, generator=generator, dtype=torch.float64) for _ in range(3)
    ]
    yield [[*gradients, torch.full_like(gradients[0], torch.nan)], [2, 3, 1, 0]]


average_gradients = FunctionCheck(
    "average_gradients",
    "average_gradients(gradients, counts) -> the gradient of the whole batch",
    _average_of_who_had_some,
    _gradient_inputs,
    [
        Mistake(
            "zero times NaN",
            "a process without an image sends NaN, the mean over nothing, and spoils "
            "the sum: zero times NaN is NaN, so leave it out",
            _average,
        ),
        Mistake(
            "mean of means",
            "every process counts the same, however many images it had: an image of a "
            "small share then counts for more",
            lambda gradients, counts: _weighted(
                gradients, [1 / len(counts) for _ in counts]
            ),
        ),
        Mistake(
            "summed",
            "the gradients are summed and never divided",
            lambda gradients, counts: sum(gradients),
        ),
        Mistake(
            "weighed, not divided",
            "each gradient is multiplied by its number of images, and the sum is never "
            "divided by the number of all",
            lambda gradients, counts: _weighted(gradients, counts),
        ),
        Mistake(
            "divided by processes",
            "each gradient is multiplied by its number of images, and the sum is "
            "divided by the number of processes; it is to be that of all images",
            lambda gradients, counts: _weighted(gradients, counts) / len(counts),
        ),
        Mistake(
            "divided twice",
            "the shares sum to 1 already; dividing by the number of processes as well "
            "makes the gradient too short",
            lambda gradients, counts: _average(gradients, counts) / len(counts),
        ),
        Mistake(
            "shares inverted",
            "a process with fewer images counts for more; the weight of each is its "
            "images divided by all",
            lambda gradients, counts: _weighted(
                gradients, [sum(counts) / max(count, 0.5) for count in counts]
            ),
        ),
        Mistake(
            "by the largest share",
            "the images are divided by the largest share, expected by their number "
            "over all processes",
            lambda gradients, counts: _weighted(
                gradients, [count / max(counts) for count in counts]
            ),
        ),
        Mistake(
            "by the largest share, averaged",
            "the images are divided by the largest share and the sum by the number of "
            "processes; the weights then do not sum to 1",
            lambda gradients, counts: _weighted(
                gradients, [count / max(counts) / len(counts) for count in counts]
            ),
        ),
        Mistake(
            "means of sums",
            "each gradient is divided by its number of images: it is the gradient of a "
            "mean, so that has been done",
            lambda gradients, counts: _weighted(
                gradients, [1 / max(count, 0.5) for count in counts]
            ),
        ),
        Mistake(
            "sums over images",
            "the gradients are summed and divided by the number of images, as if they "
            "were gradients of sums; they are gradients of means",
            lambda gradients, counts: sum(gradients) / sum(counts),
        ),
        Mistake(
            "first process alone",
            "the gradient of the first process is returned; the others take no part",
            lambda gradients, counts: gradients[0].clone(),
        ),
        Mistake(
            "not summed",
            "the gradients are weighed and left apart; what is needed is one, their "
            "sum",
            lambda gradients, counts: torch.stack(
                [
                    gradient * (count / sum(counts))
                    for gradient, count in zip(gradients, counts, strict=True)
                ]
            ),
        ),
    ],
    hints=(
        "One process had 24 images and the other 16. Which share of the whole mean is "
        "one image, and which share of its own process's mean was it?",
        "Multiply each gradient by its number of images, add up those that had any, "
        "and divide by the number of all images.",
        "sum(count * gradient for gradient, count in ... if count) / sum(counts).",
    ),
    gradients=False,
)
