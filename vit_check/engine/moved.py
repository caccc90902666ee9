"""Say where numbers came from, by the names of axes, if an answer only moves them."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from vit_check.engine.verdict import Finding


def misplaced(
    got: Any, expected: Any, inputs: Mapping[str, Any], axes: tuple[str, str]
) -> Finding | None:
    """Return where the first wrong number was taken from, and which belongs there.

    None if a number is not from the inputs, or may be from two places.

    Args:
        got, expected: an output and the right one, or lists of them.
        inputs: the arguments by name, tensors among them.
        axes: the names of the axes that numbers are taken from, and of the output's.
    """
    if isinstance(got, list):
        pairs = zip(got, expected, strict=True)
        found = (misplaced(*pair, inputs, axes) for pair in pairs)
        return next(filter(None, found), None)
    wrong = (got != expected).nonzero() if got.shape == expected.shape else []
    if not len(wrong):
        return None
    place = wrong[0].tolist()
    one = _origin(got[*place], inputs, axes[0])
    right = _origin(expected[*place], inputs, axes[0])
    if one is None or right is None:
        return None
    same = one["of"] == right["of"]  # then axes on which both agree are left out
    shared = one.items() & right.items() if same else set()
    here = _said(dict(zip(axes[1].split(), place, strict=False)))
    there = _said({axis: at for axis, at in one.items() if (axis, at) not in shared})
    due = _said({axis: at for axis, at in right.items() if (axis, at) not in shared})
    text = f"the output holds at {here} what was at {there}, expected what was at {due}"
    return Finding("values", text)


def _origin(
    number: Tensor, inputs: Mapping[str, Any], axes: str
) -> dict[str, Any] | None:
    """Return the place of a number in the inputs; None unless it occurs just once."""
    found = [
        {"of": name} | dict(zip(axes.split(), place, strict=False))
        for name, source in inputs.items()
        if isinstance(source, Tensor)
        for place in (source == number).nonzero().tolist()
    ]
    return found[0] if len(found) == 1 else None


def _said(place: Mapping[str, Any]) -> str:
    places = ", ".join(f"{axis} {at}" for axis, at in place.items() if axis != "of")
    return f"{places} of {place['of']}" if "of" in place else places
