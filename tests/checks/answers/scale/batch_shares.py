import math

import numpy as np
import torch

from tests.checks.answers import right, wrong


@right("batch_shares")
def deal_with_a_slice(count, num_processes, rank):
    return torch.arange(count)[rank::num_processes]


@right("batch_shares")
def deal_with_a_range(count, num_processes, rank):
    return range(rank, count, num_processes)


@right("batch_shares")
def deal_with_modulo(count, num_processes, rank):
    return [image for image in range(count) if image % num_processes == rank]


@right("batch_shares")
def deal_with_numpy(count, num_processes, rank):
    return np.arange(rank, count, num_processes)


@wrong("batch_shares", "not shared")
def deal_all_to_all(count, num_processes, rank):
    return list(range(count))


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


@wrong("batch_shares", "rest dropped")
def deal_full_rounds(count, num_processes, rank):
    rounds = count // num_processes
    return [rank + i * num_processes for i in range(rounds)]


@wrong("batch_shares", "padded")
def deal_as_distributed_sampler(count, num_processes, rank):
    cards = list(range(count))
    while len(cards) % num_processes:
        cards.append(cards[len(cards) % count])
    return cards[rank::num_processes]


@wrong("batch_shares", "ranks from 1")
def deal_from_one(count, num_processes, rank):
    return list(range(count))[rank - 1 :: num_processes] if rank else []


@wrong("batch_shares", "starts behind the rank")
def deal_one_late(count, num_processes, rank):
    return [i for i in range(rank + 1, count, num_processes)]


@wrong("batch_shares", "how many")
def deal_numbers(count, num_processes, rank):
    return count // num_processes + (rank < count % num_processes)


@wrong("batch_shares", "never none")
def deal_something(count, num_processes, rank):
    return list(range(count))[rank::num_processes] or [0]


@wrong("batch_shares", "behind the end")
def deal_by_rounds(count, num_processes, rank):
    rounds = math.ceil(count / num_processes)
    return [rank + num_processes * turn for turn in range(rounds)]
