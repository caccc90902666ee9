import numpy as np
import torch

from tests.checks.answers import wrong_edits


@wrong_edits("""
blocks: torch.arange(count)[rank::num_processes]
  -> torch.arange(count)[(size := -(-count // num_processes)) * rank :][:size]
""")
def deal_with_a_slice(count, num_processes, rank):
    return torch.arange(count)[rank::num_processes]


@wrong_edits("""
not shared: rank, count, num_processes) -> count)
rest dropped: range(rank, count, -> range(rank, count // num_processes * num_processes,
ranks from 1: range(rank, -> range(rank - 1 if rank else count,
padded: range(rank, count, num_processes)
  -> [i % count for i in range(rank, count + -count % num_processes, num_processes)]
""")
def deal_with_a_range(count, num_processes, rank):
    return range(rank, count, num_processes)


def deal_with_numpy(count, num_processes, rank):
    return np.arange(rank, count, num_processes)
