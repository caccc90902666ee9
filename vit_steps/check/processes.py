"""Checks of chapter 11: a batch among several processes."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor

from vit_steps.check.checking import Case
from vit_steps.check.function_check import FunctionCheck
from vit_steps.check.verdict import Mistake


def _weighted(gradients: Sequence[Tensor], weights: Sequence[float]) -> Tensor:
    total = torch.zeros_like(gradients[0])
    for gradient, weight in zip(gradients, weights, strict=True):
        total = total + weight * gradient
    return total


def _average(gradients: Sequence[Tensor], counts: Sequence[int]) -> Tensor:
    return _weighted(gradients, [count / sum(counts) for count in counts])


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


average_gradients = FunctionCheck(
    "average_gradients",
    "average_gradients(gradients, counts) -> the gradient of the whole batch",
    _average,
    _gradient_inputs,
    [
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
        "Multiply each gradient by its number of images, add them up, divide by the "
        "number of all images.",
        "sum(count * gradient for ...) / sum(counts).",
    ),
    gradients=False,
)


def _deal(count: int, num_processes: int, rank: int) -> list[int]:
    return list(range(rank, count, num_processes))


def _deal_inputs(generator: Generator) -> Iterator[Case]:
    yield [[(12, 3), (9, 4), (3, 5), (8, 1)]]


def _deal_to_all(deal: Callable[..., Any], batches: list[tuple[int, int]]) -> Any:
    return {
        f"the share of rank {rank} of {num_processes}, of {count} images,": _in_a_row(
            deal(count, num_processes, rank)
        )
        for count, num_processes in batches
        for rank in range(num_processes)
    }


def _in_a_row(output: Any) -> Any:
    """Places as they print, from a list, a range, a tensor, an array or a generator."""
    if hasattr(output, "tolist"):
        output = output.tolist()
    if isinstance(output, str | dict) or not isinstance(output, Iterable):
        return output
    if isinstance(output, set | frozenset):
        output = sorted(output)
    places = list(itertools.islice(output, 100))
    return ", ".join(str(place) for place in places) if places else "no place at all"


def _blocks(count: int, num_processes: int, rank: int, short: str = "last") -> Any:
    if short == "last":
        size = math.ceil(count / num_processes)
        return list(range(count))[rank * size : (rank + 1) * size]
    if short == "dropped":
        size = count // num_processes
        return list(range(rank * size, (rank + 1) * size))
    return torch.tensor_split(torch.arange(count), num_processes)[rank].tolist()


def _padded(count: int, num_processes: int, rank: int) -> list[int]:
    size = math.ceil(count / num_processes)
    return [i % count for i in range(rank, size * num_processes, num_processes)]


batch_shares = FunctionCheck(
    "batch_shares",
    "batch_shares(count, num_processes, rank) -> list of the places in the batch",
    _deal,
    _deal_inputs,
    [
        Mistake(
            "not shared",
            "every process gets the whole batch: all of them then compute the same "
            "gradient",
            lambda count, num_processes, rank: list(range(count)),
        ),
        Mistake(
            "blocks",
            "the batch is cut into blocks; dealt like cards, image 0 goes to process "
            "0, image 1 to process 1 and so on",
            _blocks,
        ),
        Mistake(
            "blocks, rest dropped",
            "the batch is cut into blocks, and what does not divide is dropped; deal "
            "it like cards",
            partial(_blocks, short="dropped"),
        ),
        Mistake(
            "even blocks",
            "the batch is cut into blocks; dealt like cards, neighbours go to "
            "different processes",
            partial(_blocks, short="even"),
        ),
        Mistake(
            "rest dropped",
            "the images that are left over when all have the same number are dropped: "
            "they are to be dealt as well",
            lambda count, num_processes, rank: list(
                range(rank, count // num_processes * num_processes, num_processes)
            ),
        ),
        Mistake(
            "padded",
            "images from the front are dealt a second time until all have the same "
            "number: they then count twice",
            _padded,
        ),
        Mistake(
            "ranks from 1",
            "the ranks are taken to begin at 1: the first process has rank 0",
            lambda count, num_processes, rank: list(
                range(rank - 1 if rank else count, count, num_processes)
            ),
        ),
        Mistake(
            "starts behind the rank",
            "the first image is missing: rank 0 starts at image 0",
            lambda count, num_processes, rank: list(
                range(rank + 1, count, num_processes)
            ),
        ),
        Mistake(
            "rank and processes swapped",
            "starts at the number of processes and walks in steps of the rank; it is "
            "the other way round",
            lambda count, num_processes, rank: list(
                range(num_processes, count, max(rank, 1))
            ),
        ),
        Mistake(
            "one image each",
            "each process gets one image; the dealing goes on until the batch is used "
            "up",
            lambda count, num_processes, rank: [rank] if rank < count else [],
        ),
        Mistake(
            "how many",
            "says how many images the process gets, expected which",
            lambda count, num_processes, rank: len(range(rank, count, num_processes)),
        ),
        Mistake(
            "behind the end",
            "some places lie behind the end of the batch: the last one is count - 1",
            lambda count, num_processes, rank: [
                rank + i * num_processes for i in range(-(-count // num_processes))
            ],
        ),
        Mistake(
            "one behind the end",
            "a place behind the end of the batch is dealt: the last one is count - 1",
            lambda count, num_processes, rank: list(
                range(rank, count + 1, num_processes)
            ),
        ),
        Mistake(
            "last place missing",
            "the last place of the batch, count - 1, goes to nobody",
            lambda count, num_processes, rank: list(
                range(rank, count - 1, num_processes)
            ),
        ),
        Mistake(
            "never none",
            "a process for which nothing is left gets the first image, which another "
            "one has already",
            lambda count, num_processes, rank: _deal(count, num_processes, rank) or [0],
        ),
    ],
    hints=(
        "Write 0 to 10 in a row and under each the process that gets it, with four of "
        "them. What is the distance between two images of one process?",
        "Start at the rank and go on in steps of the number of processes, as long as "
        "there are images.",
        "range(rank, count, num_processes)",
    ),
    gradients=False,
    scenario=_deal_to_all,
)
