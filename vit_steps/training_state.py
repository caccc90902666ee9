"""What a training needs to go on as if it had never stopped, in a file."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from vit_steps.checkpoint import check_writable, fitted, read_checkpoint


@dataclass(frozen=True)
class Metrics:
    """How good a model is on a data set: mean loss in nats, accuracies from 0 to 1."""

    loss: float
    top1: float
    top5: float


@dataclass(frozen=True)
class Epoch:
    """One line of a history; validation is as ``Metrics`` has it."""

    epoch: int  # from 1
    lr: float  # at its end
    train_loss: float  # mean over the epoch, smoothing and mixing included
    validation: Metrics
    seconds: float


@dataclass
class History:
    """A training, epoch by epoch."""

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
    def top5(self) -> list[float]:
        return [epoch.validation.top5 for epoch in self.epochs]

    @classmethod
    def from_json(cls, epochs: Sequence[dict[str, Any]]) -> "History":
        return cls(
            [Epoch(**e | {"validation": Metrics(**e["validation"])}) for e in epochs]
        )


@dataclass
class TrainingState:
    """All that a training has to remember from one epoch to the next.

    Random numbers are not among it: each epoch starts from a seed of its own. What is
    split over several processes is whole in the file.
    """

    model: nn.Module
    optimizer: torch.optim.AdamW
    averaged: AveragedModel | None
    config: dict[str, Any]  # another one cannot go on from the file
    write: Callable[..., None]  # called as write_checkpoint is

    @property
    def modules(self) -> nn.ModuleDict:
        averaged = {} if self.averaged is None else {"averaged": self.averaged}
        return nn.ModuleDict({"model": self.model, **averaged})

    def save(self, path: str | os.PathLike[str], history: dict[str, Any]) -> None:
        tensors = dict(self.modules.state_dict())
        for index, slots in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{index}.{name}": t for name, t in slots.items()}
        tensors = {name: whole(tensor) for name, tensor in tensors.items()}
        self.write(path, tensors, {"train_config": self.config, "history": history})

    def restore(self, path: str | os.PathLike[str] | None, resume: bool) -> History:
        """Take the state from the file, if there is one; returns the history so far."""
        if path is None or not check_writable(path).exists():
            return History()
        if not resume:
            raise FileExistsError(
                f"checkpoint: {os.fspath(path)!r} is there already; go on from it with "
                "resume=True, or choose another name"
            )
        tensors, about = read_checkpoint(path)
        try:
            history = History.from_json(about["history"]["epochs"])
            mine, its = self.config, dict(about["train_config"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"checkpoint: {os.fspath(path)!r} holds no state of a training, or a "
                "damaged one; a finished model is loaded with from_pretrained"
            ) from error
        pairs = {name: (its.get(name), mine.get(name)) for name in mine | its}
        if differ := [f"{n} {a}, now {b}" for n, (a, b) in pairs.items() if a != b]:
            raise ValueError(
                f"config: {os.fspath(path)!r} was made with {'; '.join(differ)}; "
                "expected the same, since its schedule ends there; to train a "
                "finished model longer, start anew from it (from_pretrained)"
            )
        optimizer, groups = self.optimizer.state_dict(), self.optimizer.param_groups
        expected = dict(self.modules.state_dict())
        for index, like in enumerate(p for group in groups for p in group["params"]):
            slots = {"step": torch.tensor(0.0), "exp_avg": like, "exp_avg_sq": like}
            slots = {f"optimizer.{index}.{slot}": t for slot, t in slots.items()}
            if slots.keys() & tensors.keys():  # none where there never was a gradient
                expected |= slots
        buffers = dict(self.modules.named_buffers())  # a mask may be infinite
        tensors = fitted(path, tensors, expected, unlimited=buffers)
        tensors = {name: part_of(t, expected[name]) for name, t in tensors.items()}
        for name in [name for name in tensors if name.startswith("optimizer.")]:
            _, number, slot = name.split(".")
            optimizer["state"].setdefault(int(number), {})[slot] = tensors.pop(name)
        self.modules.load_state_dict(tensors)
        self.optimizer.load_state_dict(optimizer)
        return history


def whole(tensor: Tensor) -> Tensor:
    """A tensor with the parts of all processes; all of them must ask for it."""
    full_tensor: Any = getattr(tensor, "full_tensor", None)
    return tensor if full_tensor is None else full_tensor()


def part_of(tensor: Tensor, like: Tensor) -> Tensor:
    """This process's part of a whole tensor, split as ``like`` is."""
    if not hasattr(like, "full_tensor"):
        return tensor
    from torch.distributed.tensor import distribute_tensor

    mesh, placements = like.device_mesh, like.placements  # type: ignore[attr-defined]
    return distribute_tensor(tensor.to(like.device), mesh, placements)
