"""Values that the exercises ask for, a file for each chapter."""

from vit_steps.check.questions import (
    attention_maps,
    beyond_vit,
    class_token_and_position,
    encoder_block,
    multi_head_attention,
    patch_embedding,
    pretrained_weights,
    scaled_dot_product_attention,
    speed_and_scale,
    training,
    vision_transformer,
    why_patches,
)
from vit_steps.check.value_check import ValueCheck

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
    speed_and_scale,
    beyond_vit,
]

QUESTIONS: dict[str, ValueCheck] = {
    question.name: question for chapter in CHAPTERS for question in chapter.QUESTIONS
}
