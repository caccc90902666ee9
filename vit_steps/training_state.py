"""The state of a training: everything that it needs to go on from a file."""

import hashlib
import json
import os
import re
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from vit_steps.checkpoint import (
    check_writable,
    fitted,
    read_checkpoint,
    write_checkpoint,
)


@dataclass(frozen=True)
class Metrics:
    """How good a model is on a data set: mean loss in nats, accuracies from 0 to 1."""

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
    """The numbers of a training, epoch by epoch."""

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

    @property
    def top5(self) -> list[float | None]:
        return [epoch.validation.top5 for epoch in self.epochs]

    @classmethod
    def from_json(cls, epochs: Sequence[dict[str, Any]]) -> "History":
        return cls(
            [Epoch(**e | {"validation": Metrics(**e["validation"])}) for e in epochs]
        )


@dataclass
class TrainingState:
    """Everything that a training has to remember from one epoch to the next.

    Random numbers are not part of it, because each epoch starts from a seed of its own.
    Where several processes have a part of a tensor each, the file has the whole one.
    """

    model: nn.Module
    optimizer: torch.optim.AdamW
    averaged: AveragedModel | None
    settings: dict[str, Any]  # a training with other settings cannot go on
    path: str | os.PathLike[str] | None  # of the file; None for none
    history: History = field(default_factory=History)

    @property
    def modules(self) -> nn.ModuleDict:
        averaged = {} if self.averaged is None else {"averaged": self.averaged}
        return nn.ModuleDict({"model": self.model, **averaged})

    def update_average(self) -> None:
        """Move the average of the weights, if there is one, towards the weights."""
        if self.averaged is not None:
            self.averaged.update_parameters(self.model)

    def finish(self) -> None:
        """Give the model the averaged weights, if there are any."""
        if self.averaged is not None:
            self.model.load_state_dict(self.averaged.module.state_dict())

    def save(self, write: bool = True) -> None:
        """Write the state to its file, if it has one.

        Args:
            write: False in a process that has parts of tensors, but does not write.
        """
        if self.path is None:
            return
        tensors = dict(self.modules.state_dict())
        for index, slots in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{index}.{name}": t for name, t in slots.items()}
        tensors = {name: whole(tensor) for name, tensor in tensors.items()}
        if write:
            history = {"history": asdict(self.history)}
            write_checkpoint(self.path, tensors, self.settings | history)

    def restore(self, resume: bool) -> History:
        """Read the state from its file, if it is there; return the history so far.

        Raises:
            FileExistsError: if there is a file, and ``resume`` is not set.
            ValueError: if it is no state, or one of a training with other settings.
        """
        if self.path is None or not check_writable(self.path, "checkpoint").exists():
            return self.history
        path = os.fspath(self.path)
        if not resume:
            raise FileExistsError(
                f"checkpoint: {path!r} is there already; go on from it with "
                "resume=True, or choose another name"
            )
        tensors, metadata = read_checkpoint(path)
        for compiled in [name for name in tensors if "_orig_mod." in name]:
            name = compiled.replace("model._orig_mod.", "model.")
            tensors[name.replace("module._orig_mod.", "module.")] = tensors.pop(
                compiled
            )
        try:
            history = History.from_json(metadata["history"]["epochs"])
            made_with = flattened({part: metadata[part] for part in self.settings})
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"checkpoint: {path!r} holds no state of a training, or a "
                "damaged one; a finished model is loaded with from_pretrained"
            ) from error
        now = flattened(self.settings)
        pairs = {name: (made_with.get(name), now.get(name)) for name in now | made_with}
        if differ := [f"{n} {a}, now {b}" for n, (a, b) in pairs.items() if a != b]:
            raise ValueError(
                f"checkpoint: {path!r} was made with {'; '.join(differ)}; "
                "expected the same, since a training has one plan from its first step "
                "to its last; to train a finished model further, start anew from it "
                "(from_pretrained)"
            )
        expected = dict(self.modules.state_dict())
        groups = self.optimizer.param_groups
        for index, like in enumerate(p for group in groups for p in group["params"]):
            slots = {"step": torch.tensor(0.0), "exp_avg": like, "exp_avg_sq": like}
            slots = {f"optimizer.{index}.{slot}": t for slot, t in slots.items()}
            if slots.keys() & tensors.keys():  # none where there never was a gradient
                expected |= slots
        buffers = dict(self.modules.named_buffers())  # a mask may be infinite
        tensors = fitted(path, tensors, expected, unlimited=buffers)
        tensors = {name: part_of(t, expected[name]) for name, t in tensors.items()}
        optimizer = self.optimizer.state_dict()
        for name in [name for name in tensors if name.startswith("optimizer.")]:
            _, number, slot = name.split(".")
            optimizer["state"].setdefault(int(number), {})[slot] = tensors.pop(name)
        self.modules.load_state_dict(tensors)
        self.optimizer.load_state_dict(optimizer)
        self.history = history
        if len(history.epochs) >= now["epochs"]:
            warnings.warn(
                f"checkpoint: {path!r} holds a finished training (epochs: "
                f"{len(history.epochs)}), so nothing was left to do",
                stacklevel=3,
            )
        return history


def settings_of(
    model: nn.Module, data: Any, train_config: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return what must be the same when a training goes on, as JSON has it.

    Of the training images these are number, shape, classes, labels and transform, where
    the data has them; the labels are 12 digits of their sha256.
    """
    config = getattr(model, "config", None)
    images = data.train
    with torch.random.fork_rng([]):  # an augmentation draws random numbers
        shape = images[0][0].shape
    labels = getattr(images, "labels", getattr(images, "targets", None))
    if labels is not None:
        numbers = torch.as_tensor(labels, dtype=torch.int64).cpu().numpy()
        labels = hashlib.sha256(numbers.tobytes()).hexdigest()[:12]
    transform = re.sub(r" at 0x\w+", "", repr(getattr(images, "transform", None)))
    settings = {
        "train_config": train_config,
        "model": vars(config) if is_dataclass(config) else {},
        "images": {
            "images": len(images),
            "image_shape": tuple(shape),
            "classes": getattr(data, "classes", None),
            "labels": labels,
            "transform": " ".join(transform.split()),
        },
    }
    as_json: dict[str, dict[str, Any]] = json.loads(json.dumps(settings, default=str))
    return as_json


def flattened(settings: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the settings of all parts in one dictionary."""
    return {name: value for part in settings.values() for name, value in part.items()}


def whole(tensor: Tensor) -> Tensor:
    """Return a tensor with the parts of all processes; all of them must call this."""
    full_tensor: Any = getattr(tensor, "full_tensor", None)
    return tensor if full_tensor is None else full_tensor()


def part_of(tensor: Tensor, like: Tensor) -> Tensor:
    """Return this process's part of a whole tensor, split as ``like`` is."""
    if not hasattr(like, "full_tensor"):
        return tensor
    from torch.distributed.tensor import distribute_tensor

    mesh, placements = like.device_mesh, like.placements  # type: ignore[attr-defined]
    return distribute_tensor(tensor.to(like.device), mesh, placements)
