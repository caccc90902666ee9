"""Say what wrong numbers tell of how they came about, if all of them tell the same."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from copy import copy
from functools import partial
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from vit_check.engine.comparing import close, same
from vit_check.engine.verdict import Finding

Taken = Callable[[Any], Any]
Change = Callable[[Mapping[str, Any]], dict[str, Any]]

NEAR = 0.001  # of the largest number expected: within it, a difference is small

# What may have been done to the right numbers, or left out at their end.
_DONE: Mapping[str, Callable[[Tensor], Tensor]] = {
    "the logarithm of": torch.log,
    "the exponential of": torch.exp,
    "the square of": torch.square,
    "the root of": torch.sqrt,
    "one divided by": torch.reciprocal,
    "one minus": lambda right: 1 - right,
    "the softmax over the last axis of": lambda right: right.softmax(-1),
}

# What may have been taken for an argument or a weight.
_TAKEN: Mapping[str, Taken] = {
    "{} = 0": lambda value: 0 * value,
    "{} = 1": lambda value: 0 * value + 1,
    "-{}": lambda value: -value,
    "~{}": lambda value: ~value,
    "{} + 1": lambda value: value + 1,
    "{} - 1": lambda value: value - 1,
    "2·{}": lambda value: 2 * value,
    "{} / 2": lambda value: value // 2 if type(value) is int else value / 2,
    "{}²": lambda value: value.square(),
    "1 / {}": lambda value: 1 / value,
    "{}.mT": lambda value: value.mT,
}


def mistaken(names: Iterable[str]) -> Iterator[tuple[str, Change]]:
    """Yield in words how an argument or a weight may be taken wrongly, and do it.

    What is yielded changes values by their names, and raises where it does not fit.
    """
    names = [*names]
    for name in names:
        for words, taken in _TAKEN.items():
            yield words.format(name), partial(_changed, {name: name}, taken)
    for one, two in combinations(names, 2):
        places = {one: two, two: one}
        yield f"{one} and {two} exchanged", partial(_changed, places, copy)


def _changed(
    places: Mapping[str, str], taken: Taken, given: Mapping[str, Any]
) -> dict[str, Any]:
    other = {name: taken(given[source]) for name, source in places.items()}
    for name, value in other.items():
        kinds = [(type(v), getattr(v, "shape", 0)) for v in (value, given[name])]
        if kinds[0] != kinds[1] or isinstance(value, bool):
            raise ValueError(f"{name}: of another kind")
    return {**given, **other}


def related(
    finding: Finding, got: Any, right: Any, given: Mapping[str, Any]
) -> Finding:
    """Add to a finding about numbers what relates them to the right ones.

    Args:
        given: what may be missing in them or be there too often, by name.
    """
    if finding.mistake not in ("values", "order"):
        return finding
    while isinstance(right, list | dict):  # go to what differs first
        keys = right if isinstance(right, dict) else range(len(right))
        key = next(key for key in keys if not same(got[key], right[key]))
        got, right = got[key], right[key]
    more = _relation(got, right, given)
    text = f"{finding.sentence}; {more}" if more else finding.sentence
    return Finding(finding.mistake, text)


def _relation(got: Tensor, right: Tensor, given: Mapping[str, Any]) -> str:
    if got.is_complex() or right.numel() < 2:
        return ""
    wrong = ~close(got, right)
    box, found = _box_of(wrong)
    if right.dtype == torch.bool:
        more, less = int((wrong & got).sum()), int((wrong & right).sum())
        text = f"{more} of {got.numel()} places are True and should be False, {less} "
        return "; ".join([text + "are False and should be True", *found])
    other = right.double()
    for sentence, candidate in _candidates(got.double(), other, given):
        if _explains(candidate, got, other):
            return sentence
    for sentence, candidate in _candidates(got[box].double(), other[box], {}):
        if found and _explains(candidate, got[box], other[box]):
            return f"{found[0]}: {sentence}"
    return "; ".join([*found, *_lost(got.double(), other, wrong)])


def _explains(candidate: Tensor, got: Tensor, right: Tensor) -> bool:
    """Return whether numbers are those that came out, unlike the right ones."""
    if right.numel() < 3 or not close(got, candidate.to(got.dtype)).all():
        return False
    return bool((got - candidate).abs().max() < 0.02 * (got - right).abs().max())


def _candidates(
    got: Tensor, right: Tensor, given: Mapping[str, Any]
) -> Iterator[tuple[str, Tensor]]:
    """Yield what may have come out, the most telling first, with a sentence."""
    first, more = got.flatten()[0], got - right
    yield f"each number of it is {first:.4g}", first.expand_as(right)
    for words, done in _DONE.items():
        yield f"each number is {words} what it should be", done(right)
    for name, value in given.items():
        with suppress(Exception):  # it may have no numbers, or too many
            own = value.double().expand_as(right)
            times = (more * own).sum() / own.square().sum()
            often = f"plus {times:.4g} times"
            often = {"1.000": "plus", "-1.000": "minus"}.get(f"{times:.3f}", often)
            yield f"it is what it should be {often} {name}", right + times * own
            yield f"it is what it should be times {name}", right * own
            yield f"it is what it should be divided by {name}", right / own
    for axis, length in enumerate(right.shape):
        if 1 < length < 256:
            one, other = (x.movedim(axis, 0).reshape(length, -1) for x in (got, right))
            order = torch.cdist(one, other).argmin(1)
            held = ", ".join(map(str, order[:8].tolist())) + ", …" * (length > 8)
            moved = right.index_select(axis, order)
            yield f"along axis {axis} it holds what belongs at {held}", moved
    for axis, length in enumerate(right.shape):
        if length > 1:
            added = right + more.mean(axis, keepdim=True)
            yield f"the error is the same all along axis {axis}", added
            norm = right.square().sum(axis, keepdim=True)
            factor = 1 + (more * right).sum(axis, keepdim=True) / norm
            said = f"along axis {axis} the numbers are right but for a factor"
            yield said, right * factor.nan_to_num(1)


def _box_of(wrong: Tensor) -> tuple[tuple[slice, ...], list[str]]:
    """Return where all lies that is wrong, and say it unless that is everywhere."""
    box, places = [], []
    for axis, length in enumerate(wrong.shape):
        some = wrong.movedim(axis, 0).reshape(length, -1).any(1).nonzero()
        first, last = int(some[0]), int(some[-1])
        box.append(slice(first, last + 1))
        span = f"{first or ''}:{last + 1 if last + 1 < length else ''}"
        places.append(str(first) if first == last and length > 1 else span)
    while places[-1:] == [":"]:
        places.pop()
    said = f"all that differs lies in [{', '.join(places)}]"
    return tuple(box), [said] * bool(places)


def _lost(got: Tensor, right: Tensor, wrong: Tensor) -> Iterator[str]:
    """Yield what holds for the right numbers and no longer for these."""
    due = right.sum(-1)
    off = got.sum(-1)[~close(got.sum(-1), due)]
    if (due - 1).abs().max() < 1e-3 and (right >= 0).all() and len(off):
        yield f"along its last axis it should sum to 1 and sums to {off[0]:.4g}"
    elif (got < 0).any() and (right >= 0).all():
        yield "no number should be below 0"
    if (right[wrong] == 0).all():
        yield "all that differs lies where 0 is expected"
    share = (got - right).abs().max() / right.abs().max()
    if share < NEAR:
        yield (
            f"no number is off by more than {100 * share:.2g} % of the largest: is a "
            "small constant such as eps another one, or a dtype coarser?"
        )
