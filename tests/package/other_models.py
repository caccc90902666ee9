"""Models of other libraries, small and with random weights, for the tests."""

import os

import pytest
import torch

from tests.conftest import draw_at_random
from vit_steps import VisionTransformer, ViTConfig, optional
from vit_steps import pretrained as P

os.environ.setdefault("HF_HUB_OFFLINE", "1")

SMALL = dict(
    image_size=12,
    patch_size=4,
    num_classes=7,
    embed_dim=12,
    depth=3,
    num_heads=2,
    mlp_ratio=5 / 3,
)


def draw(model, std=0.3):
    """Draw random weights as large as a trained ViT's, and put it into eval mode.

    Norms and scales are around 1, class token and positions small.
    """
    draw_at_random(model, std)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim == 1 and not name.endswith("bias"):
                parameter += 1
            if parameter.ndim == 3:
                parameter *= 0.02 / std
    return model.eval()


def small(std=0.3, **overrides):
    return draw(VisionTransformer(ViTConfig(**SMALL | overrides)), std)


def timm_model(name, **overrides):
    return draw(optional.timm().create_model(name, **overrides), std=0.05)


def timm_small(**overrides):
    sizes = dict(img_size=12, patch_size=4, num_classes=7, embed_dim=12, depth=3)
    sizes |= dict(num_heads=2, mlp_ratio=5 / 3)
    return draw(optional.timm().models.VisionTransformer(**sizes | overrides))


def torchvision_small(**overrides):
    model = optional.torchvision().models.VisionTransformer
    return draw(model(12, 4, 3, 2, 12, 20, num_classes=7, **overrides))


def huggingface_small(
    kind="ViTForImageClassification", config="ViTConfig", **overrides
):
    sizes = dict(image_size=12, patch_size=4, num_labels=7, hidden_size=12)
    sizes |= dict(num_hidden_layers=3, num_attention_heads=2)
    sizes |= dict(mlp_ratio=2) if "Dinov2" in config else dict(intermediate_size=20)
    library = optional.transformers()
    return draw(getattr(library, kind)(getattr(library, config)(**sizes | overrides)))


def logits_of(output):
    """Return the logits of a model's output as a tensor, whichever its library."""
    for name in ("logits", "image_embeds", "pooler_output"):
        output = getattr(output, name, output)
    return output


HEADS = dict(num_heads=2)
HF = HEADS | dict(norm_eps=1e-12)
OTHERS = {
    # their model, and the facts that no shape shows
    "timm-ti16": (lambda: timm_model("vit_tiny_patch16_224", depth=2), {}),
    "timm-b16": (lambda: timm_model("vit_base_patch16_224", depth=1), {}),
    "timm-deit": (lambda: timm_model("deit_small_patch16_224", depth=1), {}),
    "timm-s14": (
        lambda: timm_model(
            "vit_small_patch14_dinov2", depth=2, img_size=(70, 98), num_classes=7
        ),
        dict(image_size=(70, 98)),
    ),
    "timm-no-bias": (lambda: timm_small(qkv_bias=False), HEADS),
    "torchvision": (torchvision_small, HEADS),
    "torchvision-pre-logits": (
        lambda: torchvision_small(representation_size=5),
        HEADS,
    ),
    "huggingface": (huggingface_small, HF),
    "huggingface-no-bias": (
        lambda: huggingface_small(qkv_bias=False),
        HF,
    ),
    "dinov2": (
        lambda: huggingface_small("Dinov2Model", "Dinov2Config"),
        HEADS | dict(num_classes=7),
    ),
}
each_other = pytest.mark.parametrize("other", OTHERS)


def read(theirs):
    """Return their weights in our names, without what is for pre-training."""
    state_dict = P.in_our_names(theirs.state_dict())
    return {n: t for n, t in state_dict.items() if not n.endswith("mask_token")}


def pair(other):
    """Return a model of another library, and ours with its weights."""
    build, untold = OTHERS[other]
    theirs = build()
    state_dict = read(theirs)
    ours = VisionTransformer(P.config_of(state_dict, **untold))
    keep = () if "head.weight" in state_dict else "head"
    return theirs, P.load_weights(ours, state_dict, keep=keep).eval()


def images_for(model, batch=2):
    return torch.randn(batch, model.config.in_channels, *model.patch_embed.image_size)
