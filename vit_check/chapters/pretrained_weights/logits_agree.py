"""Check of chapter 10: whether two models say the same."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor

from vit_check.engine.check import Case
from vit_check.engine.drawing import normal
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake


def _agree(
    got: Tensor,
    expected: Tensor,
    atol: float,
    signed: bool = False,
    nan_passes: bool = False,
    broadcast: bool = False,
    of: str = "max",
    rtol: float = 0.0,
) -> bool:
    """A comparison with a place for each usual mistake."""
    if got.shape != expected.shape and not broadcast:
        return False
    off = got - expected
    if of == "sum":
        off = off.sum().abs()
    off = off if signed else off.abs()
    off = off - rtol * expected.abs()
    largest = off.mean() if of == "mean" else off.max()
    return not bool(largest > atol) if nan_passes else bool(largest <= atol)


def _agree_inputs(generator: Generator) -> Iterator[Case]:
    B, K, atol = 4, 7, 1e-4
    expected = normal(generator, B, K, dtype=torch.float32)

    def off_at(*places: tuple[int, int, float]) -> list[Tensor]:
        got = expected.clone()
        for row, column, by in places:
            got[row, column] += by
        return [got, expected.clone()]

    large = 1000 + 100 * normal(generator, B, K)
    nan = torch.full((B, K), math.nan)
    column = expected[:, :1]
    pairs = {
        "two that differ by rounding": off_at((0, 1, 0.8 * atol), (3, 6, -0.7 * atol)),
        "one logit that is too low": off_at((1, 2, -0.5)),
        "one logit that is too high": off_at((1, 2, 0.5)),
        "one logit of the last image": off_at((B - 1, 3, 4 * atol)),
        "one that is higher and one that is lower": off_at((0, 0, 0.25), (2, 1, -0.25)),
        "one logit that is NaN": off_at((2, 5, math.nan)),
        "NaN on both sides": [nan, nan.clone()],
        "(B, 1) beside (B, K)": [column, column.expand(B, K).clone()],
        "one image beside B of them": [expected[:1], expected[:1].repeat(B, 1)],
        "(B, K) beside (B, 1)": [column.expand(B, K).clone(), column],
        "logits near 1000": [large + 3 * atol, large],
    }
    yield [list(pairs), list(pairs.values()), atol]
    pairs = {
        "equal logits, with atol = 0": off_at(),
        "logits that are not equal, with atol = 0": off_at((0, 1, atol)),
    }
    yield [list(pairs), list(pairs.values()), 0.0]
    # Their numbers are the same, in the same order.
    pairs = {"(K, B) beside (B, K)": [expected.reshape(K, B), expected]}
    yield [list(pairs), list(pairs.values()), atol]


def _compare_them(
    agree: Callable[..., Any], names: list[str], pairs: list[Any], atol: float
) -> dict[str, Any]:
    return {
        f"the answer for {name}": _true_or_false(agree(got, expected, atol))
        for name, (got, expected) in zip(names, pairs, strict=True)
    }


def _true_or_false(output: Any) -> Any:
    """True or False, from a bool or a tensor of one, or what there is instead."""
    if isinstance(output, Tensor):
        if output.numel() != 1:
            return f"a tensor of shape {tuple(output.shape)}"
        output = output.item()
    if type(output).__module__ == "numpy" and hasattr(output, "item"):
        output = output.item()
    if isinstance(output, int | float) and not isinstance(output, bool):
        return "a number"
    return output


logits_agree = FunctionCheck(
    "logits_agree",
    "logits_agree(got, expected, atol) -> True or False",
    _agree,
    _agree_inputs,
    [
        Mistake(
            "as it was",
            "three kinds of wrong logits still pass: some too low, NaN, and logits of "
            "another shape",
            partial(_agree, signed=True, nan_passes=True, broadcast=True),
        ),
        Mistake(
            "sign",
            "a logit that is far too low passes: the sign of a difference does not "
            "matter, its size does",
            partial(_agree, signed=True),
        ),
        Mistake(
            "NaN passes",
            "NaN passes: a difference that is NaN is not small, though no comparison "
            "finds it large",
            partial(_agree, nan_passes=True),
        ),
        Mistake(
            "NaN and shapes",
            "NaN passes, since no comparison with it is true, and so do logits of "
            "another shape, which are stretched until they fit",
            partial(_agree, nan_passes=True, broadcast=True),
        ),
        Mistake(
            "two NaN agree",
            "NaN on both sides passes: equal_nan=True takes it for agreement, and a "
            "NaN is no answer, whichever model gives it",
            lambda got, expected, atol: (
                got.shape == expected.shape
                and torch.allclose(got, expected, rtol=0, atol=atol, equal_nan=True)
            ),
        ),
        Mistake(
            "broadcast",
            "logits of another shape pass: (B, 1) is stretched to (B, K) before it is "
            "subtracted",
            partial(_agree, broadcast=True),
        ),
        Mistake(
            "mean",
            "a single logit that is off passes, since the mean over all is small: one "
            "wrong logit is a wrong model",
            partial(_agree, of="mean"),
        ),
        Mistake(
            "sum",
            "differences that cancel pass: take their sizes before anything is summed",
            partial(_agree, of="sum"),
        ),
        Mistake(
            "relative",
            "large logits may be off by more than atol: a relative tolerance is added, "
            "as torch.allclose and assert_close do unless they are told rtol=0",
            lambda got, expected, atol: (
                torch.allclose(got, expected, atol=atol) and got.shape == expected.shape
            ),
        ),
        Mistake(
            "answers alone",
            "only the answers are compared, the largest logit of each row: a wrong "
            "model may give the same ones",
            lambda got, expected, atol: torch.equal(
                got.argmax(-1), expected.argmax(-1)
            ),
        ),
        Mistake(
            "first image",
            "only the first image is compared",
            lambda got, expected, atol: _agree(got[:1], expected[:1], atol),
        ),
        Mistake(
            "to the bit",
            "differences below atol are refused: two right models round differently",
            lambda got, expected, atol: torch.equal(got, expected),
        ),
        Mistake(
            "one is enough",
            "a single logit that agrees is enough; all of them have to",
            lambda got, expected, atol: (
                got.shape == expected.shape
                and bool(((got - expected).abs() <= atol).any())
            ),
        ),
        Mistake(
            "smaller than atol",
            "equal logits do not agree where atol is 0: no difference is smaller than "
            "0, so ask whether each is at most atol",
            lambda got, expected, atol: (
                got.shape == expected.shape
                and bool(((got - expected).abs() < atol).all())
            ),
        ),
        Mistake(
            "numbers counted",
            "logits (K, B) and (B, K) agree: there are as many numbers in both, and "
            "the shapes differ",
            lambda got, expected, atol: (
                got.numel() == expected.numel()
                and _agree(got.flatten(), expected.flatten(), atol)
            ),
        ),
        Mistake(
            "reversed",
            "says True where they differ and False where they agree",
            lambda *given: not _agree(*given),
        ),
    ],
    hints=(
        "Try it on logits that are 0.5 too low, on one that is NaN, and on a column "
        "(B, 1) beside (B, K).",
        "Compare the shapes first. Then every difference, without its sign, must be at "
        "most atol; said that way round, NaN fails by itself.",
        "return got.shape == expected.shape and bool(((got - expected).abs() <= "
        "atol).all())",
    ),
    gradients=False,
    scenario=_compare_them,
)
