"""DINOv3's ViT takes images of any size, as in other libraries with the same weights.

For one size, outputs and gradients are compared in ``test_families``.
"""

import pytest
import torch

from tests.package.other_models import huggingface_small, timm_model
from vit_steps import pretrained as P
from vit_steps.variants import VariantConfig

SMALL = dict(patch_size=4, embed_dim=24, depth=2, num_heads=3)
SIZES = [(24, 16), (16, 40)]


def assert_same_tokens(got, expected):
    assert expected.abs().max() > 1e-2
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("pooling", ["class token", "mean"])
@pytest.mark.parametrize(
    "name",
    [
        "vit_small_patch16_dinov3",
        "vit_small_patch16_dinov3_qkvb",
        "vit_small_plus_patch16_dinov3",
    ],
)
def test_dinov3_is_timms(name, pooling):
    theirs = timm_model(
        name,
        num_classes=5,
        global_pool="token" if pooling == "class token" else "avg",
        img_size=SIZES[0],
        **SMALL,
    )
    ours = P.copy_of(theirs)
    assert ours.config.pooling == pooling
    for size in SIZES:  # without any change to the model
        images = torch.randn(2, 3, *size)
        assert_same_tokens(ours(images), theirs(images))
        assert_same_tokens(ours.encode(images)[0], theirs.forward_features(images))


@pytest.mark.parametrize("gated", [False, True])
def test_dinov3_is_transformers(gated):
    theirs = huggingface_small(
        "DINOv3ViTModel",
        "DINOv3ViTConfig",
        hidden_size=24,
        num_register_tokens=4,
        use_gated_mlp=gated,
        hidden_act="silu" if gated else "gelu",
    )
    ours = P.copy_of(theirs)
    for size in SIZES:
        images = torch.randn(2, 3, *size)
        expected = theirs(images)
        assert_same_tokens(ours.encode(images)[0], expected.last_hidden_state)
        assert_same_tokens(ours(images), expected.pooler_output)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("vit_small_patch16_dinov3", {}),
        ("vit_small_plus_patch16_dinov3", {"mlp": "swiglu"}),
    ],
)
def test_the_preset_is_timms(name, options):
    theirs = timm_model(name, depth=1, global_pool="token")
    config = VariantConfig.dinov3_small(num_classes=0, depth=1, **options)
    copied = P.copy_of(theirs).config
    assert vars(config) | {"image_size": 256, "layer_scale": 1.0} == vars(copied)
