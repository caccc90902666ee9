"""Checks of tensors that functions are given, with one form of error for all."""

from typing import Any

import torch
from torch import Tensor


def check_tensor(
    value: Any, name: str, *shape: int | str, may_be_empty: bool = False, note: str = ""
) -> None:
    """Raise ValueError unless a value is a tensor of a shape.

    In ``shape`` a letter is any length, the same wherever it occurs, and "..." any
    number of axes. A capital letter is not 0, except on the first axis of a value that
    ``may_be_empty``. The ``note`` ends the sentence of the error.
    """
    expected = str(shape).replace("'", "")
    if not isinstance(value, Tensor):
        got = "None" if value is None else f"a {type(value).__name__}"
        raise ValueError(f"{name}: got {got}, expected a tensor {expected}{note}")
    if "..." in shape:
        start = shape.index("...")
        stop = value.ndim + start + 1 - len(shape)
        shape = (*shape[:start], *value.shape[start:stop], *shape[start + 1 :])
    lengths = dict(zip(shape, value.shape, strict=False))
    fitting = tuple(lengths.get(n) if isinstance(n, str) else n for n in shape)
    counted = [*lengths.items()][may_be_empty:]
    empty = any(str(axis).isupper() and n == 0 for axis, n in counted)
    if empty or fitting != tuple(value.shape):
        expected += ", each at least 1" if empty else ""
        came = tuple(value.shape)
        raise ValueError(f"{name}: got shape {came}, expected {expected}{note}")


def check_indices(value: Any, name: str, *shape: int | str, count: int) -> None:
    """Raise ValueError unless these are int64 of a shape, from 0 to ``count`` - 1."""
    check_tensor(value, name, *shape)
    low, high = (value.min(), value.max()) if value.numel() else (0, 0)
    if value.dtype != torch.int64 or low < 0 or high >= count:
        raise ValueError(
            f"{name}: got {low} to {high} of {value.dtype}, "
            f"expected 0 to {count - 1} of torch.int64"
        )
