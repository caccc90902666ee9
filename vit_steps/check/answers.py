"""Checks of values that the exercises ask for by name."""

from typing import Any

from vit_steps.check.questions import QUESTIONS


def answer(name: str, value: Any, hint: int = 0) -> None:
    """Check a value by the name that the exercise gives it.

    Args:
        name: such as ``"tokens_at_384"``.
        value: a number, a shape, a word, or a tuple or dict of them.
        hint: 1, 2 or 3 to add a hint to what is wrong.

    Raises:
        CheckFailed: if the value is not right.
        ValueError: if there is no question by that name.
    """
    if name not in QUESTIONS:
        raise ValueError(f"name: got {name!r}, expected a question of the exercises")
    QUESTIONS[name](value, hint)
