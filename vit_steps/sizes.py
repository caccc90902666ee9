"""Checks of sizes, counts, rates and switches, with one form of error for all.

Each check returns the value as a plain int, float, bool or tuple, so that numbers of
numpy and lists become what a config can hash, compare and write as JSON. A value that
does not fit raises ValueError with its name, what came, and what is expected.
"""

import math
import operator
from collections.abc import Callable, Collection
from numbers import Real
from typing import Any

Size = int | tuple[int, int]


def _as_int(value: Any) -> int | None:
    """Return a whole number as an int; None for anything else, even True or 2.0."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def as_pair(size: Size, name: str) -> tuple[int, int]:
    """Return ``size`` as (height, width); a single number is the side of a square.

    Raises: ValueError if it is neither, or a side is below 1.
    """
    sides = tuple(size) if isinstance(size, (tuple, list)) else (size, size)
    pair = [_as_int(side) or 0 for side in sides]
    if len(pair) != 2 or min(pair) < 1:
        raise ValueError(
            f"{name}: got {size!r}, expected a positive int or a (height, width) of two"
        )
    return pair[0], pair[1]


def as_size(size: Size, name: str) -> Size:
    """Return the int of a square, or else (height, width); raises as ``as_pair``."""
    height, width = as_pair(size, name)
    return height if height == width else (height, width)


def check_count(value: int, name: str, least: int = 1, most: float = math.inf) -> int:
    """Return a whole number from ``least`` to ``most`` as an int; ValueError if not."""
    count = _as_int(value)
    if count is None or not least <= count <= most:
        kind = "a positive int" if least == 1 else f"an int of at least {least}"
        kind = kind if most == math.inf else f"an int from {least} to {most}"
        raise ValueError(f"{name}: got {value!r}, expected {kind}")
    return count


def check_each(values: Any, name: str, each: Callable[..., Any], **limits: Any) -> Any:
    """Return a sequence as a tuple of what ``each`` returns; ValueError if empty."""
    if not isinstance(values, (tuple, list)) or not values:
        raise ValueError(f"{name}: got {values!r}, expected one or more numbers")
    return tuple(each(value, name, **limits) for value in values)


def check_number(
    value: float,
    name: str,
    least: float = -math.inf,
    above: float = -math.inf,
    most: float = math.inf,
    below: float = math.inf,
) -> float:
    """Return a plain finite number; ValueError if it is not one, or out of range."""
    finite = isinstance(value, Real) and above < value < below
    if not finite or isinstance(value, bool) or not least <= value <= most:
        words = ("at least", "more than", "at most", "below")
        limits = zip(words, (least, above, most, below), strict=True)
        given = [f"{word} {n:g}" for word, n in limits if math.isfinite(n)]
        kind = " and ".join(given) or "a finite number"
        raise ValueError(f"{name}: got {value!r}, expected {kind}")
    return value if isinstance(value, int) else float(value)


def check_rate(value: float, name: str) -> float:
    """Return a share in [0, 1) as a float; ValueError if it is not one."""
    return float(check_number(value, name, least=0, below=1))


def check_switch(value: bool, name: str) -> bool:
    """Return True or False; ValueError for anything else, even 0 or 1."""
    if not isinstance(value, bool):
        raise ValueError(f"{name}: got {value!r}, expected True or False")
    return value


def check_choice(value: str, name: str, known: Collection[str]) -> str:
    """Return the value if it is one of those known; ValueError if not."""
    if value not in known:
        raise ValueError(f"{name}: got {value!r}, expected one of {', '.join(known)}")
    return value


def check_fields(
    config: object,
    check: Callable[..., Any],
    *names: str,
    optional: bool = False,
    **limits: Any,
) -> None:
    """Check fields of a frozen dataclass, and store what the check returns.

    The check gets each field's value, its name and the ``limits``; a field that is
    ``optional`` may be None.
    """
    for name in names:
        value = getattr(config, name)
        if value is not None or not optional:
            object.__setattr__(config, name, check(value, name, **limits))


def check_heads(embed_dim: int, num_heads: int) -> None:
    """Raise ValueError unless both are counts and D is a multiple of h."""
    check_count(embed_dim, "embed_dim")
    check_count(num_heads, "num_heads")
    if embed_dim % num_heads:
        got = f"num_heads: got {num_heads}"
        raise ValueError(f"{got}, expected a divisor of {embed_dim = }")


def patch_grid(image_size: Size, patch_size: Size) -> tuple[int, int]:
    """Return the rows and columns of patches in an image: (H / P, W / P).

    Raises: ValueError if the patches do not fill the image. A strided convolution would
        drop the rest of the pixels without a warning.
    """
    height, width = as_pair(image_size, "image_size")
    patch_height, patch_width = as_pair(patch_size, "patch_size")
    if height % patch_height or width % patch_width:
        raise ValueError(
            f"image_size: got {height}×{width}, expected multiples of the patch size "
            f"{patch_height}×{patch_width}; resize, crop or pad the image first"
        )
    return height // patch_height, width // patch_width
