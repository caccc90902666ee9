import copy
import json
import re
from functools import partial

import numpy
import pytest
import torch
from safetensors.torch import load_file
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from tests.package.other_models import (
    HEADS,
    HF,
    OTHERS,
    SMALL,
    draw,
    each_other,
    huggingface_small,
    images_for,
    logits_of,
    pair,
    small,
    timm_model,
    timm_small,
    torchvision_small,
)
from vit_steps import VisionTransformer, ViTConfig, optional
from vit_steps import pretrained as P
from vit_steps.preprocessing import Preprocessing

# -- There and back


@each_other
def test_our_model_with_their_weights_gives_their_output(other):
    theirs, ours = pair(other)
    images = images_for(ours)
    with torch.no_grad():
        if other == "dinov2":
            got, expected = ours.encode(images)[0], theirs(images).last_hidden_state
        else:
            got, expected = ours(images), logits_of(theirs(images))
    assert expected.abs().max() > 0.1
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=0)
    assert P.first_difference(ours, theirs, images) is None


@each_other
def test_their_model_takes_our_weights_to_the_last_bit(other):
    theirs, ours = pair(other)
    if other == "dinov2":
        ours.reset_classifier(0)
    expected = {n: t.clone() for n, t in theirs.state_dict().items()}
    draw(theirs, std=0.01)
    P.copy_into(theirs, ours)
    for name, tensor in theirs.state_dict().items():
        assert torch.equal(tensor, expected[name]) or "mask_token" in name


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("ViTForImageClassification", "ViTConfig"),
        ("ViTModel", "ViTConfig"),
        ("Dinov2Model", "Dinov2Config"),
    ],
)
def test_hugging_faces_files_have_the_names_of_its_models(kind, config, tmp_path):
    theirs = huggingface_small(kind, config)
    theirs.save_pretrained(tmp_path)
    in_file = P.in_our_names(load_file(tmp_path / "model.safetensors"))
    in_memory = P.in_our_names(theirs.state_dict())
    assert in_file.keys() == in_memory.keys()
    assert all(torch.equal(in_file[name], in_memory[name]) for name in in_file)


def test_hugging_faces_pooler_is_the_papers_pre_logits():
    theirs = huggingface_small("ViTModel")
    state_dict = P.in_our_names(theirs.state_dict())
    ours = VisionTransformer(P.config_of(state_dict, num_classes=7, **HF))
    P.load_weights(ours, state_dict, keep="head").eval()
    images = images_for(ours)
    got = ours.pre_logits(P.extract_features(ours, images))
    torch.testing.assert_close(got, theirs(images).pooler_output, atol=1e-5, rtol=0)


def test_queries_keys_and_values_are_stacked_in_this_order():
    q, k, v = torch.randn(3, 12, 12)
    names = ("query", "key", "value")
    layer = "encoder.layer.11.attention.attention."
    given = {f"{layer}{n}.weight": t for n, t in zip(names, (q, k, v), strict=True)}
    joined = P.in_our_names(dict(reversed(given.items())))
    assert list(joined) == ["blocks.11.attn.qkv.weight"]
    assert torch.equal(joined["blocks.11.attn.qkv.weight"], torch.cat([q, k, v]))


@pytest.mark.parametrize("other", ["torchvision", "huggingface"])
@pytest.mark.parametrize("wrong", ["eps", "gelu"])
def test_wrong_eps_or_gelu_is_more_than_the_tolerance(other, wrong):
    theirs, ours = pair(other)
    images = images_for(ours)
    for module in ours.modules():
        if wrong == "eps" and isinstance(module, nn.LayerNorm):
            module.eps = 1e-12 if module.eps == 1e-6 else 1e-6
        if wrong == "gelu" and isinstance(module, nn.GELU):
            module.approximate = "tanh"
    with torch.no_grad():
        error = (ours(images) - logits_of(theirs(images))).abs().max()
    assert error > 2e-5
    place = {"eps": "blocks.0.norm1", "gelu": "blocks.0.mlp.act"}[wrong]
    assert P.first_difference(ours, theirs, images).place == place


# -- Errors


@pytest.mark.parametrize(
    ("overrides", "unexpected", "missing", "misshapen"),
    [
        (
            dict(qk_norm=True),
            [f"attn.{x}_norm.{p}" for x in "qk" for p in ("weight", "bias")],
            [],
            [],
        ),
        (
            dict(pre_norm=True),
            ["norm_pre.weight", "norm_pre.bias"],
            [],
            [],
        ),
        (
            dict(global_pool="avg"),
            ["fc_norm.weight", "fc_norm.bias"],
            ["norm.weight", "norm.bias"],
            [],
        ),
        (dict(init_values=1.0), ["ls1.gamma", "ls2.gamma"], [], []),
        (dict(reg_tokens=2, no_embed_class=True), ["reg_token"], [], ["pos_embed"]),
        (
            dict(class_token=False, global_pool="avg", fc_norm=False),
            [],
            ["cls_token"],
            ["pos_embed"],
        ),
        (
            dict(qkv_bias=False, num_classes=5),
            [],
            ["attn.qkv.bias"],
            ["head.weight", "head.bias"],
        ),
    ],
)
def test_tensors_that_do_not_fit_are_listed_by_name(
    overrides, unexpected, missing, misshapen
):
    def everywhere(names):
        in_blocks = ("attn", "ls")
        for name in names:
            if name.startswith(in_blocks):
                yield from (f"blocks.{i}.{name}" for i in range(3))
            else:
                yield name

    state_dict = P.in_our_names(timm_small(**overrides).state_dict())
    with pytest.raises(P.WeightsMismatch) as caught:
        P.load_weights(small(), state_dict)
    assert sorted(caught.value.unexpected) == sorted(everywhere(unexpected))
    assert sorted(caught.value.missing) == sorted(everywhere(missing))
    assert sorted(caught.value.misshapen) == sorted(everywhere(misshapen))
    for name in unexpected + missing + misshapen:
        assert name in str(caught.value)


def test_one_error_lists_everything_and_leaves_the_model_alone():
    model = small(layer_scale=1.0)
    before = copy.deepcopy(model.state_dict())
    state_dict = small(embed_dim=18, num_heads=3).state_dict()
    state_dict["mask_token"] = torch.zeros(1, 18)
    del state_dict["blocks.1.norm1.bias"]
    with pytest.raises(P.WeightsMismatch) as caught:
        P.load_weights(model, state_dict)
    lines = str(caught.value).splitlines()
    assert lines[:3] == [
        "the weights do not fit, and the model is as before.",
        "Unexpected, with no place in the model (drop=... leaves them out):",
        "  mask_token (1, 18)",
    ]
    assert lines[3].startswith("Missing, not among the weights (keep=... leaves the")
    assert sorted(lines[4:7]) == [
        "  blocks.1.norm1.bias (12,)",
        "  blocks.{0,1,2}.ls1.gamma (12,)",
        "  blocks.{0,1,2}.ls2.gamma (12,)",
    ]
    assert lines[7] == "Misshapen (another configuration? config_of reads the sizes):"
    assert "  cls_token (1, 1, 18), expected (1, 1, 12)" in lines[8:]
    assert "  blocks.{0,2}.norm1.bias (18,), expected (12,)" in lines[8:]
    after = model.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_names_of_another_library_are_translated():
    theirs = torchvision_small()
    ours = P.load_weights(small(), theirs.state_dict()).eval()
    images = images_for(ours)
    torch.testing.assert_close(ours(images), theirs(images), atol=1e-5, rtol=0)


def test_queries_without_keys_are_listed():
    state_dict = huggingface_small().state_dict()
    del state_dict["vit.layers.1.attention.k_proj.weight"]
    with pytest.raises(P.WeightsMismatch) as caught:
        P.load_weights(small(), P.in_our_names(state_dict))
    assert caught.value.unexpected == tuple(f"blocks.1.attn.{x}.weight" for x in "qv")
    assert caught.value.missing == ("blocks.1.attn.qkv.weight",)


def test_queries_of_another_width_than_keys_are_listed():
    state_dict = huggingface_small().state_dict()
    for letter, rows in zip("qkv", (20, 8, 8), strict=True):
        name = f"vit.layers.1.attention.{letter}_proj.weight"
        state_dict[name] = torch.zeros(rows, 12)
    with pytest.raises(P.WeightsMismatch, match=r"blocks.1.attn.q.weight \(20, 12\)"):
        P.load_weights(small(), P.in_our_names(state_dict))


def test_drop_and_keep():
    model, other = small(), small(num_classes=5)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter += 1
    state_dict = other.state_dict() | {"head_dist.weight": torch.zeros(5, 12)}
    head = model.head.weight.clone()
    with pytest.raises(P.WeightsMismatch) as caught:
        P.load_weights(model, state_dict, drop="head", keep="head.")
    assert caught.value.unexpected == ("head_dist.weight",)
    with pytest.raises(P.WeightsMismatch) as caught:
        P.load_weights(model, state_dict, drop=["head_dist"], keep=["head"])
    assert caught.value.unexpected == ("head.weight", "head.bias")
    loaded = P.load_weights(model, state_dict, drop=["head.", "head_dist"], keep="head")
    assert loaded is model and torch.equal(model.head.weight, head)
    assert torch.equal(model.norm.weight, other.norm.weight)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(drop="mask_token"), "drop: got 'mask_token', and no tensor has this"),
        (dict(drop="hea"), "drop: got 'hea', and no tensor has this name"),
        (dict(keep="head.w"), "keep: got 'head.w', and no tensor has this"),
    ],
)
def test_drop_and_keep_refuse_names_that_are_not_there(arguments, message):
    with pytest.raises(ValueError, match=message):
        P.load_weights(small(), small().state_dict(), **arguments)


def test_none_drops_and_keeps_nothing():
    model = P.load_weights(small(), small(std=1.0).state_dict(), drop=None, keep=None)
    assert model.norm.weight.std() > 0.1


@pytest.mark.parametrize("names", [3, ["head", 3], True, 0, False])
def test_names_are_words(names):
    with pytest.raises(ValueError, match=r"drop: got .*, and no tensor has this"):
        P.load_weights(small(), small().state_dict(), drop=names)


def test_half_precision_is_loaded_into_float32():
    state_dict = {n: t.half() for n, t in small(std=1.0).state_dict().items()}
    model = P.load_weights(small(), state_dict)
    assert model.norm.weight.dtype == torch.float32
    assert torch.equal(model.norm.weight, state_dict["norm.weight"].float())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda weight: weight.fill_(torch.nan), "'norm.weight' that are not finite"),
        (lambda weight: weight.fill_(torch.inf), "'norm.weight' that are not finite"),
        (
            lambda weight: weight.to(torch.int8),
            r"int8 \(12,\) for 'norm.weight', expected",
        ),
        (lambda weight: weight.to("meta"), "'norm.weight' is sparse, or on the device"),
        (torch.Tensor.to_sparse, "'norm.weight' is sparse, or on the device"),
    ],
    ids=["nan", "inf", "int8", "meta", "sparse"],
)
def test_numbers_that_are_not_finite_floats_are_refused(change, message):
    model = small()
    state_dict = small().state_dict()
    state_dict["norm.weight"] = change(state_dict["norm.weight"].clone())
    before = copy.deepcopy(model.state_dict())
    with pytest.raises(ValueError, match=f"the weights: .*{message}"):
        P.load_weights(model, state_dict)
    assert all(torch.equal(before[n], t) for n, t in model.state_dict().items())


@pytest.mark.parametrize("image_size", [24, (8, 20)])
def test_positions_of_another_grid(image_size):
    state_dict = small().state_dict()
    model = small(image_size=image_size)
    with pytest.raises(P.WeightsMismatch, match="old_grid_size=.rows, col") as caught:
        P.load_weights(model, state_dict)
    assert caught.value.misshapen == ("pos_embed",)
    P.load_weights(model, state_dict, old_grid_size=3)
    resample = optional.timm().layers.resample_abs_pos_embed
    expected = resample(
        state_dict["pos_embed"], list(model.patch_embed.grid_size), num_prefix_tokens=1
    )
    torch.testing.assert_close(model.pos_embed.data, expected)
    assert state_dict["pos_embed"].shape == (1, 10, 12)


@pytest.mark.parametrize("shape", [(1, 13, 12), (1, 10, 8), (1, 0, 12), (10, 12)])
def test_positions_that_fill_no_grid_are_misshapen(shape):
    state_dict = small().state_dict() | {"pos_embed": torch.zeros(shape)}
    with pytest.raises(P.WeightsMismatch) as caught:
        P.load_weights(small(image_size=24), state_dict)
    assert caught.value.misshapen == ("pos_embed",)
    model = small(image_size=24)
    with pytest.raises(ValueError, match="old_grid_size|pos_embed.*, expected"):
        P.load_weights(model, state_dict, old_grid_size=3)


def wide(rows, columns, **overrides):
    """Return a model whose grid has this many rows and columns."""
    return small(image_size=(4 * rows, 4 * columns), **overrides)


def resampled(pos_embed, old, new):
    resample = optional.timm().layers.resample_abs_pos_embed
    return resample(pos_embed, list(new), list(old), num_prefix_tokens=1)


# Two grids with as many patches, like 14×14 and 7×28, or 24×24 and 18×32.
@pytest.mark.parametrize(("old", "new"), [((6, 6), (4, 9)), ((6, 6), (9, 4))])
def test_a_square_grid_is_not_copied_to_another_grid_of_as_many(old, new):
    state_dict = wide(*old).state_dict()
    model = wide(*new)
    before = model.pos_embed.clone()
    message = "old_grid_size: got None, and 36 positions may be of a square of patches"
    with pytest.raises(ValueError, match=message):
        P.load_weights(model, state_dict)
    assert torch.equal(model.pos_embed, before)
    with pytest.raises(ValueError, match=message):
        P.model_of(state_dict, num_heads=2, image_size=model.config.image_size)
    expected = resampled(state_dict["pos_embed"], old, new)
    assert not torch.equal(expected, state_dict["pos_embed"])
    P.load_weights(model, state_dict, old_grid_size=old)
    torch.testing.assert_close(model.pos_embed.data, expected)
    built = P.model_of(
        state_dict,
        num_heads=2,
        image_size=model.config.image_size,
        old_grid_size=old,
    )
    torch.testing.assert_close(built.pos_embed.data, expected)
    assert built.patch_embed.grid_size == new


@pytest.mark.parametrize("new", [(6, 6), (8, 8), (2, 3)])
def test_a_grid_that_is_given_is_believed(new):
    state_dict = wide(4, 9).state_dict()
    expected = resampled(state_dict["pos_embed"], (4, 9), new)
    loaded = P.load_weights(wide(*new), state_dict, old_grid_size=(4, 9))
    torch.testing.assert_close(loaded.pos_embed.data, expected)
    assert loaded.pos_embed.shape != expected[:, 1:].shape
    ours = P.model_of(state_dict, num_heads=2, old_grid_size=(4, 9))
    assert ours.config.image_size == (16, 36)
    assert torch.equal(ours.pos_embed, state_dict["pos_embed"])
    side = 4 * new[0], 4 * new[1]
    ours = P.model_of(state_dict, num_heads=2, old_grid_size=(4, 9), image_size=side)
    torch.testing.assert_close(ours.pos_embed.data, expected)
    with pytest.raises(
        ValueError, match=r"old_grid_size: got 5×5 .* a grid of 36, the"
    ):
        P.load_weights(wide(*new), state_dict, old_grid_size=5)
    with pytest.raises(
        ValueError, match="pos_embed: got 37 positions, .* grid of 5; give"
    ):
        P.model_of(state_dict, num_heads=2, old_grid_size=5)


def test_positions_of_the_models_own_grid_are_copied():
    for grid in ((6, 6), (4, 9), (2, 5)):
        state_dict = wide(*grid).state_dict()
        known = grid if grid == (4, 9) else None
        loaded = P.load_weights(wide(*grid), state_dict, old_grid_size=known)
        assert torch.equal(loaded.pos_embed, state_dict["pos_embed"])


def test_positions_without_a_class_token_are_interpolated():
    theirs = timm_small(class_token=False, global_pool="avg", fc_norm=False)
    ours = P.copy_of(theirs)
    larger = P.model_of(theirs.state_dict(), 2, old_grid_size=3, image_size=24)
    resample = optional.timm().layers.resample_abs_pos_embed
    expected = resample(theirs.pos_embed.data, [6, 6], num_prefix_tokens=0)
    torch.testing.assert_close(larger.pos_embed.data, expected)
    assert torch.equal(ours.pos_embed, theirs.pos_embed)


@pytest.mark.parametrize(
    ("build", "overrides", "name"),
    [
        (timm_small, dict(representation_size=5), "pre_logits.fc.weight"),
        (torchvision_small, dict(layer_scale=1.0), "blocks.0.ls1.gamma"),
        (huggingface_small, dict(representation_size=5), "pre_logits.fc.weight"),
    ],
)
def test_weights_without_a_place_in_theirs_are_refused(build, overrides, name):
    theirs, ours = build(), small(**overrides)
    before = {n: t.clone() for n, t in theirs.state_dict().items()}
    with pytest.raises(ValueError, match=f"has no place for '{name}'"):
        P.copy_into(theirs, ours)
    assert all(torch.equal(before[n], t) for n, t in theirs.state_dict().items())


def test_nested_and_ambiguous_state_dicts_are_refused():
    with pytest.raises(ValueError, match="'model' is a dict, expected a tensor; give"):
        P.in_our_names({"model": dict(small().state_dict())})
    twice = dict(huggingface_small().state_dict())
    twice["layernorm.weight"] = torch.ones(2)
    with pytest.raises(
        ValueError, match="has 'layernorm.weight' twice, once as 'layer"
    ):
        P.in_our_names(twice)


@pytest.mark.parametrize("read", [P.in_our_names, lambda state: state])
@pytest.mark.parametrize(
    "prefix",
    [
        "module.",
        "_orig_mod.",
        "module._orig_mod.",
        "backbone.",
        "teacher.backbone.",
        "student.module.backbone.",
        "model.",
        "net.",
        "encoder.",
        "vit.",
        "base_model.model.",
    ],
)
def test_a_prefix_before_all_names_goes(prefix, read):
    state_dict = small().state_dict()
    wrapped = {prefix + name: tensor for name, tensor in state_dict.items()}
    ours = P.load_weights(small(), read(wrapped))
    assert all(torch.equal(state_dict[n], t) for n, t in ours.state_dict().items())
    ours = P.model_of(read(wrapped), num_heads=2)
    assert all(torch.equal(state_dict[n], t) for n, t in ours.state_dict().items())


def test_a_head_outside_the_backbone_has_the_first_part_of_the_prefix():
    state_dict = small().state_dict()
    wrapped = {f"model.backbone.{n}": t for n, t in state_dict.items()}
    for p in ("weight", "bias"):
        wrapped[f"model.head.{p}"] = wrapped.pop(f"model.backbone.head.{p}")
    assert P.in_our_names(wrapped).keys() == state_dict.keys()


@each_other
def test_a_prefix_goes_from_the_names_of_each_library(other):
    state_dict = OTHERS[other][0]().state_dict()
    wrapped = {f"module.{name}": tensor for name, tensor in state_dict.items()}
    assert P.in_our_names(wrapped).keys() == P.in_our_names(state_dict).keys()


def test_two_models_in_one_file_are_refused():
    state_dict = small().state_dict()
    both = {
        f"{who}.{n}": t for who in ("student", "teacher") for n, t in state_dict.items()
    }
    message = r"got several models, with the prefixes \['student.', 'teacher.'\]"
    with pytest.raises(ValueError, match=message):
        P.in_our_names(both)


@pytest.mark.parametrize(
    "head", ["heads", "heads.1", "heads.0", "heads.head.1", "heads.head"]
)
def test_a_head_that_was_replaced_in_torchvisions_model_is_read(head):
    theirs = torchvision_small()
    layer = draw(nn.Linear(12, 3))
    if head == "heads":
        theirs.heads = layer
    elif head.startswith("heads.head"):
        dropped = nn.Sequential(nn.Dropout(), layer).eval()
        theirs.heads.head = dropped if head.endswith("1") else layer
    else:
        theirs.heads = nn.Sequential(nn.Dropout(), layer).eval()
        theirs.heads = theirs.heads if head.endswith("1") else nn.Sequential(layer)
    ours = P.model_of(P.in_our_names(theirs.state_dict()), num_heads=2)
    images = images_for(ours)
    torch.testing.assert_close(ours(images), theirs(images), atol=1e-5, rtol=0)


@pytest.mark.parametrize("other", ["timm", "huggingface"])
def test_a_head_behind_a_dropout_is_read(other):
    theirs = timm_small() if other == "timm" else huggingface_small()
    layer = "head" if other == "timm" else "classifier"
    setattr(theirs, layer, nn.Sequential(nn.Dropout(), getattr(theirs, layer)).eval())
    ours = P.model_of(theirs.state_dict(), **(HEADS if other == "timm" else HF))
    images = images_for(ours)
    expected = logits_of(theirs(images))
    torch.testing.assert_close(ours(images), expected, atol=1e-5, rtol=0)


def test_no_message_advises_to_lose_a_trained_head():
    state_dict = dict(small().state_dict())
    for p in ("weight", "bias"):
        state_dict[f"my_head.{p}"] = state_dict.pop(f"head.{p}")
    for load in (partial(P.load_weights, small()), partial(P.model_of, num_heads=2)):
        with pytest.raises(P.WeightsMismatch, match="my_head.weight") as caught:
            load(state_dict)
        assert "drop=" not in str(caught.value) and "keep=" not in str(caught.value)


def test_blocks_in_chunks_are_read():
    state_dict = small().state_dict()
    # DINOv2's code puts a block's chunk before its own number, as in blocks.1.2.
    chunked = {
        re.sub(
            r"^blocks\.(\d)\.", lambda m: f"blocks.{int(m[1]) // 2}.{m[1]}.", name
        ): t
        for name, t in state_dict.items()
    }
    assert "blocks.1.2.norm1.weight" in chunked
    read = P.in_our_names(chunked)
    assert read.keys() == state_dict.keys()
    assert all(torch.equal(read[name], state_dict[name]) for name in read)


# -- The paper's own files


def flax_arrays(model):
    """A model's weights under the names and in the layouts of Google's code."""
    D, h = model.config.embed_dim, model.config.num_heads
    state = {name: t.numpy() for name, t in model.state_dict().items()}
    arrays = {
        "cls": state["cls_token"],
        "Transformer/posembed_input/pos_embedding": state["pos_embed"],
        # (P, P, C, D)
        "embedding/kernel": state["patch_embed.proj.weight"].transpose(2, 3, 1, 0),
        "embedding/bias": state["patch_embed.proj.bias"],
        "Transformer/encoder_norm/scale": state["norm.weight"],
        "Transformer/encoder_norm/bias": state["norm.bias"],
        "head/kernel": state["head.weight"].T,
        "head/bias": state["head.bias"],
    }
    for i in range(model.config.depth):
        ours, theirs = f"blocks.{i}.", f"Transformer/encoderblock_{i}/"
        for norm, number in (("norm1", 0), ("norm2", 2)):
            layer = f"{theirs}LayerNorm_{number}/"
            arrays[layer + "scale"] = state[f"{ours}{norm}.weight"]
            arrays[layer + "bias"] = state[f"{ours}{norm}.bias"]
        layer = f"{theirs}MultiHeadDotProductAttention_1/"
        for j, name in enumerate(("query", "key", "value")):
            weight = state[f"{ours}attn.qkv.weight"][j * D : (j + 1) * D]  # (D, D)
            bias = state[f"{ours}attn.qkv.bias"][j * D : (j + 1) * D]
            arrays[f"{layer}{name}/kernel"] = weight.T.reshape(D, h, D // h)
            arrays[f"{layer}{name}/bias"] = bias.reshape(h, D // h)
        weight = state[f"{ours}attn.proj.weight"]
        arrays[f"{layer}out/kernel"] = weight.T.reshape(h, D // h, D)
        arrays[f"{layer}out/bias"] = state[f"{ours}attn.proj.bias"]
        for j in (0, 1):
            layer = f"{theirs}MlpBlock_3/Dense_{j}/"
            arrays[layer + "kernel"] = state[f"{ours}mlp.fc{j + 1}.weight"].T
            arrays[layer + "bias"] = state[f"{ours}mlp.fc{j + 1}.bias"]
    return arrays


def test_the_papers_own_files_are_read_by_timm(tmp_path):
    model = small()
    path = tmp_path / "ViT-Ti_4.npz"
    numpy.savez(path, **flax_arrays(model))
    theirs = timm_small(norm_layer=partial(nn.LayerNorm, eps=1e-6))
    theirs.load_pretrained(str(path))
    read = P.copy_of(theirs).state_dict()
    assert all(torch.equal(t, read[name]) for name, t in model.state_dict().items())


# -- Not a state dict


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda s: {"epoch": 3, "state_dict": s},
            "'state_dict' is a .*; give state_dict.'state_dict'.",
        ),
        (lambda s: small(), r"got VisionTransformer, .*model.state_dict\(\) returns"),
        (lambda s: "x.pth", r"got str, expected a dict .* torch.load\(path\) reads"),
        (
            lambda s: s | {"epoch": 3},
            "'epoch' is a int, expected a tensor; leave it out",
        ),
        (
            lambda s: {name: tensor.numpy() for name, tensor in s.items()},
            "'cls_token' is a ndarray, expected a tensor; .* torch.from_numpy",
        ),
    ],
)
def test_other_values_than_state_dicts_are_refused_in_one_sentence(change, message):
    given = change(small().state_dict())
    loads = (partial(P.load_weights, small()), P.in_our_names)
    for load in (*loads, partial(P.model_of, num_heads=2)):
        with pytest.raises(ValueError, match=f"state_dict: .*{message}"):
            load(given)


def test_another_number_of_classes_needs_the_head_dropped():
    state_dict = small().state_dict()
    with pytest.raises(P.WeightsMismatch, match="other classes. drop='head'"):
        P.model_of(state_dict, num_heads=2, num_classes=3)
    ours = P.model_of(state_dict, num_heads=2, num_classes=3, drop="head")
    assert ours.config.num_classes == 3
    with pytest.raises(P.WeightsMismatch, match="other classes. drop='head', keep="):
        P.load_weights(small(num_classes=3), state_dict)


# -- The configuration


@pytest.mark.parametrize(
    "overrides",
    [
        {},
        dict(in_channels=1, patch_size=(4, 6), image_size=(12, 18)),
        dict(qkv_bias=False, representation_size=9, num_classes=1),
        dict(image_size=(8, 20), layer_scale=1.0, norm_eps=1e-12, drop_rate=0.1),
        dict(embed_dim=98, mlp_ratio=4.0),
    ],
)
def test_configuration_is_read_from_the_shapes(overrides):
    config = ViTConfig(**SMALL | overrides)
    state_dict = VisionTransformer(config).state_dict()
    untold = {"num_heads", "norm_eps", "drop_rate"} | (
        {"image_size"} if config.image_size == (8, 20) else set()
    )
    untold &= {"num_heads", *overrides}
    told = {name: getattr(config, name) for name in untold}
    assert P.config_of(state_dict, **told) == config


def test_any_width_of_the_mlp_is_read():
    for D in (49, 98, 192):
        for M in range(1, 5 * D, 7):
            shapes = {"patch_embed.proj.weight": (D, 3, 4, 4), "pos_embed": (1, 10, D)}
            shapes |= {"cls_token": (1, 1, D)}
            shapes |= {"blocks.0.mlp.fc1.weight": (M, D), "head.weight": (7, D)}
            state_dict = {n: torch.empty(s, device="meta") for n, s in shapes.items()}
            config = P.config_of(state_dict, num_heads=1)
            assert int(D * config.mlp_ratio) == M


def test_heads_of_64_are_assumed():
    assert P.config_of(small(embed_dim=128).state_dict()).num_heads == 2
    with pytest.raises(ValueError, match="num_heads: got None, and embed_dim = 12 is"):
        P.config_of(small().state_dict())
    with pytest.raises(ValueError, match="num_heads: got None, and embed_dim = 1280"):
        with torch.device("meta"):  # ViT-H has 16 heads of width 80
            P.config_of(VisionTransformer(ViTConfig.huge(depth=1)).state_dict())


def test_configuration_refuses():
    state_dict = small().state_dict()
    with pytest.raises(ValueError, match="state_dict: got nothing for 'patch_embed"):
        P.config_of(nn.Linear(2, 2).state_dict())
    with pytest.raises(ValueError, match=r"got \(10, 12\) for 'pos_embed', exp"):
        P.config_of(state_dict | {"pos_embed": torch.zeros(10, 12)}, num_heads=2)
    state_dict["pos_embed"] = torch.zeros(1, 12, 12)
    with pytest.raises(ValueError, match="pos_embed: got 12 positions, .* rows as col"):
        P.config_of(state_dict, num_heads=2)
    for lacking in ({"pos_embed": torch.zeros(1, 0, 12)}, {}):
        state_dict = P.without(state_dict, "pos_embed") | lacking
        with pytest.raises(ValueError, match="rope: got nothing"):
            P.config_of(state_dict, num_heads=2)
        state_dict.setdefault("pos_embed", torch.zeros(1))


# -- Features


def test_features_equal_timms():
    theirs, ours = pair("timm-ti16")
    images = images_for(ours, batch=3)
    with torch.no_grad():
        tokens = theirs.forward_features(images)
    for pool, expected in [("cls", tokens[:, 0]), ("mean", tokens[:, 1:].mean(1))]:
        labelled = TensorDataset(images, torch.arange(3))
        kinds = images, labelled, DataLoader(images, 2), DataLoader(labelled, 2)
        for kind in kinds:
            features = P.extract_features(ours, kind, pool, batch_size=2)
            assert features.shape == (3, 192) and not features.requires_grad
            torch.testing.assert_close(features, expected, atol=1e-5, rtol=0)


def test_features_leave_the_model_in_its_mode_and_take_any_float():
    model = small(drop_rate=0.5)
    images = images_for(model)
    expected = P.extract_features(model, images)
    model.train()
    model.norm.eval()
    torch.testing.assert_close(P.extract_features(model, images.double()), expected)
    assert P.extract_features(model, images.half()).dtype == torch.float32
    assert model.training and not model.norm.training


@pytest.mark.parametrize("registers", [0, 2])
def test_tokens_after_a_block_equal_timms(registers):
    theirs = timm_small(img_size=(12, 20), reg_tokens=registers, no_embed_class=True)
    ours = P.copy_of(theirs).train()
    images = images_for(ours)
    got = P.named_outputs(ours, images)
    expected = theirs.get_intermediate_layers(
        images, n=[0, 1], return_prefix_tokens=True, norm=False
    )
    for block, (patches, prefix) in enumerate(expected):
        tokens = got[f"blocks.{block}"]
        whole = torch.cat([prefix, patches], dim=1)
        torch.testing.assert_close(tokens, whole, atol=1e-5, rtol=0)
        assert not tokens.requires_grad
    assert ours.training


def test_images_that_are_not_normalised_are_refused():
    look = P.extract_features
    model = VisionTransformer.from_pretrained("fashion-mnist")
    pictures = torch.rand(5, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    pictures[:, :, :2] = 0
    for scale, advice in ((1, r"\(images\)"), (255, r"\(images / 255\)")):
        with pytest.raises(ValueError, match="from 0 to .*normalize" + advice):
            look(model, scale * pictures)
    look(model, model.preprocessing.normalize(pictures))
    look(model, torch.zeros(1, 1, 28, 28))
    model.preprocessing = None
    look(model, pictures)


def test_features_refuse():
    with pytest.raises(ValueError, match="pool: got 'max', expected 'cls' or 'mean'"):
        P.extract_features(small(), torch.rand(1, 3, 12, 12), pool="max")
    for batch_size in (0, -1, 1.5):
        with pytest.raises(ValueError, match=f"batch_size: got {batch_size}, expected"):
            P.extract_features(small(), torch.rand(1, 3, 12, 12), batch_size=batch_size)
    for none in (torch.rand(0, 3, 12, 12), TensorDataset(torch.rand(0, 3, 12, 12))):
        with pytest.raises(ValueError, match="images: got none"):
            P.extract_features(small(), none)


# -- Published models


@pytest.fixture
def repository(tmp_path):
    """Write timm's test_vit with random weights to files like those on the hub."""
    theirs = timm_model("test_vit")
    from timm.models import save_for_hf

    save_for_hf(theirs, str(tmp_path), safe_serialization=True)
    return tmp_path, theirs


def read(repository):
    return optional.timm().create_model(f"local-dir:{repository[0]}", pretrained=True)


def test_a_published_model_runs_in_ours(repository):
    got = P.copy_of(read(repository))
    known = got.preprocessing
    assert known == Preprocessing((0.5,) * 3, (0.5,) * 3, known.classes)
    assert known.classes[0] == "tench, Tinca tinca" and len(known.classes) == 1000
    assert (known.classes[134], known.classes[517]) == ("crane (134)", "crane (517)")
    assert got.patch_embed.image_size == (160, 160) and not got.training
    assert got.config.num_heads == 2 and got.config.mlp_ratio == 3
    images = images_for(got)
    with torch.no_grad():
        expected = repository[1](images)
        torch.testing.assert_close(got(images), expected, atol=1e-5, rtol=0)


def test_a_published_model_of_another_architecture_is_refused(repository):
    file = repository[0] / "config.json"
    config = json.loads(file.read_text())
    file.write_text(json.dumps(config | {"model_args": {"act_layer": "silu"}}))
    message = "another architecture: blocks.0.mlp.act differs by up to .* blocks.0.mlp"
    with pytest.raises(ValueError, match=message):
        P.copy_of(read(repository))


def test_copy_timm():
    theirs = timm_model("test_vit").train()
    ours = P.copy_of(theirs)
    assert theirs.training and not ours.training
    images = images_for(ours)
    assert P.first_difference(ours, theirs.eval(), images) is None
    with_other_eps = timm_small(norm_layer=partial(nn.LayerNorm, eps=1e-3))
    assert P.copy_of(with_other_eps).config.norm_eps == 1e-3
    with pytest.raises(ValueError, match="theirs: got Linear, expected a Vision"):
        P.copy_of(nn.Linear(2, 2))
    with pytest.raises(
        ValueError, match="theirs: got str, .*create_model.* make from a name"
    ):
        P.copy_of("vit")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_copy_timm_keeps_the_dtype_and_the_random_numbers(dtype):
    theirs = timm_small().to(dtype)
    state = torch.get_rng_state()
    ours = P.copy_of(theirs)
    assert torch.equal(torch.get_rng_state(), state)
    weights = ours.state_dict()
    assert {t.dtype for t in weights.values()} == {dtype}
    assert all(torch.equal(weights[name], t) for name, t in theirs.state_dict().items())


@pytest.mark.parametrize("training", [True, False])
def test_copy_timm_leaves_their_model_as_it_was_when_it_raises(training):
    theirs = timm_small(act_layer="silu").train(training)
    theirs.norm.eval()
    with pytest.raises(ValueError, match="is another architecture: blocks.0.mlp.act"):
        P.copy_of(theirs)
    assert theirs.training == training and not theirs.norm.training


HUGGING_FACES = {
    "ViT": ("ViTForImageClassification", "ViTConfig", dict(image_size=(8, 20))),
    "headless": ("ViTModel", "ViTConfig", dict(layer_norm_eps=1e-5)),
    "four heads": (
        "ViTForImageClassification",
        "ViTConfig",
        dict(num_attention_heads=4),
    ),
    "no square": ("ViTForImageClassification", "ViTConfig", dict(image_size=(16, 64))),
    "DeiT": ("DeiTForImageClassificationWithTeacher", "DeiTConfig", {}),
    "MSN": ("ViTMSNForImageClassification", "ViTMSNConfig", {}),
    "DINOv2": ("Dinov2Model", "Dinov2Config", {}),
}


@pytest.mark.parametrize("kind", HUGGING_FACES)
def test_copy_huggingface_reads_what_no_tensor_has(kind):
    name, config, overrides = HUGGING_FACES[kind]
    theirs = huggingface_small(name, config, **overrides).train()
    ours = P.copy_of(theirs)
    assert theirs.training and not ours.training
    assert ours.config.norm_eps == theirs.config.layer_norm_eps
    assert ours.config.num_heads == theirs.config.num_attention_heads
    size = overrides.get("image_size", (12, 12))
    assert ours.patch_embed.image_size == size
    assert P.first_difference(ours, theirs, images_for(ours)) is None


def test_a_model_of_torchvision_is_copied():
    theirs = torchvision_small(representation_size=5)
    ours = P.copy_of(theirs)
    images = images_for(ours)
    torch.testing.assert_close(ours(images), theirs(images), atol=1e-5, rtol=0)
    assert ours.preprocessing is None


def test_copy_huggingface_refuses():
    theirs = huggingface_small(hidden_act="silu")
    with pytest.raises(ValueError, match="architecture: blocks.0.mlp.act differs"):
        P.copy_of(theirs)
    with pytest.raises(ValueError, match="theirs: got Linear, expected a Vision"):
        P.copy_of(nn.Linear(2, 2))
    with pytest.raises(ValueError, match="theirs: got str, expected a Vision Transf"):
        P.copy_of("google/vit")
