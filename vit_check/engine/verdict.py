"""The verdict of a check: one sentence about an answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


class CheckFailed(AssertionError):
    """An answer is not right. The message is one sentence that says what is wrong.

    A notebook shows the sentence alone, without the stack trace.

    Args:
        check: name of the check.
        mistake: a short name for what is wrong, the same whatever the numbers are.
        sentence: what is wrong, for the student.
        hint: what to look at next, if it was asked for.
    """

    def __init__(
        self, check: str, mistake: str, sentence: str, hint: str | None = None
    ) -> None:
        self.check, self.mistake = check, mistake
        self.sentence, self.hint = sentence, hint
        text = f"{check}: {sentence}"
        super().__init__(text if hint is None else f"{text}\n{hint}")

    @classmethod
    def of_several(cls, failures: Sequence["CheckFailed"]) -> "CheckFailed":
        """A failed check of several answers, with a line for each."""
        first = failures[0]
        failed = cls(first.check, first.mistake, first.sentence, first.hint)
        failed.args = ("\n".join(map(str, failures)),)
        return failed

    def _render_traceback_(self) -> list[str]:  # called by IPython
        return str(self).splitlines()


class Misused(ValueError):
    """Raised if a check is used the wrong way; a notebook shows the sentence alone."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


@dataclass(frozen=True)
class Finding:
    """A mistake that a check found: a short name, and the sentence for the student."""

    mistake: str
    sentence: str


@dataclass(frozen=True)
class Mistake:
    """A known-wrong answer, and the sentence for a student who gives it.

    An answer that puts out what ``wrong`` puts out has made this mistake.

    Args:
        name: short, such as ``"scale by D"``.
        sentence: says what is wrong, not what to type.
        wrong: takes the arguments that the check gives to a right answer.
    """

    name: str
    sentence: str
    wrong: Callable[..., Any]
