"""What the exercises of chapter 12 ask."""

from vit_check.engine.values import Slip, ValueCheck
from vit_steps.training_cost import ACCELERATORS, training_memory, training_seconds
from vit_steps.vision_transformer import ViTConfig

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


QUESTIONS = [
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
]
