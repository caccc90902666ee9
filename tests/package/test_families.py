"""Published families load, each equal to its own library, or are refused.

A test here compares the table in book/package/pretrained.md with these, and
``python -m tests.package.test_families`` prints it.
"""

import copy
import re
from functools import partial
from pathlib import Path

import pytest
import torch

from tests.package.other_models import (
    draw,
    huggingface_small,
    images_for,
    logits_of,
    small,
    timm_model,
    timm_small,
    torchvision_small,
)
from vit_steps import optional
from vit_steps import pretrained as P
from vit_steps.preprocessing import Preprocessing
from vit_steps.pretrained import families, hub
from vit_steps.transfer import transfer
from vit_steps.variants import VariantVisionTransformer

PAGE = Path(__file__).parents[2] / "book" / "package" / "pretrained.md"


def timm(name, **overrides):
    """Return a builder of the real model's layout, narrow and with one block."""
    side = 28 if "patch14" in name else 32
    sizes = dict(embed_dim=128, num_heads=2, depth=1, img_size=side)
    return partial(timm_model, name, **sizes | overrides)


def plain(*models, **untold):
    return models, dict(num_heads=2, norm_eps=1e-12) | untold


def dino(*models, **untold):
    return models, dict(num_heads=2) | untold


def hugging(kind, config, **overrides):
    return partial(huggingface_small, kind, config, **overrides)


def dinov3(**overrides):
    sizes = dict(hidden_size=24, num_register_tokens=4)
    return hugging("DINOv3ViTModel", "DINOv3ViTConfig", **sizes | overrides)


V, W, D = "VisionTransformer", "VariantVisionTransformer", "DistilledVisionTransformer"
# For each family of the table: our class, the table's remark, timm's models, and those
# of transformers with what their tensors do not show.
LOADS = {
    "ViT, also without a head: MAE, DINO": (
        V,
        "",
        [
            timm("vit_base_patch16_224"),
            timm("vit_base_patch16_224.mae"),
            timm("vit_base_patch16_224.dino"),
            partial(torchvision_small),
        ],
        plain(
            hugging("ViTForImageClassification", "ViTConfig"),
            hugging("ViTModel", "ViTConfig"),
        ),
    ),
    "DeiT": (
        V,
        "those from transformers become `VariantVisionTransformer`: no head reads "
        "their distillation token, so it is a "
        "[register](../map_of_papers.md#without-labels)",
        [timm("deit_small_patch16_224")],
        plain(
            hugging("DeiTForImageClassification", "DeiTConfig"),
            hugging("DeiTModel", "DeiTConfig"),
        ),
    ),
    "DeiT, distilled": (
        D,
        "the mean of both heads",
        [timm("deit_small_distilled_patch16_224")],
        plain(hugging("DeiTForImageClassificationWithTeacher", "DeiTConfig")),
    ),
    "DeiT III, FlexiViT": (
        V,
        "their class token has no position, so ours gets zeros",
        [timm("deit3_small_patch16_224"), timm("flexivit_small")],
        None,
    ),
    "DINOv2, small to large": (
        V,
        "no head: the class token comes out",
        [timm("vit_small_patch14_dinov2")],
        dino(hugging("Dinov2Model", "Dinov2Config")),
    ),
    "DINOv2 with registers, small to large": (
        W,
        "",
        [timm("vit_small_patch14_reg4_dinov2")],
        dino(hugging("Dinov2WithRegistersModel", "Dinov2WithRegistersConfig")),
    ),
    "DINOv2, giant": (
        W,
        "a gated MLP; its two layers are one in some files",
        [timm("vit_giant_patch14_dinov2"), timm("vit_giant_patch14_reg4_dinov2")],
        dino(hugging("Dinov2Model", "Dinov2Config", use_swiglu_ffn=True)),
    ),
    "DINOv3's ViTs": (
        W,
        "timm takes the mean of the patches, `model_of` and transformers the class "
        "token",
        [
            timm("vit_small_patch16_dinov3"),
            timm("vit_small_patch16_dinov3_qkvb"),
            timm("vit_small_plus_patch16_dinov3"),
            timm("vit_small_plus_patch16_dinov3_qkvb"),
            timm("vit_7b_patch16_dinov3"),
        ],
        dino(dinov3(), dinov3(use_gated_mlp=True, hidden_act="silu"), image_size=12),
    ),
    "EVA, EVA-02": (
        W,
        "a file of EVA-02 alone needs `in_halves` and `rope`, as above",
        [
            timm("eva_large_patch14_196"),
            timm("eva_giant_patch14_224"),
            timm("eva02_tiny_patch14_224"),
            timm("eva02_small_patch14_336"),
            timm("eva02_base_patch14_448", img_size=(28, 42)),
        ],
        None,
    ),
    "RoPE-ViT, axial; timm's own with `rope`": (
        W,
        "their files too",
        [
            timm("vit_small_patch16_rope_224"),
            timm("vit_small_patch16_rope_ape_224", img_size=(32, 48)),
            timm("vit_base_patch16_rope_reg1_gap_256"),
        ],
        None,
    ),
    "SigLIP's and SigLIP 2's image towers": (
        W,
        'those from transformers, and a few of timm, have `mlp="gelu_tanh"`',
        [
            timm("vit_base_patch16_siglip_224"),
            timm("vit_base_patch16_siglip_gap_224"),
            timm("vit_so400m_patch16_siglip_256"),
            timm("vit_so400m_patch16_siglip_gap_256"),
        ],
        dino(hugging("SiglipVisionModel", "SiglipVisionConfig"), mlp="gelu_tanh"),
    ),
    "CLIP's image tower": (
        W,
        'OpenAI\'s have `mlp="quick_gelu"`',
        [
            timm("vit_base_patch16_clip_224"),
            timm("vit_base_patch16_clip_quickgelu_224"),
        ],
        dino(
            hugging("CLIPVisionModel", "CLIPVisionConfig"),
            hugging("CLIPVisionModelWithProjection", "CLIPVisionConfig"),
            mlp="quick_gelu",
        ),
    ),
    "the mean of normed patches: timm's `gap`, I-JEPA": (
        W,
        "no class token; registers, with a position or without, may be there",
        [
            timm("vit_base_patch16_gap_224"),
            timm("vit_so150m_patch16_reg4_gap_256"),
        ],
        plain(hugging("IJepaModel", "IJepaConfig")),
    ),
}
# For each family of the table that ours cannot be: what it has, timm's models, and the
# tensor that shows it.
REFUSED = {
    "RoPE-ViT, mixed": (
        "rotary positions with learned angles",
        [timm("vit_small_patch16_rope_mixed_224")],
        "rope.freqs",
    ),
    "Perception Encoder": (
        "pooling with heads of its own",
        [timm("vit_pe_core_tiny_patch16_384")],
        "attn_pool.latent",
    ),
    "EVA-02's CLIP": (
        "a norm of what the heads return",
        [timm("eva02_base_patch16_clip_224")],
        "attn.norm.",
    ),
    "NaFlex, of SigLIP 2 and others": (
        "patches that come cut and packed in rows of one length",
        [timm("naflexvit_base_patch16_siglip")],
        "embeds.",
    ),
    "differential attention": (
        "the difference of two attentions",
        [timm("vit_dlittle_patch16_reg1_gap_256")],
        "attn.lambda_",
    ),
    "AIMv2": (
        "a norm of the patches before positions",
        [timm("aimv2_large_patch14_224")],
        "patch_embed.norm.",
    ),
    "BEiT, SAM": (
        "relative positions",
        [timm("beit_base_patch16_224"), timm("samvit_base_patch16")],
        "attn.rel",
    ),
    "the paper's hybrids": (
        "a ResNet in front of the patches",
        [timm("vit_small_r26_s32_224")],
        "patch_embed.backbone.",
    ),
    "RADIO, InternViT": (
        "no norm after the blocks",
        [timm("vit_base_patch16_radio_v3"), timm("vit_intern300m_patch14_448")],
        None,
    ),
}
each_that_loads = pytest.mark.parametrize("family", LOADS)


def assert_equal(ours, theirs, read=logits_of):
    """Compare outputs, and the gradients of all weights that both have."""
    images = images_for(ours)
    got, expected = ours(images), read(theirs(images))
    assert expected.abs().max() > 0.1 and not ours.training
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=0)
    assert sum(p.numel() for p in ours.parameters()) == ours.config.cost().parameters
    direction = torch.randn_like(expected)
    ours.zero_grad()
    theirs.zero_grad()
    for output in (got, expected):
        (output * direction).sum().backward()
    state = theirs.state_dict()
    gradients = {n: p.grad for n, p in theirs.named_parameters() if p.grad is not None}
    zeros = {n: torch.zeros_like(t) for n, t in state.items()}
    known = (ours.config.num_heads, ours.patch_embed.grid_size)
    expected = hub._read(theirs, zeros | gradients, *known)
    ones = {n: torch.ones_like(t) for n, t in state.items()}
    shared = hub._read(theirs, ones, *known)  # 0 where theirs has no such number
    for name, parameter in ours.named_parameters():
        if parameter.numel() and shared[name].any():
            got = parameter.grad * shared[name]
            limit = 1e-4 * expected[name].abs().max().item()
            assert limit > 0, name
            torch.testing.assert_close(
                got, expected[name], atol=limit, rtol=1e-4, msg=name
            )


def assert_goes_back(ours, theirs):
    """Spoil their weights, write ours into them, and compare with what they were."""
    before = {n: t.clone() for n, t in theirs.state_dict().items()}
    draw(theirs, std=0.01)
    P.copy_into(theirs, ours)
    for name, tensor in theirs.state_dict().items():
        assert torch.equal(tensor, before[name]) or "mask_token" in name, name


@each_that_loads
def test_timms_model_becomes_ours(family):
    becomes, _, models, _ = LOADS[family]
    for build in models:
        theirs = build()
        ours = P.copy_of(theirs)
        assert type(ours).__name__ == becomes
        assert_equal(ours, theirs)
        if build.func is timm_model:
            known, told = ours.preprocessing, theirs.pretrained_cfg
            assert known.mean == tuple(told["mean"]) and known.std == tuple(told["std"])
        if getattr(theirs, "reg_token", None) is None or theirs.no_embed_class:
            assert_goes_back(ours, theirs)


@pytest.mark.parametrize("family", [f for f, row in LOADS.items() if row[3]])
def test_hugging_faces_model_becomes_ours(family):
    models, untold = LOADS[family][3]
    for build in models:
        theirs = build()
        weights = theirs.state_dict()
        unused = [name for name in weights if name.endswith("mask_token")]
        ours = P.model_of(P.without(weights, unused), **untold)
        copied = P.copy_of(theirs)
        assert type(copied) is type(ours) and copied.config == ours.config
        pooled = type(theirs).__name__ == "IJepaModel"
        assert_equal(
            ours, theirs, (lambda out: out[0].mean(dim=1)) if pooled else logits_of
        )
        if family != "DeiT":  # its registers have positions
            assert_goes_back(ours, theirs)


def test_registers_with_positions_have_no_way_back():
    theirs = timm("vit_so150m_patch16_reg4_gap_256")()
    ours, before = P.copy_of(theirs), copy.deepcopy(theirs.state_dict())
    with pytest.raises(ValueError, match="no place for 'reg_token'"):
        P.copy_into(theirs, ours)
    assert all(torch.equal(before[n], t) for n, t in theirs.state_dict().items())
    plain = timm("vit_base_patch16_224", num_classes=5)()
    with pytest.raises(ValueError, match="no place for 'head.weight'"):
        P.copy_into(timm("vit_base_patch16_224")(), P.copy_of(plain))


EVA02 = dict(rope="indexed", rope_base=10000, rope_reference=(16, 16))


@pytest.mark.parametrize(
    ("build", "columns_first", "untold"),
    [
        (timm("vit_small_patch16_dinov3_qkvb"), None, dict(pooling="mean")),
        (timm("vit_small_patch16_dinov3", global_pool="token"), None, {}),
        (timm("eva02_tiny_patch14_224"), False, EVA02),
        (timm("eva02_base_patch14_448"), False, EVA02),
        (timm("vit_medium_patch16_rope_reg1_gap_256"), False, EVA02),
        (timm("vit_small_patch16_rope_224"), True, dict(rope="indexed")),
        (timm("vit_small_patch16_rope_ape_224"), True, dict(rope="indexed")),
        (timm("vit_so400m_patch16_siglip_256"), None, dict(mlp="gelu_tanh")),
        (timm("vit_base_patch16_clip_quickgelu_224"), None, dict(mlp="quick_gelu")),
        (lambda: timm_small(qk_norm=True, proj_bias=False), None, {}),
        (lambda: timm_small(norm_layer=optional.timm().layers.RmsNorm), None, {}),
        (lambda: timm_small(act_layer="gelu_tanh"), None, dict(mlp="gelu_tanh")),
    ],
)
def test_a_file_alone_is_read_with_facts_that_no_tensor_shows(
    build, columns_first, untold
):
    theirs = build()
    copied = P.copy_of(theirs)
    weights = P.in_our_names(theirs.state_dict())
    if columns_first is not None:
        weights = P.in_halves(weights, 2, columns_first)
    size = copied.config.image_size
    ours = P.model_of(weights, 2, image_size=size, **untold)
    assert ours.config == copied.config
    for name, tensor in copied.state_dict().items():
        assert torch.equal(ours.state_dict()[name], tensor), name


@pytest.mark.parametrize(
    ("order", "untold"),
    [
        (None, {}),  # neighbours, as if they were halves
        ((2, True), {}),  # columns, as if they were rows
        ((1, False), {}),  # one head of 128
        ((2, False), dict(rope_base=100)),
        ((2, False), dict(rope_reference=None)),
        ((2, False), dict(rope="normalised")),
        ((2, False), dict(rope=None)),
        ((2, False), dict(norm_eps=1e-3)),
    ],
)
def test_facts_that_no_tensor_shows_move_the_logits_if_wrong(order, untold):
    theirs = timm("eva02_base_patch14_448", img_size=(28, 42))()
    weights = P.in_our_names(theirs.state_dict())
    halved = P.in_halves(weights, *order) if order else weights
    told = EVA02 | dict(image_size=(28, 42))
    right = P.model_of(P.in_halves(weights, 2), 2, **told)
    wrong = P.model_of(halved, 2, **told | untold)
    images = images_for(right)
    expected = theirs(images)
    torch.testing.assert_close(right(images), expected, atol=1e-5, rtol=0)
    assert (wrong(images) - expected).abs().max() > 5e-5


@pytest.mark.parametrize(
    "name",
    [
        "vit_small_patch16_dinov3",
        "eva02_small_patch14_224",
        "vit_small_patch16_rope_224",
        "vit_base_patch16_siglip_224",
        "vit_base_patch16_clip_quickgelu_224",
    ],
)
def test_the_real_shapes_are_timms(name):
    """All blocks are compared on the meta device, and one of them with numbers."""
    untold = dict(rope="indexed") if "rope" in name or "eva02" in name else {}
    with torch.device("meta"):
        theirs = optional.timm().create_model(name)
        weights = families.at_our_places(P.in_our_names(theirs.state_dict()), None)
        config = P.config_of(weights, **untold)
        expected = VariantVisionTransformer(config).state_dict()
    assert config.depth == 12
    shapes = {n: t.shape for n, t in expected.items() if t.numel()}
    assert {n: t.shape for n, t in weights.items()} == shapes
    theirs = timm_model(name, depth=1)
    ours = P.copy_of(theirs)
    images = images_for(ours, batch=1)
    with torch.inference_mode():
        expected = theirs(images)
        assert expected.abs().max() > 0.1
        torch.testing.assert_close(ours(images), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    "build", [timm("eva02_tiny_patch14_224"), timm("vit_small_patch16_rope_224")]
)
def test_rotary_positions_of_an_unknown_kind_are_asked_for(build):
    with pytest.raises(ValueError, match="rope: got nothing, .* expected 'normalised'"):
        P.model_of(build().state_dict(), 2)


@pytest.mark.parametrize("family", REFUSED)
def test_other_architectures_are_refused_by_a_tensor(family):
    _, models, shown = REFUSED[family]
    message = "not among the weights .*norm.weight"
    if shown:
        message = f"state_dict: '.*{shown}.*' .* is of another model; .* run this one"
    for build in models:
        with pytest.raises(ValueError, match=f"(?s){message}"):
            P.copy_of(build())


def test_packed_patches_are_refused():
    theirs = huggingface_small("Siglip2VisionModel", "Siglip2VisionConfig")
    for refuse in (P.model_of, P.config_of):
        with pytest.raises(ValueError, match="patch_embed.proj.weight', expected .* 4"):
            refuse(theirs.state_dict(), num_heads=2)


def rows():
    """Yield the table's rows: family, our class, libraries that it equals, remark."""
    libraries = {torchvision_small: "torchvision", huggingface_small: "transformers"}
    for family, (becomes, word, models, hugging_face) in LOADS.items():
        builders = {build.func for build in (*models, *(hugging_face or [()])[0])}
        equal = ", ".join(["timm", *(n for f, n in libraries.items() if f in builders)])
        yield family, f"`{becomes}`", equal, word
    yield (
        "Swin",
        "`SwinTransformer`",
        "timm",
        "`load_state_dict` takes timm's names, `head.fc` as `head`",
    )
    for family, (why, *_) in REFUSED.items():
        yield family, "refused", "", why


def test_the_table_has_what_each_family_becomes():
    table = re.findall(r"^\|(.+)\|(.+)\|(.+)\|(.+)\|$", PAGE.read_text(), re.M)
    cells = [tuple(cell.strip() for cell in row) for row in table]
    assert cells[2:] == list(rows()), "python -m tests.package.test_families prints it"


# -- Other ways in


def test_names_of_their_own_files_are_read():
    theirs = P.copy_of(timm("deit3_small_patch16_224")()).state_dict()
    theirs["pos_embed"] = theirs["pos_embed"][:, 1:]
    own = {re.sub(r"ls(\d)\.gamma", r"gamma_\1", n): t for n, t in theirs.items()}
    assert "blocks.0.gamma_1" in own
    ours = P.model_of(P.in_our_names(own))
    theirs["pos_embed"] = torch.nn.functional.pad(theirs["pos_embed"], (0, 0, 1, 0))
    assert all(torch.equal(ours.state_dict()[n], t) for n, t in theirs.items())
    registers = torch.zeros(1, 2, 3)
    assert P.in_our_names({"register_tokens": registers}) == {"reg_token": registers}
    packed = {"blocks.0.mlp.w12.weight": torch.rand(8, 3)}
    packed["blocks.0.mlp.w3.weight"] = torch.rand(3, 4)
    gate, gated = packed["blocks.0.mlp.w12.weight"].chunk(2)
    read = P.in_our_names(packed)
    assert torch.equal(read["blocks.0.mlp.fc1_g.weight"], gate)
    assert torch.equal(read["blocks.0.mlp.fc1_x.weight"], gated)
    assert read.keys() == {
        f"blocks.0.mlp.{n}.weight" for n in ("fc1_g", "fc1_x", "fc2")
    }


@pytest.mark.parametrize("class_position", [True, False])
def test_the_size_of_an_image_that_is_not_square_is_given(class_position):
    theirs = timm_small(img_size=(20, 28), no_embed_class=not class_position)
    assert_equal(P.copy_of(theirs), theirs)  # 35 patches, and not 36, a square
    weights = theirs.state_dict()
    ours = P.model_of(weights, num_heads=2, image_size=(20, 28))
    assert_equal(ours, theirs)
    with pytest.raises(ValueError, match=r"got 3. positions, with 1 tok.* \(10, 10\)"):
        P.model_of(weights, num_heads=2, image_size=40)
    larger = P.model_of(weights, num_heads=2, image_size=40, old_grid_size=(5, 7))
    assert larger.pos_embed.shape == (1, 101, 12)
    assert transfer(ours, 40, None)(torch.rand(1, 3, 40, 40)).shape == (1, 7)


def test_a_new_head_and_what_is_dropped():
    weights = small().state_dict() | {"mask_token": torch.zeros(1, 12)}
    with pytest.raises(P.WeightsMismatch, match="mask_token"):
        P.model_of(weights, num_heads=2)
    drop = ["head", "mask_token"]
    headless = P.model_of(weights, num_heads=2, drop=drop)
    assert headless.config.num_classes == 0
    ours = P.model_of(weights, num_heads=2, drop=drop, num_classes=3)
    images = images_for(ours)
    assert ours(images).shape == (2, 3) and not ours(images).any()
    assert torch.equal(P.extract_features(ours, images), headless(images))
    theirs = timm("deit_small_distilled_patch16_224")().state_dict()
    ours = P.model_of(theirs, drop=("head", "head_dist"), num_classes=3)
    assert ours.head_dist.out_features == 3


def test_dinov2s_classifier_is_not_a_head_of_ours():
    theirs = huggingface_small("Dinov2ForImageClassification", "Dinov2Config")
    weights = P.without(theirs.state_dict(), "dinov2.embeddings.mask_token")
    weights = P.in_our_names(weights)
    with pytest.raises(ValueError, match="(?s)drop='head'.*head.weight .*, expected"):
        P.model_of(weights, num_heads=2)
    ours = P.model_of(weights, num_heads=2, drop="head")
    assert_equal(ours, theirs.dinov2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("blocks.0.attn.temperature", torch.ones(2)),
            r"temperature' .* is of another model; our models would give",
        ),
        (("norm.weight", None), "(?s)not among the weights .*norm.weight"),
    ],
)
def test_one_tensor_shows_another_model(change, message):
    weights = dict(small().state_dict())
    (name, tensor) = change
    weights = {n: t for n, t in weights.items() if n != name}
    if tensor is not None:
        weights[name] = tensor
    with pytest.raises(ValueError, match=message):
        P.model_of(weights, num_heads=2)


@pytest.mark.parametrize(
    ("build", "shown"),
    [
        (timm("vit_tiny_r_s16_p8_224"), "patch_embed.backbone."),
        (timm("vit_small_r26_s32_224"), "patch_embed.backbone."),
        (timm("vit_small_patch16_18x2_224"), "attns."),
    ],
)
def test_a_file_is_refused_as_a_model_is(build, shown):
    theirs = build()
    for build in (P.copy_of, lambda theirs: P.model_of(theirs.state_dict(), 2)):
        with pytest.raises(ValueError, match=f"{shown}.* is of another model; our mod"):
            build(theirs)


def test_a_stem_of_convolutions_is_named():
    library = optional.torchvision().models.vision_transformer
    stem = [library.ConvStemConfig(out_channels=8, kernel_size=3, stride=2)] * 2
    theirs = library.VisionTransformer(
        12, 4, 1, 2, 12, 20, num_classes=7, conv_stem_configs=stem
    )
    with pytest.raises(ValueError, match="conv_proj.conv.* is of another model"):
        P.model_of(P.in_our_names(theirs.state_dict()), num_heads=2)


def test_beit_is_refused_behind_its_prefix():
    theirs = huggingface_small(
        "BeitForImageClassification", "BeitConfig", use_relative_position_bias=True
    )
    with pytest.raises(ValueError, match="layers.0.* is of another model"):
        P.model_of(P.in_our_names(theirs.state_dict()), num_heads=2)


def test_swin_is_refused():  # test_swin loads it
    theirs = optional.timm().models.SwinTransformer(
        img_size=28, window_size=7, embed_dim=8, depths=(1,), num_heads=(1,)
    )
    with pytest.raises(ValueError, match="patch_embed.norm.* is of another model"):
        P.copy_of(theirs)


def test_classes_are_timms_or_imagenets():
    theirs = timm("vit_base_patch16_224", num_classes=7)()
    known = P.copy_of(theirs).preprocessing
    assert known == Preprocessing((0.5,) * 3, (0.5,) * 3)
    theirs.pretrained_cfg["label_names"] = list("abcdefg")
    assert P.copy_of(theirs).preprocessing.classes == tuple("abcdefg")
    grey = P.copy_of(timm("vit_base_patch16_224", in_chans=1)())
    assert grey.preprocessing is None


if __name__ == "__main__":
    for row in [
        ("Family", "Becomes", "Equal to", "What to know, or why not"),
        ["---"] * 4,
        *rows(),
    ]:
        print(f"| {' | '.join(row)} |".replace("|  |", "| |"))
