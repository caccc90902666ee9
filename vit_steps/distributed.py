"""One training in several processes: each takes a share of every batch.

Started with ``torchrun --nproc-per-node 2 -m vit_steps.train ...``, every process runs
the same program. They draw the same batches, each computes on its share, and the
gradients are averaged before the step, so that the weights stay equal everywhere.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch import distributed as dist
from torch.nn.parallel import DistributedDataParallel

from vit_steps.checkpoint import write_checkpoint
from vit_steps.training import Batches, Data, TrainConfig, train
from vit_steps.training_state import History


@contextmanager
def processes(device: str = "cpu") -> Iterator[torch.device]:
    """Join the other processes that torchrun started; yields this one's device.

    On "cpu" they speak through gloo, on "cuda" through NCCL, each with its own GPU.

    Raises: OSError on a restart, if torchrun was not told to keep its store apart.
    """
    if not dist.is_torchelastic_launched():
        yield torch.device(device)
        return
    restarts = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
    if restarts and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        raise OSError(  # else it would wait for those that died
            "restarted, but torchrun's store still has the addresses of the processes "
            "that died (pytorch issue 135712); start it with "
            "TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 in the environment"
        )
    own = torch.device(device)
    if own.type == "cuda":
        own = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(own)
    dist.init_process_group("nccl" if own.type == "cuda" else "gloo")
    try:
        yield own
        wait_for_all()  # no process leaves while another still listens
    finally:
        dist.destroy_process_group()


def process_rank() -> int:
    """The number of this process, from 0."""
    return dist.get_rank() if dist.is_initialized() else 0


def world_size() -> int:
    """How many processes there are."""
    return dist.get_world_size() if dist.is_initialized() else 1


class BatchShares(Batches):
    """The share that this process has of each batch of a shuffled epoch.

    All processes draw the same order, from the epoch's seed. What they draw for their
    augmentation is different in each. The images of a batch, ``batch_size`` over all
    processes, are dealt like cards. Who gets none takes the first one, with weight 0.
    """

    def __init__(self, count: int, batch_size: int) -> None:
        super().__init__(count, batch_size)
        self.rank, self.world = process_rank(), world_size()

    def start_epoch(self, seed: int) -> None:
        super().start_epoch(seed)
        if self.rank:
            torch.manual_seed(seed + 7919 * self.rank)
            self.of_workers.manual_seed(seed + 7919 * self.rank)

    def __iter__(self) -> Iterator[list[int]]:
        for batch in super().__iter__():
            yield batch[self.rank :: self.world] or batch[:1]

    def own_size(self, index: int) -> int:
        """Images of a batch that this process was dealt."""
        return len(range(self.rank, self.size(index), self.world))

    def weight(self, index: int) -> float:
        return self.own_size(index) * self.world / self.size(index)

    def mean(self, losses: list[Tensor]) -> float:
        batches = enumerate(torch.stack(losses).tolist())
        own = sum(loss * self.own_size(index) for index, loss in batches)
        return sum_over_processes(own, losses[0].device) / self.count


def data_parallel(model: nn.Module) -> nn.Module:
    """What to call in place of the model, so that gradients are averaged."""
    if world_size() == 1 or is_sharded(model):
        return model
    # else every gradient would be there twice, once in a bucket to be sent
    return DistributedDataParallel(model, gradient_as_bucket_view=True)


def shard(model: nn.Module) -> nn.Module:
    """Split a model's parameters over the processes: FSDP2, in place.

    Each process keeps its part of every matrix, and of the optimiser's averages. A
    block's matrices are put together when the block computes, and dropped afterwards.

    Raises: RuntimeError if there are no processes to split it over.
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


def train_together(
    model: nn.Module,
    data: Data,
    config: TrainConfig | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool = True,
    callbacks: Sequence[Callable[[History], None]] = (),
) -> History:
    """``train`` in each of torchrun's processes, with a share of every batch each.

    The weights are those of one process, up to rounding, where nothing is drawn at
    random but the order of the images. Validation images are not shared: all processes
    see all, as a model that is split needs it. The first process alone shows the bar,
    calls the callbacks and writes the checkpoint. Alone it is ``train``, to the last
    bit. The model has the same weights in all processes, or is split by ``shard``.

    Raises: ValueError as ``train``; and for ``ema_decay`` with a model that is sharded.
    """
    config = config or TrainConfig()
    if config.ema_decay is not None and is_sharded(model):
        raise ValueError("ema_decay: expected None for a model that is sharded")
    speaks = process_rank() == 0
    count = len(data.train)  # type: ignore[arg-type]
    return train(
        model,
        data,
        config,
        checkpoint=checkpoint,
        resume=resume,
        progress=progress and speaks,
        callbacks=callbacks if speaks else (),
        wrapped=data_parallel(model),
        batches=BatchShares(count, config.batch_size),
        write=write_once,
    )


def write_once(
    path: str | os.PathLike[str], tensors: dict[str, Tensor], metadata: dict[str, Any]
) -> None:
    """``write_checkpoint`` in the first process, for which the others wait."""
    if process_rank() == 0:
        write_checkpoint(path, tensors, metadata)
    wait_for_all()


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
