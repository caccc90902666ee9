"""The whole Vision Transformer: tokens, encoder blocks, a head on the class token."""

import os
from collections import OrderedDict
from dataclasses import asdict, dataclass, replace
from functools import partial
from inspect import signature
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from vit_steps.checkpoint import load_model, write_checkpoint
from vit_steps.cost import ModelCost, model_cost
from vit_steps.embedding import learned_position_embedding, prepend_tokens
from vit_steps.encoder import EncoderBlock
from vit_steps.patch_embedding import PatchEmbedding
from vit_steps.preprocessing import Preprocessing
from vit_steps.sizes import Size, check_rate
from vit_steps.transfer import transfer


@dataclass(frozen=True)
class ViTConfig:
    """Everything that defines a Vision Transformer; the defaults are ViT-B/16.

    ``base``, ``large`` and ``huge`` are the paper's (arXiv 2010.11929, Table 1),
    ``tiny`` and ``small`` DeiT's (arXiv 2012.12877, Table 1); fields override theirs.

    Raises: ValueError if a field is out of range, or two do not fit each other.
    """

    image_size: Size = 224  # pixels, an int for a square or a (height, width)
    patch_size: Size = 16
    in_channels: int = 3  # C
    num_classes: int = 1000  # K; 0 for no head: the features come out
    embed_dim: int = 768  # D
    depth: int = 12  # L
    num_heads: int = 12  # h
    mlp_ratio: float = 4.0  # M / D
    qkv_bias: bool = True
    drop_rate: float = 0.0  # of tokens, after attention and in the MLP
    attn_drop_rate: float = 0.0  # of attention weights
    drop_path_rate: float = 0.0  # stochastic depth, from 0 to this in the last block
    representation_size: int | None = None  # of linear and tanh before the head
    layer_scale: float | None = None  # initial value of LayerScale; None for none
    norm_eps: float = 1e-6

    def __post_init__(self) -> None:
        self.cost()  # refuses sizes that are none, or that do not fit each other
        check_rate(self.drop_rate, "drop_rate")
        check_rate(self.attn_drop_rate, "attn_drop_rate")
        check_rate(self.drop_path_rate, "drop_path_rate")
        if not self.norm_eps > 0.0:
            raise ValueError(f"norm_eps: got {self.norm_eps}, expected norm_eps > 0")

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
        """How many tokens come before the patches: the class token."""
        return 1

    def cost(self) -> ModelCost:
        """Shape, parameters and MACs of every step, without building the model."""
        arguments = signature(model_cost).parameters  # all are fields, or properties
        return model_cost(**{name: getattr(self, name) for name in arguments})


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
        preprocessing: what ``vit_steps.predict`` has to know; None if unknown.
        grad_checkpointing: if True, activations inside the blocks are not kept but
            computed again for the gradients (arXiv 1604.06174).

    Shape: (B, C, H, W) -> (B, K)
    """

    config_class = ViTConfig

    def __init__(self, config: ViTConfig) -> None:
        super().__init__()
        self.config = config
        self.preprocessing: Preprocessing | None = None
        self.grad_checkpointing = False
        self.num_prefix_tokens = config.num_prefix_tokens
        self.patch_embed = PatchEmbedding(
            image_size=config.image_size,
            patch_size=config.patch_size,
            in_channels=config.in_channels,
            embed_dim=config.embed_dim,
        )
        self.make_tokens()
        self.pos_drop = nn.Dropout(config.drop_rate)
        rates = torch.linspace(0.0, config.drop_path_rate, config.depth, device="cpu")
        self.blocks = nn.ModuleList(
            EncoderBlock(
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

    def make_tokens(self) -> None:
        """Give the model the class token and the positions; a variant has others."""
        rows, columns = self.patch_embed.grid_size
        D = self.config.embed_dim
        self.cls_token = nn.Parameter(torch.zeros(1, 1, D))
        self.pos_embed = learned_position_embedding(1 + rows * columns, D)

    def make_head(self) -> nn.Module:
        """A linear layer to the K logits that starts at zero; if K is 0, nothing."""
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
        self.head = self.make_head().to(self.pos_embed)
        if self.preprocessing is not None:
            self.preprocessing = replace(self.preprocessing, classes=())

    def embed(self, images: Tensor) -> Tensor:
        """(B, C, H, W) -> (B, T, D): the tokens as ``ViTEmbedding`` makes them."""
        patches = self.patch_embed(images)  # (B, N, D)
        tokens = prepend_tokens(patches, self.cls_token)  # (B, T, D)
        return self.pos_drop(tokens + self.pos_embed)

    def encode(
        self, images: Tensor, need_weights: bool = False
    ) -> tuple[Tensor, list[Tensor]]:
        """Images to tokens that have been through all blocks and the final norm.

        (B, C, H, W) -> (B, T, D), and with ``need_weights`` each block's (B, h, T, T),
        from first to last; without, an empty list.
        """
        x = self.embed(images)  # (B, T, D)
        weights_per_block = []
        for block in self.blocks:
            again = partial(checkpoint, block, use_reentrant=False)
            run = again if self.grad_checkpointing else block
            # (B, T, D), and (B, h, T, T) or None
            x, weights = run(x, need_weights=need_weights)
            if weights is not None:
                weights_per_block.append(weights)
        return self.norm(x), weights_per_block

    def forward(self, images: Tensor) -> Tensor:
        """The logits, read from the class token; raises as ``PatchEmbedding`` does."""
        tokens, _ = self.encode(images)  # (B, T, D)
        return self.head(self.pre_logits(tokens[:, 0]))  # (B, K)

    def patch_tokens(self, tokens: Tensor) -> Tensor:
        """Those of the tokens that are patches: (B, T, D) -> (B, N, D)."""
        return tokens[:, self.num_prefix_tokens :]

    @classmethod
    def from_pretrained(
        cls,
        name: str | os.PathLike[str],
        num_classes: int | None = None,
        image_size: Size | None = None,
        in_channels: int | None = None,
    ) -> Self:
        """A trained model, ready for evaluation.

        Args:
            name: "cluttered-digits", "cluttered-digits-drawn" or "fashion-mnist", which
                ship with the package, or the path of a file that ``save_pretrained``
                wrote.
            num_classes: K; another than the file's gets a new head, 0 none.
            image_size: if it is another, ``transfer`` interpolates the positions.
            in_channels: if it is another, ``transfer`` adapts the patch embedding.

        Raises:
            FileNotFoundError: if there is no such model and no such file.
            ValueError: if the file is damaged or contradicts itself, or holds something
                else, such as a model of another class.
        """
        model = load_model(cls, name)
        if image_size is not None or in_channels is not None:
            model = transfer(model, image_size, in_channels)
        if num_classes not in (None, model.config.num_classes):
            model.reset_classifier(num_classes)
        return model

    def save_pretrained(
        self,
        path: str | os.PathLike[str],
        dtype: torch.dtype = torch.float32,
        **card: Any,
    ) -> None:
        """Write weights, config, class and preprocessing to a .safetensors file.

        In torch.float16 it takes half the room. The ``card`` is what else is to be
        known about the model, as JSON can hold it.
        """
        weights = {name: value.to(dtype) for name, value in self.state_dict().items()}
        written_by = {"class": type(self).__name__, "config": asdict(self.config)}
        prepared = asdict(self.preprocessing) if self.preprocessing else {}
        write_checkpoint(path, weights, written_by | prepared | card)
