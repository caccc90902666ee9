"""Questions as a table of text.

    tokens_at_384: the number of tokens of a 384×384 image in patches of 16, with
        class token
      = token_count(384, 16) + 1
      576: the class token is a token too
      23 or 24: that is the patches along one side; an image has two
      ? How many patches of 16 lie along a side of 384?
      ? Patches down times patches across, and one token more.
      ? 24 × 24 + 1.

A question begins with its name, a colon and what is asked. The lines below it are
indented by two spaces: ``=`` and the right value; wrong values that many give, one or
several, with a colon and a sentence; and three hints after ``?``, each of which says
more than the one before. A line that is too long goes on below, indented by four
spaces.

Numbers may differ by 1 in 100,000; ``rounding 2e-3`` allows for 2 in 1,000. If many
values are right, such as those that somebody measured, conditions for the wrong ones
take the place of ``=`` and wrong values:

      accept numbers("before", "after", low=0, high=1)
      if given["after"] < given["before"]: has a lower share after the training

After ``accept`` comes a function that takes a value and returns what is wrong with it,
or None: one in the file, or one that ``numbers`` makes.

Values are written in Python. They may use ``math``, ``torch``, ``F`` and all names in
the file, and are computed when they are first needed.
"""

import contextlib
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from vit_check.engine.table import ALWAYS_NAMED, blocks, continued
from vit_check.engine.values import Expression, ValueCheck

Accept = Callable[[Any], str | None]


def questions(table: str, names: Mapping[str, Any]) -> list[ValueCheck]:
    """Return the questions of a table, in their order.

    Args:
        names: those that values may use.

    Raises: ValueError if a question cannot be read, with its name.
    """
    scope = ALWAYS_NAMED | dict(names)
    return [_question(block, scope) for block in blocks(table)]


def _question(block: list[str], scope: dict[str, Any]) -> ValueCheck:
    name, colon, _ = block[0].partition(": ")
    if not name.isidentifier() or not colon:
        raise ValueError(f'questions: {block[0]!r} is not "name: what is asked"')
    try:
        asked, *entries = continued(block)
        return _read(name, asked.removeprefix(f"{name}: "), entries, scope)
    except ValueError as error:
        raise ValueError(f"question {name}: {error}") from None


def _read(
    name: str, what: str, entries: list[str], scope: dict[str, Any]
) -> ValueCheck:
    rights, accepts, hints, slips = [], [], [], []
    conditions: list[tuple[str, str]] = []  # each with its sentence
    rounding = 1e-5
    for line in entries:
        sign, _, text = line.partition(" ")
        match sign:
            case "=":
                rights.append(Expression(name, text, scope))
            case "accept":
                accepts.append(_function(text, scope))
            case "if":
                conditions.append(_parted(text))
            case "rounding":
                rounding = float(text)
            case "?":
                hints.append(text)
            case _:
                values, sentence = _parted(line)
                for code in values.split(" or "):
                    slips.append(Expression(name, code, scope, sentence))
    if conditions and not accepts:
        raise ValueError('if: expected a line with "accept function" before it')
    if len(rights) + len(accepts) != 1:
        raise ValueError('expected one line with "= value" or "accept function"')
    if accepts and slips:
        raise ValueError("accept: the function has the sentences, expected no others")
    if len(hints) != 3:
        raise ValueError(f'got {len(hints)} hints behind "?", expected 3')
    return ValueCheck(
        name,
        what,
        rights[0] if rights else None,
        slips,
        (hints[0], hints[1], hints[2]),
        _accepting(accepts[0], conditions, scope) if accepts else None,
        rounding,
    )


def _function(code: str, scope: dict[str, Any]) -> Accept:
    with contextlib.suppress(Exception):
        found = eval(code, {"numbers": numbers} | scope)
        if callable(found):
            return found
    raise ValueError(f"accept: there is no function {code!r} in the file")


def _accepting(
    accept: Accept, conditions: list[tuple[str, str]], scope: dict[str, Any]
) -> Accept:
    def wrong(given: Any) -> str | None:
        for code, sentence in [("accept(given)", ""), *conditions]:
            found = eval(code, scope | {"given": given, "accept": accept})
            if found:
                return sentence or str(found)
        return None

    return wrong


def numbers(
    *names: str | int, each: int = 0, low: float = -math.inf, high: float = math.inf
) -> Accept:
    """Return a function that says what is wrong unless a value has these numbers.

    Args:
        *names: the keys of a dictionary; or how many numbers are in a list.
        each: how many are in a list by each name, if there is more than one.
    """

    def wrong(given: Any) -> str | None:
        keys = [name for name in names if isinstance(name, str)]
        if keys and (not isinstance(given, dict) or set(given) != set(keys)):
            return f"is to be a dictionary with the keys {', '.join(map(repr, keys))}"
        many = each if keys else names[0]
        for name, value in given.items() if keys else [("", given)]:
            at = f" at {name!r}" if keys else ""
            if many and (not isinstance(value, list) or len(value) != many):
                return f"is to have {many} numbers in a list{at}"
            for number in value if many else [value]:
                if type(number) not in (int, float):
                    return f"has something{at} that is not a number"
                if not low <= number <= high:
                    span = f"from {low:g} to {high:g}"
                    return f"has {number:.3g}{at}, expected a number {span}"
        return None

    return wrong


def _parted(line: str) -> tuple[str, str]:
    """Split a line into a value and its sentence; a dict as the value has colons too.

    Raises: ValueError if there is no sentence.
    """
    places = [match.start() for match in re.finditer(": ", line)] or [len(line)]
    for place in places:
        with contextlib.suppress(SyntaxError):
            compile(line[:place], "value", "eval")
            break
    else:
        place = places[0]
    if not line[place + 2 :]:
        raise ValueError(
            f"{line!r} has no sentence behind a colon "
            '(a right value begins with "=", a hint with "?")'
        )
    return line[:place], line[place + 2 :]
