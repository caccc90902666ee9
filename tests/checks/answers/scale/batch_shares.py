import numpy as np
import torch

from tests.checks.answers import wrong, wrong_edits


def deal_with_a_slice(count, num_processes, rank):
    return torch.arange(count)[rank::num_processes]


@wrong_edits("""
not shared: rank, count, num_processes) -> count)
rest dropped: range(rank, count, -> range(rank, count // num_processes * num_processes,
ranks from 1: range(rank, -> range(rank - 1 if rank else count,
""")
def deal_with_a_range(count, num_processes, rank):
    return range(rank, count, num_processes)


def deal_with_numpy(count, num_processes, rank):
    return np.arange(rank, count, num_processes)


@wrong("blocks")
def deal_chunks(count, num_processes, rank):
    parts = torch.arange(count).chunk(num_processes)
    return parts[rank].tolist() if rank < len(parts) else []


@wrong("padded")
def deal_as_distributed_sampler(count, num_processes, rank):
    cards = list(range(count))
    while len(cards) % num_processes:
        cards.append(cards[len(cards) % count])
    return cards[rank::num_processes]
