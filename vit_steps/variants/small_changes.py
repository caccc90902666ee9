"""Three small changes: the mean of the patches, registers, fixed positions."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from vit_steps.cost import ModelCost, token_count
from vit_steps.embedding import (
    learned_position_embedding,
    prepend_tokens,
    sincos_position_embedding,
)
from vit_steps.vision_transformer import VisionTransformer, ViTConfig

POOLINGS = ("class token", "mean")
POSITIONS = ("learned", "sincos")


@dataclass(frozen=True)
class VariantConfig(ViTConfig):
    """A ``ViTConfig`` with three more choices; the defaults are the paper's.

    "mean" with "sincos" is what arXiv 2205.01580 calls a better plain ViT baseline, and
    others SimpleViT.

    Args:
        pooling: what the head reads. "class token", or "mean": the mean of the patches'
            tokens, and then there is no class token.
        num_registers: R learned tokens that belong to no patch and that no head reads,
            for the model to write on (arXiv 2309.16588). They have no position.
        positions: "learned", or "sincos": fixed waves in rows and columns.

    Raises:
        ValueError: if a field is none of these, or as in ``ViTConfig``.
    """

    pooling: str = "class token"
    num_registers: int = 0
    positions: str = "learned"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, known in (("pooling", POOLINGS), ("positions", POSITIONS)):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name}: got {getattr(self, name)!r}, expected one of {known}"
                )
        if self.num_registers < 0:
            raise ValueError(
                f"num_registers: got {self.num_registers}, expected at least 0"
            )

    @property
    def has_cls_token(self) -> bool:
        return self.pooling == "class token"

    @property
    def num_prefix_tokens(self) -> int:
        """How many tokens stand in front of the patches: class token and registers."""
        return self.has_cls_token + self.num_registers

    def cost(self) -> ModelCost:
        """Shape, parameters and MACs of every step, without building the model."""
        cost = super().cost()
        N = token_count(self.image_size, self.patch_size)
        rows = self.has_cls_token + N if self.positions == "learned" else 0
        steps = (
            replace(step, parameters=rows * self.embed_dim)
            if step.name == "pos_embed"
            else step
            for step in cost.steps
        )
        return replace(cost, steps=tuple(steps))


class VariantVisionTransformer(VisionTransformer):
    """A Vision Transformer with the three choices of ``VariantConfig``.

    Tokens stand in this order: class token (if there is one), registers, patches. With
    the same seed all variants start with the same blocks.

    Shape:
        (B, C, H, W) -> (B, K)
    """

    config: VariantConfig
    config_class = VariantConfig

    def __init__(self, config: VariantConfig) -> None:
        super().__init__(config)
        registers = torch.empty(1, config.num_registers, config.embed_dim)
        self.reg_token = nn.Parameter(nn.init.trunc_normal_(registers, std=0.02))

    def make_tokens(self) -> None:
        """The class token, if there is one, and its and the patches' positions."""
        has_cls_token, D = self.config.has_cls_token, self.config.embed_dim
        rows, columns = self.patch_embed.grid_size
        cls_token = nn.Parameter(torch.zeros(1, 1, D))
        self.register_parameter("cls_token", cls_token if has_cls_token else None)
        learned = learned_position_embedding(1 + rows * columns, D)  # drawn by each
        if self.config.positions == "sincos":
            fixed = sincos_position_embedding(
                embed_dim=D, grid_size=(rows, columns), cls_token=has_cls_token
            )
            self.register_buffer("pos_embed", fixed)
        elif has_cls_token:
            self.pos_embed = learned
        else:
            self.pos_embed = nn.Parameter(learned.detach()[:, 1:].clone())  # (1, N, D)

    def embed(self, images: Tensor) -> Tensor:
        """(B, C, H, W) -> (B, 1 + R + N, D), or (B, R + N, D) without a class token."""
        patches = self.patch_embed(images)  # (B, N, D)
        cls_token = [self.cls_token] if self.config.has_cls_token else []
        tokens = prepend_tokens(patches, *cls_token)  # (B, 1 + N, D) or (B, N, D)
        tokens = self.pos_drop(tokens + self.pos_embed)
        first, patches = tokens.tensor_split([len(cls_token)], dim=1)
        registers = prepend_tokens(patches, self.reg_token)  # (B, R + N, D)
        return torch.cat([first, registers], dim=1)

    def forward(self, images: Tensor) -> Tensor:
        """(B, C, H, W) -> (B, K)"""
        tokens, _ = self.encode(images)  # (B, 1 + R + N, D) or (B, R + N, D)
        if self.config.has_cls_token:
            features = tokens[:, 0]  # (B, D)
        else:
            features = self.patch_tokens(tokens).mean(dim=1)  # (B, D)
        return self.head(self.pre_logits(features))  # (B, K)
