import itertools
from collections.abc import Iterable
from typing import Any

from vit_check.engine.drawing import Answer
from vit_check.engine.functions import checked_by


def _deal_to_all(deal: Answer, batches: list[tuple[int, int]]) -> Any:
    return {
        f"the share of rank {rank} of {num_processes}, of {count} images,": _in_a_row(
            deal(count, num_processes, rank)
        )
        for count, num_processes in batches
        for rank in range(num_processes)
    }


def _in_a_row(output: Any) -> Any:
    """Return places as a list, from a list, range, tensor, array or generator."""
    if hasattr(output, "tolist"):
        output = output.tolist()
    if isinstance(output, str | dict) or not isinstance(output, Iterable):
        return output
    if isinstance(output, set | frozenset):
        output = sorted(output)
    places = list(itertools.islice(output, 100))
    return ", ".join(str(place) for place in places) if places else "no place at all"


TABLE = """
batch_shares(count, num_processes, rank) -> list of the places in the batch
  [(12, 3), (9, 4), (3, 5), (8, 1)]
not shared: range(rank, count, num_processes) -> range(count)
    every process gets the whole batch: all of them then compute the same gradient
blocks: = lambda B, n, rank: [i for i in range(B) if i // -(-B // n) == rank]
    the batch is cut into blocks, expected dealt like cards: image 1 to process 1
rest dropped: (rank, count, -> (rank, count // num_processes * num_processes,
    when the batch does not divide evenly, its last images go to nobody: deal them, too
padded: = lambda count, n, rank: [i % count for i in range(rank, -(-count // n) * n, n)]
    until all have as many, images from the front are dealt again, and count twice
ranks from 1: (rank, count, -> (rank - 1 if rank else count, count,
    the ranks are taken to begin at 1: the first process has rank 0
? Write 0 to 10 in a row and under each the process that gets it, with four of them.
  What is the distance between two images of one process?
? Start at the rank and go on in steps of the number of processes, to the end.
? range(rank, count, num_processes)
"""


@checked_by(TABLE, scenario=_deal_to_all)
def batch_shares(count: int, num_processes: int, rank: int) -> list[int]:
    return list(range(rank, count, num_processes))
