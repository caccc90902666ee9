"""Checks for what a student has built: one a piece, with a sentence when it is wrong.

>>> from vit_steps import check
>>> check.patchify(my_patchify)
patchify: right
>>> check.multi_head_attention(MyAttention, hint=1)
"""

from vit_steps.check.accumulation import accumulate_gradients
from vit_steps.check.agreement import logits_agree
from vit_steps.check.answers import answer
from vit_steps.check.attention import (
    causal_mask,
    masked_attention,
    scaled_dot_product_attention,
)
from vit_steps.check.attention_layer import multi_head_attention
from vit_steps.check.blockwise import attention_in_blocks
from vit_steps.check.boxes import mass_inside
from vit_steps.check.budget import training_bytes, training_days
from vit_steps.check.cost import attention_cost, block_macs
from vit_steps.check.counting import token_count
from vit_steps.check.decay import parameter_groups
from vit_steps.check.distances import attention_distance
from vit_steps.check.distillation import hard_distillation_loss, soft_distillation_loss
from vit_steps.check.embedding import embed_images
from vit_steps.check.encoder import encoder_block
from vit_steps.check.evaluation import accuracy, evaluate_accuracy
from vit_steps.check.heads import merge_heads, reorder_qkv, split_heads
from vit_steps.check.holes import mask_patches
from vit_steps.check.interpolation import interpolate_position_embedding
from vit_steps.check.loading import load_checked
from vit_steps.check.losses import cross_entropy
from vit_steps.check.maps import class_token_attention, class_token_to_patches
from vit_steps.check.model import vision_transformer
from vit_steps.check.names import rename_weights
from vit_steps.check.norms import layer_norm
from vit_steps.check.one_query import attend_one_query, softmax
from vit_steps.check.optimizing import adamw_step, clip_gradients
from vit_steps.check.parameters import parameter_count
from vit_steps.check.patch_vectors import patch_embedding
from vit_steps.check.patches import patchify, unpatchify
from vit_steps.check.positions import position_embedding
from vit_steps.check.processes import average_gradients, batch_shares
from vit_steps.check.rollout import attention_rollout
from vit_steps.check.schedule import learning_rate
from vit_steps.check.small_changes import drop_registers, mean_pool
from vit_steps.check.steps import clipped_train_step, train_step
from vit_steps.check.stochastic_depth import drop_path
from vit_steps.check.student import distillation_step
from vit_steps.check.swin import (
    relative_position_index,
    shifted_window_mask,
    window_partition,
    window_reverse,
)
from vit_steps.check.tokens import class_token
from vit_steps.check.two_layers import mlp
from vit_steps.check.verdict import CheckFailed
from vit_steps.check.waves import sincos_position_embedding
from vit_steps.check.weights import fold_normalisation, join_qkv, linear_to_conv

__all__ = [
    "CheckFailed",
    "accumulate_gradients",
    "accuracy",
    "adamw_step",
    "answer",
    "attend_one_query",
    "attention_cost",
    "attention_distance",
    "attention_in_blocks",
    "attention_rollout",
    "average_gradients",
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
    "fold_normalisation",
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
