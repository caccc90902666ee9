"""A context that puts a model into evaluation mode and then restores its modes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn


def as_module(model: Any) -> nn.Module:
    """Return the model; ValueError if it is none, such as the name of one."""
    if isinstance(model, nn.Module):
        return model
    raise ValueError(f"model: got a {type(model).__name__}, expected an nn.Module")


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Put a model into evaluation mode, without gradients, inside a ``with`` block.

    Afterwards each module is in the mode it was in, even if the block raises: a norm
    that is frozen in a model in training mode stays so, unlike after ``model.train()``.
    """
    modes = {module: module.training for module in as_module(model).modules()}
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, mode in modes.items():
            module.training = mode
