"""Checks of values that a student predicted, counted or measured."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torch import Generator

from vit_check.engine.check import Answered, Case, Check
from vit_check.engine.comparing import difference, same
from vit_check.engine.observing import DEEPEST, Record, plain
from vit_check.engine.table import evaluated
from vit_check.engine.verdict import Finding


@dataclass(frozen=True)
class Expression:
    """A right or wrong value of a question, computed when it is first needed.

    Args:
        sentence: what was overlooked, for a wrong value that many give.
    """

    question: str
    code: str
    scope: dict[str, Any]
    sentence: str = ""

    def __call__(self) -> Any:
        return self._value

    @cached_property
    def _value(self) -> Any:
        return evaluated(f"question {self.question}", self.code, self.scope)


@dataclass(eq=False, repr=False)
class ValueCheck(Check):
    """Check of a number, a shape, a word, or a tuple or dict of them.

    Args:
        name: of the value.
        signature: what it is, such as "the number of tokens, class token included".
        expected: computes the right value.
        slips: wrong values that have a reason.
        accept: instead of ``expected``, where many values are right: from a value to
            what is wrong with it, or None.
        rounding: the largest relative difference that counts as equal, for numbers.
    """

    name: str
    signature: str
    expected: Expression | None
    slips: Sequence[Expression]
    hints: tuple[str, str, str]
    accept: Callable[[Any], str | None] | None = None
    rounding: float = 1e-5

    def __post_init__(self) -> None:
        super().__init__(self.name, self.signature, [], self.hints)

    @property
    def asked_as(self) -> str:
        return f"answer:{self.name}"

    def cases(self, generator: Generator, sizes: Mapping[str, Any]) -> Iterable[Case]:
        return [[]]

    def record(self, answer: Any, case: Case) -> Record:
        return self.observe(answer, case)

    def observe(self, answer: Any, case: Case) -> Record:
        return {"value": _as_lists(plain(_without_arrays(answer)))}

    def judge(
        self, case: Case, record: Record, answered: Answered = ()
    ) -> Finding | None:
        given = record["value"]
        if _is_empty(given):
            said = f"is not given yet: it is to be {self.signature}"
            return Finding("unwritten", said)
        if self.accept is not None:
            nan = f"holds NaN, no number: {self.signature}"
            wrong = nan if any(v != v for v in _leaves(given)) else self.accept(given)
            return None if wrong is None else Finding("value", wrong)
        assert self.expected is not None
        right = _as_lists(plain(self.expected()))
        if self._equal(given, right):
            return None
        for slip in self.slips:
            if self._equal(given, _as_lists(plain(slip()))):
                return Finding("slip", slip.sentence)
        return Finding("value", self._unlike(given, right))

    def _unlike(self, given: Any, right: Any) -> str:
        """Return the words for a value that is not the right one, without that."""
        several, expected = _by_place(given), _by_place(right)
        for place in expected:
            if place in several and _is_empty(several[place]):
                return f"has nothing yet at {place}"
        reason = None
        if isinstance(right, str):
            reason = None if isinstance(given, str) else "is to be a text in quotes"
        elif not isinstance(right, list | dict):
            reason = _another_kind("is", [given], [right])
        elif several.keys() == expected.keys():
            in_order = [several[place] for place in expected]
            reason = _another_kind("has", in_order, expected.values())
        elif isinstance(right, list) and isinstance(given, str | int | float):
            kind = "a text in quotes" if isinstance(given, str) else "one number"
            reason = f"is {kind}, expected {len(right)} things in a tuple"
        if (
            not reason
            and type(right) in (int, float)
            and isinstance(given, int | float)
        ):
            reason = (
                f"is {given:,}, which is too {'large' if given > right else 'small'}"
            )
        if reason:
            return f"{reason}: {self.signature}"
        if type(given) is type(right) and not isinstance(right, list | dict):
            return f"is {_short(given)}, which is not {self.signature}"
        found = difference(_form(given), _form(right), what="your answer")
        if found is None and isinstance(right, dict):
            wrong = next(k for k in right if not self._equal(given[k], right[k]))
            return f"is not right at {wrong!r}"
        return found.sentence if found else f"is not right: {self.signature}"

    def _equal(self, given: Any, right: Any) -> bool:
        number = isinstance(right, float) and not isinstance(given, bool)
        if number and isinstance(given, int | float):
            return abs(given - right) <= self.rounding * abs(right)
        if type(right) is int and isinstance(given, float):
            return given == right
        if isinstance(given, bool) != isinstance(right, bool):
            return False
        if isinstance(right, list) and isinstance(given, list):
            pairs = zip(given, right, strict=False)
            return len(given) == len(right) and all(self._equal(*p) for p in pairs)
        if isinstance(right, dict) and isinstance(given, dict):  # in any order
            return given.keys() == right.keys() and all(
                self._equal(given[key], right[key]) for key in right
            )
        if isinstance(right, str) and isinstance(given, str):
            return given.strip().casefold() == right.casefold()
        return same(given, right)


def _by_place(value: Any) -> dict[str, Any]:
    """Return the items of a list or dict by the names of their places."""
    if isinstance(value, list):
        return {f"place {n} of {len(value)}": v for n, v in enumerate(value, start=1)}
    return {repr(k): v for k, v in value.items()} if isinstance(value, dict) else {}


def _another_kind(verb: str, given: Iterable[Any], right: Iterable[Any]) -> str | None:
    """Return the words for a text, a number, or True or False where none should be."""
    for one, expected in zip(given, right, strict=True):
        number = type(expected) in (int, float)
        if not number and type(expected) is not bool:
            continue
        kind = "a number" if number else "True or False"
        if isinstance(one, str):
            return f"{verb} {_short(one)} in quotes, expected {kind} without"
        if isinstance(one, bool) == number or (number and one != one):
            return f"{verb} {_short(one)}, expected {kind}"
    return None


def _short(value: Any) -> str:
    """Return the words for a value, as many as a sentence has room for."""
    if isinstance(value, list):
        return "a list or tuple"
    if isinstance(value, dict):
        return f"something of type {value['?']}" if "?" in value else "a dict"
    return repr(value[:40] if isinstance(value, str) else value)[:42]


def _leaves(value: Any) -> list[Any]:
    """Return what a value holds, however deep in lists and dicts."""
    items = value.values() if isinstance(value, dict) and "?" not in value else value
    if items is value and not isinstance(value, list):
        return [value]
    return [leaf for item in items for leaf in _leaves(item)]


def _each(change: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, list):
        return [_each(change, item) for item in value]
    if isinstance(value, dict) and "?" not in value:
        return {key: _each(change, item) for key, item in value.items()}
    return change(value)


def _is_empty(value: Any) -> bool:
    """Return whether nothing is given: None, an ellipsis, or a list of these."""
    held = _leaves(value)
    return bool(held) and all(leaf in (None, {"?": "ellipsis"}) for leaf in held)


def _as_lists(value: Any) -> Any:
    """Return tensors of numbers as the lists that they print as."""
    return _each(lambda v: plain(v.tolist()) if hasattr(v, "tolist") else v, value)


def _without_arrays(value: Any, depth: int = 0) -> Any:
    """Return NumPy's arrays as lists, down to the depth that ``plain`` converts."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and type(value) is numpy.ndarray:
        return value.tolist()
    if depth < DEEPEST and type(value) in (list, tuple):
        return [_without_arrays(item, depth + 1) for item in value]
    if depth < DEEPEST and type(value) is dict:
        return {k: _without_arrays(item, depth + 1) for k, item in value.items()}
    return value


def _form(value: Any) -> Any:
    """Return a value without its numbers, so that no sentence gives the answer away."""
    forms = {int: 0, float: 0, bool: 0, str: ""}
    return _each(lambda leaf: forms.get(type(leaf), leaf), value)
