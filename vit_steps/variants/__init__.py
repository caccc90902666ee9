"""Successors of the Vision Transformer: DeiT, Swin, and a plain ViT of today."""

from .distillation import DistilledConfig as DistilledConfig
from .distillation import DistilledVisionTransformer as DistilledVisionTransformer
from .distillation import hard_distillation_loss as hard_distillation_loss
from .distillation import soft_distillation_loss as soft_distillation_loss
from .modern_vit import VariantConfig as VariantConfig
from .modern_vit import VariantVisionTransformer as VariantVisionTransformer
from .swin import SwinConfig as SwinConfig
from .swin import SwinTransformer as SwinTransformer
