"""The values that the exercises ask for by name, from each chapter's ``questions``."""

import difflib
from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from vit_check import chapters
from vit_check.engine.questions import questions
from vit_check.engine.values import ValueCheck
from vit_check.engine.verdict import Misused


def found(
    taken: Callable[[ModuleType], ModuleType] = lambda module: module,
) -> dict[str, ValueCheck]:
    """Return the questions of all chapters.

    Args:
        taken: returns what is read in place of a chapter's questions.
    """
    found: dict[str, ValueCheck] = {}
    for chapter in iter_modules(chapters.__path__, f"{chapters.__name__}."):
        if not chapter.ispkg:
            continue
        module = taken(import_module(f"{chapter.name}.questions"))
        for question in questions(module.QUESTIONS, vars(module)):
            if question.name in found:
                raise ValueError(f"question {question.name}: the name is taken")
            found[question.name] = question
    return found


QUESTIONS = found()


def answer(name: str, value: Any, hint: int = 0) -> None:
    """Check a value by the name that the exercise gives it.

    Args:
        name: such as ``"tokens_at_384"``.
        value: a number, a shape, a word, or a tuple or dict of them.
        hint: 1, 2 or 3 to add a hint to what is wrong.

    Raises:
        CheckFailed: if the value is not right.
        Misused: if there is no question by that name.
    """
    if not isinstance(name, str) or name not in QUESTIONS:
        raise Misused(_no_such_question(name, value))
    QUESTIONS[name](value, hint)


def _no_such_question(name: Any, value: Any) -> str:
    if isinstance(value, str) and value in QUESTIONS:
        return f'check.answer: the name comes first, check.answer("{value}", ...)'
    near = difflib.get_close_matches(str(name), QUESTIONS, n=3, cutoff=0.4)
    said = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"name: got {str(name)[:60]!r}, expected a question of the exercises{said}"
