"""The check of ``training_days``, chapter 12."""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator

from vit_check.chapters.scale.training_bytes import as_float
from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake


def _days(
    macs: int,
    num_images: float,
    peak: float,
    num_devices: int,
    utilization: float,
    flops: float = 6,
    seconds: float = 86_400,
) -> float:
    return flops * macs * num_images / (peak * num_devices * utilization) / seconds


def _days_inputs(generator: Generator) -> Iterator[Case]:
    for num_devices, utilization in ((1, 1.0), (1, 0.4), (8, 0.35)):
        macs, images = torch.rand(2, generator=generator, dtype=torch.float64).tolist()
        yield [
            int((1 + 20 * macs) * 1e9),
            (1 + images) * 3e8,
            312e12,
            num_devices,
            utilization,
        ]


training_days = FunctionCheck(
    "training_days",
    "training_days(macs, num_images, peak_flops, num_devices, utilization) -> days",
    _days,
    _days_inputs,
    [
        Mistake(
            "MACs for FLOPs",
            "a multiply-accumulate is counted as one operation; the data sheet counts "
            "two",
            partial(_days, flops=3),
        ),
        Mistake(
            "forward alone",
            "the forward pass alone is counted; the backward pass makes two products "
            "for each of it",
            partial(_days, flops=2),
        ),
        Mistake(
            "forward MACs alone",
            "the multiply-accumulates of one forward pass are divided by FLOPs: both "
            "the backward pass and the factor between the two units are missing",
            partial(_days, flops=1),
        ),
        Mistake(
            "backward once",
            "two passes are counted; the backward pass makes two products for each of "
            "the forward pass, for the input's gradient and the weight's, so there are "
            "three",
            partial(_days, flops=4),
        ),
        Mistake(
            "forward twice",
            "four passes are counted, as if the forward pass were made again; that is "
            "so with checkpointing alone",
            partial(_days, flops=8),
        ),
        Mistake(
            "seconds",
            "the result is in seconds, expected days",
            partial(_days, seconds=1),
        ),
        Mistake(
            "hours",
            "the result is in hours, expected days",
            partial(_days, seconds=3600),
        ),
        Mistake(
            "minutes",
            "the result is in minutes, expected days",
            partial(_days, seconds=60),
        ),
        Mistake(
            "utilization ignored",
            "the utilization has no effect: no training reaches the peak",
            lambda macs, images, peak, devices, share: _days(
                macs, images, peak, devices, 1
            ),
        ),
        Mistake(
            "utilization multiplied",
            "a lower utilization makes the training shorter; it makes it longer",
            lambda macs, images, peak, devices, share: _days(
                macs, images, peak, devices, 1 / share
            ),
        ),
        Mistake(
            "devices ignored",
            "the number of devices has no effect",
            lambda macs, images, peak, devices, share: _days(
                macs, images, peak, 1, share
            ),
        ),
        Mistake(
            "devices multiplied",
            "more devices make the training longer; they share the images",
            lambda macs, images, peak, devices, share: _days(
                macs, images, peak, 1 / devices, share
            ),
        ),
    ],
    hints=(
        "How many FLOPs does it take to learn from one image once, if a forward pass "
        "is so many multiply-accumulates?",
        "Two FLOPs for a multiply-accumulate, three passes for a step. Divide what all "
        "images take by what all devices reach in a second, then by the seconds of a "
        "day.",
        "6 * macs * num_images / (num_devices * peak_flops * utilization) / 86_400",
    ),
    gradients=False,
    normalize=as_float,
)
