"""Compare two outputs, and say in words how they differ."""

import itertools
import math
import re
from fractions import Fraction
from typing import Any

import torch
from torch import Tensor

from vit_check.engine.verdict import Finding

# What is found of one output, which may have another cause than that of another case.
OF_ONE_OUTPUT = {"shape", "reshape", "axes", "values", "value", "factor", "order"}
OF_ONE_OUTPUT |= {"exchanged", "not finite"}

# The largest difference that is rounding, relative to the largest expected number.
TOLERANCE = {
    torch.float64: 1e-6,
    torch.float32: 3e-5,
    torch.float16: 1e-2,
    torch.bfloat16: 4e-2,
}


def same(got: Any, expected: Any) -> bool:
    """Return whether two plain values are equal up to rounding."""
    if isinstance(expected, Tensor):
        alike = isinstance(got, Tensor) and got.shape == expected.shape
        return alike and bool(close(got, expected).all())
    if isinstance(expected, list):
        alike = isinstance(got, list) and len(got) == len(expected)
        return alike and all(map(same, got, expected))
    if isinstance(expected, dict):
        alike = isinstance(got, dict) and list(got) == list(expected)
        return alike and all(same(got[key], expected[key]) for key in expected)
    if isinstance(expected, float) and _is_number(got):
        return abs(got - expected) <= 1e-5 * max(1e-3, abs(expected))
    return type(got) is type(expected) and got == expected


def _is_number(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.ndim == 0 and value.dtype != torch.bool
    return isinstance(value, float | int)


def is_telling(got: Any, expected: Any) -> bool:
    """Return whether an output is wrong in a way that points to a single mistake.

    Many mistakes can lead to NaN, to True or False, to nothing, or to one number.
    """
    if isinstance(got, Tensor):
        if got.dtype == torch.bool or got.is_complex():
            return got.numel() > 1
        wrong = got
        if isinstance(expected, Tensor) and got.shape == expected.shape:
            wrong = got[~close(got, expected)]
        finite = wrong[torch.isfinite(wrong)]
        return len(finite.flatten()) > 0 and (got.numel() == 1 or len(got.unique()) > 1)
    if isinstance(got, dict) and isinstance(expected, dict):
        if got.keys() != expected.keys():
            return True
        got, expected = [*got.values()], [expected[key] for key in got]
    if isinstance(got, list):
        of_one_length = isinstance(expected, list) and len(got) == len(expected)
        pairs = zip(got, expected if of_one_length else [None] * len(got), strict=True)
        return any(is_telling(*pair) for pair in pairs if not same(*pair))
    return isinstance(got, str) or (type(got) in (int, float) and math.isfinite(got))


def difference(
    got: Any, expected: Any, shape: str = "", what: str = "the output"
) -> Finding | None:
    """Return the first difference between two plain values, for a student to read.

    Args:
        shape: the shape's letters, such as "(B, N, D)", to say beside its numbers.
        what: what the values are.
    """
    if got is None and expected is not None:
        return Finding("none", f"{what} is None: is a return missing?")
    if isinstance(expected, Tensor):
        return _tensor_difference(got, expected, shape, what)
    if isinstance(expected, list):
        return _list_difference(got, expected, shape, what)
    if isinstance(expected, dict):
        return _dict_difference(got, expected, what)
    if isinstance(expected, int | float) and not isinstance(expected, bool):
        return _number_difference(got, expected, what)
    if got != expected:
        said = _short(got) if isinstance(got, bool | int | float | str) else _kind(got)
        return Finding("value", f"{what} is {said}, expected {_short(expected)}")
    return None


def _tensor_difference(
    got: Any, expected: Tensor, shape: str, what: str
) -> Finding | None:
    if not isinstance(got, Tensor):
        alone = f" {shape} and nothing else" if shape and isinstance(got, list) else ""
        return Finding("type", f"{what} is {_kind(got)}, expected a tensor{alone}")
    if got.shape != expected.shape:
        return _shape_difference(got, expected, shape, what)
    if not _may_stand_for(got.dtype, expected.dtype):
        return Finding("dtype", f"{what} is {got.dtype}, expected {expected.dtype}")
    right = close(got, expected)
    if right.all():
        return None
    if got.is_floating_point() and not torch.isfinite(got).all():
        if torch.isfinite(expected).all():
            bad = "NaN" if got.isnan().any() else "infinite"
            place = _place(torch.isfinite(got))
            text = f"{what} is {bad}{f' at {place}' if place else ''}"
            return Finding("not finite", text)
    return _value_difference(got, expected, right, what)


def _may_stand_for(got: torch.dtype, expected: torch.dtype) -> bool:
    """Return whether numbers are of the kind expected, and fractions not coarser."""
    if got == expected or torch.bool in (got, expected):
        return got == expected
    if expected.is_floating_point:
        return got in (torch.float32, torch.float64)
    return not (got.is_floating_point or got.is_complex)


def _shape_difference(got: Tensor, expected: Tensor, shape: str, what: str) -> Finding:
    text = f"{what} has shape {tuple(got.shape)}, expected {tuple(expected.shape)}"
    text += f", that is {shape}" if shape else ""
    if _swapped(got, expected):
        return Finding("axes", f"{text}: the numbers are right, the axes swapped")
    if got.numel() == expected.numel():
        if close(got.reshape(expected.shape), expected).all():
            more = "a reshape is missing at the end"
            if [n for n in got.shape if n > 1] == [n for n in expected.shape if n > 1]:
                many = "too many" if got.ndim > expected.ndim else "missing"
                more = f"an axis of length 1 is {many}"
            return Finding("reshape", f"{text}: {more}")
    return Finding("shape", text)


def _value_difference(
    got: Tensor, expected: Tensor, right: Tensor, what: str
) -> Finding:
    whole = got.dtype == torch.bool or not expected.is_floating_point()
    factor = None if whole else _factor(got, expected)
    if factor is not None:
        text = f"every number of {what} is {factor} what it should be"
        return Finding("factor", text)
    axes = _swapped(got, expected)
    if axes:
        return Finding("axes", f"axes {axes} of {what} are swapped")
    place = _place(right)
    index = tuple(place)
    where = f"differs first at {place}: got" if place else "is"
    one, other = _numbers(got[index], expected[index])
    text = f"{what} {where} {one}, expected {other}"
    if got.dtype != torch.bool and _same_numbers(got, expected):
        return Finding("order", f"{text}; the numbers are right, their order is not")
    return Finding("values", text)


def _list_difference(got: Any, expected: list[Any], shape: str, what: str) -> Any:
    names = re.findall(r"\w+", shape)
    names = names if len(names) == len(expected) else []
    if not isinstance(got, list) or len(got) != len(expected):
        many = f"{len(expected)} things in a tuple{f', {shape}' if names else ''}"
        return Finding("type", f"{what} is {_kind(got)}, expected {many}")
    places = names or [f"{what}[{number}]" for number in range(len(got))]
    for place, one, other in zip(places, got, expected, strict=True):
        name = f"the {place}" if place in names and len(place) > 1 else place
        found = difference(one, other, what=name)
        if found is not None and name == "the weights":
            text = re.sub(f"^{name} (has|is|differs)", _in_plural, found.sentence)
            text = text.removesuffix(": is a return missing?")
            found = Finding(found.mistake, text)
        if found is not None and len(expected) == 2 and same(got[::-1], expected):
            return Finding("exchanged", f"the two parts of {what} are exchanged")
        if found is not None:
            return found
    return None


def _dict_difference(got: Any, expected: dict[str, Any], what: str) -> Finding | None:
    if not isinstance(got, dict) or "?" in got:
        names = ", ".join([*expected][:4]) + (" …" if len(expected) > 4 else "")
        return Finding("type", f"{what} is {_kind(got)}, expected a dict of {names}")
    for key in expected:
        if key not in got:
            return Finding("missing", f"{key} is missing in {what}")
        found = difference(got[key], expected[key], what=key)
        if found is not None:
            return Finding(found.mistake, found.sentence + _alike(got, expected))
    extra = [key for key in got if key not in expected]
    if extra:
        return Finding("extra", f"{extra[0]} in {what} is one too many")
    return None


def _number_difference(got: Any, expected: float, what: str) -> Finding | None:
    is_tensor = isinstance(got, Tensor) and got.ndim == 0
    got = got.item() if is_tensor else got
    if isinstance(got, bool) or not isinstance(got, int | float):
        return Finding("type", f"{what} is {_kind(got)}, expected a number")
    if isinstance(expected, int) and isinstance(got, float) and got == expected:
        said = f"{what} is {got}, a float; expected the whole number {expected}"
        return Finding("float", said)
    exact = isinstance(expected, int)
    if got == expected if exact else same(float(got), expected):
        said = f"{what} is right but a tensor, expected a float: .item() makes one"
        return Finding("tensor", said) if is_tensor and not exact else None
    one, other = _numbers(got, expected)
    large = abs(expected) > 1 or abs(got) > 10 * abs(expected) > 0  # not by chance
    times = _ratio(got, expected) if large else ""
    other += f": it is {times} times what it should be" if times else ""
    return Finding("value", f"{what} is {one}, expected {other}")


def _in_plural(verb: re.Match[str]) -> str:
    forms = {"has": "have", "is": "are", "differs": "differ"}
    return verb[0].removesuffix(verb[1]) + forms[verb[1]]


def _alike(got: dict[str, Any], expected: dict[str, Any]) -> str:
    """Say by what all numbers are multiplied that are wrong, if there are several."""
    pairs = [(got.get(key), right) for key, right in expected.items()]
    wrong = [(one, n) for one, n in pairs if isinstance(n, float) and not same(one, n)]
    times = {_ratio(one, n) if isinstance(one, float) else "" for one, n in wrong}
    if len(wrong) < 3 or len(times) > 1 or not any(times):
        return ""
    return f"; all {len(wrong)} that are wrong are {times.pop()} times what is right"


def _ratio(one: float, other: float = 1) -> str:
    """Return a ratio as a whole number or a simple fraction; "" if it is none."""
    times = one / other if other and math.isfinite(one) else 0.0
    part = Fraction(times).limit_denominator(16)
    simple = part and math.isclose(part, times, rel_tol=1e-6)
    return (f"{int(part):,}" if part.denominator == 1 else str(part)) if simple else ""


def close(got: Tensor, expected: Tensor) -> Tensor:
    if got.is_complex() or expected.is_complex():
        return got == expected
    if not (got.is_floating_point() and expected.is_floating_point()):
        return got.to(torch.float64) == expected.to(torch.float64)
    coarse = max(TOLERANCE[got.dtype], TOLERANCE[expected.dtype])
    got, expected = got.double(), expected.double()
    finite = expected[torch.isfinite(expected)].abs()
    scale = max(1e-3, finite.max().item()) if finite.numel() else 1.0
    return torch.isclose(
        got, expected, rtol=coarse, atol=coarse * scale, equal_nan=True
    )


def _swapped(got: Tensor, expected: Tensor) -> list[int]:
    """The axes that are in each other's place, if that is all that is wrong."""
    axes = range(expected.ndim if 2 <= expected.ndim <= 4 else 0)
    for order in itertools.permutations(axes):
        turned = expected.permute(order) if order else expected
        if turned.shape == got.shape and close(got, turned).all():
            return [place for place, axis in enumerate(order) if place != axis]
    return []


def _factor(got: Tensor, expected: Tensor) -> str | None:
    largest = expected.abs().argmax()
    if expected.numel() < 3 or expected.flatten()[largest] == 0:
        return None
    ratio = (got.flatten()[largest] / expected.flatten()[largest]).item()
    if abs(ratio) < 1e-6 or not close(got, (expected.double() * ratio)).all():
        return None
    return f"{_ratio(ratio) or f'{ratio:.4g}'} times"


def _same_numbers(got: Tensor, expected: Tensor) -> bool:
    if expected.numel() < 3:
        return False
    return bool(close(got.flatten().sort()[0], expected.flatten().sort()[0]).all())


def _place(right: Tensor) -> list[int]:
    """Return the index of the first entry that is False."""
    return (~right).nonzero()[0].tolist()


def _numbers(one: Any, other: Any) -> tuple[str, str]:
    """Return two numbers as text, with enough digits to tell them apart."""
    values = [v.item() if isinstance(v, Tensor) else v for v in (one, other)]
    for digits in (4, 7, 10):
        forms = {bool: "", float: f".{digits}g"}
        texts = [format(v, forms.get(type(v), ",")) for v in values]
        if texts[0] != texts[1]:
            break
    return texts[0], texts[1]


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) < 60 else text[:60] + " …"


def _kind(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, Tensor):
        return f"one tensor of shape {tuple(value.shape)}"
    if isinstance(value, list):
        things = "thing" if len(value) == 1 else "things"
        return f"{len(value)} {things} in a list or tuple"
    if isinstance(value, dict):
        if "?" in value:
            return f"of type {value['?']}"
        names = ", ".join([*value][:4]) + (" …" if len(value) > 4 else "")
        return f"a dict of {names or 'nothing'}"
    return f"{_short(value)} of type {type(value).__name__}"
