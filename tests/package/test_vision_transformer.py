import math
from dataclasses import FrozenInstanceError, asdict

import numpy as np
import pytest
import torch
import torch.fx
from torch import nn
from torch.nn import functional as F

from tests.conftest import draw_at_random
from vit_steps import VisionTransformer, ViTConfig, ViTEmbedding, optional
from vit_steps.checkpoint import read_checkpoint, shipped_models
from vit_steps.variants.any_size import AnySizeVisionTransformer, any_size
from vit_steps.vision_transformer import PRESETS

SMALL = dict(
    image_size=(12, 8),
    patch_size=(3, 4),
    in_channels=3,
    num_classes=7,
    embed_dim=12,
    depth=3,
    num_heads=2,
)


def small(std=0.3, **overrides):
    config = ViTConfig(**SMALL | overrides)
    return draw_at_random(VisionTransformer(config), std).eval()


def count(config):
    with torch.device("meta"):
        model = VisionTransformer(config)
    return sum(p.numel() for p in model.parameters())


PARAMETERS = {
    ViTConfig.tiny(): 5_717_416,
    ViTConfig.small(): 22_050_664,
    ViTConfig.base(): 86_567_656,
    ViTConfig.large(): 304_326_632,
    ViTConfig.huge(): 632_045_800,
    ViTConfig.small(patch_size=32): 22_878_952,
    ViTConfig.base(patch_size=32): 88_224_232,
    ViTConfig.large(patch_size=32): 306_535_400,
    ViTConfig.base(image_size=384): 86_859_496,
}


@pytest.mark.parametrize(("config", "parameters"), PARAMETERS.items())
def test_parameters_to_the_last_digit(config, parameters):
    assert count(config) == parameters == config.cost().parameters


@pytest.mark.parametrize(
    "name", ["vit_b_16", "vit_b_32", "vit_l_16", "vit_l_32", "vit_h_14"]
)
def test_parameters_are_torchvisions(name):
    size, patch = name.split("_")[1:]
    preset = {"b": ViTConfig.base, "l": ViTConfig.large, "h": ViTConfig.huge}[size]
    with torch.device("meta"):
        theirs = getattr(optional.torchvision().models, name)()
    expected = sum(p.numel() for p in theirs.parameters())
    assert count(preset(patch_size=int(patch))) == expected


def load_into_torchvision(theirs, ours):
    """Copy our weights to torchvision's names, each exactly once."""
    names = {
        "cls_token": "class_token",
        "pos_embed": "encoder.pos_embedding",
        "patch_embed.proj": "conv_proj",
        "norm": "encoder.ln",
        "head": "heads.head",
        "pre_logits.fc": "heads.pre_logits",
    }
    parts = {
        "norm1": "ln_1",
        "attn.qkv": "self_attention.in_proj",
        "attn.proj": "self_attention.out_proj",
        "norm2": "ln_2",
        "mlp.fc1": "mlp.0",
        "mlp.fc2": "mlp.3",
    }
    state = {}
    for name, tensor in ours.state_dict().items():
        module, _, kind = name.rpartition(".")
        if name in names:
            state[names[name]] = tensor
        elif module in names:
            state[f"{names[module]}.{kind}"] = tensor
        else:
            _, index, part = module.split(".", 2)
            joint = "_" if part == "attn.qkv" else "."
            layer = f"encoder.layers.encoder_layer_{index}"
            state[f"{layer}.{parts[part]}{joint}{kind}"] = tensor
    theirs.load_state_dict(state)
    return theirs.eval()


@pytest.mark.parametrize("representation_size", [None, 9])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_logits_equal_torchvisions_with_gradients(representation_size, dtype):
    ours = small(
        image_size=8, patch_size=4, representation_size=representation_size
    ).to(dtype)
    theirs = optional.torchvision().models.VisionTransformer(
        8, 4, 3, 2, 12, 48, num_classes=7, representation_size=representation_size
    )
    load_into_torchvision(theirs.to(dtype), ours)
    images = torch.rand(2, 3, 8, 8, dtype=dtype, requires_grad=True)
    mine, expected = ours(images), theirs(images)
    assert mine.std() > 0.01
    torch.testing.assert_close(mine, expected)
    goal = torch.randn_like(mine)
    torch.testing.assert_close(
        torch.autograd.grad((mine * goal).sum(), images),
        torch.autograd.grad((expected * goal).sum(), images),
    )


def test_vit_b_16_equals_torchvisions():
    ours = draw_at_random(VisionTransformer(ViTConfig.base()), std=0.02).eval()
    theirs = load_into_torchvision(optional.torchvision().models.vit_b_16(), ours)
    images = torch.rand(2, 3, 224, 224)
    with torch.no_grad():
        logits, expected = ours(images), theirs(images)
    assert logits.shape == (2, 1000) and logits.std() > 1e-3
    torch.testing.assert_close(logits, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("layer_scale", [None, 0.1])
def test_timms_checkpoints_load_by_name_and_give_the_same(layer_scale):
    ours = small(image_size=12, patch_size=4, layer_scale=layer_scale)
    theirs = optional.timm().models.vision_transformer.VisionTransformer(
        12,
        4,
        num_classes=7,
        embed_dim=12,
        depth=3,
        num_heads=2,
        init_values=layer_scale,
    )
    draw_at_random(theirs, 0.3).eval()
    ours.load_state_dict(theirs.state_dict())
    images = torch.rand(2, 3, 12, 12)
    assert theirs(images).std() > 0.01
    torch.testing.assert_close(ours(images), theirs(images))


def test_names_of_timms_own_models():
    with torch.device("meta"):
        ours = VisionTransformer(ViTConfig.tiny())
        theirs = optional.timm().create_model("vit_tiny_patch16_224")
    shapes = [{n: p.shape for n, p in m.state_dict().items()} for m in (ours, theirs)]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize(
    ("preset", "name"),
    [
        (ViTConfig.tiny, "vit_tiny_patch16_224"),
        (ViTConfig.small, "vit_small_patch16_224"),
        (ViTConfig.base, "vit_base_patch16_224"),
        (ViTConfig.large, "vit_large_patch16_224"),
        (ViTConfig.huge, "vit_huge_patch14_224"),
        (ViTConfig, "vit_base_patch16_224"),
    ],
)
def test_presets_are_timms_in_every_field(preset, name):
    with torch.device("meta"):
        ours = VisionTransformer(preset())
        theirs = optional.timm().create_model(name, num_classes=1000)
    assert asdict(preset()) == fields_of_timms(theirs)
    for mine, block in zip(ours.blocks, theirs.blocks, strict=True):
        assert mine.attn.num_heads == block.attn.num_heads
        assert str(mine.mlp.act) == str(block.mlp.act)


def fields_of_timms(model):
    """Return the values of timm's model that are fields of our config."""
    (side,), (patch_size,) = map(
        set, (model.patch_embed.img_size, model.patch_embed.patch_size)
    )
    block = model.blocks[-1]
    (eps,) = {m.eps for m in model.modules() if isinstance(m, nn.LayerNorm)}
    (drop_rate,) = {m.p for m in model.modules() if isinstance(m, nn.Dropout)}
    assert isinstance(block.ls1, nn.Identity)
    assert isinstance(block.drop_path1, nn.Identity)
    return {
        "image_size": side,
        "patch_size": patch_size,
        "in_channels": model.patch_embed.proj.in_channels,
        "num_classes": model.head.out_features,
        "embed_dim": model.embed_dim,
        "depth": len(model.blocks),
        "num_heads": block.attn.num_heads,
        "mlp_ratio": block.mlp.fc1.out_features / model.embed_dim,
        "qkv_bias": block.attn.qkv.bias is not None,
        "drop_rate": drop_rate,
        "attn_drop_rate": drop_rate,
        "drop_path_rate": 0.0,
        "representation_size": None,
        "layer_scale": None,
        "norm_eps": eps,
    }


@pytest.mark.parametrize("mistake", ["eps", "gelu"])
def test_one_wrong_constant_is_told_apart(mistake):
    model = VisionTransformer(ViTConfig.tiny(image_size=32, patch_size=8)).eval()
    draw_at_random(model.head)
    images = torch.rand(2, 3, 32, 32) - 0.5
    right = model(images)
    for module in model.modules():
        if mistake == "eps" and isinstance(module, nn.LayerNorm):
            module.eps = 1e-5
        if mistake == "gelu" and isinstance(module, nn.GELU):
            module.approximate = "tanh"
    assert (model(images) - right).abs().max() > 1e-4


def test_logits_read_the_class_token_only():
    model = small()
    images = torch.rand(2, 3, 12, 8)
    tokens, weights = model.encode(images)
    assert tokens.shape == (2, 9, 12) and weights == []
    torch.testing.assert_close(model(images), model.head(tokens[:, 0]))


def test_encode_gives_the_weights_of_every_block():
    model = small()
    images = torch.rand(2, 3, 12, 8)
    tokens, weights = model.encode(images, need_weights=True)
    assert [tuple(w.shape) for w in weights] == [(2, 2, 9, 9)] * 3
    torch.testing.assert_close(tokens, model.encode(images)[0])
    for w in weights:
        torch.testing.assert_close(w.sum(-1), torch.ones(2, 2, 9))
    assert not torch.allclose(weights[0], weights[1])


def test_pre_logits_are_linear_and_tanh():
    model = small(representation_size=5)
    assert [n for n, _ in model.pre_logits.named_parameters()] == [
        "fc.weight",
        "fc.bias",
    ]
    tokens, _ = model.encode(torch.rand(2, 3, 12, 8))
    features = torch.tanh(model.pre_logits.fc(tokens[:, 0]))
    torch.testing.assert_close(model.pre_logits(tokens[:, 0]), features)


def test_loss_before_training_is_ln_k():
    model = VisionTransformer(ViTConfig(**SMALL))
    logits = model(torch.rand(4, 3, 12, 8))
    assert not logits.any()
    loss = F.cross_entropy(logits, torch.tensor([0, 1, 2, 6]))
    assert math.isclose(loss.item(), math.log(7), rel_tol=1e-6)


def test_stochastic_depth_grows_linearly():
    model = VisionTransformer(ViTConfig(**SMALL | dict(drop_path_rate=0.2)))
    rates = [block.drop_path.drop_prob for block in model.blocks]
    assert rates == pytest.approx([0.0, 0.1, 0.2])


def test_rates_reach_the_blocks():
    model = VisionTransformer(
        ViTConfig(**SMALL | dict(drop_rate=0.1, attn_drop_rate=0.2))
    )
    assert model.pos_drop.p == 0.1
    for block in model.blocks:
        assert block.mlp.drop.p == 0.1 and block.attn.attn_drop_rate == 0.2


@pytest.mark.parametrize("qkv_bias", [True, False])
def test_qkv_bias(qkv_bias):
    model = VisionTransformer(ViTConfig(**SMALL | dict(qkv_bias=qkv_bias)))
    assert ("blocks.0.attn.qkv.bias" in model.state_dict()) == qkv_bias


def test_an_image_does_not_depend_on_its_batch():
    model = small()
    images = torch.rand(5, 3, 12, 8)
    alone = torch.cat([model(images[i : i + 1]) for i in range(5)])
    torch.testing.assert_close(model(images), alone)


def test_evaluation_is_deterministic_and_leaves_the_images_alone():
    model = small(drop_rate=0.5, attn_drop_rate=0.5, drop_path_rate=0.5)
    images = torch.rand(2, 3, 12, 8)
    before = images.clone()
    assert torch.equal(model(images), model(images))
    assert torch.equal(images, before)


def test_every_parameter_gets_a_gradient():
    model = small(representation_size=5, layer_scale=0.1)
    model(torch.rand(2, 3, 12, 8)).square().sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.any(), name


def test_positions_make_the_order_of_patches_matter():
    model = small(image_size=8, patch_size=4)
    images = torch.rand(1, 3, 8, 8)
    swapped = images.flip(-1).unflatten(-1, (2, 4)).flip(-1).flatten(-2)  # patches swap
    assert not torch.allclose(model(images), model(swapped), atol=1e-4)
    with torch.no_grad():
        model.pos_embed.zero_()
    torch.testing.assert_close(model(images), model(swapped))


def test_one_batch_can_be_learned_by_heart():
    model = VisionTransformer(ViTConfig(**SMALL | dict(embed_dim=32)))
    images, labels = torch.rand(8, 3, 12, 8), torch.arange(8) % 7
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(200):
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.01


@pytest.mark.parametrize("need_weights", [False, True])
def test_compiles_whole(need_weights):
    model = small()
    images = torch.rand(2, 3, 12, 8)
    # "aot_eager" traces the graph, which depends on the model, and compiles no C++
    compiled = torch.compile(model.encode, fullgraph=True, backend="aot_eager")
    tokens, weights = compiled(images, need_weights=need_weights)
    expected, other = model.encode(images, need_weights=need_weights)
    torch.testing.assert_close(tokens, expected)
    torch.testing.assert_close(weights, other)


def test_compiles_whole_in_training():
    model = small(drop_rate=0.1, attn_drop_rate=0.1, drop_path_rate=0.1).train()
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    loss = compiled(torch.rand(2, 3, 12, 8)).sum()
    loss.backward()
    assert model.cls_token.grad.isfinite().all()


def test_bfloat16_autocast():
    model = small()
    images = torch.rand(2, 3, 12, 8)
    with torch.autocast("cpu", torch.bfloat16):
        logits = model(images)
        _, weights = model.encode(images, need_weights=True)
    assert logits.dtype == torch.bfloat16
    expected = model(images)
    error = (logits.float() - expected).norm() / expected.norm()
    assert error < 0.05
    assert all(w.isfinite().all() for w in weights)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_the_same_on_a_gpu():
    model = small()
    images = torch.rand(2, 3, 12, 8)
    expected = model(images)
    torch.testing.assert_close(
        model.cuda()(images.cuda()).cpu(), expected, atol=1e-3, rtol=1e-3
    )


def test_config_is_frozen_and_comparable():
    config = ViTConfig.tiny(num_classes=10)
    assert config == ViTConfig.tiny(num_classes=10) != ViTConfig.tiny()
    assert (config.embed_dim, config.depth, config.num_heads) == (192, 12, 3)
    with pytest.raises(FrozenInstanceError):
        config.depth = 3
    with pytest.raises(TypeError, match="patchsize"):
        ViTConfig.tiny(patchsize=8)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (dict(image_size=230), "image_size: got 230×230, expected multiples"),
        (dict(patch_size=0), "patch_size: got 0"),
        (dict(num_heads=7), "num_heads: got 7, expected a divisor of embed_dim = 768"),
        (dict(num_heads=0), "num_heads: got 0"),
        (dict(depth=0), "depth: got 0"),
        (dict(depth=2.0), "depth: got 2.0"),
        (dict(num_classes=-1), "num_classes: got -1"),
        (dict(in_channels=True), "in_channels: got True"),
        (dict(embed_dim="768"), "embed_dim: got '768'"),
        (dict(mlp_ratio=0.0), "mlp_ratio: got 0.0"),
        (dict(drop_rate=1.0), "drop_rate: got 1.0"),
        (dict(attn_drop_rate=-0.1), "attn_drop_rate: got -0.1"),
        (dict(drop_path_rate=1.5), "drop_path_rate: got 1.5"),
        (dict(representation_size=0), "representation_size: got 0"),
        (dict(qkv_bias=None), "qkv_bias: got None, expected True or False"),
        (dict(qkv_bias=1), "qkv_bias: got 1, expected True or False"),
        (dict(mlp_ratio=math.inf), "mlp_ratio: got inf, expected at least"),
        (dict(mlp_ratio=1e-9), "mlp_ratio: got 1e-09, expected at least"),
        (dict(norm_eps="1e-6"), "norm_eps: got '1e-6', expected more than 0"),
        (dict(layer_scale="a"), "layer_scale: got 'a', expected a finite number"),
        (dict(drop_rate=None), "drop_rate: got None"),
        (dict(embed_dim=[768]), r"embed_dim: got \[768\], expected a positive int"),
        (dict(image_size=None), "image_size: got None"),
    ],
)
def test_config_refuses(overrides, message):
    with pytest.raises(ValueError, match=message):
        ViTConfig(**overrides)


def test_config_keeps_plain_numbers():
    config = ViTConfig(
        image_size=[32, 64], depth=np.int64(2), layer_scale=1, drop_rate=np.float32(0.5)
    )
    assert config.image_size == (32, 64) and hash(config)
    kinds = [type(x) for x in (config.depth, config.layer_scale, config.drop_rate)]
    assert kinds == [int, int, float]
    assert (
        VisionTransformer(small(layer_scale=1).config).blocks[0].ls1.gamma.sum() == 12
    )


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (torch.rand(3, 12, 8), r"\(B, 3, 12, 8\); images\[None\] makes a batch of one"),
        (torch.rand(2, 3, 12, 8).double(), "got torch.float64, expected torch.float32"),
        (torch.rand(2, 3, 12, 8).half(), "got torch.float16, expected torch.float32"),
        (torch.rand(2, 3, 12, 8, device="meta"), "are on meta, expected cpu"),
    ],
)
@pytest.mark.parametrize("any_image_size", [False, True])
def test_images_that_do_not_fit_get_a_sentence(images, message, any_image_size):
    model = small()
    if any_image_size:
        model = any_size(model)
        message = message.replace("12, 8", "H, W")
    with pytest.raises(ValueError, match="images: .*" + message):
        model(images)


def test_autocast_takes_images_in_its_own_precision():
    with torch.autocast("cpu", torch.bfloat16), torch.no_grad():
        assert small()(torch.rand(1, 3, 12, 8).bfloat16()).shape == (1, 7)


def test_what_chapter_3_builds_embeds_the_images():
    model = small()
    embedding = ViTEmbedding((12, 8), (3, 4), 3, 12).eval()
    parts = {n: v for n, v in model.state_dict().items() if "embed" in n or "cls" in n}
    embedding.load_state_dict(parts)
    images = torch.rand(2, 3, 12, 8)
    assert torch.equal(model.embed(images), embedding(images))


def test_reset_parameters_after_meta_is_the_papers_start():
    config = ViTConfig.tiny(
        image_size=32, depth=2, layer_scale=0.1, representation_size=50, num_classes=10
    )
    with torch.device("meta"):
        born = VisionTransformer(config)
    born.to_empty(device="cpu")
    for parameter in born.parameters():
        parameter.data.fill_(7.0)
    torch.manual_seed(0)
    born.reset_parameters()
    assert not born.cls_token.any() and not born.head.weight.any()
    assert (born.blocks[1].ls2.gamma == torch.tensor(0.1)).all()
    torch.manual_seed(1)
    fresh = VisionTransformer(config)
    for (name, ours), theirs in zip(
        born.named_parameters(), fresh.parameters(), strict=True
    ):
        spread = theirs.std(correction=0).item()
        assert ours.std(correction=0).item() == pytest.approx(spread, rel=0.2), name
    torch.manual_seed(0)
    fresh.reset_parameters()
    torch.testing.assert_close(born.state_dict(), fresh.state_dict(), rtol=0, atol=0)


@pytest.mark.parametrize("training", [False, True])
def test_a_tracer_goes_through(training):
    model = small(drop_path_rate=0.2, layer_scale=0.1).train(training)
    traced = torch.fx.symbolic_trace(model)
    images = torch.rand(2, 3, 12, 8)
    torch.manual_seed(0)
    expected = model(images)
    torch.manual_seed(0)
    torch.testing.assert_close(traced(images), expected)


def test_torchvision_extracts_features():
    feature_extraction = optional.torchvision().models.feature_extraction
    model = small()
    names = {"blocks.1.mlp": "middle", "norm": "last"}
    extractor = feature_extraction.create_feature_extractor(model, names)
    images = torch.rand(2, 3, 12, 8)
    features = extractor(images)
    torch.testing.assert_close(features["last"], model.encode(images)[0])
    assert features["middle"].shape == (2, 9, 12)


@pytest.mark.parametrize(
    "images",
    [
        torch.rand(3, 12, 8),
        torch.rand(2, 1, 12, 8),
        torch.rand(2, 3, 8, 12),
        torch.zeros(2, 3, 12, 8, dtype=torch.long),
    ],
)
def test_model_refuses(images):
    with pytest.raises(ValueError, match=r"images: got .* expected"):
        small()(images)


def test_the_configs_eps_is_every_norms():
    model = small(norm_eps=1e-12)
    norms = [m for m in model.modules() if isinstance(m, nn.LayerNorm)]
    assert len(norms) == 2 * model.config.depth + 1
    assert {norm.eps for norm in norms} == {1e-12}


@pytest.mark.parametrize("wrong", [0.0, -1e-6, math.nan])
def test_a_wrong_eps_is_refused(wrong):
    with pytest.raises(ValueError, match=f"norm_eps: got {wrong}, expected more"):
        small(norm_eps=wrong)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_a_saved_model_is_loaded_unchanged(tmp_path, dtype):
    model = small(layer_scale=0.1, norm_eps=1e-5)
    path = tmp_path / "m.safetensors"
    model.train().save_pretrained(path, dtype, data="x", seconds=3)
    back = VisionTransformer.from_pretrained(path)
    assert back.config == model.config and hash(back.config) == hash(model.config)
    assert not back.training and back.head.weight.dtype == torch.float32
    expected = {n: w.to(dtype).float() for n, w in model.state_dict().items()}
    torch.testing.assert_close(back.state_dict(), expected, rtol=0, atol=0)
    tensors, metadata = read_checkpoint(path)
    assert (metadata["data"], metadata["seconds"]) == ("x", 3)
    assert {t.dtype for t in tensors.values()} == {dtype}


@pytest.mark.parametrize("key", ["config", "class", "mean", "std", "classes"])
def test_a_card_that_hides_the_model_is_refused(tmp_path, key):
    with pytest.raises(ValueError, match=f"card: got '{key}', expected other names"):
        small().save_pretrained(tmp_path / "m.safetensors", **{key: [0.5]})
    assert not (tmp_path / "m.safetensors").exists()


def test_a_card_that_json_cannot_hold_is_refused(tmp_path):
    with pytest.raises(TypeError, match="Tensor is not JSON serializable"):
        small().save_pretrained(tmp_path / "m.safetensors", data=torch.zeros(2))
    assert not (tmp_path / "m.safetensors").exists()


@pytest.mark.parametrize(
    ("dtype", "number", "message"),
    [
        (torch.int8, 0.0, "dtype: got torch.int8, expected one of .torch.float16"),
        (torch.float16, 1e6, "model in torch.float16: got numbers in 'head.weight'"),
        (
            torch.float32,
            math.nan,
            "model in torch.float32: got numbers in 'head.weight'",
        ),
    ],
)
def test_a_file_that_could_not_be_read_is_not_written(tmp_path, dtype, number, message):
    model = small()
    with torch.no_grad():
        model.head.weight[0, 0] = number
    with pytest.raises(ValueError, match=message):
        model.save_pretrained(tmp_path / "m.safetensors", dtype=dtype)
    assert not (tmp_path / "m.safetensors").exists()


def test_only_a_plain_name_is_that_of_a_shipped_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (tmp_path / "fashion-mnist", "./fashion-mnist", "data/fashion-mnist"):
        with pytest.raises(FileNotFoundError, match="expected a file"):
            VisionTransformer.from_pretrained(name)
    with pytest.raises(FileNotFoundError, match="ships: cluttered-digits, clu.* fashi"):
        VisionTransformer.from_pretrained("fashion_mnist")
    assert "cluttered-digits-mean" not in shipped_models()


class Mine(VisionTransformer):
    """A class of a reader's own."""


@pytest.mark.parametrize("model_class", [Mine, AnySizeVisionTransformer])
def test_a_class_that_only_adds_methods_reads_its_base_class(model_class):
    model = model_class.from_pretrained("fashion-mnist")
    images = torch.randn(2, 1, 28, 28)
    expected = VisionTransformer.from_pretrained("fashion-mnist")(images)
    assert type(model) is model_class
    torch.testing.assert_close(model(images), expected)


def test_loading_leaves_the_callers_random_numbers_alone():
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    model = VisionTransformer.from_pretrained("fashion-mnist", 5, 32, 3)
    model.reset_classifier(4)
    any_size(model)
    assert torch.equal(torch.rand(3), expected)


def test_a_new_head_is_in_the_models_mode():
    assert not any(m.training for m in small().head.modules())
    model = small()
    model.reset_classifier(3)
    assert not model.head.training
    model.train().reset_classifier(4)
    assert model.head.training


def test_presets_are_all_there():
    assert {"tiny", "base", "huge"} <= set(PRESETS)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_counted_has_a_source_and_can_be_overridden(name):
    preset = getattr(ViTConfig, name)
    assert preset() in PARAMETERS, "add its parameters, as its source states them"
    assert f"``{name}``" in ViTConfig.__doc__, "say in the docstring where it is from"
    assert preset(num_classes=3).num_classes == 3


def test_an_exported_model_in_bfloat16_takes_more_than_a_thousand_tokens():
    from vit_steps.export import exported

    model = any_size(small()).bfloat16()
    program = exported(model).module()
    images = torch.rand(1, 3, 96, 144).bfloat16()  # 32·36 = 1,152 patches
    torch.testing.assert_close(program(images), model(images))
