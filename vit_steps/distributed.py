"""One training in several processes: each takes a share of every batch.

Started with ``torchrun --nproc-per-node 2 -m vit_steps.training ...``, on one machine
or on many, every process runs the same program. What makes them one training is little:
they draw the same batches, each computes on its share, and the gradients are averaged
before the step. So the weights stay equal everywhere, and are those of one process up
to rounding.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch import distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import BatchSampler, RandomSampler, Sampler


@contextmanager
def processes(device: str = "cpu") -> Iterator[torch.device]:
    """Join the other processes that torchrun started; alone, do nothing.

    Args:
        device: "cpu", where the processes speak through gloo, or "cuda", through NCCL,
            each with a GPU of its own.

    Yields:
        The device of this process.

    Raises:
        OSError: on a restart, if torchrun was not told to keep its store apart.
    """
    if not dist.is_torchelastic_launched():
        yield torch.device(device)
        return
    _check_store()
    own = torch.device(device)
    if own.type == "cuda":
        own = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(own)
    dist.init_process_group("nccl" if own.type == "cuda" else "gloo")
    try:
        yield own
    finally:
        dist.destroy_process_group()


def _check_store() -> None:
    """Otherwise a restarted process calls at the addresses of those that died."""
    restarts = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
    if restarts and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        raise OSError(
            "restarted, but torchrun's store still has the addresses of the processes "
            "that died (pytorch issue 135712); start it with "
            "TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 in the environment"
        )


def process_rank() -> int:
    """The number of this process, from 0."""
    return dist.get_rank() if dist.is_initialized() else 0


def world_size() -> int:
    """How many processes there are."""
    return dist.get_world_size() if dist.is_initialized() else 1


class BatchShares(Sampler[list[int]]):
    """The batches of a shuffled epoch, of each the share of this process.

    All processes must have the same random state when an epoch begins. Behind it, every
    process draws other random numbers, for its augmentation. The images of a batch are
    dealt like cards. A process that gets none takes the first one, with weight 0.

    Args:
        count: images in the data set.
        batch_size: images in a batch, over all processes.
    """

    def __init__(self, count: int, batch_size: int) -> None:
        self.count, self.batch_size, self.rank = count, batch_size, process_rank()
        self.batches = BatchSampler(RandomSampler(range(count)), batch_size, False)

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[list[int]]:
        for index, batch in enumerate(self.batches):
            if index == 0:
                self.seed_worker()
            yield batch[self.rank :: world_size()] or batch[:1]

    def seed_worker(self, _: int = 0) -> None:
        """Let this process, or a worker of it, draw other numbers than the others."""
        if self.rank:
            torch.manual_seed(torch.initial_seed() + 7919 * self.rank)

    def weight(self, index: int) -> float:
        """What the mean loss of a share counts for in the mean over the processes.

        1 where all shares are of one size, which may fail in an epoch's last batch.
        """
        size = min(self.batch_size, self.count - index * self.batch_size)
        own = len(range(self.rank, size, world_size()))
        return own * world_size() / size


def data_parallel(model: nn.Module) -> nn.Module:
    """What to call in place of the model, so that gradients are averaged."""
    if world_size() == 1 or is_sharded(model):
        return model
    # else every gradient would be there twice, once in a bucket to be sent
    return DistributedDataParallel(model, gradient_as_bucket_view=True)


def shard(model: nn.Module) -> nn.Module:
    """Split a model's parameters over the processes: FSDP2, in place.

    Each process keeps its part of every matrix, and of the optimiser's averages. A
    block's matrices are put together when the block computes, and dropped behind it.

    Raises:
        RuntimeError: if there are no processes to split it over.
    """
    if not dist.is_initialized():
        raise RuntimeError("shard: there is one process, expected torchrun's")
    from torch.distributed.fsdp import fully_shard

    for block in model.blocks:  # type: ignore[union-attr]
        fully_shard(block)
    # else the outermost parameters stay put together until the next backward pass
    fully_shard(model, reshard_after_forward=True)
    return model


def is_sharded(model: nn.Module) -> bool:
    return any(hasattr(parameter, "full_tensor") for parameter in model.parameters())


def whole(tensor: Tensor) -> Tensor:
    """A tensor with the parts of all processes; all of them must ask for it."""
    full_tensor: Any = getattr(tensor, "full_tensor", None)
    return tensor if full_tensor is None else full_tensor()


def part_of(tensor: Tensor, like: Tensor) -> Tensor:
    """This process's part of a whole tensor, split as ``like`` is."""
    if not hasattr(like, "full_tensor"):
        return tensor
    from torch.distributed.tensor import distribute_tensor

    split: Tensor = distribute_tensor(
        tensor.to(like.device),
        like.device_mesh,  # type: ignore[attr-defined]
        like.placements,  # type: ignore[attr-defined]
    )
    return split


def sum_over_processes(number: float, device: torch.device) -> float:
    """The sum of a number over all processes."""
    if world_size() == 1:
        return number
    summed = torch.tensor(number, dtype=torch.float64, device=device)
    dist.all_reduce(summed)
    return summed.item()


def wait_for_all() -> None:
    """Go on when every process is here."""
    if dist.is_initialized():
        dist.barrier()
