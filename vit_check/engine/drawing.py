"""What the cases of several checks draw."""

import torch
from torch import Generator, Tensor


def normal(
    generator: Generator, *shape: int, dtype: torch.dtype = torch.float64
) -> Tensor:
    """Drawn in 64 bits, and rounded from there."""
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def whole_number(generator: Generator, low: int, high: int) -> int:
    """One of ``low`` to ``high - 1``."""
    return int(torch.randint(low, high, (), generator=generator))
