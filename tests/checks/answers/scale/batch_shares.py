import numpy as np
import torch

from tests.checks.answers import right, wrong, wrong_edits


@right("batch_shares")
def deal_with_a_slice(count, num_processes, rank):
    return torch.arange(count)[rank::num_processes]


@right("batch_shares")
def deal_with_a_range(count, num_processes, rank):
    return range(rank, count, num_processes)


@right("batch_shares")
def deal_with_numpy(count, num_processes, rank):
    return np.arange(rank, count, num_processes)


@wrong("batch_shares", "blocks")
def deal_chunks(count, num_processes, rank):
    parts = torch.arange(count).chunk(num_processes)
    return parts[rank].tolist() if rank < len(parts) else []


@wrong("batch_shares", "even blocks")
def deal_with_array_split(count, num_processes, rank):
    return np.array_split(np.arange(count), num_processes)[rank].tolist()


@wrong("batch_shares", "blocks, rest dropped")
def deal_whole_blocks(count, num_processes, rank):
    size = count // num_processes
    return list(range(count))[rank * size : rank * size + size]


@wrong("batch_shares", "padded")
def deal_as_distributed_sampler(count, num_processes, rank):
    cards = list(range(count))
    while len(cards) % num_processes:
        cards.append(cards[len(cards) % count])
    return cards[rank::num_processes]


OF_DEAL_WITH_A_RANGE = """
not shared
  rank, count, num_processes) -> count)
rest dropped
  range(rank, count, -> range(rank, count // num_processes * num_processes,
ranks from 1
  range(rank, -> range(rank - 1 if rank else count,
how many
  range(rank, count, num_processes) -> len(range(rank, count, num_processes))
behind the end
  range(rank, count, num_processes)
  -> [rank + num_processes * i for i in range(math.ceil(count / num_processes))]
never none
  range(rank, count, num_processes) -> list(range(rank, count, num_processes)) or [0]
"""

wrong_edits("batch_shares", deal_with_a_range, OF_DEAL_WITH_A_RANGE)
