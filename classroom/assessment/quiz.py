"""The parts of a quiz question; the questions themselves are in ``questions``."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Ask:
    """One case of a question, as the question's function returns it.

    Texts are Markdown. ``wrong`` has three answers, each with the mistake that leads to
    it, and ``why`` says why the right one is right.
    """

    text: str
    right: str
    why: str
    wrong: Mapping[str, str]

    def __post_init__(self) -> None:
        if len(self.wrong) != 3 or self.right in self.wrong:
            raise ValueError(
                f"wrong: got {list(self.wrong)} beside {self.right!r}, expected three "
                "other answers"
            )


@dataclass(frozen=True)
class Source:
    """A question with its tags and the cases in which it can be asked."""

    name: str
    chapter: int
    belief: str  # the misconception behind a wrong answer
    asks: tuple[Ask, ...]


BANK: list[Source] = []


def about(
    chapter: int, belief: str, *cases: Any
) -> Callable[[Callable[..., Ask]], Callable[..., Ask]]:
    """Enter a function in the bank as a question on a chapter.

    Args:
        belief: the misconception behind a wrong answer.
        cases: the arguments, a tuple or a single one, for which the question is asked:
            those of form A, those of form B, and more to draw from.
    """

    def enter(function: Callable[..., Ask]) -> Callable[..., Ask]:
        as_tuples = (c if isinstance(c, tuple) else (c,) for c in cases)
        asks = tuple(function(*case) for case in as_tuples)
        BANK.append(Source(function.__name__, chapter, belief, asks))
        return function

    return enter
