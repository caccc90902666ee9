"""Checks for what a student has built: one a piece, with a sentence when it is wrong.

>>> import vit_check as check
>>> check.patchify(my_patchify)
patchify: right
>>> check.multi_head_attention(MyAttention, hint=1)
"""

import difflib
from typing import Any

from vit_check.chapters.attention_maps.attention_distance import attention_distance
from vit_check.chapters.attention_maps.attention_rollout import attention_rollout
from vit_check.chapters.attention_maps.class_token_attention import (
    class_token_attention,
)
from vit_check.chapters.attention_maps.class_token_to_patches import (
    class_token_to_patches,
)
from vit_check.chapters.attention_maps.mask_patches import mask_patches
from vit_check.chapters.attention_maps.mass_inside import mass_inside
from vit_check.chapters.bug_clinic.batch_effect import batch_effect
from vit_check.chapters.bug_clinic.silent_parameters import silent_parameters
from vit_check.chapters.class_token_and_position.class_token import class_token
from vit_check.chapters.class_token_and_position.embed_images import embed_images
from vit_check.chapters.class_token_and_position.interpolate_position_embedding import (
    interpolate_position_embedding,
)
from vit_check.chapters.class_token_and_position.position_embedding import (
    position_embedding,
)
from vit_check.chapters.class_token_and_position.sincos_position_embedding import (
    sincos_position_embedding,
)
from vit_check.chapters.encoder_block.drop_path import drop_path
from vit_check.chapters.encoder_block.encoder_block import encoder_block
from vit_check.chapters.encoder_block.layer_norm import layer_norm
from vit_check.chapters.encoder_block.mlp import mlp
from vit_check.chapters.multi_head_attention.merge_heads import merge_heads
from vit_check.chapters.multi_head_attention.multi_head_attention import (
    multi_head_attention,
)
from vit_check.chapters.multi_head_attention.reorder_qkv import reorder_qkv
from vit_check.chapters.multi_head_attention.split_heads import split_heads
from vit_check.chapters.patch_embedding.patch_embedding import patch_embedding
from vit_check.chapters.patch_embedding.patchify import patchify
from vit_check.chapters.patch_embedding.unpatchify import unpatchify
from vit_check.chapters.pretrained_weights.fold_normalization import fold_normalization
from vit_check.chapters.pretrained_weights.join_qkv import join_qkv
from vit_check.chapters.pretrained_weights.linear_to_conv import linear_to_conv
from vit_check.chapters.pretrained_weights.load_checked import load_checked
from vit_check.chapters.pretrained_weights.logits_agree import logits_agree
from vit_check.chapters.pretrained_weights.rename_weights import rename_weights
from vit_check.chapters.questions import QUESTIONS, answer
from vit_check.chapters.scale.average_gradients import average_gradients
from vit_check.chapters.scale.batch_shares import batch_shares
from vit_check.chapters.scale.training_bytes import training_bytes
from vit_check.chapters.scale.training_days import training_days
from vit_check.chapters.scaled_dot_product_attention.attend_one_query import (
    attend_one_query,
)
from vit_check.chapters.scaled_dot_product_attention.causal_mask import causal_mask
from vit_check.chapters.scaled_dot_product_attention.masked_attention import (
    masked_attention,
)
from vit_check.chapters.scaled_dot_product_attention.scaled_dot_product_attention import (  # noqa: E501
    scaled_dot_product_attention,
)
from vit_check.chapters.scaled_dot_product_attention.softmax import softmax
from vit_check.chapters.speed.accumulate_gradients import accumulate_gradients
from vit_check.chapters.speed.attention_in_blocks import attention_in_blocks
from vit_check.chapters.swin_and_deit.distillation_step import distillation_step
from vit_check.chapters.swin_and_deit.drop_registers import drop_registers
from vit_check.chapters.swin_and_deit.hard_distillation_loss import (
    hard_distillation_loss,
)
from vit_check.chapters.swin_and_deit.mean_pool import mean_pool
from vit_check.chapters.swin_and_deit.relative_position_index import (
    relative_position_index,
)
from vit_check.chapters.swin_and_deit.shifted_window_mask import shifted_window_mask
from vit_check.chapters.swin_and_deit.soft_distillation_loss import (
    soft_distillation_loss,
)
from vit_check.chapters.swin_and_deit.window_partition import window_partition
from vit_check.chapters.swin_and_deit.window_reverse import window_reverse
from vit_check.chapters.training.accuracy import accuracy
from vit_check.chapters.training.adamw_step import adamw_step
from vit_check.chapters.training.clip_gradients import clip_gradients
from vit_check.chapters.training.clipped_train_step import clipped_train_step
from vit_check.chapters.training.cross_entropy import cross_entropy
from vit_check.chapters.training.evaluate_accuracy import evaluate_accuracy
from vit_check.chapters.training.learning_rate import learning_rate
from vit_check.chapters.training.parameter_groups import parameter_groups
from vit_check.chapters.training.train_step import train_step
from vit_check.chapters.vision_transformer.parameter_count import parameter_count
from vit_check.chapters.vision_transformer.vision_transformer import vision_transformer
from vit_check.chapters.why_patches.attention_cost import attention_cost
from vit_check.chapters.why_patches.block_macs import block_macs
from vit_check.chapters.why_patches.token_count import token_count
from vit_check.engine.check import Check
from vit_check.engine.verdict import CheckFailed, Misused

__all__ = [
    "CheckFailed",
    "accumulate_gradients",
    "accuracy",
    "adamw_step",
    "answer",
    "answers",
    "attend_one_query",
    "attention_cost",
    "attention_distance",
    "attention_in_blocks",
    "attention_rollout",
    "average_gradients",
    "batch_effect",
    "batch_shares",
    "block_macs",
    "causal_mask",
    "class_token",
    "class_token_attention",
    "class_token_to_patches",
    "clip_gradients",
    "clipped_train_step",
    "cross_entropy",
    "distillation_step",
    "drop_path",
    "drop_registers",
    "embed_images",
    "encoder_block",
    "evaluate_accuracy",
    "fold_normalization",
    "hard_distillation_loss",
    "interpolate_position_embedding",
    "join_qkv",
    "layer_norm",
    "learning_rate",
    "linear_to_conv",
    "load_checked",
    "logits_agree",
    "mask_patches",
    "masked_attention",
    "mass_inside",
    "mean_pool",
    "merge_heads",
    "mlp",
    "multi_head_attention",
    "parameter_count",
    "parameter_groups",
    "patch_embedding",
    "patchify",
    "position_embedding",
    "relative_position_index",
    "rename_weights",
    "reorder_qkv",
    "scaled_dot_product_attention",
    "shifted_window_mask",
    "silent_parameters",
    "sincos_position_embedding",
    "soft_distillation_loss",
    "softmax",
    "split_heads",
    "token_count",
    "train_step",
    "training_bytes",
    "training_days",
    "unpatchify",
    "vision_transformer",
    "window_partition",
    "window_reverse",
]


def answers(hint: int = 0, **given: Any) -> None:
    """Check several answers, and say of each whether it is right.

    >>> check.answers(tokens_at_384=577, token_count=my_token_count)

    Args:
        hint: 1, 2 or 3 to add a hint to what is wrong.
        **given: values by the names that the exercise gives them, and functions and
            classes by the names of their checks.

    Raises:
        CheckFailed: if one of them is not right, with a line for each that is not.
        Misused: if there is nothing by one of the names, or no answer at all.
    """
    if not given:
        raise Misused(
            "answers: got none; give each by its name, as in "
            "check.answers(tokens_at_384=577, patchify=my_patchify)"
        )
    checks = [_by_name(name) for name in given]
    failures = []
    for check, value in zip(checks, given.values(), strict=True):
        try:
            check(value, hint)
        except CheckFailed as failed:
            failures.append(failed)
    if failures:
        raise CheckFailed.of_several(failures)


def _by_name(name: str) -> Check:
    check = QUESTIONS.get(name) or globals().get(name)
    if not isinstance(check, Check):
        near = difflib.get_close_matches(name, [*__all__, *QUESTIONS], n=3)
        said = f"; did you mean {' or '.join(near)}?" if near else ""
        raise Misused(f"{name}: expected the name of a check or a question{said}")
    return check


class _NoSuchCheck(AttributeError):
    """Shown in a notebook as a sentence alone."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    if name in QUESTIONS:
        said = f'it is a question: check.answer("{name}", ...)'
    else:
        alike = [known for known in __all__ if name in known or known in name]
        alike += difflib.get_close_matches(name, __all__, n=4, cutoff=0.5)
        said = f"the nearest are {', '.join(dict.fromkeys(alike))}"
        said = said if alike else "dir(check) lists all"
    raise _NoSuchCheck(f"there is no check by the name {name!r}; {said}")


def __dir__() -> list[str]:
    return [name for name in __all__ if name != CheckFailed.__name__]
