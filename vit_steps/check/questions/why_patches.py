"""What the exercises of chapter 1 ask."""

from vit_steps.check.value_check import Slip, ValueCheck
from vit_steps.cost import token_count

QUESTIONS = [
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
    ),
]
