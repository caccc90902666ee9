"""Training: from a model and images to a trained model."""

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader, Dataset, Sampler

from vit_steps.checkpoint import write_checkpoint
from vit_steps.optional import imported
from vit_steps.preprocessing import Preprocessing
from vit_steps.sizes import check_count, check_rate
from vit_steps.training_state import Epoch, History, Metrics, TrainingState


class Data(Protocol):
    """What is trained on, and looked at after each epoch: (image (C, H, W), label)."""

    @property
    def train(self) -> Dataset[Any]: ...
    @property
    def validation(self) -> Dataset[Any]: ...


@dataclass(frozen=True)
class TrainConfig:
    """How to train; the ingredients are those of arXiv 2012.12877, at a small size.

    Raises: ValueError if a number is out of range.
    """

    epochs: int = 50  # how often every image is seen
    batch_size: int = 64  # images in a step
    lr: float = 2e-3  # the learning rate at its peak, from where it falls to 0
    weight_decay: float = 0.05  # AdamW's, for matrices only
    warmup_epochs: float = 5.0  # the learning rate rises, at most half of all epochs
    label_smoothing: float = 0.1  # share of the target that all classes get
    clip_norm: float | None = 1.0  # longest gradient that is followed as it is
    mixup: float = 0.0  # α of blending two images (arXiv 1710.09412); 0 for none
    cutmix: float = 0.0  # α of pasting one into the other (arXiv 1905.04899)
    ema_decay: float | None = None  # of an average of the weights, to be returned
    autocast: bool = False  # compute in bfloat16 where it does little harm
    seed: int = 0  # of everything that is drawn at random
    num_workers: int = 0  # processes that prepare images

    def __post_init__(self) -> None:
        check_count(self.epochs, "epochs")
        check_count(self.batch_size, "batch_size")
        least_0 = ("weight_decay", "warmup_epochs", "mixup", "cutmix")
        for name in (*least_0, "seed", "num_workers"):
            value = getattr(self, name)
            if not value >= 0:
                raise ValueError(f"{name}: got {value}, expected at least 0")
        for name in ("lr", "clip_norm"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name}: got {value}, expected more than 0")
        check_rate(self.label_smoothing, "label_smoothing")
        check_rate(self.ema_decay or 0.0, "ema_decay")


def learning_rate(
    step: int, total_steps: int, warmup_steps: float, peak: float
) -> float:
    """Linear warm-up to the peak, then half a cosine down to 0 (arXiv 1608.03983)."""
    if step < warmup_steps:
        return peak * (step + 1) / (warmup_steps + 1)
    progress = (step - warmup_steps) / max(1.0, total_steps - warmup_steps)
    return peak * (1 + math.cos(math.pi * progress)) / 2


def parameter_groups(model: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Parameters in two groups for the optimiser: matrices decay, the rest does not.

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
    weight: float = 1.0,
) -> Tensor:
    """One step downhill; returns the loss before it, in nats.

    Args:
        weight: a factor on the gradient, for a batch that is taken in uneven parts.

    Shape: images (B, C, H, W); targets (B,) labels, or (B, K) shares of each class
    Raises: FloatingPointError if the gradient is not finite, as it is where the loss is
        not; the weights are then those from before.
    """
    with torch.autocast(images.device.type, torch.bfloat16, enabled=autocast):
        logits = model(images)  # (B, K)
    loss = F.cross_entropy(logits.float(), targets, label_smoothing=label_smoothing)
    optimizer.zero_grad()
    (weight * loss).backward()
    limit = math.inf if clip_norm is None else clip_norm
    norm = nn.utils.clip_grad_norm_(model.parameters(), limit)
    if not norm.isfinite():  # the one place where a GPU is waited for
        raise FloatingPointError(
            f"the loss is {loss.item()} and its gradient is not finite; lower lr "
            f"(now {optimizer.param_groups[0]['lr']:.2g}), warm up for longer, or set "
            f"clip_norm (now {clip_norm})"
        )
    optimizer.step()
    return loss.detach()


@torch.no_grad()
def evaluate(
    model: nn.Module, dataset: Dataset[Any], batch_size: int = 256, num_workers: int = 0
) -> Metrics:
    """Loss and accuracy on a data set; the model is left in the mode it was in."""
    was_training, device = model.training, next(model.parameters()).device
    model.eval()
    loss, top1, top5, count = 0.0, 0, 0, 0
    for images, labels in DataLoader(dataset, batch_size, num_workers=num_workers):
        images, labels = images.to(device), labels.to(device)
        logits = model(images).float()  # (B, K)
        best = logits.topk(min(5, logits.shape[1])).indices  # (B, 5)
        hits = best == labels[:, None]  # (B, 5)
        loss += F.cross_entropy(logits, labels, reduction="sum").item()
        top1 += int(hits[:, 0].sum())
        top5 += int(hits.sum())
        count += len(labels)
    model.train(was_training)
    return Metrics(loss / count, top1 / count, top5 / count)


class Batches(Sampler[list[int]]):
    """The batches of an epoch: each of ``count`` images once, in an order drawn anew.

    What is left over makes a smaller batch.
    """

    def __init__(self, count: int, batch_size: int) -> None:
        self.count, self.batch_size = count, batch_size
        self.of_order, self.of_workers = torch.Generator(), torch.Generator()

    def start_epoch(self, seed: int) -> None:
        """Seed all that an epoch draws: order, augmentation, mixing, dropout."""
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

    def size(self, index: int) -> int:
        """Images in a batch, by its place in the epoch."""
        return min(self.batch_size, self.count - index * self.batch_size)

    def weight(self, index: int) -> float:
        """A factor on a batch's gradient; not 1 where processes share it unevenly."""
        return 1.0

    def mean(self, losses: list[Tensor]) -> float:
        """The mean over an epoch's images, from the mean over each batch."""
        batches = enumerate(torch.stack(losses).tolist())
        return sum(loss * self.size(index) for index, loss in batches) / self.count


def train(
    model: nn.Module,
    data: Data,
    config: TrainConfig | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool = True,
    callbacks: Sequence[Callable[[History], None]] = (),
    *,
    wrapped: nn.Module | None = None,
    batches: Batches | None = None,
    write: Callable[..., None] = write_checkpoint,
) -> History:
    """Train a classifier, on the device where it is.

    The same seed, number of threads and machine give the same weights to the last bit,
    with or without a break in between. The caller's random numbers are left alone.

    Args:
        model: (B, C, H, W) -> (B, K); a ``VisionTransformer`` or any other.
        data: as ``data.load`` gives it. The model keeps its ``preprocessing``.
        config: how; ``TrainConfig()`` if it is None.
        checkpoint: a .safetensors file for the state after each epoch; None for none.
        resume: go on from the checkpoint if there is one.
        callbacks: called with the history after each epoch.
        wrapped: what to call in place of the model; ``train_together`` hands in DDP.
        batches: which images this process sees, and in which order.
        write: writes the checkpoint, in one process alone if there are several.

    Raises:
        ValueError: if the data is empty or does not fit the model, the model has no
            head, or the checkpoint is of another training.
        FileExistsError: if there is a checkpoint and ``resume`` is not set.
        FloatingPointError: if the gradient is not finite. The last checkpoint is kept.
    """
    config = config or TrainConfig()
    num_classes = check_fit(model, data)
    if isinstance(known := getattr(data, "preprocessing", None), Preprocessing):
        model.preprocessing = known  # type: ignore[assignment]
    device = next(model.parameters()).device
    optimizer = torch.optim.AdamW(parameter_groups(model, config.weight_decay))
    averaged = None
    if config.ema_decay is not None:
        average = get_ema_multi_avg_fn(config.ema_decay)
        averaged = AveragedModel(model, multi_avg_fn=average, use_buffers=True)
    state = TrainingState(
        model=model,
        optimizer=optimizer,
        averaged=averaged,
        config=asdict(config),
        write=write,
    )
    history = state.restore(checkpoint, resume)

    if batches is None:
        batches = Batches(len(data.train), config.batch_size)  # type: ignore[arg-type]
    loader = DataLoader(
        data.train,
        batch_sampler=batches,
        num_workers=config.num_workers,
        generator=batches.of_workers,
    )
    mix = mixing(config, num_classes)
    total_steps = config.epochs * len(batches)
    warmup_steps = min(config.warmup_epochs, config.epochs / 2) * len(batches)
    step = len(history.epochs) * len(batches)

    with (
        progress_bar(total_steps, step, progress) as bar,
        torch.random.fork_rng([device] if device.type == "cuda" else []),
        errors_that_name_the_epoch(history, checkpoint),
    ):
        for epoch in range(len(history.epochs), config.epochs):
            started, losses = time.perf_counter(), []
            batches.start_epoch(config.seed * 1_000_003 + epoch)
            model.train()
            for index, (images, labels) in enumerate(loader):
                check_labels(labels, num_classes)
                images, targets = mix(images.to(device), labels.to(device))
                lr = learning_rate(step, total_steps, warmup_steps, config.lr)
                for group in optimizer.param_groups:
                    group["lr"] = lr
                loss = train_step(
                    model if wrapped is None else wrapped,
                    optimizer,
                    images,
                    targets,
                    label_smoothing=config.label_smoothing,
                    clip_norm=config.clip_norm,
                    autocast=config.autocast,
                    weight=batches.weight(index),
                )
                losses.append(loss)
                if averaged is not None:
                    averaged.update_parameters(model)
                step += 1
                bar.update()
            metrics = evaluate(
                averaged or model, data.validation, num_workers=config.num_workers
            )
            seconds = time.perf_counter() - started
            train_loss = batches.mean(losses)
            history.epochs.append(Epoch(epoch + 1, lr, train_loss, metrics, seconds))
            bar.set_postfix(loss=f"{train_loss:.3f}", top1=f"{metrics.top1:.3f}")
            if checkpoint is not None:
                state.save(checkpoint, asdict(history))
            for callback in callbacks:
                callback(history)

    if averaged is not None:
        model.load_state_dict(averaged.module.state_dict())
    model.eval()
    return history


def check_fit(model: nn.Module, data: Data) -> int:
    """Try one image, so that what does not fit is said at once; returns K."""
    for name in ("train", "validation"):
        if not len(getattr(data, name)):
            raise ValueError(f"data: its {name} part is empty, expected images")
    image, _ = data.train[0]
    was_training, device = model.training, next(model.parameters()).device
    model.eval()
    with torch.no_grad():
        logits = model(image[None].to(device))
    model.train(was_training)
    if logits.ndim != 2:
        shape = tuple(logits.shape)
        raise ValueError(f"model: gives {shape} for one image, expected (1, K)")
    K = int(logits.shape[1])
    if getattr(getattr(model, "config", None), "num_classes", None) == 0:
        raise ValueError("model: has no head, expected one; reset_classifier makes one")
    expected = getattr(data, "num_classes", K)
    if K != expected:
        raise ValueError(
            f"model: tells {K} classes apart, expected the {expected} of the data; "
            "reset_classifier makes a head for them"
        )
    return K


def check_labels(labels: Tensor, num_classes: int) -> None:
    """Raise ValueError if there is a label that is none of the K classes."""
    if labels.dtype != torch.int64:
        raise ValueError(f"data: got labels of {labels.dtype}, expected torch.int64")
    low, high = int(labels.min()), int(labels.max())
    if low < 0 or high >= num_classes:
        raise ValueError(
            f"data: got labels from {low} to {high}, expected 0 to {num_classes - 1}, "
            f"since the model tells {num_classes} classes apart"
        )


def mixing(
    config: TrainConfig, num_classes: int
) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Mixup, CutMix, one of them at a time, or nothing."""
    if not config.mixup and not config.cutmix:
        return lambda images, labels: (images, labels)
    v2 = imported("torchvision.transforms.v2")
    alphas = {v2.MixUp: config.mixup, v2.CutMix: config.cutmix}
    return v2.RandomChoice(
        [mix(alpha=a, num_classes=num_classes) for mix, a in alphas.items() if a]
    )


def progress_bar(steps: int, initial: int, progress: bool) -> Any:
    """A bar that tells how far a training is, or nothing."""
    tqdm = imported("tqdm.auto").tqdm
    return tqdm(total=steps, initial=initial, unit="step", disable=not progress)


@contextmanager
def errors_that_name_the_epoch(
    history: History, checkpoint: str | os.PathLike[str] | None
) -> Iterator[None]:
    """Let a FloatingPointError say when it was, and where the last state is."""
    try:
        yield
    except FloatingPointError as error:
        done = len(history.epochs)
        kept = f"; the state after epoch {done} is in {checkpoint}"
        raise FloatingPointError(
            f"epoch {done + 1}: {error}{kept if checkpoint and done else ''}"
        ) from None


def tensorboard(folder: str | os.PathLike[str]) -> Callable[[History], None]:
    """A callback that writes each epoch's numbers for TensorBoard.

    Raises: ImportError if tensorboard is not installed; says the pip line.
    """
    writers = imported("torch.utils.tensorboard", "pip install tensorboard")
    writer = writers.SummaryWriter(folder)

    def write(history: History) -> None:
        last = history.epochs[-1]
        writer.add_scalar("lr", last.lr, last.epoch)
        writer.add_scalar("train/loss", last.train_loss, last.epoch)
        for name, value in asdict(last.validation).items():
            writer.add_scalar(f"validation/{name}", value, last.epoch)
        writer.flush()

    return write
