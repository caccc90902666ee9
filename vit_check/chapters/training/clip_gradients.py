"""The check of ``clip_gradients``, chapter 8."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Generator, Tensor

from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake


def _lengths(gradients: list[Tensor]) -> Tensor:
    return torch.stack([gradient.norm() for gradient in gradients])


def _scaled(gradients: list[Tensor], length: Any, max_norm: float) -> list[Tensor]:
    scale = min(1.0, max_norm / max(float(length), 1e-12))
    return [gradient * scale for gradient in gradients]


def _clip(gradients: list[Tensor], max_norm: float) -> list[Tensor]:
    return _scaled(gradients, _lengths(gradients).norm(), max_norm)


def _clip_inputs(generator: Generator) -> Iterator[Case]:
    for lengths, max_norm, dtype in (
        ((5.0, 0.2, 1.1), 0.7, torch.float32),
        ((0.3, 0.05, 0.1), 0.8, torch.float64),
        ((0.0, 0.0, 0.0), 0.5, torch.float32),
    ):
        gradients = []
        for length, shape in zip(lengths, ((3, 5), (4,), (2, 1, 3)), strict=True):
            drawn = torch.randn(shape, generator=generator, dtype=torch.float64)
            gradients.append((drawn * length / drawn.norm()).to(dtype))
        yield [gradients, max_norm]


clip_gradients = FunctionCheck(
    "clip_gradients",
    "clip_gradients(gradients, max_norm) -> list of tensors",
    _clip,
    _clip_inputs,
    [
        Mistake(
            "0 divided by 0",
            "a gradient that is 0 throughout becomes NaN: its length is 0, and 0 is "
            "divided by it",
            lambda g, limit: [
                x * _lengths(g).norm().clamp(max=limit) / _lengths(g).norm() for x in g
            ],
        ),
        Mistake(
            "not clipped",
            "a gradient that is longer than max_norm comes back as it was",
            lambda g, limit: [x.clone() for x in g],
        ),
        Mistake(
            "each alone",
            "each tensor is shortened by itself; all together are one arrow, which has "
            "one length and keeps its direction",
            lambda g, limit: [_clip([x], limit)[0] for x in g],
        ),
        Mistake(
            "by value",
            "each number is cut off at max_norm, which turns the arrow: shorten it as "
            "a whole",
            lambda g, limit: [x.clamp(-limit, limit) for x in g],
        ),
        Mistake(
            "each stretched or shortened alone",
            "each tensor is brought to length max_norm by itself",
            lambda g, limit: [x * limit / x.norm() for x in g],
        ),
        Mistake(
            "lengths added",
            "the lengths of the tensors are added up; the length of the whole is the "
            "root of the sum of all squares",
            lambda g, limit: _scaled(g, _lengths(g).sum(), limit),
        ),
        Mistake(
            "root forgotten",
            "the root is missing: the sum of the squares is taken for the length",
            lambda g, limit: _scaled(g, _lengths(g).square().sum(), limit),
        ),
        Mistake(
            "mean of the squares",
            "the squares are averaged; the length is the root of their sum, however "
            "many there are",
            lambda g, limit: _scaled(
                g, torch.cat([x.flatten() for x in g]).square().mean().sqrt(), limit
            ),
        ),
        Mistake(
            "sum of sizes",
            "the length is taken to be the sum of the numbers' sizes, expected the "
            "root of the sum of their squares",
            lambda g, limit: _scaled(g, sum(x.abs().sum() for x in g), limit),
        ),
        Mistake(
            "largest number",
            "the length is taken to be the largest number",
            lambda g, limit: _scaled(g, max(x.abs().max() for x in g), limit),
        ),
        Mistake(
            "longest tensor",
            "the length is taken to be that of the longest tensor, expected of all",
            lambda g, limit: _scaled(g, _lengths(g).max(), limit),
        ),
        Mistake(
            "divided by the length",
            "the gradient is divided by its length: it comes out 1 long, whatever "
            "max_norm is",
            lambda g, limit: [x / _lengths(g).norm() for x in g],
        ),
        Mistake(
            "always at the limit",
            "a gradient that is shorter than max_norm is stretched to it, expected "
            "left as it is",
            lambda g, limit: [x * limit / _lengths(g).norm() for x in g],
        ),
        Mistake(
            "the length is returned",
            "the length is returned, expected the shortened gradients",
            lambda g, limit: _lengths(g).norm(),
        ),
    ],
    hints=(
        "How long is one arrow that has all the numbers of all tensors?",
        "The root of the sum of all squares. If that is more than max_norm, multiply "
        "every tensor by the same max_norm / length.",
        "length = torch.stack([g.norm() for g in gradients]).norm(); "
        "scale = min(1.0, max_norm / length).",
    ),
    shape="",
    gradients=False,
)
