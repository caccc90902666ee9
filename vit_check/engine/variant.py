"""Other numbers, letters and orders for a set of exercises, drawn by a seed.

    side: 384 | 448 | 512
    photo: (4032, 3024) | (4000, 3008)
    row = side // 16
    if side != photo[0]

    is often adapted to «side»
    token_count(«side», 16) + 1
    «row:,» tokens

A table begins with the quantities of a set: each with today's value, then those that
may be drawn in its place. ``name = expression`` follows from them, and a draw is
repeated if an expression after ``if`` is not true. After an empty line come the places:
pieces of the notebook, of the questions or of a check, with quantities between « and ».
With today's values a place is the text that is there now, with drawn values the text of
the variant. A line that begins with ``# `` is a comment.

Values are written in Python and may use ``math``. In a place ¶ is the end of a line.
"""

import math
import re
from collections.abc import Callable
from difflib import SequenceMatcher
from random import Random
from typing import Any

from vit_check.engine.table import evaluated

MOST_DRAWS = 10_000
BRACED = re.compile(r"«(.+?)(:[,_.\d]*[a-z%]?)?»")
CHOICE = re.compile(r"(\w+): (.+)")
DERIVED = re.compile(r"(\w+) = (.+)")


class Variant:
    """The quantities of a table as they are today and as a seed draws them.

    Args:
        table: as explained above.
        seed: what the drawing begins with.

    Raises:
        ValueError: if a line cannot be read, no draw is allowed, or one piece of text
            has two places with different drawn values.
    """

    def __init__(self, table: str, seed: str) -> None:
        head, _, tail = table.partition("\n\n")
        quantities = [line for line in head.splitlines() if line[:2] != "# "]
        places = [line for line in tail.splitlines() if line and line[:2] != "# "]
        random = Random(seed)
        unconditional = [line for line in quantities if line[:3] != "if "]
        today = _values(unconditional, lambda allowed: allowed[0])
        draws = (
            _values(quantities, lambda allowed: random.choice(allowed[1:]))
            for _ in range(MOST_DRAWS)
        )
        drawn = next((draw for draw in draws if draw is not None), None)
        if drawn is None:
            raise ValueError("table: its conditions allow no draw")
        self.today, self.drawn = today or {}, drawn
        self.places: dict[str, str] = {}  # as it is today -> as it is drawn
        for place in places:
            before, after = _filled(place, self.today), _filled(place, self.drawn)
            key = " ".join(before.split())
            if self.places.setdefault(key, after) != after:
                raise ValueError(f"place {place!r}: today another is the same text")
        longest_first = sorted(self.places, key=len, reverse=True)
        self._any = re.compile("|".join(map(_pattern, longest_first)) or "(?!)")

    def text(self, text: str) -> str:
        """Return a text with drawn pieces in the place of today's."""
        return self._any.sub(lambda found: self._drawn(found[0]), text)

    def found_in(self, text: str) -> set[str]:
        """Return the places, as they are today, that a text has."""
        return {" ".join(found.split()) for found in self._any.findall(text)}

    def _drawn(self, found: str) -> str:
        """Return a drawn piece of text, with line breaks where it had them before."""
        drawn = self.places[" ".join(found.split())]
        if "\n" in drawn or "\n" not in found:
            return drawn
        words, space = found.split(), ["", *re.findall(r"\s+", found)]
        new = drawn.split()
        if len(new) != len(words):
            spaces = [" "] * len(new)
            for one in SequenceMatcher(None, words, new).get_matching_blocks():
                before = slice(one.a, one.a + one.size)
                spaces[one.b : one.b + one.size] = [s or " " for s in space[before]]
            space = ["", *spaces[1:]]
        return "".join(map("".join, zip(space, new, strict=True)))


def _values(
    quantities: list[str], choose: Callable[[list[Any]], Any]
) -> dict[str, Any] | None:
    """Return the value of each quantity; None if a condition is not true."""
    values: dict[str, Any] = {}
    for line in quantities:
        if line.startswith("if "):
            if not _evaluated(line[3:], values):
                return None
        elif choice := CHOICE.fullmatch(line):
            allowed = [_evaluated(code, values) for code in choice[2].split(" | ")]
            values[choice[1]] = choose(allowed)
        elif derived := DERIVED.fullmatch(line):
            values[derived[1]] = _evaluated(derived[2], values)
        else:
            raise ValueError(f"table: {line!r} is no quantity and no condition")
    return values


def _evaluated(code: str, values: dict[str, Any]) -> Any:
    return evaluated("table", code, {"math": math} | values)


def _filled(place: str, values: dict[str, Any]) -> str:
    def value(found: re.Match[str]) -> str:
        return format(_evaluated(found[1], values), (found[2] or ":")[1:])

    return BRACED.sub(value, place).replace("¶", "\n").strip()


def _pattern(place: str) -> str:
    """Return a pattern of whole words for a text, whatever its line breaks."""
    pattern = r"\s+".join(re.escape(word) for word in place.split())
    before = r"(?<![\w.])" if place[0].isdigit() else r"(?<!\w)"
    after = r"(?!\w|[.,]\d)" if place[-1].isdigit() else r"(?!\w)"
    pattern = before * (place[0].isalnum()) + pattern
    return pattern + after * (place[-1].isalnum())
