import math
from typing import Any

import torch
from torch import Generator, Tensor

from vit_check.engine.drawing import Answer, Cases, normal
from vit_check.engine.functions import checked_by


def _agree_inputs(generator: Generator) -> Cases:
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
        "two that differ by rounding": off_at(*((3, n, 0.8 * atol) for n in range(K))),
        "one logit that is too low": off_at((1, 2, -0.5)),
        "one logit that is too high": off_at((1, 2, 0.5)),
        "one logit of the last image": off_at((B - 1, 3, 4 * atol)),
        "one that is higher and one that is lower": off_at((0, 0, 0.25), (2, 1, -0.25)),
        "one logit that is NaN": off_at((2, 5, math.nan)),
        "one expected logit that is NaN": off_at((2, 5, math.nan))[::-1],
        "NaN on both sides": [nan, nan.clone()],
        "(B, 1) beside (B, K)": [column, column.expand(B, K).clone()],
        "one image beside B of them": [expected[:1], expected[:1].repeat(B, 1)],
        "(B, K) beside (B, 1)": [column.expand(B, K).clone(), column],
        "logits of 3 and of 3.0005": [torch.full((B, K), n) for n in (3.0, 3.0005)],
        "logits near 1000": [large + 3 * atol, large],
    }
    yield [list(pairs), list(pairs.values()), atol]
    pairs = {
        "equal logits, with atol = 0": off_at(),
        "logits that are not equal, with atol = 0": off_at((0, 1, 0.5 * atol)),
    }
    yield [list(pairs), list(pairs.values()), 0.0]
    # Both have the same numbers in the same order, in different shapes.
    pairs = {"(K, B) beside (B, K)": [expected.reshape(K, B), expected]}
    yield [list(pairs), list(pairs.values()), atol]


def _compare_them(
    agree: Answer, names: list[str], pairs: list[Any], atol: float
) -> dict[str, Any]:
    return {
        f"the answer for {name}": _true_or_false(agree(got, expected, atol))
        for name, (got, expected) in zip(names, pairs, strict=True)
    }


def _true_or_false(output: Any) -> Any:
    """Return True or False, from a bool or a tensor of one, or what else there is."""
    if isinstance(output, Tensor):
        if output.numel() != 1:
            return f"a tensor of shape {tuple(output.shape)}"
        output = output.item()
    if type(output).__module__ == "numpy" and hasattr(output, "item"):
        output = output.item()
    if isinstance(output, int | float) and not isinstance(output, bool):
        return "a number"
    return output


TABLE = """
logits_agree(got, expected, atol) -> True or False
as it was: got.shape != expected.shape -> False
  .abs() -> nothing
  off.max() <= atol -> not off.max() > atol
    three kinds of wrong logits still pass: too low ones, NaN, and another shape
sign: .abs() -> nothing
    a logit that is far too low passes: the size of a difference counts, not its sign
NaN passes: off.max() <= atol -> not off.max() > atol
    NaN passes: it is not small, though no comparison finds it large
two NaN agree
  off.max() <= atol -> torch.allclose(got, expected, rtol=0, atol=atol, equal_nan=True)
    NaN on both sides passes, as with equal_nan=True; a NaN agrees with nothing
broadcast: got.shape != expected.shape -> False
    logits of another shape pass: (B, 1) is stretched to (B, K) before it is subtracted
mean: off.max -> off.mean
    a single logit that is off passes, since the mean over all is small
relative: off.max() <= atol -> torch.allclose(got, expected, atol=atol)
    large logits may be off by more than atol: a relative tolerance is added, as
    torch.allclose and assert_close do unless they are told rtol=0
smaller than atol: <= atol -> < atol
    a difference of exactly atol is refused, as 0 is with atol=0: ask for <= atol
? Try it on logits that are 0.5 too low, on one that is NaN, on (B, 1) beside (B, K).
? Compare the shapes first. Then every difference, without its sign, must be at most
  atol; said that way round, NaN fails by itself.
? return got.shape == expected.shape and bool(((got - expected).abs() <= atol).all())
"""


@checked_by(TABLE, inputs=_agree_inputs, gradients=False, scenario=_compare_them)
def logits_agree(got: Tensor, expected: Tensor, atol: float) -> bool:
    if got.shape != expected.shape:
        return False
    off = (got - expected).abs()
    return bool(off.max() <= atol)
