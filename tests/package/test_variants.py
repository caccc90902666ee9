"""Tools for a Vision Transformer also work for models with other first tokens."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from tests.conftest import draw_at_random
from vit_steps import VisionTransformer, ViTConfig
from vit_steps.attention_maps import (
    attention_distance,
    class_token_attention,
    class_token_to_patches,
    deletion_curve,
)
from vit_steps.pretrained import extract_features
from vit_steps.variants import (
    DistilledConfig,
    DistilledVisionTransformer,
    VariantConfig,
    VariantVisionTransformer,
)

# Images of 12×8, cut into 4×2 patches.
SIZES = dict(
    image_size=(12, 8),
    patch_size=(3, 4),
    num_classes=7,
    embed_dim=12,
    depth=3,
    num_heads=2,
)
GRID = (4, 2)
N = 8


def variant(**choices):
    return lambda **more: VariantVisionTransformer(
        VariantConfig(**SIZES | choices | more)
    )


def plain(**more):
    return VisionTransformer(ViTConfig(**SIZES | more))


def distilled(**more):
    return DistilledVisionTransformer(DistilledConfig(**SIZES | more))


# Each with the number of tokens before the patches, and whether it has a class token.
MODELS = {
    "plain": (plain, 1, True),
    "distilled": (distilled, 2, True),
    "as in the paper": (variant(), 1, True),
    "registers": (variant(num_registers=3), 4, True),
    "sincos": (variant(positions="sincos"), 1, True),
    "mean": (variant(pooling="mean"), 0, False),
    "mean with registers": (variant(pooling="mean", num_registers=2), 2, False),
    "SimpleViT": (variant(pooling="mean", positions="sincos"), 0, False),
}
# Heads of d = 12 for rotary positions.
INDEXED = dict(rope="indexed", rope_reference=(3, 3), num_heads=1)
ROTARY = dict(rope="normalised", positions="none", num_heads=1)
EVA = dict(mlp="swiglu", mlp_norm=True, fc_norm=True)
NO_BIAS = dict(qkv_bias=False, proj_bias=False)
MODELS |= {
    "rotary": (variant(**ROTARY, num_registers=2), 3, True),
    "rotary and learned": (variant(**INDEXED), 1, True),
    "norms": (variant(norm="rms", qk_norm=True), 1, True),
    "no biases": (variant(**NO_BIAS), 1, True),
    "as in CLIP": (variant(norm_pre=True, mlp="quick_gelu"), 1, True),
    "as in SigLIP": (variant(pooling="attention", mlp="gelu_tanh"), 0, False),
    "as in EVA-02": (
        variant(pooling="mean", class_token=True, **EVA, **INDEXED),
        1,
        True,
    ),
    "all": (
        variant(
            pooling="attention",
            class_token=True,
            num_registers=2,
            norm="rms",
            norm_pre=True,
            qk_norm=True,
            **ROTARY,
            **EVA,
            **NO_BIAS,
        ),
        3,
        True,
    ),
}
every_model = pytest.mark.parametrize(
    ("build", "prefix", "speaks"), MODELS.values(), ids=MODELS
)


@every_model
def test_the_model_says_which_tokens_are_patches(build, prefix, speaks):
    model = draw_at_random(build()).eval()
    images = torch.rand(2, 3, 12, 8)
    tokens = model.embed(images)
    assert tokens.shape == (2, prefix + N, 12)
    assert model.num_prefix_tokens == model.config.num_prefix_tokens == prefix
    patches = model.patch_embed(images)
    if model.pos_embed.numel():
        patches = patches + model.pos_embed[:, -N:]
    torch.testing.assert_close(model.patch_tokens(tokens), patches)


@every_model
@pytest.mark.parametrize("more", [{}, dict(representation_size=5, layer_scale=0.1)])
def test_the_configs_cost_is_the_models(build, prefix, speaks, more):
    model = build(**more).eval()
    cost = model.config.cost()
    assert cost.parameters == sum(p.numel() for p in model.parameters())
    attends = FlopCounterMode(display=False)
    with attends, torch.no_grad():
        explicit_attention(model)(torch.rand(1, 3, 12, 8))
    assert attends.get_total_flops() == 2 * cost.macs


def explicit_attention(model):
    """Make a model compute attention with weights, so that products can be counted."""
    encode = model.encode
    model.encode = lambda images: encode(images, need_weights=True)
    return model


@every_model
def test_a_saved_model_is_loaded_unchanged(build, prefix, speaks, tmp_path):
    model = draw_at_random(build()).eval()
    path = tmp_path / "model.safetensors"
    model.save_pretrained(path)
    back = type(model).from_pretrained(path)
    assert type(back) is type(model) and back.config == model.config
    images = torch.rand(2, 3, 12, 8)
    torch.testing.assert_close(back(images), model(images), rtol=0, atol=0)


def test_a_model_of_another_class_is_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    distilled().save_pretrained(path)
    with pytest.raises(
        ValueError, match="holds a model of class DistilledVisionTransformer, exp"
    ):
        VisionTransformer.from_pretrained(path)
    plain().save_pretrained(path)
    with pytest.raises(ValueError, match="class VisionTransformer, expected a Variant"):
        VariantVisionTransformer.from_pretrained(path)


@every_model
def test_with_one_seed_all_start_with_the_same_blocks(build, prefix, speaks):
    torch.manual_seed(3)
    expected = plain()
    torch.manual_seed(3)
    model = build()
    ours, theirs = model.state_dict(), expected.state_dict()
    parts = ["patch_embed.proj.weight"]
    if "blocks.0.mlp.fc1.bias" in ours:  # an ordinary MLP
        parts = [name for name in theirs if name.startswith(("patch_embed", "blocks"))]
    for name in {*parts} & ours.keys():
        torch.testing.assert_close(ours[name], theirs[name])


@every_model
def test_a_deletion_curve_takes_an_order_of_the_patches(build, prefix, speaks):
    model = draw_at_random(build()).eval()
    images, labels = torch.rand(2, 3, 12, 8), torch.tensor([1, 5])
    order = torch.rand(2, N).argsort(dim=1)
    curve = deletion_curve(model, images, labels, order, [0, N])
    with torch.no_grad():
        scores = model(images)
    torch.testing.assert_close(curve.logits[0], scores[range(2), labels])


@every_model
def test_features_are_the_class_token_or_the_mean_of_the_patches(build, prefix, speaks):
    model = draw_at_random(build()).eval()
    images = torch.rand(3, 3, 12, 8)
    with torch.no_grad():
        tokens, _ = model.encode(images)
    mean = extract_features(model, images, pool="mean")
    torch.testing.assert_close(mean, tokens[:, -N:].mean(dim=1))
    if speaks:
        torch.testing.assert_close(extract_features(model, images), tokens[:, 0])
    else:
        with pytest.raises(ValueError, match="pool: got 'cls', expected 'mean'"):
            extract_features(model, images)


@every_model
def test_maps_show_the_patches(build, prefix, speaks):
    model = draw_at_random(build()).eval()
    with torch.no_grad():
        _, weights = model.encode(torch.rand(2, 3, 12, 8), need_weights=True)
    between = [
        w[..., -N:, -N:] / w[..., -N:, -N:].sum(-1, keepdim=True) for w in weights
    ]
    expected = attention_distance(between, GRID, 4, num_prefix_tokens=0)
    torch.testing.assert_close(attention_distance(weights, GRID, 4, prefix), expected)
    if not speaks and prefix == 0:
        with pytest.raises(
            ValueError, match="num_prefix_tokens: got 0, expected an int from 1"
        ):
            class_token_attention(weights, prefix)
    elif speaks:
        maps = class_token_attention(weights, prefix)
        to_patches = torch.stack(weights, dim=1)[..., 0, -N:]
        torch.testing.assert_close(maps, to_patches / to_patches.sum(-1, keepdim=True))


@pytest.mark.parametrize("prefix", [0, 9, -1])
def test_a_map_needs_a_class_token_and_a_patch(prefix):
    with pytest.raises(
        ValueError, match=f"num_prefix_tokens: got {prefix}, expected an int from 1"
    ):
        class_token_to_patches(torch.rand(9, 9), prefix)


@every_model
def test_compiles_whole(build, prefix, speaks):
    model = draw_at_random(build()).eval()
    images = torch.rand(2, 3, 12, 8)
    torch.compiler.reset()  # one class is compiled for many configurations
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(images), model(images))


@every_model
def test_an_exported_model_takes_any_batch(build, prefix, speaks):
    model = draw_at_random(build(depth=1)).eval()
    batch = torch.export.Dim("batch")
    exported = torch.export.export(
        model, (torch.rand(2, 3, *SIZES["image_size"]),), dynamic_shapes=[{0: batch}]
    ).module()
    for B in (1, 2, 5):
        images = torch.rand(B, 3, *SIZES["image_size"])
        torch.testing.assert_close(exported(images), model(images))


@every_model
def test_checkpointed_activations_give_the_same_gradients(build, prefix, speaks):
    model = draw_at_random(build(drop_rate=0.2, drop_path_rate=0.2)).train()
    images = torch.rand(4, 3, *SIZES["image_size"])

    def gradients():
        model.zero_grad()
        torch.manual_seed(0)
        calls = []
        seen = model.blocks[0].register_forward_pre_hook(lambda *_: calls.append(1))
        model(images).square().sum().backward()
        seen.remove()
        return len(calls), {n: p.grad.clone() for n, p in model.named_parameters()}

    once, expected = gradients()
    model.grad_checkpointing = True
    twice, got = gradients()
    assert (once, twice) == (1, 2)
    torch.testing.assert_close(got, expected, rtol=0, atol=0)
    _, weights = model.eval().encode(images, need_weights=True)
    assert len(weights) == SIZES["depth"]


@every_model
def test_reset_parameters_after_meta_is_a_new_start(build, prefix, speaks):
    with torch.device("meta"):
        model = build()
    model.to_empty(device="cpu")
    for value in (*model.parameters(), *model.buffers()):
        value.data.fill_(7.0)
    model.reset_parameters()
    fresh = build()
    for (name, ours), theirs in zip(
        model.state_dict().items(), fresh.state_dict().values(), strict=True
    ):
        if not ours.numel():
            continue
        assert not (ours == 7.0).any(), name
        assert ours.std(correction=0) < 2 * theirs.std(correction=0) + 1e-5, name
    torch.manual_seed(0)
    model.reset_parameters()
    torch.manual_seed(0)
    fresh.reset_parameters()
    torch.testing.assert_close(model.state_dict(), fresh.state_dict(), rtol=0, atol=0)


def test_a_config_of_another_class_is_refused():
    with pytest.raises(
        ValueError, match="config: got a ViTConfig, expected a VariantC"
    ):
        VariantVisionTransformer(ViTConfig(**SIZES))
    for model_class in (VisionTransformer, DistilledVisionTransformer):
        with pytest.raises(ValueError, match="config: got a VariantConfig, expected a"):
            model_class(VariantConfig(**SIZES, pooling="mean"))


@pytest.mark.parametrize("value", [1.5, True, -1, None])
def test_registers_are_counted(value):
    with pytest.raises(ValueError, match=f"num_registers: got {value}, expected"):
        VariantConfig(**SIZES, num_registers=value)
