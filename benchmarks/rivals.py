"""Vision Transformers of other libraries, with the size and the weights of ours."""

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

import torch
from torch import Tensor, nn

from benchmarks.naive_vit import NaiveViT
from vit_steps import (
    EncoderBlock,
    MultiHeadAttention,
    VisionTransformer,
    ViTConfig,
    optional,
    pretrained,
)

State = dict[str, Tensor]


def build_ours(config: ViTConfig, state: State) -> VisionTransformer:
    model = VisionTransformer(config)
    model.load_state_dict(state)
    return model


def build_timm(config: ViTConfig, state: State) -> nn.Module:
    model: nn.Module = optional.timm().models.VisionTransformer(
        img_size=config.image_size,
        patch_size=config.patch_size,
        num_classes=config.num_classes,
        embed_dim=config.embed_dim,
        depth=config.depth,
        num_heads=config.num_heads,
        mlp_ratio=config.mlp_ratio,
    )
    model.load_state_dict(state)
    return model


def build_torchvision(config: ViTConfig, state: State) -> nn.Module:
    model: nn.Module = optional.torchvision().models.VisionTransformer(
        image_size=config.image_size,
        patch_size=config.patch_size,
        num_layers=config.depth,
        num_heads=config.num_heads,
        hidden_dim=config.embed_dim,
        mlp_dim=int(config.mlp_ratio * config.embed_dim),
        num_classes=config.num_classes,
    )
    pretrained.copy_into(model, build_ours(config, state))
    return model


class Logits(nn.Module):
    """A wrapper that returns only the logits of a model from transformers."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, images: Tensor) -> Tensor:
        logits: Tensor = self.model(images).logits
        return logits


def build_transformers(config: ViTConfig, state: State, attention: str) -> nn.Module:
    transformers = optional.transformers()
    model = transformers.ViTForImageClassification(
        transformers.ViTConfig(
            image_size=config.image_size,
            patch_size=config.patch_size,
            hidden_size=config.embed_dim,
            num_hidden_layers=config.depth,
            num_attention_heads=config.num_heads,
            intermediate_size=int(config.mlp_ratio * config.embed_dim),
            num_labels=config.num_classes,
            layer_norm_eps=config.norm_eps,
            attn_implementation=attention,
        )
    )
    pretrained.copy_into(model, build_ours(config, state))
    return Logits(model)


def build_vit_pytorch(config: ViTConfig, state: State, simple: bool) -> nn.Module:
    """Build another architecture of this size: norms around the patches, no bias."""
    optional.torchvision()
    sizes = dict(
        image_size=config.image_size,
        patch_size=config.patch_size,
        num_classes=config.num_classes,
        dim=config.embed_dim,
        depth=config.depth,
        heads=config.num_heads,
        mlp_dim=int(config.mlp_ratio * config.embed_dim),
        dim_head=config.embed_dim // config.num_heads,
    )
    if simple:
        from vit_pytorch.simple_vit import SimpleViT

        return SimpleViT(**sizes)
    from vit_pytorch.vit import ViT

    return ViT(**sizes)


class D2LAttention(nn.Module):
    """d2l's multi-head attention, as a replacement for ours."""

    def __init__(self, ours: MultiHeadAttention) -> None:
        super().__init__()
        D = ours.embed_dim
        d2l = optional.d2l()
        self.attention = d2l.MultiHeadAttention(D, ours.num_heads, 0.0, bias=True)
        self.attention(*3 * [torch.zeros(1, 1, D)], None)  # sizes its lazy layers
        weights, biases = ours.qkv.weight.chunk(3), ours.qkv.bias.chunk(3)
        for name, weight, bias in zip("qkv", weights, biases, strict=True):
            layer = getattr(self.attention, f"W_{name}")
            layer.load_state_dict({"weight": weight, "bias": bias})
        self.attention.W_o.load_state_dict(ours.proj.state_dict())

    def forward(self, x: Tensor, need_weights: bool = False) -> tuple[Tensor, None]:
        return self.attention(x, x, x, None), None  # (B, T, D)


def build_d2l(config: ViTConfig, state: State) -> nn.Module:
    model = build_ours(config, state)
    for block in model.blocks:
        assert isinstance(block, EncoderBlock)
        block.register_module("attn", D2LAttention(block.attn))
    return model


OURS = "vit_steps"
AGAIN = "vit_steps, a second copy"
BUILDERS: dict[str, Callable[[ViTConfig, State], nn.Module]] = {
    OURS: build_ours,
    AGAIN: build_ours,  # shows by how much two equal models differ
    "timm": build_timm,
    "torchvision": build_torchvision,
    "transformers, sdpa": lambda c, s: build_transformers(c, s, "sdpa"),
    "transformers, eager": lambda c, s: build_transformers(c, s, "eager"),
    "vit-pytorch, ViT": lambda c, s: build_vit_pytorch(c, s, simple=False),
    "vit-pytorch, SimpleViT": lambda c, s: build_vit_pytorch(c, s, simple=True),
    "naive": lambda c, s: NaiveViT(c).take(s),
    "d2l's attention": build_d2l,
}
PACKAGES = ("torch", "timm", "torchvision", "transformers", "vit-pytorch", "d2l")


def random_state(config: ViTConfig) -> State:
    """Return weights without zeros: with a zero head, all models would agree."""
    torch.manual_seed(0)
    model = VisionTransformer(config)
    nn.init.trunc_normal_(model.get_parameter("head.weight"), std=0.02)
    nn.init.trunc_normal_(model.cls_token, std=0.02)
    return model.state_dict()


def available(names: list[str], config: ViTConfig) -> dict[str, nn.Module]:
    """Build the rivals that are installed, and print the names of the others."""
    state = random_state(config)
    models = {}
    for name in names:
        try:
            models[name] = BUILDERS[name](config, state)
        except ImportError as error:
            print(f"left out: {name} ({error})")
    return models


def gives_our_logits(model: nn.Module, ours: nn.Module, images: Tensor) -> bool:
    """Return whether a rival computes our function, so that only speed is compared."""
    with torch.inference_mode():
        difference = (model.eval()(images) - ours.eval()(images)).abs().max().item()
    return difference < 1e-4


def versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package).split("+")[0]
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
