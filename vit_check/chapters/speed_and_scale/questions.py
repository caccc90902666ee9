"""What the exercises of chapter 11 ask."""

from typing import Any

import torch

from vit_check.engine.values import Slip, ValueCheck
from vit_steps.training_cost import ACCELERATORS, training_memory, training_seconds
from vit_steps.vision_transformer import ViTConfig


def _threes() -> int:
    total = torch.tensor(0.0, dtype=torch.bfloat16)
    for _ in range(500):
        total = total + 3
    return int(total)


def _moves() -> tuple[bool, bool]:
    one = torch.tensor(1.0, dtype=torch.bfloat16)
    return bool(one + 0.003 != one), bool(one - 0.003 != one)


_CARD = 16e9  # bytes


def _images_that_fit(whole: float = _CARD, **how: bool) -> int:
    one = training_memory(ViTConfig.base(), 1, **how)
    return int((whole - (one.total - one.activations)) // one.activations)


def _fraction_that_fits() -> float:
    one = training_memory(ViTConfig.base(), 1)
    return (_CARD - (one.total - one.activations)) / one.activations


def _without_the_copy() -> int:
    one = training_memory(ViTConfig.base(), 1)
    plain = training_memory(ViTConfig.base(), 1, autocast=False)
    return int((_CARD - (plain.total - plain.activations)) // one.activations)


def _without_fixed() -> int:
    return int(_CARD // training_memory(ViTConfig.base(), 1).activations)


def _days() -> float:
    images = 90 * 1.28e6
    return training_seconds(ViTConfig.base(), images, ACCELERATORS["A100"]) / 86_400


def _growth(given: Any) -> str | None:
    names = ["explicit kept", "fused kept", "fused seconds"]
    if not isinstance(given, dict) or sorted(given) != names:
        return (
            'is to be a dictionary with the keys "explicit kept", "fused kept" and '
            '"fused seconds"'
        )
    for name in names:
        if isinstance(given[name], bool) or not isinstance(given[name], int | float):
            return f"has something for {name!r} that is not a number"
    if any(not 0 < given[name] < 1e6 for name in names):
        return "has a factor that cannot be: each is one measurement by another"
    explicit, fused, seconds = (given[name] for name in names)
    if explicit < 1 or fused < 1:
        return "has factors below 1: divide what 4096 tokens take by what 1024 take"
    if explicit > 100 or fused > 100:
        return "has bytes where factors are asked for: divide one by the other"
    if not 3.8 <= fused <= 4.2:
        return (
            "has another factor for what the fused path keeps than its bytes give: are "
            "q, k and v left out on both sides, and is it the fused path?"
        )
    if not 12 <= explicit <= 16.5:
        return (
            "has another factor for what the explicit path keeps than its bytes give: "
            "is it the explicit path, and are both runs made with new q, k and v?"
        )
    if seconds > 400:
        return (
            "has a factor in the time of far more than the pairs of tokens explain: "
            "was the first run a warm-up, and the median taken?"
        )
    if seconds < 1.5:
        return (
            "has hardly more seconds for four times as many tokens: is it the call "
            "that is timed, and several of them?"
        )
    return None


QUESTIONS = [
    ValueCheck(
        "sum_of_threes",
        "the sum of 500 threes that are added one by one in bfloat16",
        _threes,
        [
            Slip(1500, "that is the sum without rounding"),
            Slip(256, "that is where adding ones ends; a three is longer"),
            Slip(512, "from 512 on the numbers are 4 apart, and 3 is rounded to 4"),
            Slip(768, "256 threes would be that, but the steps are not all of 3"),
            Slip(2048, "the sum stops before it gets there: think of half a step"),
        ],
        hints=(
            "bfloat16 has eight significant bits: up to 256 every whole number, then "
            "every second one, then every fourth.",
            "An addition is lost when it is less than half the distance to the next "
            "number. Where is half the distance more than 3?",
            "Between 512 and 1024 the numbers are 4 apart, behind that 8 apart.",
        ),
    ),
    ValueCheck(
        "bfloat16_moves",
        "two truth values: whether 1 + 0.003 and 1 - 0.003 differ from 1 in bfloat16",
        _moves,
        [
            Slip((False, False), "below 1 the numbers lie closer together than above"),
            Slip((True, True), "above 1 the next number is more than twice 0.003 away"),
            Slip((True, False), "the other way round: below 1 the steps are smaller"),
        ],
        hints=(
            "How far is it from 1 to the next number above, and to the next below?",
            "Above 1 the step is 1/128, below it 1/256. Compare 0.003 with half of "
            "each.",
            "Half of 1/128 is about 0.0039, half of 1/256 about 0.002.",
        ),
    ),
    ValueCheck(
        "lonely_image",
        "how many times as much the image of rank 2 counts as one of rank 0",
        lambda: (1 / 3) / (1 / 3 / 2),
        [
            Slip(1.0, "that is how it should be; two of the processes have two images"),
            Slip(0.5, "the other way round: it shares its process with nobody"),
            Slip(3.0, "there are three processes, but each counts for a third"),
        ],
        hints=(
            "Each process counts for a third. Among how many images is that third "
            "divided?",
            "Rank 0 has images 0 and 3, rank 1 images 1 and 4, rank 2 image 2.",
            "A third, divided by half a third.",
        ),
    ),
    ValueCheck(
        "images_that_fit",
        "the largest whole number of images whose training fits into 16e9 bytes",
        _images_that_fit,
        [
            Slip(
                _without_fixed(),
                "weights, gradients and averages are there before the first image",
            ),
            Slip(
                _images_that_fit() + 1,
                "one too many: the last one fits only in part, so round down",
            ),
            Slip(
                _images_that_fit(16 * 2**30),
                "either 16 GiB is taken for 16e9 bytes, or the weights alone are taken "
                "off, without gradients and averages",
            ),
            Slip(
                _fraction_that_fits(),
                "a part of an image does not help: round down",
            ),
            Slip(
                _without_the_copy(),
                "under autocast the weights are there a second time, in bfloat16",
            ),
            Slip(
                _images_that_fit(checkpointing=True),
                "that is with checkpointing",
            ),
        ],
        hints=(
            "What is left of the 16e9 bytes when no image has come yet?",
            "Take away weights (with their bfloat16 copy), gradients and averages, and "
            "divide the rest by the bytes of one image.",
            "int((16e9 - sum(training_bytes(P, 1, False, True).values())) // image), "
            "where image is activation_bytes(ViTConfig.base()).",
        ),
    ),
    ValueCheck(
        "days_of_90_epochs",
        "the days that one A100 takes for 90 epochs of 1.28 million images",
        _days,
        [
            Slip(_days() / 3, "that is the forward pass alone"),
            Slip(_days() / 2, "two FLOPs are a multiply-accumulate"),
            Slip(_days() / 90, "that is one epoch"),
            Slip(_days() * 0.4, "that is at the peak, which nobody reaches"),
            Slip(_days() * 24, "that is in hours"),
            Slip(_days() * 86_400, "that is in seconds"),
            Slip(
                _days() / 6,
                "that is one FLOP for each multiply-accumulate of a forward pass; "
                "learning takes more",
            ),
        ],
        hints=(
            "How many images are learned from in all?",
            "The MACs of one image are ViTConfig.base().cost().macs; 90 epochs are 90 "
            "times 1.28e6 images.",
            "training_days(ViTConfig.base().cost().macs, 90 * 1.28e6, 312e12, 1, 0.4)",
        ),
        rounding=1e-2,
    ),
    ValueCheck(
        "growth_of_attention",
        "three factors from 1024 to 4096 tokens, by name",
        None,
        [],
        hints=(
            "Measure at 1024 and at 4096 tokens, and divide the second by the first.",
            "kept_for_backward counts to the byte, so once is enough; for seconds run "
            "it once without counting and take the median of several runs.",
            "kept_for_backward(lambda: explicit(q, k, v), besides=(q, k, v)) at both "
            "sizes; median([stopwatch(lambda: fused(q, k, v)) for _ in range(7)])",
        ),
        accept=_growth,
    ),
    ValueCheck(
        "fused_attention_grows",
        "two words, for the memory and for the time: 'linear' or 'quadratic' each",
        lambda: ("linear", "quadratic"),
        [
            Slip(
                ("linear", "linear"),
                "every query is still multiplied with every key; what it saves is "
                "holding the table",
            ),
            Slip(("quadratic", "quadratic"), "look again at what it keeps"),
            Slip(
                ("quadratic", "linear"), "the other way round: first memory, then time"
            ),
        ],
        hints=(
            "Four times the tokens: which factor would be linear, which quadratic?",
            "4 is linear and 16 is quadratic. A measured time lies near one of them, "
            "often a little off.",
            "What it keeps is its output and one number a query. What it computes is "
            "every pair.",
        ),
    ),
]
