"""Check of chapter 8: how far each step goes."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from vit_check.engine.functions import FunctionCheck
from vit_check.engine.observing import as_number
from vit_check.engine.verdict import Mistake
from vit_steps.training import learning_rate as right_rate


def _rates(
    schedule: Callable[..., Any], total_steps: int, warmup_steps: int, peak: float
) -> dict[str, Any]:
    """The learning rate at every step, and after the last."""
    return {
        f"the rate at step {step} of {total_steps}, {warmup_steps} of them warm-up,": (
            as_number(schedule(step, total_steps, warmup_steps, peak))
        )
        for step in range(total_steps + 1)
    }


def _rate(
    step: int,
    total_steps: int,
    warmup_steps: int,
    peak: float,
    rise: str = "rightly",
    fall: str = "rightly",
    passed: str = "since the warm-up",
) -> float:
    """The learning rate with a place for each usual mistake."""
    w = warmup_steps
    if step < w and rise != "none":
        share = {
            "rightly": (step + 1) / (w + 1),
            "from 0": step / w,
            "from 0, never at the peak": step / (w + 1),
            "to the peak": (step + 1) / w,
            "at the peak": 1.0,
            "over all steps": (step + 1) / (total_steps + 1),
        }[rise]
        return peak * share
    if passed == "since the warm-up":
        progress = (step - w) / max(1, total_steps - w)
    elif passed == "since the start":
        progress = step / total_steps
    elif passed == "from the start in less":
        progress = step / max(1, total_steps - w)
    elif passed == "counted from 1":
        progress = (step - w + 1) / max(1, total_steps - w)
    elif passed == "a step early":
        progress = (step - w) / max(1, total_steps - w - 1)
    else:  # "of all steps"
        progress = (step - w) / total_steps
    share = {
        "rightly": (1 + math.cos(math.pi * progress)) / 2,
        "level": 1.0,
        "line": 1 - progress,
        "whole": (1 + math.cos(2 * math.pi * progress)) / 2,
        "quarter": math.cos(math.pi * progress / 2),
        "not halved": 1 + math.cos(math.pi * progress),
        "negative": math.cos(math.pi * progress),
        "no pi": (1 + math.cos(progress)) / 2,
        "degrees": (1 + math.cos(180 * progress)) / 2,
        "rising": (1 - math.cos(math.pi * progress)) / 2,
    }[fall]
    return peak * share


learning_rate = FunctionCheck(
    "learning_rate",
    "learning_rate(step, total_steps, warmup_steps, peak) -> a float",
    right_rate,
    lambda generator: iter([[23, 5, 0.8], [17, 0, 0.3], [40, 12, 2.0]]),
    [
        Mistake(
            "first step of 0",
            "the warm-up starts at 0, so the first step changes nothing; step 0 should "
            "already have its part of the rise",
            partial(_rate, rise="from 0"),
        ),
        Mistake(
            "a step behind",
            "the warm-up is a step behind: the first step changes nothing; step 0 "
            "should already have its part of the rise",
            partial(_rate, rise="from 0, never at the peak"),
        ),
        Mistake(
            "peak too soon",
            "the peak is reached in the last step of the warm-up, and again in the "
            "next; it belongs to the first step after the warm-up alone",
            partial(_rate, rise="to the peak"),
        ),
        Mistake(
            "no rise",
            "the rate does not rise: it is at its peak throughout the warm-up",
            partial(_rate, rise="at the peak"),
        ),
        Mistake(
            "no warm-up",
            "there is no warm-up: the cosine begins at step 0",
            partial(_rate, rise="none", passed="since the start"),
        ),
        Mistake(
            "rise over all steps",
            "the rise is spread over all steps of the training, expected over those of "
            "the warm-up",
            partial(_rate, rise="over all steps"),
        ),
        Mistake(
            "cosine since the start",
            "the cosine counts from step 0: when the warm-up ends, the rate drops, "
            "since a part of the fall is already behind it",
            partial(_rate, passed="since the start"),
        ),
        Mistake(
            "warm-up subtracted once",
            "the warm-up is taken off the length of the fall and not off the steps "
            "gone: the rate drops when it ends, and rises again before the last step",
            partial(_rate, passed="from the start in less"),
        ),
        Mistake(
            "never at the end",
            "the fall is as long as the whole training and begins after the warm-up: "
            "the training is over before the rate is down",
            partial(_rate, passed="of all steps"),
        ),
        Mistake(
            "a step early",
            "the rate is 0 in the last step, which then changes nothing; it should "
            "reach 0 when all steps are done",
            partial(_rate, passed="a step early"),
        ),
        Mistake(
            "fall counted from 1",
            "the fall is a step ahead: the rate should be at its peak in the first "
            "step after the warm-up, where none of the fall is done",
            partial(_rate, passed="counted from 1"),
        ),
        Mistake(
            "no fall",
            "the rate stays at its peak after the warm-up",
            partial(_rate, fall="level"),
        ),
        Mistake(
            "a straight line",
            "the rate falls along a straight line, expected half a cosine",
            partial(_rate, fall="line"),
        ),
        Mistake(
            "a whole cosine",
            "a whole cosine is used: the rate is back at its peak at the end",
            partial(_rate, fall="whole"),
        ),
        Mistake(
            "a quarter of a cosine",
            "a quarter of a cosine is used, from its top to its zero, expected a half, "
            "from its top to its bottom",
            partial(_rate, fall="quarter"),
        ),
        Mistake(
            "not halved",
            "1 + cos runs from 2 down to 0: the rate jumps to twice its peak",
            partial(_rate, fall="not halved"),
        ),
        Mistake(
            "below 0",
            "the cosine alone runs from 1 to -1: the second half of the training would "
            "go uphill",
            partial(_rate, fall="negative"),
        ),
        Mistake(
            "no pi",
            "the share of the fall is taken for the angle itself; half a cosine ends "
            "at π",
            partial(_rate, fall="no pi"),
        ),
        Mistake(
            "degrees",
            "the angle is in degrees; the cosine takes radians",
            partial(_rate, fall="degrees"),
        ),
        Mistake(
            "upside down",
            "the fall is upside down: it begins at 0 and rises to the peak",
            partial(_rate, fall="rising"),
        ),
    ],
    hints=(
        "Look at four steps: the first, the last of the warm-up, the one after it, and "
        "the end. Which of them is not what the text says?",
        "The warm-up rises by peak/(warmup_steps + 1) in every step. Behind it the "
        "share of the fall that is done is (steps since the warm-up) / (steps that the "
        "fall has in all).",
        "peak * (step + 1) / (warmup_steps + 1), and then "
        "peak * (1 + math.cos(math.pi * progress)) / 2.",
    ),
    gradients=False,
    scenario=_rates,
)
