import copy

import pytest
import torch
from torch import nn

from tests.package.other_models import (
    images_for,
    pair,
    small,
    timm_small,
)
from vit_steps import VisionTransformer
from vit_steps import pretrained as P


def change(model, name):
    with torch.no_grad():
        model.get_parameter(name).add_(1e-3)


def swap_q_and_k(model):
    for p in (model.blocks[1].attn.qkv.weight, model.blocks[1].attn.qkv.bias):
        q, k, v = p.data.chunk(3)
        p.data = torch.cat([k, q, v])


def set_eps(model):
    model.blocks[2].norm2.eps = 1e-3


def set_tanh(model):
    model.blocks[1].mlp.act.approximate = "tanh"


def set_heads(model):
    model.blocks[1].attn.num_heads = 3


def set_nan(model):
    model.norm.bias.data[3] = float("nan")


def forget_a_residual(model):
    def forward(x, need_weights=False):
        block = model.blocks[1]
        x = block.norm1(x)
        x = x + block.attn(x)[0]
        return x + block.mlp(block.norm2(x)), None

    model.blocks[1].forward = forward


PLANTED = {
    "patches": (
        lambda m: change(m, "patch_embed.proj.weight"),
        ("patch_embed.proj", None),
    ),
    "position": (lambda m: change(m, "pos_embed"), ("pos_drop", "patch_embed.proj")),
    "eps": (set_eps, ("blocks.2.norm2", "blocks.2.ls1")),
    "q and k": (swap_q_and_k, ("blocks.1.attn.q", "blocks.1.norm1")),
    "heads": (set_heads, ("blocks.1.attn.proj", "blocks.1.attn.v")),
    "residual": (forget_a_residual, ("blocks.1.norm2", "blocks.1.attn")),
    "gelu": (set_tanh, ("blocks.1.mlp.act", "blocks.1.mlp.fc1")),
    "mlp": (
        lambda m: change(m, "blocks.2.mlp.fc2.bias"),
        ("blocks.2.mlp.fc2", "blocks.2.mlp.act"),
    ),
    "nan": (set_nan, ("norm", "blocks.2")),
    "head": (lambda m: change(m, "head.bias"), ("head", "norm")),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_difference_is_found(planted):
    a = small()
    b = copy.deepcopy(a)
    images = images_for(a)
    assert P.first_difference(a, b, images) is None
    plant, expected = PLANTED[planted]
    plant(b)
    found = P.first_difference(a, b, images)
    assert (found.place, found.after) == expected
    assert not found.largest <= 1e-5


@pytest.mark.parametrize(
    ("other", "planted", "place", "after"),
    [
        ("torchvision", "position", "pos_drop", "patch_embed.proj"),
        ("torchvision", "q and k", "blocks.1.attn", "blocks.1.norm1"),
        ("torchvision", "gelu", "blocks.1.mlp.act", "blocks.1.mlp.fc1"),
        ("torchvision", "mlp", "blocks.2.mlp.fc2", "blocks.2.mlp.act"),
        ("huggingface", "position", "pos_drop", "patch_embed.proj"),
        ("huggingface", "q and k", "blocks.1.attn.q", "blocks.1.norm1"),
        ("huggingface", "eps", "blocks.2.norm2", "blocks.2.attn"),
        ("huggingface", "mlp", "blocks.2.mlp.fc2", "blocks.2.mlp.act"),
        ("dinov2", "gelu", "blocks.1.mlp.act", "blocks.1.mlp.fc1"),
        ("dinov2", "eps", "blocks.2.norm2", "blocks.2.ls1"),
        ("timm-no-bias", "heads", "blocks.1.attn.proj", "blocks.1.attn.v"),
    ],
)
def test_a_difference_from_another_library_is_found(other, planted, place, after):
    theirs, ours = pair(other)
    PLANTED[planted][0](ours)
    found = P.first_difference(ours, theirs, images_for(ours))
    assert (found.place, found.after) == (place, after)


def test_a_difference_without_a_trace_in_the_names_is_found():
    theirs = timm_small(global_pool="avg", fc_norm=False)
    ours = P.load_weights(small(), P.in_our_names(theirs.state_dict())).eval()
    found = P.first_difference(ours, theirs, images_for(ours))
    assert (found.place, found.after) == ("head", "norm")


def test_the_size_of_a_difference_is_returned():
    a = small()
    b = copy.deepcopy(a)
    with torch.no_grad():
        b.head.bias[4] -= 0.25
    found = P.first_difference(a, b, images_for(a))
    assert found.largest == pytest.approx(0.25, rel=1e-4)
    assert str(found) == "head differs by up to 0.25 (equal up to norm)"
    assert P.first_difference(a, b, images_for(a), atol=0.3) is None
    assert "the first place of all" in str(P.Difference("pos_drop", 1.0, None))


@pytest.mark.parametrize(
    ("largest", "difference", "equal"),
    [
        (1e-3, 5e-6, True),
        (1e-3, 2e-5, False),
        (1e3, 5e-3, True),
        (1e3, 2e-2, False),
    ],
)
def test_the_tolerance_grows_with_the_numbers(largest, difference, equal):
    a = small()
    with torch.no_grad():
        a.head.weight.zero_()
        a.head.bias.copy_(torch.linspace(0, largest, 7))
        b = copy.deepcopy(a)
        b.head.bias[2] += difference
    assert (P.first_difference(a, b, images_for(a)) is None) == equal


def test_other_shapes_differ():
    a, b = small(), small(num_classes=5)
    P.load_weights(b, a.state_dict(), drop="head", keep="head")
    found = P.first_difference(a, b, images_for(a))
    assert (found.place, found.largest) == ("head", float("inf"))


def test_tokens_before_the_batch_are_recognised():
    class TokensFirst(nn.Module):
        """A block whose input and output are (T, B, D)."""

        def __init__(self, block):
            super().__init__()
            self.block = block

        def forward(self, x, need_weights=False):
            x, weights = self.block(x.transpose(0, 1), need_weights)
            return x.transpose(0, 1), weights

    class Turned(VisionTransformer):
        def encode(self, images, need_weights=False):
            x = self.embed(images).transpose(0, 1)
            for block in self.blocks:
                x, _ = block(x)
            return self.norm(x).transpose(0, 1), []

    a = small()
    b = Turned(a.config)
    b.load_state_dict(a.state_dict())
    b.blocks = nn.ModuleList(TokensFirst(block) for block in b.blocks).eval()
    assert P.first_difference(a, b.eval(), images_for(a)) is None
    change(b, "blocks.1.block.norm1.bias")
    assert P.first_difference(a, b, images_for(a)).place == "blocks.1"


def test_comparing_leaves_each_module_in_its_mode():
    a, b = small(drop_rate=0.5), small(drop_rate=0.5).train()
    b.load_state_dict(a.state_dict())
    b.norm.eval()
    assert P.first_difference(a, b, images_for(a)) is None
    assert not a.training and b.training and not b.norm.training


def test_module_and_function_have_names_of_their_own():
    import vit_steps.pretrained.comparing as module

    assert module.first_difference is P.first_difference
    assert module.named_outputs(small(), torch.rand(1, 3, 12, 12))["blocks.2"].ndim == 3


def test_comparing_leaves_no_hooks():
    a, b = small(), small()
    P.first_difference(a, b, images_for(a))
    with pytest.raises(ValueError, match="images: got shape"):
        P.first_difference(a, b, torch.randn(2, 3, 8, 8))
    assert not any(m._forward_hooks for m in [*a.modules(), *b.modules()])


def test_comparing_refuses():
    a = small()
    images = images_for(a)
    convolution = nn.Sequential(nn.Conv2d(3, 7, 3), nn.Flatten(2)).eval()
    with pytest.raises(ValueError, match="b: no module in it has a known name"):
        P.first_difference(a, convolution, images)
