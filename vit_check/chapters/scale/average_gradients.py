"""The check of ``average_gradients``, chapter 12."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Generator, Tensor

from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.table import mistakes


def averaged(gradients: Sequence[Tensor], counts: Sequence[int]) -> Any:
    there = [(g, n) for g, n in zip(gradients, counts, strict=True) if n > 0]
    total = sum(counts)
    return sum(n / total * g for g, n in there)


def _gradient_inputs(generator: Generator) -> Iterator[Case]:
    for counts, shape, dtype in (
        ([3, 5, 2], (4, 5), torch.float64),
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


MISTAKES = """
zero times NaN
  if n > 0 -> nothing
    a process without an image sends NaN, the mean over nothing, and spoils the sum:
    zero times NaN is NaN, so leave it out
mean of means
  n / total -> 1 / len(counts)
    every process counts the same, however many images it had: an image of a small share
    then counts for more
summed
  n / total * g -> g
    the gradients are summed and never divided
weighed, not divided
  n / total -> n
    each gradient is multiplied by its number of images, and the sum is never divided by
    the number of all
divided by processes
  n / total -> n / len(counts)
    each gradient is multiplied by its number of images, and the sum is divided by the
    number of processes; it is to be that of all images
divided twice
  n / total -> n / total / len(counts)
    the shares sum to 1 already; dividing by the number of processes as well makes the
    gradient too short
shares inverted
  n / total -> total / n
    a process with fewer images counts for more; the weight of each is its images
    divided by all
by the largest share
  sum(counts) -> max(counts)
    the images are divided by the largest share, expected by their number over all
    processes
by the largest share, averaged
  n / total -> n / max(counts) / len(counts)
    the images are divided by the largest share and the sum by the number of processes;
    the weights then do not sum to 1
means of sums
  n / total -> 1 / n
    each gradient is divided by its number of images: it is the gradient of a mean, so
    that has been done
sums over images
  n / total -> 1 / total
    the gradients are summed and divided by the number of images, as if they were
    gradients of sums; they are gradients of means
first process alone
  = lambda gradients, counts: gradients[0].clone()
    the gradient of the first process is returned; the others take no part
not summed
  sum(n / total * g for g, n in there)
  -> torch.stack([n / total * g for g, n in there])
    the gradients are weighed and left apart; what is needed is one, their sum
"""

average_gradients = FunctionCheck(
    "average_gradients",
    "average_gradients(gradients, counts) -> the gradient of the whole batch",
    averaged,
    _gradient_inputs,
    mistakes(averaged, MISTAKES),
    hints=(
        "One process had 24 images and the other 16. Which share of the whole mean is "
        "one image, and which share of its own process's mean was it?",
        "Multiply each gradient by its number of images, add up those that had any, "
        "and divide by the number of all images.",
        "sum(count * gradient for gradient, count in ... if count) / sum(counts).",
    ),
    gradients=False,
)
