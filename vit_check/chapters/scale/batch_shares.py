"""The check of ``batch_shares``, chapter 12."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator

from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake


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
            "some places are past the end of the batch: the last one is count - 1",
            lambda count, num_processes, rank: [
                rank + i * num_processes for i in range(-(-count // num_processes))
            ],
        ),
        Mistake(
            "one behind the end",
            "a place past the end of the batch is dealt: the last one is count - 1",
            lambda count, num_processes, rank: list(
                range(rank, count + 1, num_processes)
            ),
        ),
        Mistake(
            "last place missing",
            "the last place of the batch, count - 1, is given to no process",
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
