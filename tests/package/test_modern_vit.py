import copy
from dataclasses import asdict

import pytest
import torch

from tests.conftest import draw_at_random
from vit_steps import VisionTransformer, ViTConfig, checkpoint, optional, pretrained
from vit_steps.transfer import transfer
from vit_steps.variants import VariantConfig, VariantVisionTransformer

timm = optional.timm()
SMALL = dict(num_classes=5, embed_dim=24, depth=3, num_heads=3)


def ours_and_timms(config, **options):
    ours = VariantVisionTransformer(config)
    theirs = timm.models.VisionTransformer(
        img_size=config.image_size, patch_size=config.patch_size, **SMALL, **options
    )
    return ours, draw_at_random(theirs)


def assert_same(ours, theirs):
    images = torch.randn(2, 3, 32, 32)
    with torch.inference_mode():
        expected = theirs.eval()(images)
        assert expected.abs().max() > 1e-2
        torch.testing.assert_close(ours.eval()(images), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("registers", [0, 4])
def test_the_mean_of_the_patches_is_timms(registers):
    config = VariantConfig(32, 8, pooling="mean", num_registers=registers, **SMALL)
    ours, theirs = ours_and_timms(
        config,
        class_token=False,
        global_pool="avg",
        fc_norm=False,
        reg_tokens=registers,
        no_embed_class=True,
    )
    state = theirs.state_dict()
    state.setdefault("reg_token", torch.empty(1, 0, 24))
    ours.load_state_dict(state)
    assert_same(ours, theirs)


def test_registers_are_timms():
    ours, theirs = ours_and_timms(
        VariantConfig(32, 8, num_registers=4, **SMALL),
        reg_tokens=4,
        no_embed_class=True,
    )
    state = theirs.state_dict()
    # timm's class token has no position; ours gets a position of zeros
    state["pos_embed"] = torch.nn.functional.pad(state["pos_embed"], (0, 0, 1, 0))
    ours.load_state_dict(state)
    assert_same(ours, theirs)


def test_registers_with_a_position_for_the_class_token_are_hugging_faces():
    transformers = optional.transformers()
    config = VariantConfig(
        32, 8, num_registers=3, layer_scale=1.0, norm_eps=1e-6, **SMALL
    )
    theirs = transformers.Dinov2WithRegistersModel(
        transformers.Dinov2WithRegistersConfig(
            image_size=32,
            patch_size=8,
            hidden_size=24,
            num_hidden_layers=3,
            num_attention_heads=3,
            num_register_tokens=3,
        )
    )
    ours = draw_at_random(VariantVisionTransformer(config))
    ours.reset_classifier(0)
    pretrained.copy_into(theirs, ours)
    images = torch.randn(2, 3, 32, 32)
    with torch.inference_mode():
        expected = theirs.eval()(images).last_hidden_state
        tokens, _ = ours.eval().encode(images)
    assert expected.abs().max() > 1e-2
    torch.testing.assert_close(tokens, expected, rtol=1e-4, atol=1e-5)


def test_nothing_changed_is_the_papers_model():
    ours = draw_at_random(VariantVisionTransformer(VariantConfig(32, 8, **SMALL)))
    plain = VisionTransformer(ViTConfig(32, 8, **SMALL))
    state = {n: t for n, t in ours.state_dict().items() if n != "reg_token"}
    plain.load_state_dict(state)
    assert_same(ours, plain)


def test_fixed_positions_are_not_learned_and_stand_in_the_checkpoint():
    config = VariantConfig(32, 8, pooling="mean", positions="sincos", **SMALL)
    model = VariantVisionTransformer(config)
    assert "pos_embed" not in dict(model.named_parameters())
    assert model.state_dict()["pos_embed"].shape == (1, 16, 24)
    with_token = VariantVisionTransformer(VariantConfig(32, 8, positions="sincos"))
    assert with_token.pos_embed.shape == (1, 17, 768)
    assert with_token.pos_embed[:, 0].abs().max() == 0


def test_registers_reach_the_logits_through_the_patches():
    model = VariantVisionTransformer(
        VariantConfig(32, 8, pooling="mean", num_registers=2, **SMALL)
    )
    draw_at_random(model)
    model(torch.randn(2, 3, 32, 32)).sum().backward()
    assert model.reg_token.grad.abs().max() > 0


def test_dropout_takes_patches_and_class_token_in_training_only():
    config = VariantConfig(32, 8, drop_rate=0.5, num_registers=2, **SMALL)
    model = draw_at_random(VariantVisionTransformer(config))
    images = torch.randn(2, 3, 32, 32)
    dropped = model.train().embed(images) == 0
    assert 0.3 < dropped[:, 3:].float().mean() < 0.7 and dropped[:, 0].any()
    assert not dropped[:, 1:3].any() and not (model.eval().embed(images) == 0).any()


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"pooling": "max"}, "pooling"),
        ({"positions": "rotary"}, "positions"),
        ({"rope": "mixed"}, "rope"),
        ({"rope": "indexed", "rope_base": 0}, "rope_base"),
        ({"rope": "indexed", "rope_reference": (3, 0)}, "rope_reference"),
        ({"rope": "indexed", "embed_dim": 24}, "num_heads"),  # d = 2
        ({"norm": "batch"}, "norm"),
        ({"mlp": "relu"}, "mlp"),
        ({"mlp_norm": True}, "mlp_norm"),
        ({"class_token": False}, "class_token"),
        ({"class_token": "yes"}, "class_token"),
        ({"qk_norm": 1}, "qk_norm"),
        ({"proj_bias": None}, "proj_bias"),
        ({"num_registers": -1}, "num_registers"),
        ({"num_heads": 5}, "num_heads"),
    ],
)
def test_a_wrong_config_is_refused(options, name):
    with pytest.raises(ValueError, match=f"^{name}: got"):
        VariantConfig(**options)


def assert_same_as_timms(ours, theirs, state, images):
    """Compare logits and gradients with timm's, whose state dict has our names."""
    state.setdefault("reg_token", torch.empty(1, 0, state["norm.weight"].shape[0]))
    ours.load_state_dict(state)
    expected = theirs.eval()(images)
    assert expected.abs().max() > 1e-2
    torch.testing.assert_close(ours.eval()(images), expected, rtol=1e-4, atol=1e-4)
    ours(images).square().sum().backward()
    theirs(images).square().sum().backward()
    gradients = {n: p.grad for n, p in ours.named_parameters()}
    shared = [n for n, p in theirs.named_parameters() if n in gradients]
    assert len(shared) > 20
    for name in shared:
        expected = theirs.get_parameter(name).grad
        torch.testing.assert_close(
            gradients[name], expected, rtol=1e-3, atol=1e-4, msg=name
        )


def timms(name, **options):
    return draw_at_random(timm.create_model(name, **SMALL, img_size=32, **options))


@pytest.mark.parametrize(
    ("name", "mlp"),
    [("base_patch16_siglip_224", "gelu"), ("so400m_patch16_siglip_256", "gelu_tanh")],
)
def test_attention_pooling_is_siglips(name, mlp):
    theirs = timms(f"vit_{name}", mlp_ratio=4.0)
    config = VariantConfig(32, 16, pooling="attention", mlp=mlp, **SMALL)
    ours = VariantVisionTransformer(config)
    state = theirs.state_dict()
    assert_same_as_timms(ours, theirs, state, torch.randn(2, 3, 32, 32))
    assert ours.attn_pool.latent.grad.abs().max() > 1e-3


def test_a_norm_in_front_and_quick_gelu_are_clips():
    theirs = timms("vit_base_patch16_clip_quickgelu_224")
    config = VariantConfig(
        32, 16, norm_pre=True, mlp="quick_gelu", norm_eps=1e-5, **SMALL
    )
    state = theirs.state_dict()
    state["patch_embed.proj.bias"] = torch.zeros(24)  # CLIP's patches have none
    ours = VariantVisionTransformer(config)
    assert_same_as_timms(ours, theirs, state, torch.randn(2, 3, 32, 32))


@pytest.mark.parametrize("rms", [True, False])
def test_normalised_queries_and_keys_and_rmsnorm_are_timms(rms):
    layers = timm.layers
    theirs = draw_at_random(
        timm.models.VisionTransformer(
            img_size=32,
            patch_size=16,
            qk_norm=True,
            proj_bias=False,
            qkv_bias=False,
            norm_layer=layers.RmsNorm if rms else layers.LayerNorm,
            **SMALL,
        )
    )
    config = VariantConfig(
        32,
        16,
        norm="rms" if rms else "layer",
        qk_norm=True,
        qkv_bias=False,
        proj_bias=False,
        norm_eps=theirs.norm.eps,
        **SMALL,
    )
    ours = VariantVisionTransformer(config)
    state = theirs.state_dict()
    assert_same_as_timms(ours, theirs, state, torch.randn(2, 3, 32, 32))


def test_rotary_positions_in_pairs_of_neighbours_are_those_of_rope_vit():
    sizes = SMALL | dict(num_heads=3, embed_dim=24)
    theirs = draw_at_random(
        timm.create_model("vit_small_patch16_rope_ape_224", img_size=(48, 32), **sizes)
    )
    config = VariantConfig((48, 32), 16, rope="indexed", layer_scale=1e-5, **sizes)
    state = pretrained.in_our_names(theirs.state_dict())
    state = pretrained.in_halves(state, num_heads=3, columns_first=True)
    positions = state["pos_embed"]  # of the patches alone
    state["pos_embed"] = torch.nn.functional.pad(positions, (0, 0, 1, 0))
    ours = pretrained.load_weights(VariantVisionTransformer(config), state).eval()
    images = torch.randn(2, 3, 48, 32)
    expected = theirs.eval()(images)
    assert expected.abs().max() > 1e-2
    torch.testing.assert_close(ours(images), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["eva02_tiny_patch14_224", "eva02_base_patch14_448"])
def test_a_gated_mlp_and_a_norm_after_the_mean_are_those_of_eva02(name):
    inner = name.startswith("eva02_base")
    theirs = draw_at_random(timm.create_model(name, img_size=(42, 28), **SMALL))
    config = VariantConfig(
        (42, 28),
        14,
        pooling="mean",
        class_token=True,
        fc_norm=True,
        rope="indexed",
        rope_base=10000,
        rope_reference=16,
        mlp="swiglu",
        mlp_norm=inner,
        mlp_ratio=8 / 3,
        **SMALL,
    )
    state = pretrained.in_our_names(theirs.state_dict())
    state = pretrained.in_halves(state, num_heads=3)
    ours = pretrained.load_weights(VariantVisionTransformer(config), state).eval()
    images = torch.randn(2, 3, 42, 28)
    expected = theirs.eval()(images)
    assert expected.abs().max() > 1e-2
    torch.testing.assert_close(ours(images), expected, rtol=1e-4, atol=1e-5)
    assert config.cost().parameters == sum(p.numel() for p in ours.parameters())


MODERN = dict(mlp="swiglu", norm="rms", qk_norm=True, embed_dim=32, num_heads=2)


def modern(**options):
    sizes = SMALL | MODERN | options
    config = VariantConfig.dinov3_small(image_size=32, patch_size=8, **sizes)
    return draw_at_random(VariantVisionTransformer(config)).eval()


def test_rotary_positions_take_images_of_any_size_compiled_and_exported():
    model = modern()
    torch.compiler.reset()
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    side = {i: 8 * torch.export.Dim(f"n{i}", max=64) for i in (2, 3)}
    exported = torch.export.export(
        model, (torch.randn(2, 3, 16, 24),), dynamic_shapes=[side]
    ).module()
    for size in [(32, 32), (16, 48), (40, 24)]:
        images = torch.randn(2, 3, *size)
        logits = model(images)
        torch.testing.assert_close(compiled(images), logits)
        torch.testing.assert_close(exported(images), logits)
        again = transfer(model, size, None)
        assert again.patch_embed.image_size == size
        torch.testing.assert_close(again(images), logits)
    with pytest.raises(ValueError, match="images: got .* expected height and width in"):
        model(torch.randn(1, 3, 32, 20))
    with pytest.raises(ValueError, match="images: got shape"):
        modern(positions="learned")(torch.randn(1, 3, 16, 32))


def test_an_mlp_without_biases_starts_anew():
    mlp = modern(mlp="gelu", proj_bias=False).blocks[0].mlp
    before = mlp.fc1.weight.clone()
    mlp.reset_parameters()
    assert mlp.fc1.bias is None and not torch.equal(mlp.fc1.weight, before)


def test_half_precision_is_near_and_angles_stay_exact():
    model = modern()
    images = torch.randn(2, 3, 64, 64)
    expected = model(images)
    seen = []
    low = copy.deepcopy(model).bfloat16()
    low.blocks[0].register_forward_pre_hook(lambda _, inputs: seen.append(inputs[2]))
    logits = low(images.bfloat16())
    assert logits.dtype == torch.bfloat16 and seen[0].dtype == torch.float32
    torch.testing.assert_close(seen[0], model.angles(images), rtol=0, atol=0)
    torch.testing.assert_close(logits.float(), expected, rtol=0.1, atol=0.1)
    torch.testing.assert_close(
        model.double()(images.double()).float(), expected, rtol=1e-4, atol=1e-4
    )


def test_patches_that_change_places_are_seen_through_the_angles_alone():
    """Without positions of any kind the mean of the patches does not see places."""
    model = modern(pooling="mean", class_token=True)
    blind = modern(pooling="mean", class_token=True, rope=None)
    images = torch.randn(2, 3, 32, 32)
    mirrored = images.unflatten(3, (4, 8)).flip(3).flatten(3)  # whole patches move
    torch.testing.assert_close(blind(mirrored), blind(images))
    assert (model(mirrored) - model(images)).abs().max() > 1e-2


def test_a_traced_model_gives_the_same():
    model = modern()
    images = torch.randn(2, 3, 16, 40)
    traced = torch.fx.symbolic_trace(model)
    torch.testing.assert_close(traced(images), model(images))


def test_a_file_from_before_the_switches_is_read(tmp_path):
    model = draw_at_random(VariantVisionTransformer(VariantConfig(32, 8, **SMALL)))
    path = tmp_path / "old.safetensors"
    model.save_pretrained(path)
    tensors, metadata = checkpoint.read_checkpoint(path)
    for name in asdict(model.config).keys() - asdict(ViTConfig()).keys():
        if name not in ("pooling", "num_registers", "positions"):
            del metadata["config"][name]
    checkpoint.write_checkpoint(path, tensors, metadata)
    assert VariantVisionTransformer.from_pretrained(path).config == model.config
