"""Where numbers came from, for answers that only move them about."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from vit_check.engine.verdict import Finding


@dataclass(frozen=True)
class Axes:
    """The names of axes, such as ``"image channel row column"``, to say places with.

    Args:
        source: those of each tensor that numbers are taken from.
        output: those of what they are moved to.
    """

    source: str
    output: str


def misplaced(
    got: Any, expected: Any, inputs: Mapping[str, Any], axes: Axes
) -> Finding | None:
    """The first number that stands where another should be, by where both came from.

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
    sources = {name: x for name, x in inputs.items() if isinstance(x, Tensor)}
    wrong = (got != expected).nonzero()
    if not len(wrong):
        return None
    place = wrong[0].tolist()
    one = _origin(got[*place], sources, axes.source)
    right = _origin(expected[*place], sources, axes.source)
    if one is None or right is None:
        return None
    shared = one.items() & right.items()  # an axis on which both agree is not said
    here = _said(dict(zip(axes.output.split(), place, strict=False)))
    there = _said({axis: at for axis, at in one.items() if (axis, at) not in shared})
    due = _said({axis: at for axis, at in right.items() if (axis, at) not in shared})
    text = f"{here} of the output holds what was at {there}, expected what was at {due}"
    return Finding("moved", text)


def _origin(
    number: Tensor, sources: Mapping[str, Tensor], axes: str
) -> dict[str, Any] | None:
    """The one place at which a number stands in the inputs, axis by axis."""
    found = [
        {"of": name} | dict(zip(axes.split(), place, strict=False))
        for name, source in sources.items()
        for place in (source == number).nonzero().tolist()
    ]
    return found[0] if len(found) == 1 else None


def _said(place: Mapping[str, Any]) -> str:
    places = ", ".join(f"{axis} {at}" for axis, at in place.items() if axis != "of")
    return f"{places} of {place['of']}" if "of" in place else places
