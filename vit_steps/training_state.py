"""The state of a training run: everything that it needs to go on from a file."""

import hashlib
import json
import math
import os
import re
import warnings
from dataclasses import asdict, dataclass, field, is_dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from vit_steps.checkpoint import (
    check_writable,
    fitted,
    read_checkpoint,
    write_checkpoint,
)
from vit_steps.compatibility import Data, check_fit
from vit_steps.preprocessing import Preprocessing

if TYPE_CHECKING:
    from vit_steps.training import TrainConfig


@dataclass(frozen=True)
class Metrics:
    """A model's quality on a data set: mean loss, and accuracies from 0 to 1."""

    loss: float
    top1: float
    top5: float | None  # None for five classes or fewer, where it would always be 1


@dataclass(frozen=True)
class Epoch:
    """The numbers of one epoch."""

    epoch: int  # from 1
    lr: float  # at its end
    train_loss: float  # mean over the epoch, smoothing and mixing included
    validation: Metrics
    seconds: float


@dataclass
class History:
    """The losses, accuracies and times of a training run, epoch by epoch."""

    epochs: list[Epoch] = field(default_factory=list)

    @property
    def train_loss(self) -> list[float]:
        return [epoch.train_loss for epoch in self.epochs]

    @property
    def loss(self) -> list[float]:
        return [epoch.validation.loss for epoch in self.epochs]

    @property
    def top1(self) -> list[float]:
        return [epoch.validation.top1 for epoch in self.epochs]


class TrainingState:
    """Everything that a training run has to keep from one epoch to the next.

    Random numbers are not part of it, because each epoch starts from a seed of its own.
    Where several processes have a part of a tensor each, the file has the whole one.
    The model gets the data's ``preprocessing``, if there is one.

    Raises: ValueError as ``check_fit`` does, and if ``ema_decay`` is so large that at
        the end more than half of the average would still be the untrained weights.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.AdamW,
        data: Data,
        config: "TrainConfig",
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        self.num_classes = check_fit(model, data)
        self.model = getattr(model, "_orig_mod", model)  # as before torch.compile
        self.optimizer = optimizer
        self.data = data
        self.config = config
        self.checkpoint = checkpoint
        self.history = History()
        self.averaged: AveragedModel | None = None
        self.modules = nn.ModuleDict({"model": self.model})
        if (decay := config.ema_decay) is not None:
            count = len(data.train)  # type: ignore[arg-type]
            steps = config.epochs * math.ceil(count / config.batch_size)
            if decay**steps > 0.5:
                raise ValueError(
                    f"ema_decay: got {decay}, with which more than half of the average "
                    f"is still the untrained weights after {steps} steps, expected "
                    f"less, such as {max(0, 1 - 5 / steps):.6g}"
                )
            self.averaged = AveragedModel(
                self.model, multi_avg_fn=get_ema_multi_avg_fn(decay), use_buffers=True
            )
            self.modules["averaged"] = self.averaged
        known = getattr(data, "preprocessing", None)
        if isinstance(known, Preprocessing):
            self.model.preprocessing = known

    def tensors(self) -> dict[str, Tensor]:
        """Return all tensors, not copies, by their names in a file."""
        found = dict(self.modules.state_dict())
        for index, slots in self.optimizer.state_dict()["state"].items():
            found |= {f"optimizer.{index}.{name}": t for name, t in slots.items()}
        return found

    def update_average(self) -> None:
        """Move the average of the weights, if there is one, towards the weights."""
        if self.averaged is not None:
            self.averaged.update_parameters(self.model)

    def save(self, write: bool = True) -> None:
        """Write the state to its file, if it has one.

        All processes have to call this, and the first one to ``write``.
        """
        if self.checkpoint is None:
            return
        tensors = {name: whole(tensor) for name, tensor in self.tensors().items()}
        if write:
            history = {"history": asdict(self.history)}
            write_checkpoint(self.checkpoint, tensors, self.settings | history)

    def restore(self, resume: bool) -> History:
        """Read the state from its file, if it is there; return the history so far.

        Raises: FileExistsError if there is a file and ``resume`` is not set; ValueError
            if it is not a state, or that of a run with other settings.
        """
        if self.checkpoint is None:
            return self.history
        path = check_writable(self.checkpoint, "checkpoint")
        if not path.exists():
            return self.history
        file = f"checkpoint: {str(path)!r}"
        if not resume:
            raise FileExistsError(
                f"{file} is there already; go on from it with resume=True (--resume), "
                "or choose another name"
            )
        tensors, metadata = read_checkpoint(path)
        try:
            epochs = metadata["history"]["epochs"]
            epochs = [e | {"validation": Metrics(**e["validation"])} for e in epochs]
            history = History([Epoch(**epoch) for epoch in epochs])
            differ = [
                f"{name} {before}, now {now.get(name)}"
                for part, now in self.settings.items()
                for name in now | metadata[part]
                if (before := metadata[part].get(name)) != now.get(name)
            ]
        except (KeyError, TypeError) as error:
            raise ValueError(
                f"{file} holds no state of a training, or a damaged one; a finished "
                "model is loaded with from_pretrained"
            ) from error
        if differ:
            raise ValueError(
                f"{file} was made with {'; '.join(differ)}; expected the same; to "
                "train a finished model further, start anew from it (from_pretrained)"
            )
        groups = self.optimizer.param_groups
        for index, p in enumerate(p for group in groups for p in group["params"]):
            if f"optimizer.{index}.step" in tensors:  # absent if it got no gradient
                averages = {n: torch.zeros_like(p) for n in ("exp_avg", "exp_avg_sq")}
                self.optimizer.state[p] = {"step": torch.tensor(0.0)} | averages
        own = self.tensors()
        buffers = dict(self.modules.named_buffers())  # may be infinite, as in a mask
        tensors = fitted(path, tensors, own, unlimited=buffers)
        for name, tensor in own.items():  # the file's order differs between processes
            tensor.copy_(part_of(tensors[name], tensor))
        self.history = history
        if len(history.epochs) >= self.config.epochs:
            warnings.warn(f"{file} is a finished training: nothing to do", stacklevel=3)
        return history

    @cached_property
    def settings(self) -> dict[str, dict[str, Any]]:
        """Return the settings that a resumed training must share, as JSON has them.

        Of the training images these are number, shape, classes, labels, names of files
        and transform, if known. 12 digits of a sha256 stand for labels and names.
        """
        config = getattr(self.model, "config", None)
        images: Any = self.data.train
        with torch.random.fork_rng([]):  # an augmentation draws random numbers
            shape = images[0][0].shape
        labels = getattr(images, "labels", getattr(images, "targets", None))
        if labels is not None:
            numbers = torch.as_tensor(labels, dtype=torch.int64).cpu().numpy()
            labels = hashlib.sha256(numbers.tobytes()).hexdigest()[:12]
        paths = getattr(images, "images", []) if hasattr(images, "read") else []
        names = "/".join(os.path.basename(p) for p in paths if isinstance(p, str))
        transform = re.sub(r" at 0x\w+", "", repr(getattr(images, "transform", None)))
        settings = {
            "train_config": asdict(self.config),
            "model": vars(config) if is_dataclass(config) else {},
            "images": {
                "images": len(images),
                "image_shape": shape,
                "classes": getattr(self.data, "classes", None),
                "labels": labels,
                "files": hashlib.sha256(names.encode()).hexdigest()[:12],
                "transform": " ".join(transform.split()),
            },
        }
        return json.loads(json.dumps(settings, default=str))


def whole(tensor: Tensor) -> Tensor:
    """Return a tensor with the parts of all processes; all of them must call this."""
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor


def part_of(tensor: Tensor, like: Any) -> Tensor:
    """Return this process's part of a whole tensor, split as ``like`` is."""
    if not hasattr(like, "full_tensor"):
        return tensor
    from torch.distributed.tensor import distribute_tensor

    tensor = tensor.to(like.device)
    return distribute_tensor(tensor, like.device_mesh, like.placements)
