"""A log of all findings since the program or the kernel started."""

from dataclasses import dataclass
from typing import Any

from vit_check.engine.verdict import Finding


@dataclass(frozen=True)
class Said:
    """The finding of a check on one answer.

    Args:
        check: the name under which a judge knows it, as ``"answer:third_weight"``.
        given: the name of the function or class that it was given, or of its type.
        finding: what is wrong; None if the answer is right.
        hint: the number of the hint that was shown; 0 if none was.
    """

    check: str
    given: str
    finding: Finding | None
    hint: int


SAID: list[Said] = []


def note(check: str, answer: Any, finding: Finding | None, hint: int) -> None:
    """Write down the finding of a check."""
    given = getattr(answer, "__name__", None)
    if not isinstance(given, str):
        given = type(answer).__name__
    SAID.append(Said(check, given, finding, hint if finding else 0))
