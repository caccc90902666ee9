"""The check of ``softmax``, chapter 4."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn import functional as F

from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake


def share(scores: Tensor, taken_off: Any = 0.0, axis: int = -1) -> Tensor:
    """A softmax with a place for each usual mistake."""
    exps = (scores - taken_off).exp()
    return exps / exps.sum(dim=axis, keepdim=True)


def _softmax_inputs(generator: Generator) -> Iterator[Case]:
    def normal(*shape: int) -> Tensor:
        return 1.5 * torch.randn(shape, generator=generator, dtype=torch.float64)

    yield [normal(2, 3, 5).float() + 3.0]
    yield [normal(4, 4)]
    yield [normal(7)]
    yield [normal(3, 6) + 1000]
    yield [normal(3, 6) - 2000]
    apart = normal(2, 5)
    apart[0] += 3000
    apart[1] -= 2000
    yield [apart]
    towering = normal(3, 5)
    towering[:, 1] += 3000
    yield [towering - 500]


softmax = FunctionCheck(
    "softmax",
    "softmax(scores) -> weights of the same shape, over the last axis",
    partial(torch.softmax, dim=-1),
    _softmax_inputs,
    [
        Mistake(
            "one for all rows",
            "gives NaN for a row far below another: one number is taken off the whole "
            "table, and each row should lose its own largest score",
            lambda s: share(s, s.max()),
        ),
        Mistake(
            "one for all rows, covered",
            "gives a row of zeros where it lies far below another: one number is taken "
            "off the whole table, and each row should lose its own largest score",
            lambda s: share(s, s.max()).nan_to_num(0.0),
        ),
        Mistake(
            "mean subtracted",
            "gives NaN where one score towers over its row: taking off the row's mean, "
            "or its smallest score, leaves that one too large for the exponential",
            lambda s: share(s, s.mean(dim=-1, keepdim=True)),
        ),
        Mistake(
            "size subtracted",
            "gives NaN for scores far below 0: what is taken off lies far above them; "
            "take off the largest score of the row, whatever its sign",
            lambda s: share(s, s.abs().amax(dim=-1, keepdim=True)),
        ),
        Mistake(
            "overflow",
            "gives NaN for scores far from 0: an exponential of 1000 is infinite, and "
            "those of a row around -1000 are all 0; take the row's largest score off "
            "first",
            share,
        ),
        Mistake(
            "NaN covered",
            "turns the NaN of large scores into zeros, and such a row adds up to 0; "
            "take its largest score off first, and there is no NaN",
            lambda s: share(s).nan_to_num(0.0),
        ),
        Mistake(
            "clamped",
            "cuts large scores down to one number, so that they can no longer be told "
            "apart; take the row's largest off, which keeps their differences",
            lambda s: share(s.clamp(min=-80, max=80)),
        ),
        Mistake(
            "sum over axis 1",
            "adds up over axis 1, which is the last only where there are two; dim=-1 "
            "is the last of any number",
            lambda s: share(s, s.amax(dim=-1, keepdim=True), axis=1),
        ),
        Mistake(
            "over the first axis",
            "adds up over the first axis; the weights are to add up to 1 over the last",
            lambda s: s.softmax(dim=0),
        ),
        Mistake(
            "over the axis before the last",
            "adds up over the axis before the last: each column sums to 1, and each "
            "row should",
            lambda s: s.softmax(dim=-2),
        ),
        Mistake(
            "over everything",
            "divides by the sum of all exponentials, so that only the whole adds up to "
            "1; each row has a sum of its own",
            lambda s: s.exp() / s.exp().sum(),
        ),
        Mistake(
            "one sum for all rows",
            "divides by the sum of all exponentials; each row has a sum of its own",
            lambda s: (
                (s - s.amax(dim=-1, keepdim=True)).exp()
                / (s - s.amax(dim=-1, keepdim=True)).exp().sum()
            ),
        ),
        Mistake(
            "keepdim missing",
            "divides column j by the sum of row j: without keepdim=True the sums lie "
            "along the last axis, and a square table takes them there without a word",
            lambda s: s.exp() / s.exp().sum(dim=-1),
        ),
        Mistake(
            "keepdim missing twice",
            "takes the largest of row j off column j, and divides by the sum of row j "
            "there: without keepdim=True both lie along the last axis",
            lambda s: (
                (s - s.amax(dim=-1)).exp() / (s - s.amax(dim=-1)).exp().sum(dim=-1)
            ),
        ),
        Mistake(
            "keepdim missing at the largest",
            "takes the largest of row j off column j: without keepdim=True the largest "
            "scores lie along the last axis",
            lambda s: share(s, s.amax(dim=-1)),
        ),
        Mistake(
            "divided by the largest score",
            "divides the scores by the largest of their row, which changes their "
            "differences; take it off instead",
            lambda s: (s / s.amax(dim=-1, keepdim=True)).softmax(dim=-1),
        ),
        Mistake(
            "not normalised",
            "the exponentials are not divided by their sum, so that no row adds up to "
            "1",
            torch.exp,
        ),
        Mistake(
            "divided by the largest",
            "the largest weight of each row is 1: the exponentials are not divided by "
            "their sum",
            lambda s: (s - s.amax(dim=-1, keepdim=True)).exp(),
        ),
        Mistake(
            "no exponential",
            "the scores themselves are divided by their sum: there is no exponential, "
            "and a weight can be negative",
            lambda s: s / s.sum(dim=-1, keepdim=True),
        ),
        Mistake(
            "largest of each column",
            "takes off the largest of each column, which is another number for each "
            "key and so changes the weights; it should be one number for a row",
            lambda s: (s - s.amax(dim=-2, keepdim=True)).softmax(dim=-1),
        ),
        Mistake(
            "logarithm",
            "gives the logarithms of the weights, as log_softmax does",
            lambda s: s.log_softmax(dim=-1),
        ),
        Mistake(
            "sigmoid",
            "each score is squeezed for itself, as sigmoid does: the scores of a row "
            "do not compete, and their weights do not add up to 1",
            torch.sigmoid,
        ),
        Mistake(
            "sign",
            "the smallest score gets the largest weight: the sign is turned round",
            lambda s: (-s).softmax(dim=-1),
        ),
        Mistake(
            "hard",
            "the largest score gets all the weight: that is argmax, and no softmax",
            lambda s: F.one_hot(s.argmax(-1), s.shape[-1]).to(s.dtype),
        ),
        Mistake(
            "powers of two",
            "raises 2 to the scores, where it should be e",
            lambda s: (s * math.log(2)).softmax(dim=-1),
        ),
    ],
    hints=(
        "Print the sum of each row for a small table, then try scores of 1000.",
        "Exponentials first, then each divided by the sum of its row, with keepdim. "
        "Taking one number off all scores of a row changes nothing and keeps the "
        "exponentials small.",
        "exps = (scores - scores.amax(dim=-1, keepdim=True)).exp(), then "
        "exps / exps.sum(dim=-1, keepdim=True).",
    ),
    shape="as the scores",
)
