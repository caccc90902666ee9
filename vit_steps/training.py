"""Training: from a model and images to a trained model."""

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset, Sampler

from vit_steps.compatibility import Data, on_device_of
from vit_steps.evaluating import as_module
from vit_steps.optional import imported
from vit_steps.predictions import predictions
from vit_steps.sizes import (
    check_count,
    check_fields,
    check_number,
    check_rate,
    check_switch,
)
from vit_steps.tensors import check_indices
from vit_steps.training_state import Epoch, History, Metrics, TrainingState


@dataclass(frozen=True)
class TrainConfig:
    """The choices of a training run; its ingredients are those of arXiv 2012.12877.

    Raises: ValueError if a number is out of range.
    """

    epochs: int = 50  # how often every image is seen
    batch_size: int = 64  # images in a step
    lr: float = 2e-3  # the learning rate at its peak, from where it falls to 0
    weight_decay: float = 0.05  # AdamW's, for matrices only
    warmup_epochs: float = 5.0  # the learning rate rises, at most half of all epochs
    label_smoothing: float = 0.1  # share of the target that all classes get
    clip_norm: float | None = 1.0  # a longer gradient is shortened to this length
    mixup: float = 0.0  # α of blending two images (arXiv 1710.09412); 0 for none
    cutmix: float = 0.0  # α of pasting one into the other (arXiv 1905.04899)
    ema_decay: float | None = None  # of an average of the weights, which is returned
    autocast: bool = False  # multiply matrices in bfloat16
    seed: int = 0  # of everything that is drawn at random
    num_workers: int = 0  # processes that prepare images

    def __post_init__(self) -> None:
        check_fields(self, check_count, "epochs", "batch_size")
        check_fields(self, check_count, "seed", "num_workers", least=0)
        least_0 = ("weight_decay", "warmup_epochs", "mixup", "cutmix")
        check_fields(self, check_number, *least_0, least=0.0)
        check_fields(self, check_number, "lr", above=0.0)
        check_fields(self, check_number, "clip_norm", above=0.0, optional=True)
        check_fields(self, check_rate, "label_smoothing")
        check_fields(self, check_rate, "ema_decay", optional=True)
        check_fields(self, check_switch, "autocast")
        if self.seed >= 2**32:  # each epoch multiplies it by a million
            raise ValueError(f"seed: got {self.seed}, expected less than 2**32")


def learning_rate(
    step: int, total_steps: int, warmup_steps: float, peak: float
) -> float:
    """Return the learning rate of a step: linear warm-up, then half a cosine down to 0.

    After the last step it stays at 0. Source: arXiv 1608.03983, equation 5.
    """
    if step < warmup_steps:
        return peak * (step + 1) / (warmup_steps + 1)
    progress = (step - warmup_steps) / max(1.0, total_steps - warmup_steps)
    return peak * (1 + math.cos(math.pi * min(1.0, progress))) / 2


def parameter_groups(model: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Return the parameters in two groups: matrices, which decay, and the rest.

    The rest are norms, biases, LayerScale, class token and positions.
    """
    matrices: list[nn.Parameter] = []
    rest: list[nn.Parameter] = []
    for name, parameter in model.named_parameters():
        is_matrix = name.endswith("weight") and parameter.ndim >= 2
        (matrices if is_matrix else rest).append(parameter)
    return [
        {"params": matrices, "weight_decay": weight_decay},
        {"params": rest, "weight_decay": 0.0},
    ]


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    images: Tensor,
    targets: Tensor,
    label_smoothing: float = 0.0,
    clip_norm: float | None = None,
    autocast: bool = False,
    loss_weight: float = 1.0,
) -> Tensor:
    """Take one step downhill, and return the loss before it.

    The loss is multiplied by ``loss_weight`` before the gradient is computed, which is
    shortened to ``clip_norm`` if it is longer.

    Shape: images (B, C, H, W); targets (B,) labels, or (B, K) shares of each class
    Raises: FloatingPointError if the gradient is not finite, as it is where the loss is
        not. No weight has changed then.
    """
    with torch.autocast(images.device.type, torch.bfloat16, enabled=autocast):
        logits = model(images)  # (B, K)
    loss = F.cross_entropy(logits.float(), targets, label_smoothing=label_smoothing)
    optimizer.zero_grad()
    (loss_weight * loss).backward()
    limit = math.inf if clip_norm is None else clip_norm
    norm = nn.utils.clip_grad_norm_(model.parameters(), limit)
    if not norm.isfinite():  # the only line at which Python waits for a GPU
        raise FloatingPointError(
            f"the loss is {loss.item()} and its gradient is not finite; lower lr "
            f"(now {optimizer.param_groups[0]['lr']:.2g}), warm up for longer, or set "
            f"clip_norm (now {clip_norm})"
        )
    optimizer.step()
    return loss.detach()


def evaluate(
    model: nn.Module, dataset: Dataset[Any], batch_size: int = 256, num_workers: int = 0
) -> Metrics:
    """Return a model's loss and accuracy on a data set, and leave the model as it was.

    Raises: ValueError as ``predictions`` does.
    """
    found = predictions(model, dataset, batch_size, num_workers, features=False)
    num_classes = found.logits.shape[1]
    loss = F.cross_entropy(found.logits, found.labels).item()
    best = found.logits.topk(min(5, num_classes)).indices  # (n, 5)
    shares = (best == found.labels[:, None]).double().mean(dim=0)  # (5,)
    top5 = shares.sum().item() if num_classes > 5 else None
    return Metrics(loss, shares[0].item(), top5)


class Batches(Sampler[list[int]]):
    """The batches of an epoch: each of ``count`` images once, in a new random order.

    The images that are left over make a smaller batch.
    """

    def __init__(self, count: int, batch_size: int) -> None:
        self.count = count
        self.batch_size = batch_size
        self.of_order = torch.Generator()
        self.of_workers = torch.Generator()

    def start_epoch(self, seed: int) -> None:
        """Seed everything random in an epoch: order, augmentation, mixing, dropout."""
        torch.manual_seed(seed)
        workers, order = torch.empty(2, dtype=torch.int64).random_().tolist()
        self.of_order.manual_seed(order)
        self.of_workers.manual_seed(workers)

    def __len__(self) -> int:
        return math.ceil(self.count / self.batch_size)

    def __iter__(self) -> Iterator[list[int]]:
        order = torch.randperm(self.count, generator=self.of_order)
        for batch in order.split(self.batch_size):
            yield batch.tolist()


def train(
    model: nn.Module,
    data: Data,
    config: TrainConfig | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool = True,
    callbacks: Sequence[Callable[[History], None]] = (),
) -> History:
    """Train a classifier on the device where it is, and return its history.

    The same seed, number of threads and machine give the same weights to the last bit,
    with or without a break in between. The caller's random numbers do not change.

    Args:
        model: (B, C, H, W) -> (B, K); a ``VisionTransformer`` or any other.
        data: as ``data.load`` returns it. The model gets its ``preprocessing``.
        checkpoint: a .safetensors file for the state after each epoch; None for none.
        resume: go on from the checkpoint if there is one.
        callbacks: called with the history after each epoch.

    Raises:
        ValueError: if data, model and config do not fit each other, or the checkpoint
            is of another training.
        FileExistsError: if there is a checkpoint and ``resume`` is not set.
        FloatingPointError: if the gradient is not finite. The last checkpoint is kept.
    """
    model = as_module(model)
    config = config or TrainConfig()
    optimizer = torch.optim.AdamW(parameter_groups(model, config.weight_decay))
    state = TrainingState(model, optimizer, data, config, checkpoint)
    history = state.restore(resume)
    batches = Batches(len(data.train), config.batch_size)  # type: ignore[arg-type]

    with running(state, len(batches), progress) as bar:
        for epoch in range(len(history.epochs), config.epochs):
            started = time.perf_counter()
            losses: list[Tensor] = []
            batches.start_epoch(config.seed * 1_000_003 + epoch)
            model.train()
            for images, targets in mixed(state, batches):
                step = epoch * len(batches) + len(losses)
                lr = set_learning_rate(state, step, len(batches))
                loss = train_step(
                    model,
                    optimizer,
                    images,
                    targets,
                    label_smoothing=config.label_smoothing,
                    clip_norm=config.clip_norm,
                    autocast=config.autocast,
                )
                losses.append(loss * len(images))
                state.update_average()
                bar.update()
            train_loss = sum(torch.stack(losses).tolist()) / batches.count
            result = state.averaged or model
            metrics = evaluate(result, data.validation, num_workers=config.num_workers)
            seconds = time.perf_counter() - started
            history.epochs.append(Epoch(epoch + 1, lr, train_loss, metrics, seconds))
            bar.set_postfix(loss=f"{train_loss:.3f}", top1=f"{metrics.top1:.3f}")
            state.save()
            for callback in callbacks:
                callback(history)
    return history


def set_learning_rate(state: TrainingState, step: int, steps_per_epoch: int) -> float:
    """Write the learning rate of a step into the optimiser, and return it."""
    config = state.config
    warmup_steps = min(config.warmup_epochs, config.epochs / 2) * steps_per_epoch
    lr = learning_rate(step, config.epochs * steps_per_epoch, warmup_steps, config.lr)
    for group in state.optimizer.param_groups:
        group["lr"] = lr
    return lr


def mixed(state: TrainingState, batches: Batches) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield an epoch's images and targets on the model's device, mixed if so chosen.

    Shape: images (B, C, H, W); targets (B,) labels, or (B, K) shares of each class
    Raises: ValueError if labels are not those of the model's classes.
    """
    loader = DataLoader(
        state.data.train,
        batch_sampler=batches,
        num_workers=state.config.num_workers,
        generator=batches.of_workers,
    )
    mix = mixing(state.config, state.num_classes)
    for images, labels in loader:
        check_indices(labels, "labels", len(images), count=state.num_classes)
        images = on_device_of(state.model, images)
        yield mix(images, labels.to(images.device))


def mixing(
    config: TrainConfig, num_classes: int
) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Return mixup, CutMix, a random choice of both, or a function without effect."""
    if not config.mixup and not config.cutmix:
        return lambda images, labels: (images, labels)
    v2 = imported("torchvision.transforms.v2")
    strengths = ((v2.MixUp, config.mixup), (v2.CutMix, config.cutmix))
    return v2.RandomChoice(
        [mix(alpha=alpha, num_classes=num_classes) for mix, alpha in strengths if alpha]
    )


@contextmanager
def running(
    state: TrainingState, steps_per_epoch: int, progress: bool
) -> Iterator[Any]:
    """Show a progress bar during a training, and keep the caller's random numbers.

    In the end the model has the averaged weights, if there are any, and is in
    evaluation mode, after an error too. A FloatingPointError gets the number of the
    epoch, and where the last state is.
    """
    device = next(state.model.parameters()).device
    bar = imported("tqdm.auto").tqdm(
        total=state.config.epochs * steps_per_epoch,
        initial=len(state.history.epochs) * steps_per_epoch,
        unit="step",
        disable=not progress,
    )
    with bar, torch.random.fork_rng([device] if device.type == "cuda" else []):
        try:
            yield bar
            if state.averaged is not None:
                state.model.load_state_dict(state.averaged.module.state_dict())
        except FloatingPointError as error:
            done = len(state.history.epochs)
            kept = f"; the state after epoch {done} is in {state.checkpoint}"
            raise FloatingPointError(
                f"epoch {done + 1}: {error}{kept if state.checkpoint and done else ''}"
            ) from None
        finally:
            state.model.eval()
