"""With the weights of DINOv3's ViT in other libraries, ours gives what they give."""

import pytest
import torch

from tests.conftest import draw_at_random
from vit_steps import optional
from vit_steps.variants import VariantConfig, VariantVisionTransformer

timm = optional.timm()
SMALL = dict(patch_size=4, embed_dim=24, depth=2, num_heads=3)


def from_timm(state):
    """Return a state dict of timm's DINOv3 in our names."""
    names = {"gamma_1": "ls1.gamma", "gamma_2": "ls2.gamma"}
    ours = {"pos_embed": torch.empty(1, 0, state["cls_token"].shape[-1])}
    for name, tensor in state.items():
        *start, last = name.split(".")
        ours[".".join([*start, names.get(last, last)])] = tensor
    return ours


def from_transformers(state):
    """Return a state dict of transformers' DINOv3ViTModel in our names."""
    names = {
        "embeddings.cls_token": "cls_token",
        "embeddings.register_tokens": "reg_token",
        "embeddings.patch_embeddings": "patch_embed.proj",
        "model.layer": "blocks",
        "attention.o_proj": "attn.proj",
        "layer_scale1.lambda1": "ls1.gamma",
        "layer_scale2.lambda1": "ls2.gamma",
        "mlp.gate_proj": "mlp.fc1_g",
        "mlp.up_proj": "mlp.fc1_x" if gated(state) else "mlp.fc1",
        "mlp.down_proj": "mlp.fc2",
    }
    ours = {"pos_embed": torch.empty(1, 0, state["embeddings.cls_token"].shape[-1])}
    for name, tensor in state.items():
        for theirs, our in names.items():
            name = name.replace(theirs, our)
        ours[name] = tensor
    del ours["embeddings.mask_token"]
    for i in range(SMALL["depth"]):
        start = f"blocks.{i}.attention."
        q, k, v = (ours.pop(f"{start}{letter}_proj.weight") for letter in "qkv")
        ours[f"blocks.{i}.attn.qkv.weight"] = torch.cat([q, k, v])
        q, v = (ours.pop(f"{start}{letter}_proj.bias") for letter in "qv")
        keys = torch.zeros_like(q)  # keys have no bias
        ours[f"blocks.{i}.attn.qkv.bias"] = torch.cat([q, keys, v])
    return ours | {"head.weight": torch.zeros(0)}


def gated(state):
    return any("gate_proj" in name for name in state)


def assert_same_gradients(ours, theirs, translate):
    expected = translate({n: p.grad for n, p in theirs.named_parameters()})
    for name, parameter in ours.named_parameters():
        assert expected[name].abs().max() > 1e-4, name
        torch.testing.assert_close(
            parameter.grad, expected[name], rtol=1e-3, atol=1e-5, msg=name
        )


@pytest.mark.parametrize("pooling", ["class token", "mean"])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("vit_small_patch16_dinov3", {}),
        ("vit_small_patch16_dinov3_qkvb", {"qkv_bias": True}),
        ("vit_small_plus_patch16_dinov3", {"mlp": "swiglu"}),
    ],
)
def test_dinov3_is_timms(name, options, pooling):
    theirs = timm.create_model(
        name,
        num_classes=5,
        global_pool="token" if pooling == "class token" else "avg",
        img_size=(24, 16),
        **SMALL,
    )
    draw_at_random(theirs).eval()
    config = VariantConfig.dinov3_small(
        image_size=(24, 16),
        num_classes=5,
        pooling=pooling,
        class_token=True,
        **SMALL | options,
    )
    ours = VariantVisionTransformer(config).eval()
    state = theirs.state_dict()
    if "qkv_bias" in options:
        for i in range(SMALL["depth"]):
            biases = [state.pop(f"blocks.{i}.attn.{p}_bias") for p in "qv"]
            biases.insert(1, torch.zeros(SMALL["embed_dim"]))
            state[f"blocks.{i}.attn.qkv.bias"] = torch.cat(biases)
    ours.load_state_dict(from_timm(state))
    for size in [(24, 16), (16, 40)]:  # without any change to the model
        images = torch.randn(2, 3, *size)
        expected = theirs(images)
        assert expected.abs().max() > 1e-2
        torch.testing.assert_close(ours(images), expected, rtol=1e-4, atol=1e-5)
        tokens, _ = ours.encode(images)
        their_tokens = theirs.forward_features(images)
        torch.testing.assert_close(tokens, their_tokens, rtol=1e-4, atol=1e-4)
    if "qkv_bias" not in options:  # there the biases have other names
        ours(images).square().sum().backward()
        theirs(images).square().sum().backward()
        assert_same_gradients(ours, theirs, from_timm)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("vit_small_patch16_dinov3", {}),
        ("vit_small_plus_patch16_dinov3", {"mlp": "swiglu"}),
    ],
)
def test_the_real_shapes_are_timms(name, options):
    theirs = timm.create_model(name, num_classes=0, global_pool="token").eval()
    draw_at_random(theirs)
    config = VariantConfig.dinov3_small(num_classes=0, **options)
    ours = VariantVisionTransformer(config).eval()
    ours.load_state_dict(from_timm(theirs.state_dict()))
    count = sum(p.numel() for p in theirs.parameters())
    assert config.cost().parameters == count
    images = torch.randn(1, 3, 64, 96)
    with torch.inference_mode():
        torch.testing.assert_close(ours(images), theirs(images), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("mlp", ["gelu", "swiglu"])
def test_dinov3_is_transformers(mlp):
    transformers = optional.transformers()
    theirs = transformers.DINOv3ViTModel(
        transformers.DINOv3ViTConfig(
            image_size=16,
            patch_size=4,
            hidden_size=24,
            intermediate_size=96,
            num_hidden_layers=2,
            num_attention_heads=3,
            num_register_tokens=4,
            use_gated_mlp=mlp == "swiglu",
            hidden_act="silu" if mlp == "swiglu" else "gelu",
        )
    )
    draw_at_random(theirs).eval()
    config = VariantConfig.dinov3_small(
        image_size=16, num_classes=0, qkv_bias=True, mlp=mlp, **SMALL
    )
    ours = VariantVisionTransformer(config).eval()
    state = from_transformers(theirs.state_dict())
    del state["head.weight"]
    ours.load_state_dict(state)
    images = torch.randn(2, 3, 20, 16)
    tokens, _ = ours.encode(images)
    expected = theirs(images).last_hidden_state
    assert expected.abs().max() > 1e-2
    torch.testing.assert_close(tokens, expected, rtol=1e-4, atol=1e-4)
