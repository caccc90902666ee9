"""What a training needs to go on as if it had never stopped, in a file."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from vit_steps.checkpoint import check_name, read_checkpoint


@dataclass
class TrainingState:
    """All that a training has to remember from one epoch to the next.

    Random numbers are not among it: each epoch starts from a seed of its own. What is
    split over several processes is whole in the file.

    Args:
        averaged: the moving average of the weights, if one is kept.
        config: the training's; another one cannot go on from the file.
        write: called as ``write_checkpoint`` is.
    """

    model: nn.Module
    optimizer: torch.optim.Optimizer
    averaged: AveragedModel | None
    config: dict[str, Any]
    write: Callable[..., None]

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

    def restore(
        self, path: str | os.PathLike[str] | None, resume: bool
    ) -> list[dict[str, Any]]:
        """Take the state from the file, if there is one and it is to be taken.

        Returns:
            The epochs of the history that was saved.
        """
        if path is None or not check_name(path).exists():
            return []
        if not resume:
            raise FileExistsError(
                f"checkpoint: {os.fspath(path)!r} is there already; go on from it with "
                "resume=True, or choose another name"
            )
        tensors, about = read_checkpoint(path)
        if "train_config" not in about:
            raise ValueError(
                f"checkpoint: {os.fspath(path)!r} holds a finished model, not the "
                "state of a training; load it with from_pretrained"
            )
        mine, its = self.config, about["train_config"]
        differ = [
            f"{name} {its.get(name)}, now {mine.get(name)}"
            for name in mine | its
            if mine.get(name) != its.get(name)
        ]
        if differ:
            raise ValueError(
                f"config: {os.fspath(path)!r} was made with {'; '.join(differ)}; "
                "expected the same"
            )
        optimizer = self.optimizer.state_dict()
        groups = self.optimizer.param_groups
        parameters = [p for group in groups for p in group["params"]]
        for name in [name for name in tensors if name.startswith("optimizer.")]:
            tensor, (_, index, slot) = tensors.pop(name), name.split(".")
            if slot != "step":
                tensor = part_of(tensor, parameters[int(index)])
            optimizer["state"].setdefault(int(index), {})[slot] = tensor
        own = self.modules.state_dict()
        tensors = {name: part_of(t, own.get(name, t)) for name, t in tensors.items()}
        try:
            self.modules.load_state_dict(tensors)
        except RuntimeError as error:
            raise ValueError(
                f"checkpoint: {os.fspath(path)!r} is of another model: {error}"
            ) from error
        self.optimizer.load_state_dict(optimizer)
        epochs: list[dict[str, Any]] = about["history"]["epochs"]
        return epochs


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
