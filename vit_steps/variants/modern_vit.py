"""A plain Vision Transformer of today: the paper's, with a switch for each change."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Self, get_args

import torch
import torch.fx
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from vit_steps.cost import ModelCost
from vit_steps.embedding import prepend_tokens, sincos_position_embedding
from vit_steps.encoder import MLP, DropPath, LayerScale
from vit_steps.sizes import (
    Size,
    as_size,
    check_choice,
    check_count,
    check_fields,
    check_number,
    check_switch,
)
from vit_steps.variants.any_size import patches_of_any_size
from vit_steps.variants.attention import AttentionPool, RotaryAttention
from vit_steps.variants.cost import variant_cost
from vit_steps.variants.gated_mlp import GatedMLP
from vit_steps.variants.rotary import rope_angles
from vit_steps.vision_transformer import VisionTransformer, ViTConfig

torch.fx.wrap("patches_of_any_size")
torch.fx.wrap("rope_angles")

Pooling = Literal["class token", "mean", "attention"]
Positions = Literal["learned", "sincos", "none"]
Rope = Literal["normalised", "indexed"]
Norm = Literal["layer", "rms"]
MLPKind = Literal["gelu", "gelu_tanh", "quick_gelu", "swiglu"]


class QuickGELU(nn.Module):
    """x·σ(1.702x), which CLIP's code has for a GELU (arXiv 1606.08415, section 2)."""

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.sigmoid(1.702 * x)


ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "gelu": nn.GELU,
    "gelu_tanh": partial(nn.GELU, approximate="tanh"),
    "quick_gelu": QuickGELU,
}


@dataclass(frozen=True)
class VariantConfig(ViTConfig):
    """A ``ViTConfig`` with a switch for each change; the defaults are the paper's.

    "mean" with "sincos" is the better plain ViT baseline of arXiv 2205.01580, also
    called SimpleViT. ``dinov3_small`` is DINOv3's ViT-S/16 (arXiv 2508.10104).

    Registers are R learned tokens that belong to no patch; the model can keep in them
    what it needs (arXiv 2309.16588). They have no position, and a head reads them only
    if it pools by attention.

    Raises: ValueError if a field is none of these, two do not fit each other, or as in
        ``ViTConfig``.
    """

    pooling: Pooling = "class token"  # or "mean" of the patches, or "attention" to all
    num_registers: int = 0  # R
    positions: Positions = "learned"  # or "sincos", fixed waves; or "none" are added
    class_token: bool | None = None  # None: there is one if the pooling reads it
    rope: Rope | None = None  # rotary positions: the coordinates of ``rope_angles``
    rope_base: float = 100.0  # 10000 in EVA-02
    rope_reference: Size | None = None  # rows and columns that it was trained on
    norm: Norm = "layer"  # or "rms", RMSNorm (arXiv 1910.07467), everywhere
    norm_pre: bool = False  # a norm before the first block, as in CLIP
    fc_norm: bool = False  # the last norm after the pooling, and not before it
    qk_norm: bool = False  # a norm of the queries and keys of each head
    mlp: MLPKind = "gelu"  # the activation, or "swiglu", a ``GatedMLP``
    mlp_norm: bool = False  # a norm inside the ``GatedMLP``
    proj_bias: bool = True  # False: none in ``attn.proj`` and in the MLP

    def __post_init__(self) -> None:
        super().__post_init__()
        kinds = dict(pooling=Pooling, positions=Positions, norm=Norm, mlp=MLPKind)
        for name, kind in kinds.items():
            check_fields(self, check_choice, name, known=get_args(kind))
        check_fields(self, check_choice, "rope", optional=True, known=get_args(Rope))
        check_fields(self, check_count, "num_registers", least=0)
        check_fields(self, check_number, "rope_base", above=0)
        check_fields(self, as_size, "rope_reference", optional=True)
        check_fields(self, check_switch, "class_token", optional=True)
        switches = ("norm_pre", "fc_norm", "qk_norm", "mlp_norm", "proj_bias")
        check_fields(self, check_switch, *switches)
        if self.pooling == "class token" and not self.has_cls_token:
            raise ValueError("class_token: got False, expected one for this pooling")
        if self.mlp_norm and self.mlp != "swiglu":
            raise ValueError(f"mlp_norm: got True, expected False with {self.mlp!r}")
        if self.rope and self.head_dim % 4:
            got = f"num_heads: got {self.num_heads}, which makes d = {self.head_dim}"
            raise ValueError(f"{got}, expected a multiple of 4 for rotary positions")

    @classmethod
    def dinov3_small(cls, **overrides: Any) -> Self:
        small = dict(num_registers=4, positions="none", rope="normalised")
        small |= dict(qkv_bias=False, layer_scale=1e-5, norm_eps=1e-5)
        return cls.small(**small | overrides)

    @property
    def head_dim(self) -> int:
        return self.embed_dim // self.num_heads

    @property
    def has_cls_token(self) -> bool:
        read = self.pooling == "class token"
        return read if self.class_token is None else self.class_token

    @property
    def num_prefix_tokens(self) -> int:
        """The number of tokens before the patches: class token and registers."""
        return self.has_cls_token + self.num_registers

    def make_norm(self, width: int) -> nn.Module:
        """Return a norm of this many numbers."""
        kind = nn.LayerNorm if self.norm == "layer" else nn.RMSNorm
        return kind(width, eps=self.norm_eps)

    def make_mlp(self) -> nn.Module:
        """Return an MLP, gated or not: (..., D) -> (..., D)."""
        D, M = self.embed_dim, int(self.embed_dim * self.mlp_ratio)
        if self.mlp == "swiglu":
            norm = self.make_norm(M) if self.mlp_norm else None
            return GatedMLP(D, M, self.proj_bias, self.drop_rate, norm)
        mlp = MLP(embed_dim=D, hidden_dim=M, drop_rate=self.drop_rate)
        mlp.add_module("act", ACTIVATIONS[self.mlp]())
        if not self.proj_bias:
            mlp.fc1.register_parameter("bias", None)
            mlp.fc2.register_parameter("bias", None)
        return mlp

    def cost(self) -> ModelCost:
        """Return shape, parameters and MACs of every step, without building a model."""
        return variant_cost(self, super().cost())


class VariantBlock(nn.Module):
    """A pre-norm encoder block, as ``EncoderBlock``, of the parts that a config names.

    Shape: (B, T, D), angles (T, d/2) -> (B, T, D), and (B, h, T, T) or None
    """

    def __init__(self, config: VariantConfig, drop_path_rate: float = 0.0) -> None:
        super().__init__()
        D = config.embed_dim
        start = config.layer_scale
        self.norm1 = config.make_norm(D)
        self.attn = RotaryAttention(
            embed_dim=D,
            num_heads=config.num_heads,
            qkv_bias=config.qkv_bias,
            proj_bias=config.proj_bias,
            drop_rate=config.drop_rate,
            attn_drop_rate=config.attn_drop_rate,
            q_norm=config.make_norm(config.head_dim) if config.qk_norm else None,
            k_norm=config.make_norm(config.head_dim) if config.qk_norm else None,
        )
        self.ls1 = nn.Identity() if start is None else LayerScale(D, start)
        self.norm2 = config.make_norm(D)
        self.mlp = config.make_mlp()
        self.ls2 = nn.Identity() if start is None else LayerScale(D, start)
        self.drop_path = DropPath(drop_path_rate)

    def forward(
        self, x: Tensor, need_weights: bool = False, angles: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        # (B, T, D), and (B, h, T, T) or None
        attended, weights = self.attn(self.norm1(x), need_weights, angles)
        x = x + self.drop_path(self.ls1(attended))  # (B, T, D)
        x = x + self.drop_path(self.ls2(self.mlp(self.norm2(x))))  # (B, T, D)
        return x, weights


class VariantVisionTransformer(VisionTransformer):
    """A Vision Transformer with the choices of ``VariantConfig``.

    Tokens are in this order: class token (if there is one), registers, patches. With
    the same seed all variants start with the same blocks, as far as they have the same
    parts. With positions "none", images may have any size in multiples of the patch.

    Shape: (B, C, H, W) -> (B, K)
    """

    config: VariantConfig
    config_class = VariantConfig

    def __init__(self, config: VariantConfig) -> None:
        super().__init__(config)
        D = config.embed_dim
        if config.positions != "learned":
            del self.pos_embed
            positions = torch.empty(1, 0, D)  # no positions, but a dtype and a device
            if config.positions == "sincos":
                grid = self.patch_embed.grid_size
                positions = sincos_position_embedding(D, grid, config.has_cls_token)
            self.register_buffer("pos_embed", positions)
        elif not config.has_cls_token:
            self.pos_embed = nn.Parameter(self.pos_embed.detach()[:, 1:].clone())
        if not config.has_cls_token:
            self.register_parameter("cls_token", None)
        registers = torch.empty(1, config.num_registers, D)
        self.reg_token = nn.Parameter(nn.init.trunc_normal_(registers, std=0.02))
        self.norm_pre = config.make_norm(D) if config.norm_pre else nn.Identity()
        self.add_module(
            "norm", nn.Identity() if config.fc_norm else config.make_norm(D)
        )
        self.fc_norm = config.make_norm(D) if config.fc_norm else nn.Identity()
        self.attn_pool: nn.Module = nn.Identity()
        if config.pooling == "attention":
            norm, mlp = config.make_norm(D), config.make_mlp()
            self.attn_pool = AttentionPool(D, config.num_heads, norm, mlp)

    def make_block(self, drop_path_rate: float, **_: Any) -> VariantBlock:
        """Return a block of the parts that the config names."""
        return VariantBlock(self.config, drop_path_rate)

    def embed(self, images: Tensor) -> Tensor:
        """Embed images: (B, 1 + R + N, D), or (B, R + N, D) without a class token."""
        if self.config.positions == "none":
            patches = patches_of_any_size(self.patch_embed, images)
            patches = patches.flatten(2).transpose(1, 2)  # (B, N, D)
        else:
            patches = self.patch_embed(images)  # (B, N, D)
        cls_token = [self.cls_token] if self.config.has_cls_token else []
        tokens = prepend_tokens(patches, *cls_token)  # (B, 1 + N, D) or (B, N, D)
        if self.config.positions != "none":
            tokens = tokens + self.pos_embed
        tokens = self.pos_drop(tokens)
        first, patches = tokens.tensor_split([len(cls_token)], dim=1)
        registers = prepend_tokens(patches, self.reg_token)  # (B, R + N, D)
        return torch.cat([first, registers], dim=1)

    def angles(self, images: Tensor) -> Tensor | None:
        """Return the angles of all tokens, (T, d/2); None without rotary positions.

        Class token and registers are at no place, so they are turned by no angle.
        """
        config = self.config
        if config.rope is None:
            return None
        P = self.patch_embed.patch_size
        angles = rope_angles(
            grid_size=(images.shape[2] // P[0], images.shape[3] // P[1]),
            head_dim=config.head_dim,
            base=config.rope_base,
            coordinates=config.rope,
            reference=config.rope_reference,
            device=images.device,
        )  # (N, d/2)
        return F.pad(angles, (0, 0, self.num_prefix_tokens, 0))

    def encode(
        self, images: Tensor, need_weights: bool = False
    ) -> tuple[Tensor, list[Tensor]]:
        """Return tokens and weights as ``VisionTransformer.encode`` does."""
        x = self.norm_pre(self.embed(images))  # (B, T, D)
        angles = self.angles(images)  # (T, d/2)
        weights_per_block = []
        for block in self.blocks:
            run: Any = block
            if self.grad_checkpointing:
                run = partial(checkpoint, block, use_reentrant=False)
            x, weights = run(x, need_weights, angles)
            if weights is not None:
                weights_per_block.append(weights)
        return self.norm(x), weights_per_block

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits: (B, C, H, W) -> (B, K)."""
        tokens, _ = self.encode(images)  # (B, 1 + R + N, D) or (B, R + N, D)
        if self.config.pooling == "class token":
            features = tokens[:, 0]  # (B, D)
        elif self.config.pooling == "mean":
            features = self.patch_tokens(tokens).mean(dim=1)  # (B, D)
        else:
            features = self.attn_pool(tokens)  # (B, D)
        return self.head(self.pre_logits(self.fc_norm(features)))  # (B, K)
