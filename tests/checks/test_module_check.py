"""Test the checks of modules with unusual modules."""

import functools
import itertools

import pytest
import torch
from torch import nn

import vit_check as check
from tests.checks.answers.class_token_and_position.class_token import InFront
from tests.checks.answers.encoder_block.mlp import mlp_with_weights
from tests.checks.answers.multi_head_attention.multi_head_attention import as_a_function
from vit_check import CheckFailed
from vit_check.engine.comparing import same
from vit_check.engine.modules import AT_ONCE, _put_out, _put_out_by
from vit_steps import (
    MLP,
    EncoderBlock,
    MultiHeadAttention,
    PatchEmbedding,
    VisionTransformer,
    ViTConfig,
    ViTEmbedding,
    patchify,
)


class SwitchesReturnNothing(InFront):
    def train(self, mode=True):
        self.training = mode

    def eval(self):
        self.train(False)


class Workshop:
    def make(self, dim):
        return InFront(dim)

    def join(self, patches, cls_token):
        return torch.hstack([cls_token.expand(len(patches), -1, -1), patches])


def handed_on(function):
    return lambda *arguments, **named: function(*arguments, **named)


@pytest.mark.parametrize(
    "answer",
    [
        SwitchesReturnNothing,
        Workshop().make,
        Workshop().join,
        functools.partial(InFront, embed_dim=192),
        functools.partial(Workshop().join),
        handed_on(InFront),
        handed_on(Workshop().join),
        nn.Sequential(InFront(192)),
    ],
)
def test_unusual_right_answers_pass(answer):
    check.class_token(answer)


class Lazy(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.up, self.down = nn.LazyLinear(hidden_dim), nn.LazyLinear(embed_dim)
        self.both = [self.up, self.down]

    def forward(self, x):
        return self.both[1](nn.functional.gelu(self.both[0](x)))


@pytest.mark.parametrize(
    "answer", [Lazy, functools.partial(Lazy), lambda **sizes: Lazy(**sizes)]
)
def test_layers_may_take_their_sizes_late_and_sizes_their_names(answer):
    check.mlp(answer)


class SparseTable(nn.Module):
    """A table whose gradient holds only the rows that were read."""

    def __init__(self, num_tokens, embed_dim):
        super().__init__()
        self.table = nn.Embedding(num_tokens, embed_dim, sparse=True)
        nn.init.normal_(self.table.weight, std=0.02)

    def forward(self, x):
        return x + self.table(torch.arange(x.shape[1]))


def test_gradients_may_be_sparse(asked):
    check.position_embedding(SparseTable)
    assert [record.passed for record in asked.records] == [True]


def test_what_is_no_module_or_cannot_be_copied_is_refused():
    not_copied = InFront(192)
    not_copied.lines = (line for line in ())
    for answer, mistake in (
        (not_copied, "no copy"),
        (nn.Linear, "raises"),
        (dict, "no module"),
    ):
        with pytest.raises(CheckFailed) as failed:
            check.class_token(answer)
        assert failed.value.mistake == mistake


def test_the_sentence_about_a_module_names_its_sizes():
    check.class_token(InFront(6), embed_dim=6)
    with pytest.raises(CheckFailed, match="unless .* was built with embed_dim=192"):
        check.class_token(InFront(6))


def test_dropout_is_right_only_where_its_rate_can_be_chosen():
    class HandsOn(EncoderBlock):
        def __init__(self, *sizes, **named):
            super().__init__(*sizes, **{"drop_rate": 0.1, **named})

    check.encoder_block(HandsOn)
    check.encoder_block(functools.partial(EncoderBlock, drop_rate=0.1))
    built = EncoderBlock(10, 2, 2.75, drop_rate=0.1, attn_drop_rate=0.2)
    check.encoder_block(built)
    assert built.mlp.drop.p == 0.1
    with pytest.raises(CheckFailed, match=r"mode \(1.p = 0.1\), where the task"):
        check.mlp(lambda D, M: nn.Sequential(MLP(D, M), nn.Dropout(0.1)))


def test_the_reference_draws_nothing_from_the_seed():
    before = torch.get_rng_state()
    check.class_token(InFront)
    check.embed_images(ViTEmbedding)
    check.multi_head_attention(MultiHeadAttention)
    check.multi_head_attention(as_a_function)
    check.mlp(mlp_with_weights)
    assert torch.equal(torch.get_rng_state(), before)


def test_gradients_that_are_off_change_no_verdict():
    with torch.no_grad():
        check.class_token(InFront)
        check.patchify(patchify)


def test_a_default_device_changes_no_verdict():
    torch.set_default_device("meta")
    try:
        check.class_token(InFront)
        check.patchify(patchify)
    finally:
        torch.set_default_device("cpu")


@pytest.mark.parametrize(
    "name, answer",
    [
        ("multi_head_attention", MultiHeadAttention),
        ("encoder_block", EncoderBlock),
        ("mlp", MLP),
        ("patch_embedding", PatchEmbedding),
        ("embed_images", ViTEmbedding),
        ("vision_transformer", lambda **sizes: VisionTransformer(ViTConfig(**sizes))),
    ],
)
def test_many_readings_are_computed_at_once_as_one_by_one(name, answer):
    its_check = getattr(check, name)
    case = next(iter(its_check.cases(torch.Generator().manual_seed(0), {})))
    sizes, inputs, *_ = case
    parts = its_check._parts(case, its_check.observe(answer, case))
    readings = list(itertools.islice(its_check.reading(parts, sizes), 3))
    readings = (AT_ONCE * readings)[:AT_ONCE]
    for function in (its_check.reference, *(m.wrong for m in its_check.mistakes)):
        together = _put_out(function, readings, sizes, *inputs)
        for weights, output in zip(readings[:3], together, strict=False):
            assert same(output, _put_out_by(function, weights, sizes, *inputs))
