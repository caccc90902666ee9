"""The values that the exercises ask for by name."""

import difflib
from typing import Any

from vit_check.chapters.attention_maps import questions as attention_maps
from vit_check.chapters.bug_clinic import questions as bug_clinic
from vit_check.chapters.class_token_and_position import (
    questions as class_token_and_position,
)
from vit_check.chapters.encoder_block import questions as encoder_block
from vit_check.chapters.multi_head_attention import questions as multi_head_attention
from vit_check.chapters.patch_embedding import questions as patch_embedding
from vit_check.chapters.pretrained_weights import questions as pretrained_weights
from vit_check.chapters.scale import questions as scale
from vit_check.chapters.scaled_dot_product_attention import (
    questions as scaled_dot_product_attention,
)
from vit_check.chapters.speed import questions as speed
from vit_check.chapters.swin_and_deit import questions as swin_and_deit
from vit_check.chapters.training import questions as training
from vit_check.chapters.vision_transformer import questions as vision_transformer
from vit_check.chapters.why_patches import questions as why_patches
from vit_check.engine.values import ValueCheck
from vit_check.engine.verdict import Misused

CHAPTERS = [
    why_patches,
    patch_embedding,
    class_token_and_position,
    scaled_dot_product_attention,
    multi_head_attention,
    encoder_block,
    vision_transformer,
    training,
    attention_maps,
    pretrained_weights,
    speed,
    scale,
    swin_and_deit,
    bug_clinic,
]

QUESTIONS: dict[str, ValueCheck] = {
    question.name: question for chapter in CHAPTERS for question in chapter.QUESTIONS
}


def answer(name: str, value: Any, hint: int = 0) -> None:
    """Check a value by the name that the exercise gives it.

    Args:
        name: such as ``"tokens_at_384"``.
        value: a number, a shape, a word, or a tuple or dict of them.
        hint: 1, 2 or 3 to add a hint to what is wrong.

    Raises:
        CheckFailed: if the value is not right.
        Misused: if there is no question by that name.
    """
    if not isinstance(name, str) or name not in QUESTIONS:
        raise Misused(_no_such_question(name, value))
    QUESTIONS[name](value, hint)


def _no_such_question(name: Any, value: Any) -> str:
    if isinstance(value, str) and value in QUESTIONS:
        return f'check.answer: the name comes first, check.answer("{value}", ...)'
    near = difflib.get_close_matches(str(name), QUESTIONS, n=3, cutoff=0.4)
    said = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"name: got {str(name)[:60]!r}, expected a question of the exercises{said}"
