"""What came after the Vision Transformer: DeiT, Swin, and three small changes."""

from vit_steps.variants.distillation import (
    DistilledConfig,
    DistilledVisionTransformer,
    hard_distillation_loss,
    soft_distillation_loss,
)
from vit_steps.variants.small_changes import VariantConfig, VariantVisionTransformer
from vit_steps.variants.swin import SwinConfig, SwinTransformer, window_attention_cost

__all__ = [
    "DistilledConfig",
    "DistilledVisionTransformer",
    "SwinConfig",
    "SwinTransformer",
    "VariantConfig",
    "VariantVisionTransformer",
    "hard_distillation_loss",
    "soft_distillation_loss",
    "window_attention_cost",
]
