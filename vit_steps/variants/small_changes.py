"""Three small changes: the mean of the patches, registers, fixed positions."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from vit_steps.embedding import sincos_position_embedding
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
        num_registers: R learned tokens that belong to no patch and that nobody reads,
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


class VariantVisionTransformer(VisionTransformer):
    """A Vision Transformer with the three choices of ``VariantConfig``.

    Tokens stand in this order: class token (if there is one), registers, patches.

    Shape:
        (B, C, H, W) -> (B, K)
    """

    def __init__(self, config: VariantConfig) -> None:
        super().__init__(config)
        self.has_cls_token = config.pooling == "class token"
        D, grid_size = config.embed_dim, self.patch_embed.grid_size
        if not self.has_cls_token:
            del self.cls_token
            self.pos_embed = nn.Parameter(self.pos_embed.detach()[:, 1:])  # (1, N, D)
        if config.positions == "sincos":
            del self.pos_embed
            positions = sincos_position_embedding(D, grid_size, self.has_cls_token)
            self.register_buffer("pos_embed", positions)
        self.reg_token = nn.Parameter(torch.empty(1, config.num_registers, D))
        nn.init.trunc_normal_(self.reg_token, std=0.02)

    def embed(self, images: Tensor) -> Tensor:
        """(B, C, H, W) -> (B, 1 + R + N, D), or (B, R + N, D) without a class token."""
        patches = self.patch_embed(images)  # (B, N, D)
        B, N = patches.shape[:2]
        tokens = patches
        if self.has_cls_token:
            tokens = torch.cat([self.cls_token.expand(B, -1, -1), patches], dim=1)
        tokens = self.pos_drop(tokens + self.pos_embed)
        first, patches = tokens[:, :-N], tokens[:, -N:]
        return torch.cat([first, self.reg_token.expand(B, -1, -1), patches], dim=1)

    def forward(self, images: Tensor) -> Tensor:
        """(B, C, H, W) -> (B, K)"""
        tokens, _ = self.encode(images)  # (B, 1 + R + N, D) or (B, R + N, D)
        if self.has_cls_token:
            features = tokens[:, 0]  # (B, D)
        else:
            features = tokens[:, self.reg_token.shape[1] :].mean(dim=1)  # (B, D)
        return self.head(self.pre_logits(features))  # (B, K)
