"""One training in several processes, each with a share of every batch.

Started with ``torchrun --nproc-per-node 2 -m vit_steps.train ...``, every process runs
the same program. They draw the same batches, each computes on its share, and the
gradients are averaged before the step, so that the weights stay equal everywhere.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch import distributed as dist
from torch.nn.parallel import DistributedDataParallel

from vit_steps.compatibility import Data
from vit_steps.training import (
    Batches,
    TrainConfig,
    evaluate,
    mixed,
    parameter_groups,
    running,
    set_learning_rate,
    train_step,
)
from vit_steps.training_state import Epoch, History, TrainingState


@contextmanager
def processes(device: str = "cpu") -> Iterator[torch.device]:
    """Join the other processes that torchrun started, and yield this one's device.

    Their library is gloo on "cpu", and NCCL on "cuda", where each has its own GPU.

    Raises: OSError on a restart, unless torchrun gives each start a store of its own.
    """
    if not dist.is_torchelastic_launched():
        yield torch.device(device)
        return
    restarts = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
    if restarts and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        raise OSError(  # otherwise it would wait for the dead processes for ever
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
        wait_for_all()  # a process that left early would break the others' calls
    finally:
        dist.destroy_process_group()


def process_rank() -> int:
    """Return the number of this process, from 0."""
    return dist.get_rank() if dist.is_initialized() else 0


def world_size() -> int:
    """Return the number of processes."""
    return dist.get_world_size() if dist.is_initialized() else 1


class BatchShares(Batches):
    """This process's share of each batch of an epoch.

    All processes draw the same order, from the epoch's seed, and different numbers for
    their augmentation. The images of a batch, ``batch_size`` over all processes, are
    dealt like cards. A process that gets none takes the first image, with weight 0,
    because all processes have to take part in averaging the gradients.
    """

    def __init__(self, count: int, batch_size: int) -> None:
        super().__init__(count, batch_size)
        self.rank = process_rank()
        self.world = world_size()

    def start_epoch(self, seed: int) -> None:
        super().start_epoch(seed)
        if self.rank:
            torch.manual_seed(seed + 7919 * self.rank)
            self.of_workers.manual_seed(seed + 7919 * self.rank)

    def __iter__(self) -> Iterator[list[int]]:
        for batch in super().__iter__():
            yield batch[self.rank :: self.world] or batch[:1]

    def size(self, index: int) -> int:
        """Return the number of images that this process gets of a batch."""
        return len(range(self.rank, self.whole_size(index), self.world))

    def whole_size(self, index: int) -> int:
        """Return the number of images in a batch, over all processes."""
        return min(self.batch_size, self.count - index * self.batch_size)

    def weight(self, index: int) -> float:
        """Return the factor that makes every image of a batch count the same.

        The mean over the processes counts each process the same, however many images
        it has. The factor is 1 where all have equally many.
        """
        return self.size(index) * self.world / self.whole_size(index)


def data_parallel(model: nn.Module) -> nn.Module:
    """Return the model, wrapped so that the processes average its gradients."""
    if world_size() == 1 or is_sharded(model):
        return model
    # by default every gradient is copied into the bucket from which it is sent
    return DistributedDataParallel(model, gradient_as_bucket_view=True)


def shard(model: nn.Module) -> nn.Module:
    """Split a model's parameters over the processes with FSDP2, in place; return it.

    Each process keeps its part of every matrix, and of the optimiser's averages. A
    block's matrices are put together when the block computes, and dropped afterwards.

    Raises: RuntimeError if there are no processes to split it over.
    """
    if not dist.is_initialized():
        raise RuntimeError("shard: there is one process, expected torchrun's")
    from torch.distributed.fsdp import fully_shard

    for block in model.blocks:  # type: ignore[union-attr]
        fully_shard(block)
    # by default the outermost parameters stay whole until the next backward pass
    fully_shard(model, reshard_after_forward=True)
    return model


def is_sharded(model: nn.Module) -> bool:
    """Return whether the parameters are split over the processes."""
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
    """Do what ``train`` does in all of torchrun's processes, and return the history.

    The weights are those of one process, up to rounding, where nothing is drawn at
    random but the order of the images. Every process sees all validation images, since
    a model that is split needs all processes. The first process alone shows the bar,
    calls the callbacks and writes the checkpoint. One process gives the same bits as
    ``train``. The model has equal weights in all processes, or is split by ``shard``.

    Raises: ValueError as ``train``; and for ``ema_decay`` with a model that is sharded.
    """
    config = config or TrainConfig()
    if config.ema_decay is not None and is_sharded(model):
        raise ValueError("ema_decay: expected None for a model that is sharded")
    is_first = process_rank() == 0
    optimizer = torch.optim.AdamW(parameter_groups(model, config.weight_decay))
    state = TrainingState(model, optimizer, data, config, checkpoint)
    history = state.restore(resume)
    network = data_parallel(model)
    shares = BatchShares(len(data.train), config.batch_size)  # type: ignore[arg-type]

    with running(state, len(shares), progress=progress and is_first) as bar:
        for epoch in range(len(history.epochs), config.epochs):
            started = time.perf_counter()
            losses: list[Tensor] = []
            shares.start_epoch(config.seed * 1_000_003 + epoch)
            model.train()
            for index, (images, targets) in enumerate(mixed(state, shares)):
                lr = set_learning_rate(state, epoch * len(shares) + index, len(shares))
                loss = train_step(
                    network,
                    optimizer,
                    images,
                    targets,
                    label_smoothing=config.label_smoothing,
                    clip_norm=config.clip_norm,
                    autocast=config.autocast,
                    loss_weight=shares.weight(index),
                )
                losses.append(loss * shares.size(index))
                state.update_average()
                bar.update()
            own_loss = sum(torch.stack(losses).tolist())
            train_loss = sum_over_processes(own_loss, loss.device) / shares.count
            result = state.averaged or model
            metrics = evaluate(result, data.validation, num_workers=config.num_workers)
            seconds = time.perf_counter() - started
            history.epochs.append(Epoch(epoch + 1, lr, train_loss, metrics, seconds))
            bar.set_postfix(loss=f"{train_loss:.3f}", top1=f"{metrics.top1:.3f}")
            state.save(write=is_first)
            wait_for_all()
            for callback in callbacks if is_first else ():
                callback(history)
    return history


def sum_over_processes(number: float, device: torch.device) -> float:
    """Return the sum of a number over all processes."""
    if world_size() == 1:
        return number
    summed = torch.tensor(number, dtype=torch.float64, device=device)
    dist.all_reduce(summed)
    return summed.item()


def wait_for_all() -> None:
    """Wait until every process has come to this line."""
    if dist.is_initialized():
        dist.barrier()
