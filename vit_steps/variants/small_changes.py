"""Three small changes: the mean of the patches, registers, fixed positions."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from vit_steps.cost import ModelCost, token_count
from vit_steps.embedding import prepend_tokens, sincos_position_embedding
from vit_steps.sizes import check_choice, check_count, check_fields
from vit_steps.vision_transformer import VisionTransformer, ViTConfig

Pooling = Literal["class token", "mean"]
Positions = Literal["learned", "sincos"]


@dataclass(frozen=True)
class VariantConfig(ViTConfig):
    """A ``ViTConfig`` with three more choices; the defaults are the paper's.

    "mean" with "sincos" is the better plain ViT baseline of arXiv 2205.01580, also
    called SimpleViT; with "mean" there is no class token.

    Registers are R learned tokens that belong to no patch and that no head reads; the
    model can keep in them what it needs (arXiv 2309.16588). They have no position.

    Raises: ValueError if a field is none of these, or as in ``ViTConfig``.
    """

    pooling: Pooling = "class token"  # or "mean", of the patches
    num_registers: int = 0  # R
    positions: Positions = "learned"  # or "sincos", fixed waves in rows and columns

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, check_choice, "pooling", known=get_args(Pooling))
        check_fields(self, check_choice, "positions", known=get_args(Positions))
        check_fields(self, check_count, "num_registers", least=0)

    @property
    def has_cls_token(self) -> bool:
        return self.pooling == "class token"

    @property
    def num_prefix_tokens(self) -> int:
        """The number of tokens before the patches: class token and registers."""
        return self.has_cls_token + self.num_registers

    def cost(self) -> ModelCost:
        """Return shape, parameters and MACs of every step, without building a model."""
        cost = super().cost()
        N = token_count(self.image_size, self.patch_size)
        rows = self.has_cls_token + N if self.positions == "learned" else 0
        steps, learned = {step.name: step for step in cost.steps}, rows * self.embed_dim
        steps["pos_embed"] = replace(steps["pos_embed"], parameters=learned)
        return replace(cost, steps=tuple(steps.values()))


class VariantVisionTransformer(VisionTransformer):
    """A Vision Transformer with the three choices of ``VariantConfig``.

    Tokens are in this order: class token (if there is one), registers, patches. With
    the same seed all variants start with the same blocks.

    Shape: (B, C, H, W) -> (B, K)
    """

    config: VariantConfig
    config_class = VariantConfig

    def __init__(self, config: VariantConfig) -> None:
        super().__init__(config)
        if config.positions == "sincos":
            del self.pos_embed
            positions = sincos_position_embedding(
                embed_dim=config.embed_dim,
                grid_size=self.patch_embed.grid_size,
                cls_token=config.has_cls_token,
            )
            self.register_buffer("pos_embed", positions)
        elif not config.has_cls_token:
            self.pos_embed = nn.Parameter(self.pos_embed.detach()[:, 1:].clone())
        if not config.has_cls_token:
            self.register_parameter("cls_token", None)
        registers = torch.empty(1, config.num_registers, config.embed_dim)
        self.reg_token = nn.Parameter(nn.init.trunc_normal_(registers, std=0.02))

    def embed(self, images: Tensor) -> Tensor:
        """Embed images: (B, 1 + R + N, D), or (B, R + N, D) without a class token."""
        patches = self.patch_embed(images)  # (B, N, D)
        cls_token = [self.cls_token] if self.config.has_cls_token else []
        tokens = prepend_tokens(patches, *cls_token)  # (B, 1 + N, D) or (B, N, D)
        tokens = self.pos_drop(tokens + self.pos_embed)
        first, patches = tokens.tensor_split([len(cls_token)], dim=1)
        registers = prepend_tokens(patches, self.reg_token)  # (B, R + N, D)
        return torch.cat([first, registers], dim=1)

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits: (B, C, H, W) -> (B, K)."""
        tokens, _ = self.encode(images)  # (B, 1 + R + N, D) or (B, R + N, D)
        if self.config.has_cls_token:
            features = tokens[:, 0]  # (B, D)
        else:
            features = self.patch_tokens(tokens).mean(dim=1)  # (B, D)
        return self.head(self.pre_logits(features))  # (B, K)
