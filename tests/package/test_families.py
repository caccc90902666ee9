"""Published families load, each equal to its own library, or are refused.

A test here compares the table in book/package/pretrained.md with these.
"""

import re
from pathlib import Path

import pytest
import torch

from tests.package.other_models import (
    huggingface_small,
    images_for,
    logits_of,
    small,
    timm_model,
    timm_small,
)
from vit_steps import optional
from vit_steps import pretrained as P
from vit_steps.preprocessing import Preprocessing
from vit_steps.transfer import transfer

PAGE = Path(__file__).parents[2] / "book" / "package" / "pretrained.md"


def timm(name, **overrides):
    """Return a builder of the real model's layout, narrow and with one block."""
    side = 28 if "patch14" in name else 32
    sizes = dict(embed_dim=128, num_heads=2, depth=1, img_size=side)
    return lambda: timm_model(name, **sizes | overrides)


def plain(*models, **untold):
    return models, P.in_our_names, dict(num_heads=2, norm_eps=1e-12) | untold


def dino(*models):
    return models, P.in_our_names, dict(num_heads=2)


def hugging(kind, config, **overrides):
    return lambda: huggingface_small(kind, config, **overrides)


V, W, D = "VisionTransformer", "VariantVisionTransformer", "DistilledVisionTransformer"
# A family, as in the table: our class, the remark there, timm's models, and those of
# transformers with the function that reads them.
LOADS = {
    "ViT, also without a head: MAE, DINO": (
        V,
        "",
        [
            timm("vit_base_patch16_224"),
            timm("vit_base_patch16_224.mae"),
            timm("vit_base_patch16_224.dino"),
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
REFUSED = {
    "CLIP's image tower": (
        [
            timm("vit_base_patch16_clip_224"),
            timm("vit_base_patch32_clip_quickgelu_224"),
        ],
        plain(hugging("CLIPVisionModel", "CLIPVisionConfig")),
    ),
    "SigLIP's image tower": (
        [timm("vit_base_patch16_siglip_224")],
        plain(hugging("SiglipVisionModel", "SiglipVisionConfig")),
    ),
    "DINOv2, giant": (
        [timm("vit_giant_patch14_dinov2"), timm("vit_giant_patch14_reg4_dinov2")],
        dino(hugging("Dinov2Model", "Dinov2Config", use_swiglu_ffn=True)),
    ),
    "DINOv3": (
        [timm("vit_small_patch16_dinov3")],
        dino(hugging("DINOv3ViTModel", "DINOv3ViTConfig")),
    ),
    "BEiT, SAM": (
        [timm("beit_base_patch16_224"), timm("samvit_base_patch16")],
        None,
    ),
    "EVA, EVA-02, timm's `avg`": (
        [timm("eva_large_patch14_196"), timm("eva02_tiny_patch14_224")],
        None,
    ),
    "the paper's hybrids": ([timm("vit_small_r26_s32_224")], None),
    "RADIO, InternViT": (
        [timm("vit_base_patch16_radio_v3"), timm("vit_intern300m_patch14_448")],
        None,
    ),
}
each_that_loads = pytest.mark.parametrize("family", LOADS)


def assert_equal(ours, theirs, read=logits_of):
    images = images_for(ours)
    with torch.no_grad():
        got, expected = ours(images), read(theirs(images))
    assert expected.abs().max() > 0.1 and not ours.training
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=0)
    assert sum(p.numel() for p in ours.parameters()) == ours.config.cost().parameters


@each_that_loads
def test_timms_model_becomes_ours(family):
    becomes, _, models, _ = LOADS[family]
    for build in models:
        theirs = build()
        ours = P.copy_of(theirs)
        assert type(ours).__name__ == becomes
        assert_equal(ours, theirs)
        told = theirs.pretrained_cfg
        assert (ours.preprocessing.mean, ours.preprocessing.std) == (
            tuple(told["mean"]),
            tuple(told["std"]),
        )


@pytest.mark.parametrize("family", [f for f, row in LOADS.items() if row[3]])
def test_hugging_faces_model_becomes_ours(family):
    models, read, untold = LOADS[family][3]
    for build in models:
        theirs = build()
        weights = theirs.state_dict()
        unused = [name for name in weights if name.endswith("mask_token")]
        ours = P.model_of(read(P.without(weights, unused)), **untold)
        copied = P.copy_of(theirs)
        assert type(copied) is type(ours) and copied.config == ours.config
        pooled = type(theirs).__name__ == "IJepaModel"
        assert_equal(
            ours, theirs, (lambda out: out[0].mean(dim=1)) if pooled else logits_of
        )


def reason(error):
    """Return the reason in a message, between the tensor and the advice."""
    told = r"state_dict: .*? shows (.*?), as in .*; our models would .* run this one in"
    return re.match(told, str(error.value))[1]


def reasons(family):
    """Yield the reason why each of the family's models is refused."""
    models, hugging_face = REFUSED[family]
    for build in models:
        with pytest.raises(ValueError, match="run this one") as caught:
            P.copy_of(build())
        yield reason(caught)
    if hugging_face:
        models, read, untold = hugging_face
        for build in models:
            for refuse in (P.model_of, P.config_of):
                with pytest.raises(ValueError) as caught:
                    refuse(read(build().state_dict()), **untold)
            yield reason(caught)


def rows():
    for family, (becomes, word, *_) in LOADS.items():
        yield family, f"`{becomes}`", word
    yield (
        "Swin",
        "`SwinTransformer`",
        "`load_state_dict` takes timm's names, `head.fc` as `head`",
    )
    for family in REFUSED:
        (told,) = set(reasons(family))  # the same reason in each library
        yield family, "refused", told


def test_the_table_has_what_each_family_becomes():
    table = re.findall(r"^\| (.+?) \| (.+?) \|(?: (.+?))? \|$", PAGE.read_text(), re.M)
    assert table[1:] == list(rows())


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
    for name in ("visual.ln_pre.weight", "blocks.0.mlp.w12.weight"):
        with pytest.raises(
            ValueError, match=f"'{name}' .* shows .*run this one in its own"
        ):
            P.model_of({name: torch.zeros(2)})


@pytest.mark.parametrize("class_position", [True, False])
def test_the_size_of_an_image_that_is_no_square_is_given(class_position):
    theirs = timm_small(img_size=(20, 28), no_embed_class=not class_position)
    assert_equal(P.copy_of(theirs), theirs)  # 35 patches; 36 is a square
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


def test_dinov2s_classifier_is_no_head_of_ours():
    theirs = huggingface_small("Dinov2ForImageClassification", "Dinov2Config")
    weights = P.without(theirs.state_dict(), "dinov2.embeddings.mask_token")
    weights = P.in_our_names(weights)
    with pytest.raises(
        ValueError, match="head.weight.*more than the class token; drop='head'"
    ):
        P.model_of(weights, num_heads=2)
    ours = P.model_of(weights, num_heads=2, drop="head")
    assert_equal(ours, theirs.dinov2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("blocks.0.attn.temperature", torch.ones(2)),
            r"temperature' .* another block",
        ),
        (("blocks.0.norm1.bias", None), "lack of 'blocks.0.norm1.bias' shows RMSN"),
        (("norm.weight", None), "lack of 'norm.weight' shows no norm after"),
        (("blocks.0.attn.proj.bias", None), "shows linear layers without biases"),
        (("pos_embed", None), "lack of 'pos_embed' shows rotary"),
    ],
)
def test_one_tensor_shows_another_model(change, message):
    weights, (name, tensor) = dict(small().state_dict()), change
    weights = {n: t for n, t in weights.items() if n != name}
    if tensor is not None:
        weights[name] = tensor
    with pytest.raises(ValueError, match=f"{message}.*; our models would give"):
        P.model_of(weights, num_heads=2)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (timm("vit_tiny_r_s16_p8_224"), "patch_embed.backbone.* a ResNet in front of"),
        (timm("vit_small_r26_s32_224"), "patch_embed.backbone.* a ResNet in front of"),
        (lambda: timm_small(qk_norm=True), "q_norm.* a norm of queries and keys"),
        (lambda: timm_small(proj_bias=False), "linear layers without biases"),
        (timm("vit_small_patch16_18x2_224"), "attns.* several attentions side by side"),
    ],
)
def test_the_true_reason_is_named(build, message):
    theirs = build()
    for copy in (P.copy_of, lambda theirs: P.model_of(theirs.state_dict(), 2)):
        with pytest.raises(ValueError, match=f"{message}.*; our models would give"):
            copy(theirs)


def test_a_stem_of_convolutions_is_named():
    library = optional.torchvision().models.vision_transformer
    stem = [library.ConvStemConfig(out_channels=8, kernel_size=3, stride=2)] * 2
    theirs = library.VisionTransformer(
        12, 4, 1, 2, 12, 20, num_classes=7, conv_stem_configs=stem
    )
    with pytest.raises(ValueError, match="conv_proj.conv.* several convolutions in fr"):
        P.model_of(P.in_our_names(theirs.state_dict()), num_heads=2)


def test_beit_is_named_behind_its_prefix():
    theirs = huggingface_small(
        "BeitForImageClassification", "BeitConfig", use_relative_position_bias=True
    )
    with pytest.raises(
        ValueError, match="shows relative positions, as in BEiT and SAM"
    ):
        P.model_of(P.in_our_names(theirs.state_dict()), num_heads=2)


def test_swin_is_sent_to_its_own_class():  # test_swin loads it there
    theirs = optional.timm().models.SwinTransformer(
        img_size=28, window_size=7, embed_dim=8, depths=(1,), num_heads=(1,)
    )
    with pytest.raises(ValueError, match="shows a Swin; variants.SwinTransformer"):
        P.copy_of(theirs)


def test_another_gelu_is_refused_by_what_it_does():
    theirs = timm("vit_so400m_patch16_siglip_gap_256")()
    with pytest.raises(ValueError, match="blocks.0.mlp.act differs .*; our models"):
        P.copy_of(theirs)


def test_the_error_of_load_weights_says_what_a_tensor_shows():
    weights = P.in_our_names(timm_small(pre_norm=True).state_dict())
    message = r"norm_pre.weight \(12,\): a norm in front of the"
    with pytest.raises(P.WeightsMismatch, match=message):
        P.load_weights(small(), weights)


def test_classes_are_timms_or_imagenets():
    theirs = timm("vit_base_patch16_224", num_classes=7)()
    known = P.copy_of(theirs).preprocessing
    assert known == Preprocessing((0.5,) * 3, (0.5,) * 3)
    theirs.pretrained_cfg["label_names"] = list("abcdefg")
    assert P.copy_of(theirs).preprocessing.classes == tuple("abcdefg")
    grey = P.copy_of(timm("vit_base_patch16_224", in_chans=1)())
    assert grey.preprocessing is None
