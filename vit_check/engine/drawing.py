"""What the cases of checks are made of."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor

from vit_steps.sizes import as_pair

Answer = Callable[..., Any]
Cases = Iterator[list[Any]]


def normal(
    generator: Generator, *shape: int, dtype: torch.dtype = torch.float64
) -> Tensor:
    """Return normal numbers, drawn in 64 bits and then rounded."""
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def images_of(sizes: Mapping[str, Any], generator: Generator, many: int = 2) -> Tensor:
    """Return images (B, C, H, W) for a module that is built with these sizes."""
    height, width = as_pair(sizes["image_size"], "image_size")
    return normal(generator, many, sizes["in_channels"], height, width)


def drawing(generator: Generator) -> dict[str, Any]:
    """Return what draws in the cases of a table, by name."""
    dtypes = (torch.float32, torch.float64, torch.bfloat16)
    found = {
        str(dtype).removeprefix("torch."): partial(normal, generator, dtype=dtype)
        for dtype in dtypes
    }

    def below(number: int, *shape: int) -> Tensor:
        return torch.randint(number, shape, generator=generator)

    def whole(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    return found | {"below": below, "whole": whole, "generator": generator}
