"""Successors of the Vision Transformer: DeiT, Swin, and a plain ViT of today."""

from vit_steps.variants.distillation import DistilledConfig as DistilledConfig
from vit_steps.variants.distillation import (
    DistilledVisionTransformer as DistilledVisionTransformer,
)
from vit_steps.variants.distillation import (
    hard_distillation_loss as hard_distillation_loss,
)
from vit_steps.variants.distillation import (
    soft_distillation_loss as soft_distillation_loss,
)
from vit_steps.variants.modern_vit import VariantConfig as VariantConfig
from vit_steps.variants.modern_vit import (
    VariantVisionTransformer as VariantVisionTransformer,
)
from vit_steps.variants.swin import SwinConfig as SwinConfig
from vit_steps.variants.swin import SwinTransformer as SwinTransformer
