import pytest
import torch

from tests.conftest import draw_at_random
from vit_steps import VisionTransformer, ViTConfig, optional, pretrained
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
    headless = pretrained.without(ours.state_dict(), "head")
    state = pretrained.to_huggingface(headless)
    missing, unexpected = theirs.load_state_dict(state, strict=False)
    assert missing == ["embeddings.mask_token"] and not unexpected
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
        ({"num_registers": -1}, "num_registers"),
        ({"num_heads": 5}, "num_heads"),
    ],
)
def test_a_wrong_config_is_refused(options, name):
    with pytest.raises(ValueError, match=f"^{name}: got"):
        VariantConfig(**options)
