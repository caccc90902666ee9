"""Say where numbers came from, by the names of axes, if an answer only moves them."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from vit_check.engine.observing import tensors_in


def misplaced(got: Any, right: Any, inputs: Mapping[str, Any], moves: str) -> str:
    """Say where the first wrong number was taken from, and which belongs there.

    "" if a number is not from the inputs, or may be from two places.

    Args:
        got, right: what came out and what should have, with tensors of the same shapes.
        inputs: the arguments by name, tensors among them.
        moves: the names of the axes that numbers are taken from, and of the output's.
    """
    pairs = zip(tensors_in(got), tensors_in(right), strict=False)
    numbers, expected = next(pair for pair in pairs if not torch.equal(*pair))
    place = (numbers != expected).nonzero()[0].tolist()
    source, to = moves.split(" -> ")
    one = _origin(numbers[*place], inputs, source)
    due = _origin(expected[*place], inputs, source)
    if not (one and due):
        return ""
    shared = one.items() & due.items() if one["of"] == due["of"] else set()
    here = _said(dict(zip(to.split(), place, strict=False)))
    there, other = (
        _said({axis: at for axis, at in origin.items() if (axis, at) not in shared})
        for origin in (one, due)
    )
    return f"the output holds at {here} what was at {there}, expected that at {other}"


def _origin(number: Tensor, inputs: Mapping[str, Any], axes: str) -> dict[str, Any]:
    """Return the place of a number in the inputs; empty unless it occurs just once."""
    found = [
        {"of": name} | dict(zip(axes.split(), place, strict=False))
        for name, source in inputs.items()
        if isinstance(source, Tensor)
        for place in (source == number).nonzero().tolist()
    ]
    return found[0] if len(found) == 1 else {}


def _said(place: Mapping[str, Any]) -> str:
    places = ", ".join(f"{axis} {at}" for axis, at in place.items() if axis != "of")
    return f"{places} of {place['of']}" if "of" in place else places
