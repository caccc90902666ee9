"""Checks of what a student has built: one for each piece, each with a sentence.

>>> import vit_check as check
>>> check.patchify(my_patchify)
patchify: right
>>> check.multi_head_attention(MyAttention, hint=1)

A check is found by its place: ``chapters/<chapter>/patchify.py`` holds ``patchify``.
"""

import difflib
from collections.abc import Callable
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

from vit_check import chapters
from vit_check.chapters.questions import QUESTIONS, answer, found
from vit_check.drawn import as_drawn, variants
from vit_check.engine.check import Check
from vit_check.engine.verdict import CheckFailed, Misused
from vit_check.progress import as_handed_out, handed_out, status


def _found_in(
    package: ModuleType,
    taken: Callable[[ModuleType], ModuleType] = lambda module: module,
) -> dict[str, Check]:
    """Return the checks that are in files of their own, each named like its check.

    Args:
        taken: returns what is read in place of a file.

    Raises: ValueError if there are two of one name.
    """
    found: dict[str, Check] = {}
    for file in walk_packages(package.__path__, f"{package.__name__}."):
        name = file.name.rpartition(".")[2]
        check = vars(taken(import_module(file.name))).get(name)
        if isinstance(check, Check):
            if name in found:
                raise ValueError(f"{file.name}: there is another check by this name")
            found[name] = check
    return found


CHECKS = _found_in(chapters)
globals().update(CHECKS)

__all__ = ["CheckFailed", "answer", "answers", "handed_out", "status"]
__all__ += sorted(CHECKS)


def variant(seed: int | None) -> None:
    """Ask a variant's questions from now on; with None, those of the book's own sets.

    >>> check.variant(2027)

    Args:
        seed: the one with which the variant was drawn.
    """
    drawn = {} if seed is None else variants(seed)
    by_topic = {name.split("_", 1)[1]: each for name, each in drawn.items()}

    def taken(module: ModuleType) -> ModuleType:
        topic = module.__name__.split(".")[2]
        return as_drawn(module, by_topic[topic]) if topic in by_topic else module

    QUESTIONS.clear()
    QUESTIONS.update(found(taken))
    CHECKS.update(_found_in(chapters, taken))
    globals().update(CHECKS)
    as_handed_out({int(name[:2]): each.text for name, each in drawn.items()})


def answers(hint: int = 0, **given: Any) -> None:
    """Check several answers, and say of each one whether it is right.

    >>> check.answers(tokens_at_384=577, token_count=my_token_count)

    Args:
        hint: 1, 2 or 3 to add a hint to what is wrong.
        **given: values by the names that the exercise gives them, and functions and
            classes by the names of their checks.

    Raises:
        CheckFailed: if one of them is not right, with a line for each that is not.
        Misused: if there is nothing by one of the names, or no answer at all.
    """
    if not given:
        raise Misused(
            "answers: got none; give each by its name, as in "
            "check.answers(tokens_at_384=577, patchify=my_patchify)"
        )
    checks = [_by_name(name) for name in given]
    failures = []
    for check, value in zip(checks, given.values(), strict=True):
        try:
            check(value, hint)
        except CheckFailed as failed:
            failures.append(failed)
    if failures:
        raise CheckFailed.of_several(failures)


def _by_name(name: str) -> Check:
    check = QUESTIONS.get(name) or CHECKS.get(name)
    if check is None:
        near = difflib.get_close_matches(name, [*__all__, *QUESTIONS], n=3)
        said = f"; did you mean {' or '.join(near)}?" if near else ""
        raise Misused(f"{name}: expected the name of a check or a question{said}")
    return check


class _NoSuchCheck(AttributeError):
    """Raised for an unknown name; a notebook shows the sentence alone."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def __getattr__(name: str) -> Check:
    if name.startswith("_"):
        raise AttributeError(name)
    if name in QUESTIONS:
        said = f'it is a question: check.answer("{name}", ...)'
    else:
        alike = [known for known in __all__ if name in known or known in name]
        alike += difflib.get_close_matches(name, __all__, n=4, cutoff=0.5)
        said = f"the nearest are {', '.join(dict.fromkeys(alike))}"
        said = said if alike else "dir(check) lists all"
    raise _NoSuchCheck(f"there is no check by the name {name!r}; {said}")


def __dir__() -> list[str]:
    return [name for name in __all__ if name != CheckFailed.__name__]
