"""vit_steps: a Vision Transformer in the steps in which the book builds it.

The modules for data, figures and published weights are not imported here; import them
by name: ``from vit_steps import data``.
"""

from vit_steps.attention import MultiHeadAttention, scaled_dot_product_attention
from vit_steps.cost import attention_cost, model_cost, token_count
from vit_steps.embedding import (
    ViTEmbedding,
    interpolate_position_embedding,
    sincos_position_embedding,
)
from vit_steps.encoder import MLP, DropPath, EncoderBlock
from vit_steps.patch_embedding import PatchEmbedding, patchify, unpatchify
from vit_steps.vision_transformer import VisionTransformer, ViTConfig

__version__ = "0.1.0"

__all__ = [
    "MLP",
    "DropPath",
    "EncoderBlock",
    "MultiHeadAttention",
    "PatchEmbedding",
    "ViTConfig",
    "ViTEmbedding",
    "VisionTransformer",
    "attention_cost",
    "interpolate_position_embedding",
    "model_cost",
    "patchify",
    "scaled_dot_product_attention",
    "sincos_position_embedding",
    "token_count",
    "unpatchify",
]
