"""A context that puts a model into evaluation mode and then restores its modes."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Put a model into evaluation mode, without gradients, inside a ``with`` block.

    Afterwards each module is in the mode it was in, even if the block raises: a norm
    that is frozen in a model in training mode stays so, unlike after ``model.train()``.
    """
    if not isinstance(model, nn.Module):
        raise ValueError(f"model: got a {type(model).__name__}, expected an nn.Module")
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, mode in modes.items():
            module.training = mode
