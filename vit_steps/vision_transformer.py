"""The whole Vision Transformer: tokens, encoder blocks, a head on the class token."""

import os
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from vit_steps.checkpoint import load_model, save_model
from vit_steps.cost import ModelCost, model_cost
from vit_steps.embedding import ViTEmbedding
from vit_steps.encoder import EncoderBlock
from vit_steps.preprocessing import Preprocessing
from vit_steps.sizes import (
    Size,
    as_size,
    check_count,
    check_fields,
    check_heads,
    check_number,
    check_rate,
    check_switch,
    patch_grid,
)
from vit_steps.transfer import start_anew, transfer


@dataclass(frozen=True)
class ViTConfig:
    """All sizes and rates of a Vision Transformer; the defaults are ViT-B/16.

    ``base``, ``large`` and ``huge`` are the paper's (arXiv 2010.11929, Table 1),
    ``tiny`` and ``small`` DeiT's (arXiv 2012.12877, Table 1); arguments override their
    fields.

    Raises: ValueError if a field is out of range, or two do not fit each other.
    """

    image_size: Size = 224  # pixels, an int for a square or a (height, width)
    patch_size: Size = 16  # pixels
    in_channels: int = 3  # C, 1 for grey and 3 for colour
    num_classes: int = 1000  # K, classes; with 0 there is no head
    embed_dim: int = 768  # D, numbers in a token
    depth: int = 12  # L, encoder blocks
    num_heads: int = 12  # h, attention heads of a block
    mlp_ratio: float = 4.0  # M / D, width of the MLP in a block
    qkv_bias: bool = True
    drop_rate: float = 0.0  # dropout of tokens, after attention and in the MLP
    attn_drop_rate: float = 0.0  # dropout of attention weights
    drop_path_rate: float = 0.0  # stochastic depth, from 0 in the first block to this
    representation_size: int | None = None  # width of a tanh layer before the head
    layer_scale: float | None = None  # initial value of LayerScale; None for none
    norm_eps: float = 1e-6

    def __post_init__(self) -> None:
        check_fields(self, as_size, "image_size", "patch_size")
        check_fields(
            self, check_count, "in_channels", "embed_dim", "depth", "num_heads"
        )
        check_fields(self, check_count, "num_classes", least=0)
        check_fields(self, check_count, "representation_size", optional=True)
        check_fields(self, check_switch, "qkv_bias")
        check_fields(self, check_rate, "drop_rate", "attn_drop_rate", "drop_path_rate")
        check_fields(self, check_number, "norm_eps", above=0)
        check_fields(self, check_number, "mlp_ratio", least=1 / self.embed_dim)
        check_fields(self, check_number, "layer_scale", optional=True)
        check_heads(self.embed_dim, self.num_heads)
        patch_grid(self.image_size, self.patch_size)

    @classmethod
    def tiny(cls, **overrides: Any) -> Self:
        return cls(**dict(embed_dim=192, depth=12, num_heads=3) | overrides)

    @classmethod
    def small(cls, **overrides: Any) -> Self:
        return cls(**dict(embed_dim=384, depth=12, num_heads=6) | overrides)

    @classmethod
    def base(cls, **overrides: Any) -> Self:
        return cls(**dict(embed_dim=768, depth=12, num_heads=12) | overrides)

    @classmethod
    def large(cls, **overrides: Any) -> Self:
        return cls(**dict(embed_dim=1024, depth=24, num_heads=16) | overrides)

    @classmethod
    def huge(cls, **overrides: Any) -> Self:
        huge = dict(embed_dim=1280, depth=32, num_heads=16, patch_size=14)
        return cls(**huge | overrides)

    @property
    def num_prefix_tokens(self) -> int:
        """The number of tokens before the patches: the class token."""
        return 1

    def cost(self) -> ModelCost:
        """Return shape, parameters and MACs of every step, without building a model."""
        return model_cost(self)


# The names of the presets: each classmethod of ViTConfig is one.
PRESETS = tuple(
    name for name, member in vars(ViTConfig).items() if isinstance(member, classmethod)
)


class VisionTransformer(nn.Module):
    """A Vision Transformer for classification (arXiv 2010.11929, equations 1 to 4).

    Its parameters carry the names of published checkpoints: ``cls_token``,
    ``pos_embed``, ``patch_embed.proj``, ``blocks.0.attn.qkv``, ``norm``, ``head``. The
    head starts at zero, as in the paper's code: all classes equally likely.

    Attributes:
        preprocessing: the normalisation and the class names that ``vit_steps.predict``
            needs; None if unknown.
        grad_checkpointing: if True, activations inside the blocks are not kept but
            computed again for the gradients (arXiv 1604.06174).

    Shape: (B, C, H, W) -> (B, K)
    """

    config_class = ViTConfig
    heads: tuple[str, ...] = ("head",)
    make_block: Any = EncoderBlock  # variants have others

    def __init__(self, config: ViTConfig) -> None:
        super().__init__()
        if type(config) is not self.config_class:
            raise ValueError(
                f"config: got a {type(config).__name__}, expected a "
                f"{self.config_class.__name__} for a {type(self).__name__}"
            )
        self.config = config
        self.preprocessing: Preprocessing | None = None
        self.grad_checkpointing = False
        self.num_prefix_tokens = config.num_prefix_tokens
        embedding = ViTEmbedding(
            image_size=config.image_size,
            patch_size=config.patch_size,
            in_channels=config.in_channels,
            embed_dim=config.embed_dim,
            drop_rate=config.drop_rate,
        )
        # The parts of the embedding are at the root, as in published checkpoints.
        self.patch_embed = embedding.patch_embed
        self.cls_token = embedding.cls_token
        self.pos_embed = embedding.pos_embed
        self.pos_drop = embedding.pos_drop
        rates = torch.linspace(0.0, config.drop_path_rate, config.depth, device="cpu")
        self.blocks = nn.ModuleList(
            self.make_block(
                embed_dim=config.embed_dim,
                num_heads=config.num_heads,
                mlp_ratio=config.mlp_ratio,
                qkv_bias=config.qkv_bias,
                drop_rate=config.drop_rate,
                attn_drop_rate=config.attn_drop_rate,
                drop_path_rate=rate,
                layer_scale=config.layer_scale,
                norm_eps=config.norm_eps,
            )
            for rate in rates.tolist()
        )
        self.norm = nn.LayerNorm(config.embed_dim, eps=config.norm_eps)
        self.pre_logits: nn.Module = nn.Identity()
        if config.representation_size is not None:
            fc = nn.Linear(config.embed_dim, config.representation_size)
            self.pre_logits = nn.Sequential(OrderedDict(fc=fc, act=nn.Tanh()))
        self.head = self.make_head()

    def make_head(self) -> nn.Module:
        """Return a linear layer to K logits that starts at zero; for K = 0, nothing."""
        if self.config.num_classes == 0:
            return nn.Identity()
        features = self.config.representation_size or self.config.embed_dim
        head = nn.Linear(features, self.config.num_classes)
        nn.init.zeros_(head.weight)
        nn.init.zeros_(head.bias)
        return head

    def reset_classifier(self, num_classes: int) -> None:
        """Give the model a new head for K classes, or none if K is 0, as timm does."""
        self.config = replace(self.config, num_classes=num_classes)
        for name in self.heads:
            with torch.random.fork_rng(devices=[]):  # nn.Linear draws weights
                head = self.make_head()
            setattr(self, name, head.to(self.pos_embed).train(self.training))
        if self.preprocessing is not None:
            self.preprocessing = replace(self.preprocessing, classes=())

    def reset_parameters(self) -> None:
        """Initialise all parameters anew, for example after ``to_empty``."""
        start_anew(self)

    def embed(self, images: Tensor) -> Tensor:
        """Embed the images as ``ViTEmbedding`` does, whose parts this model has.

        Shape: (B, C, H, W) -> (B, T, D)
        """
        return ViTEmbedding.forward(self, images)  # type: ignore[arg-type]

    def encode(
        self, images: Tensor, need_weights: bool = False
    ) -> tuple[Tensor, list[Tensor]]:
        """Return the tokens after all blocks and the final norm, and the weights.

        The list of weights is empty unless ``need_weights`` asks for each block's, from
        first to last.

        Shape: (B, C, H, W) -> (B, T, D), and L of (B, h, T, T)
        """
        x = self.embed(images)  # (B, T, D)
        weights_per_block = []
        for block in self.blocks:
            # (B, T, D), and (B, h, T, T) or None
            if self.grad_checkpointing:
                x, weights = checkpoint(block, x, need_weights, use_reentrant=False)
            else:
                x, weights = block(x, need_weights=need_weights)
            if weights is not None:
                weights_per_block.append(weights)
        return self.norm(x), weights_per_block

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits of the class token; raises as ``PatchEmbedding`` does."""
        tokens, _ = self.encode(images)  # (B, T, D)
        return self.head(self.pre_logits(tokens[:, 0]))  # (B, K)

    def patch_tokens(self, tokens: Tensor) -> Tensor:
        """Return the tokens of the patches: (B, T, D) -> (B, N, D)."""
        return tokens[:, self.num_prefix_tokens :]

    @classmethod
    def from_pretrained(
        cls,
        name: str | os.PathLike[str],
        num_classes: int | None = None,
        image_size: Size | None = None,
        in_channels: int | None = None,
    ) -> Self:
        """Return a trained model, ready for evaluation.

        Args:
            name: of a model that ships with the package, such as "cluttered-digits", or
                the path of a file that ``save_pretrained`` wrote.
            num_classes: K of a new head that is still to be trained, 0 for none; None
                keeps the trained head.
            image_size: pixels; for another size ``transfer`` interpolates positions.
            in_channels: C; for another number ``transfer`` adapts the patch embedding.

        Raises:
            FileNotFoundError: if there is no such model and no such file.
            ValueError: if the file is damaged, contradicts itself, or holds another
                class of model.
        """
        model = load_model(cls, name)
        if image_size is not None or in_channels is not None:
            model = transfer(model, image_size, in_channels)
        if num_classes is not None:
            model.reset_classifier(num_classes)
        return model

    def save_pretrained(
        self,
        path: str | os.PathLike[str],
        dtype: torch.dtype = torch.float32,
        **card: Any,
    ) -> None:
        """Write weights, config, class and preprocessing to a .safetensors file.

        Args:
            dtype: of the weights in the file; torch.float16 takes half the room.
            card: whatever else describes the model, as far as JSON can hold it.

        Raises: ValueError if ``from_pretrained`` could not read the file again.
        """
        save_model(self, path, dtype, card)
