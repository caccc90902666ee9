"""A context in which a model is looked at and then given back as it was."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Put a model into evaluation mode, without gradients, for the length of a block.

    Afterwards each module is in the mode it was in, also when the block raises. A
    module that was in evaluation mode inside a model in training mode, such as a frozen
    norm, stays there; ``model.train()`` would not leave it there.
    """
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, mode in modes.items():
            module.training = mode
