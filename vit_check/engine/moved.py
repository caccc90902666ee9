"""Find out where numbers came from, for answers that only move them about."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from vit_check.engine.verdict import Finding


@dataclass(frozen=True)
class Axes:
    """The names of axes, such as ``"image channel row column"``, for naming places.

    Args:
        source: those of each tensor that numbers are taken from.
        output: those of what they are moved to.
    """

    source: str
    output: str


def misplaced(
    got: Any, expected: Any, inputs: Mapping[str, Any], axes: Axes
) -> Finding | None:
    """Return an exchange that explains all, or where the first wrong number is from.

    None if a number did not come from the inputs, or may have come from two places.

    Args:
        got, expected: an output and the right one, or lists of them.
        inputs: the arguments by name, tensors among them.
        axes: what places are called.
    """
    if isinstance(got, list):
        pairs = zip(got, expected, strict=True)
        found = (misplaced(*pair, inputs, axes) for pair in pairs)
        return next(filter(None, found), None)
    if got.shape != expected.shape:
        return None
    sources = {name: x for name, x in inputs.items() if isinstance(x, Tensor)}
    wrong = (got != expected).nonzero()
    if not len(wrong):
        return None
    for name, source in sources.items():
        if torch.equal(got, source):
            return Finding("moved", f"returns {name} as it came, with nothing moved")
    exchange = _exchange(got, expected, sources, axes)
    if exchange is not None:
        return exchange
    place = wrong[0].tolist()
    one = _origin(got[*place], sources, axes.source)
    right = _origin(expected[*place], sources, axes.source)
    if one is None or right is None:
        return None
    same = one["of"] == right["of"]  # then axes on which both agree are left out
    shared = one.items() & right.items() if same else set()
    here = _said(dict(zip(axes.output.split(), place, strict=False)))
    there = _said({axis: at for axis, at in one.items() if (axis, at) not in shared})
    due = _said({axis: at for axis, at in right.items() if (axis, at) not in shared})
    text = f"{here} of the output holds what was at {there}, expected what was at {due}"
    return Finding("moved", text)


def _exchange(
    got: Tensor, expected: Tensor, sources: Mapping[str, Tensor], axes: Axes
) -> Finding | None:
    """Return a finding if all that is wrong is that two parts of an axis are exchanged.

    An axis of 12 may be one of images, rows and columns, (2, 3, 2). It may be an axis
    of the output, or of an input that is read in another order.
    """
    for of, source in {"the output": expected, **sources}.items():
        read, right = _places(got, source), _places(expected, source)
        if read is None or right is None:
            continue
        moved = [axis for axis, at in enumerate(read) if not at.equal(right[axis])]
        for before, one, other, after in _parts(source.shape[moved[0]]):
            order = torch.arange(source.shape[moved[0]]).view(before, one, other, after)
            order = order.transpose(1, 2).flatten()
            if len(moved) == 1 and read[moved[0]].equal(order[right[moved[0]]]):
                parts = tuple(n for n in (before, one, other, after) if n > 1)
                first = int(before > 1)
                names = (axes.output if source is expected else axes.source).split()
                return Finding(
                    "moved",
                    "one exchange explains all places: with the axis "
                    f"'{names[moved[0]]}' of {of} taken apart into {parts}, axes "
                    f"{first} and {first + 1} of these are exchanged",
                )
    return None


def _places(numbers: Tensor, source: Tensor) -> tuple[Tensor, ...] | None:
    """Return each number's place in a tensor, axis by axis, if all of them differ."""
    known, order = source.flatten().sort()
    if len(known.unique()) < len(known) or numbers.dtype != known.dtype:
        return None
    at = torch.searchsorted(known, numbers.contiguous()).clamp(max=len(known) - 1)
    places = torch.unravel_index(order[at], source.shape)
    return places if source[places].equal(numbers) else None


def _parts(length: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield four factors of a length, of which the two in the middle are above 1."""
    sizes = [n for n in range(1, length + 1) if length % n == 0]
    for before, one, other in itertools.product(sizes, sizes[1:], sizes[1:]):
        if length % (before * one * other) == 0:
            yield before, one, other, length // (before * one * other)


def _origin(
    number: Tensor, sources: Mapping[str, Tensor], axes: str
) -> dict[str, Any] | None:
    """Return the place of a number in the inputs; None unless it occurs just once."""
    found = [
        {"of": name} | dict(zip(axes.split(), place, strict=False))
        for name, source in sources.items()
        for place in (source == number).nonzero().tolist()
    ]
    return found[0] if len(found) == 1 else None


def _said(place: Mapping[str, Any]) -> str:
    places = ", ".join(f"{axis} {at}" for axis, at in place.items() if axis != "of")
    return f"{places} of {place['of']}" if "of" in place else places
