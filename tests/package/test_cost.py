import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from vit_steps import (
    VisionTransformer,
    ViTConfig,
    attention_cost,
    model_cost,
    token_count,
)
from vit_steps.sizes import as_pair


def test_tokens_of_the_sizes_everybody_uses():
    assert token_count(224, 1) == 50_176
    assert token_count(224, 16) == 196
    assert token_count(224, 14) == 256
    assert token_count(32, 4) == 64
    assert token_count((224, 320), (16, 32)) == 14 * 10
    assert token_count(600, 1) == 360_000 and token_count(800, 1) == 640_000


def test_attention_by_counting_every_multiplication():
    T, D, h = 5, 6, 2
    d = D // h
    scores = sum(d for _ in range(h) for _ in range(T) for _ in range(T))
    mixing = sum(T for _ in range(h) for _ in range(T) for _ in range(d))
    cost = attention_cost(T, D, h, bytes_per_number=2)
    assert cost.matmul_macs == scores + mixing
    assert cost.projection_macs == 4 * T * D * D
    assert cost.matrix_bytes == T * T * 2
    assert cost.all_heads_bytes == h * T * T * 2


def test_one_attention_matrix_over_pixels_and_over_patches():
    assert attention_cost(50_176, 64).matrix_bytes == 10_070_523_904
    assert attention_cost(196, 64).matrix_bytes == 153_664


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0, 64), "num_tokens"),
        ((4, -1), "embed_dim"),
        ((4, 64, 0), "num_heads"),
        ((4, 64, 3), "num_heads"),
        ((4, 64, 1, 0), "bytes_per_number"),
        ((4.0, 64), "num_tokens"),
    ],
)
def test_attention_cost_refuses(arguments, name):
    with pytest.raises(ValueError, match=f"{name}: got"):
        attention_cost(*arguments)


@pytest.mark.parametrize("name", ["depth", "in_channels", "embed_dim"])
@pytest.mark.parametrize("value", [0, -1, 2.0])
def test_model_cost_refuses(name, value):
    with pytest.raises(ValueError, match=f"{name}: got {value}, expected a positive"):
        model_cost(ViTConfig(**{name: value}))


def test_model_cost_refuses_parts_of_no_width():
    with pytest.raises(ValueError, match="mlp_ratio: got -4.0, expected at least"):
        model_cost(ViTConfig(mlp_ratio=-4.0))
    with pytest.raises(ValueError, match="representation_size: got 0, expected a pos"):
        model_cost(ViTConfig(representation_size=0))


sizes = st.tuples(st.integers(1, 4), st.integers(1, 4))


@given(
    grid=sizes,
    patch=sizes,
    head_dim=st.integers(1, 5),
    num_heads=st.integers(1, 3),
    depth=st.integers(1, 3),
    mlp_ratio=st.sampled_from([1.0, 2.5, 4.0]),
    qkv_bias=st.booleans(),
    representation_size=st.sampled_from([None, 7]),
    layer_scale=st.sampled_from([None, 0.1]),
)
def test_model_cost_is_the_models(
    grid,
    patch,
    head_dim,
    num_heads,
    depth,
    mlp_ratio,
    qkv_bias,
    representation_size,
    layer_scale,
):
    config = ViTConfig(
        image_size=(grid[0] * patch[0], grid[1] * patch[1]),
        patch_size=patch,
        in_channels=2,
        num_classes=5,
        embed_dim=head_dim * num_heads,
        depth=depth,
        num_heads=num_heads,
        mlp_ratio=mlp_ratio,
        qkv_bias=qkv_bias,
        representation_size=representation_size,
        layer_scale=layer_scale,
    )
    model = VisionTransformer(config).eval()
    cost = config.cost()
    assert cost.parameters == sum(p.numel() for p in model.parameters())

    images = torch.rand(1, 2, *as_pair(config.image_size, "image_size"))
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        tokens, _ = model.encode(images, need_weights=True)
        model.head(model.pre_logits(tokens[:, 0]))
    assert counter.get_total_flops() == 2 * cost.macs


def test_the_quadratic_share_of_vit_base():
    shares = {
        size: cost.attention_macs / cost.macs
        for size in (224, 384, 1024)
        for cost in [model_cost(ViTConfig(image_size=size))]
    }
    assert round(shares[224], 3) == 0.041
    assert round(shares[384], 3) == 0.111
    assert round(shares[1024], 3) == 0.469
    assert round(model_cost(ViTConfig()).macs / 1e9, 2) == 17.56


def test_shapes_of_the_steps_are_the_models():
    shapes = {step.name: step.shape for step in ViTConfig.base().cost().steps}
    assert shapes["patch_embed.proj"] == (196, 768)
    assert shapes["pos_embed"] == (197, 768)
    assert shapes["attn.qkv"] == (3, 12, 197, 64)
    assert shapes["mlp.fc1"] == (197, 3072)
    assert shapes["head"] == (1000,)
