"""Values that the exercises ask for, chapter by chapter, with the usual slips."""

from typing import Any

from vit_steps.check.value_check import Slip, ValueCheck
from vit_steps.cost import token_count

ANSWERS: dict[str, ValueCheck] = {}


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
    if name not in ANSWERS:
        raise ValueError(f"name: got {name!r}, expected a question of the exercises")
    ANSWERS[name](value, hint)


def _ask(check: ValueCheck) -> None:
    ANSWERS[check.name] = check


# Chapter 1
_ask(
    ValueCheck(
        "tokens_at_384",
        "the number of tokens of a 384×384 image in patches of 16, with class token",
        lambda: token_count(384, 16) + 1,
        [
            Slip(576, "the class token is a token too"),
            Slip(24, "that is the patches along one side; an image has two"),
            Slip(384 * 384, "that many pixels; a token is a patch of 16×16 of them"),
        ],
        hints=(
            "How many patches of 16 lie along a side of 384?",
            "Patches down times patches across, and one token more.",
            "24 × 24 + 1.",
        ),
    )
)
