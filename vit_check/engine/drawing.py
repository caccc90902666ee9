"""Random cases for checks of functions, and helpers that draw them."""

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Generator, Tensor

from vit_check.engine.check import Case
from vit_check.engine.table import Answer
from vit_steps.sizes import as_pair

__all__ = ["Answer", "Cases", "Generator", "images_of", "normal", "whole_number"]

Cases = Iterator[Case]


def normal(
    generator: Generator, *shape: int, dtype: torch.dtype = torch.float64
) -> Tensor:
    """Return normal numbers, drawn in 64 bits and then rounded."""
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def images_of(sizes: Mapping[str, Any], generator: Generator, many: int = 2) -> Tensor:
    """Return images (B, C, H, W) for a module that is built with these sizes."""
    height, width = as_pair(sizes["image_size"], "image_size")
    return normal(generator, many, sizes["in_channels"], height, width)


def whole_number(generator: Generator, low: int, high: int) -> int:
    """Return a random whole number from ``low`` to ``high - 1``."""
    return int(torch.randint(low, high, (), generator=generator))
