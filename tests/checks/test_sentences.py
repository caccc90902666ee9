"""Test the sentences about misused checks and about unusual answers."""

import collections
import decimal
import functools
import math
import re
import warnings

import numpy as np
import pytest
import torch
from torch import nn

import vit_check as check
from vit_check import CheckFailed
from vit_check.chapters.questions import QUESTIONS
from vit_check.engine.comparing import difference, is_telling
from vit_check.engine.telling import related
from vit_check.engine.watching import listed
from vit_steps import (
    MultiHeadAttention,
    PatchEmbedding,
    patchify,
)
from vit_steps.attention import scaled_dot_product_attention


def said(call, *arguments, **named):
    with pytest.raises(CheckFailed) as failed:
        call(*arguments, **named)
    return str(failed.value)


def alone(error):
    """Return what a notebook shows of the error: a sentence without a traceback."""
    (line,) = error.value._render_traceback_()
    assert line == str(error.value)
    return line


def test_a_question_that_is_not_there_is_answered_with_the_nearest():
    with pytest.raises(ValueError) as error:
        check.answer("token_at_384", 577)
    assert "did you mean tokens_at_384" in alone(error)
    with pytest.raises(ValueError, match="expected a question of the exercises$"):
        check.answer("zzzzzz", 577)
    with pytest.raises(ValueError, match="the name comes first"):
        check.answer(577, "tokens_at_384")


def test_a_check_that_is_not_there_is_answered_with_the_nearest():
    with pytest.raises(AttributeError) as error:
        check.attention  # noqa: B018
    assert "multi_head_attention" in alone(error)
    with pytest.raises(AttributeError, match="it is a question: check.answer"):
        check.tokens_at_384  # noqa: B018
    assert not hasattr(check, "__wrapped__")


def test_a_hint_is_a_number():
    with pytest.raises(ValueError, match="hint: got True, expected 0, 1, 2 or 3"):
        check.answer("tokens_at_384", 577, hint=True)


def test_no_question_is_named_as_a_check():
    assert not set(QUESTIONS) & {*check.__all__, "hint"}


def test_several_answers_are_each_reported(capsys):
    text = said(
        check.answers,
        tokens_at_384=576,
        patches_of_a_phone_photo=None,
        shape_of_small_patches=(5, 24, 49),
        patchify=patchify,
    )
    first, second = text.splitlines()
    assert first.startswith("tokens_at_384: ")
    assert second.startswith("patches_of_a_phone_photo: is not given yet")
    assert capsys.readouterr().out == "shape_of_small_patches: right\npatchify: right\n"
    check.answers(tokens_at_384=577, shape_of_small_patches=(5, 24, 49))
    assert "Hint 2 of 3" in said(check.answers, tokens_at_384=576, hint=2)
    with pytest.raises(ValueError, match="did you mean tokens_at_384"):
        check.answers(tokens_at_38=576)
    with pytest.raises(ValueError, match="answers: got none; give each by its name"):
        check.answers()


@pytest.mark.parametrize(
    "value, words",
    [
        (print, "of type builtin_function_or_method, expected a number"),
        (nn.Linear, "of type type, expected a number"),
        (2j, "of type complex, expected a number"),
        (True, "is True, expected a number"),
        (float("nan"), "is nan, expected a number"),
        (torch.ones(2, device="meta"), "holds no numbers, expected a number"),
        (torch.nested.nested_tensor([torch.ones(2)]), "of type nested tensor"),
        (torch.eye(2).to_sparse(), "of type sparse tensor"),
        (torch.ones(2).to(torch.float8_e4m3fn), "of type float8_e4m3fn tensor"),
        (functools.reduce(lambda inner, _: [inner], range(3000), 0), "1 thing in a"),
        ("x" * 1000, "is 'xxxx"),
    ],
)
def test_a_sentence_has_no_holes(value, words):
    assert words in said(check.answer, "tokens_at_384", value)


def test_a_list_that_holds_itself_is_not_followed_for_ever():
    loop = [577]
    loop.append(loop)
    assert "2 things in a list" in said(check.answer, "tokens_at_384", loop)


def test_true_is_not_a_number():
    assert QUESTIONS["macs_of_larger_patches"].expected() == 1
    text = said(check.answer, "macs_of_larger_patches", True)
    assert "is True, expected a number" in text
    text = said(check.answer, "rollout_of_two_blocks", (True, 0.5, 0.125))
    assert "has True, expected a number" in text


def test_a_list_of_tensors_is_said_with_its_shapes():
    text = said(check.attention_rollout, lambda weights: weights[7])
    assert re.search(r"for weights \d × \(\d, \d, \d, \d\)", text)
    assert (
        listed({"q": [torch.ones(2), torch.ones(3)], "n": []}) == "q (2,), (3,), n=[]"
    )


def test_an_empty_place_is_named():
    shape = (5, None, 49)
    assert "nothing yet at place 2 of 3" in said(
        check.answer, "shape_of_small_patches", shape
    )
    words = said(check.answer, "bfloat16_moves", ("False", "False"))
    assert "'False' in quotes, expected True or False without" in words
    for one, words in ((print, "something of type builtin"), (1, "1"), ([2], "a list")):
        words = f"has {words}"
        assert words in said(check.answer, "bfloat16_moves", (True, one))


def test_numbers_may_be_of_other_libraries():
    right = QUESTIONS["bfloat16_moves"].expected()
    check.answer("bfloat16_moves", tuple(np.bool_(value) for value in right))
    shares = QUESTIONS["rollout_of_two_blocks"].expected().tolist()
    check.answer("rollout_of_two_blocks", [decimal.Decimal(str(n)) for n in shares])


def test_a_named_tuple_is_a_tuple():
    named = collections.namedtuple("Attended", "output weights")

    def attend(q, k, v):
        return named(*scaled_dot_product_attention(q, k, v))

    check.scaled_dot_product_attention(attend)


def test_odd_tensors_are_answered_with_a_sentence():
    def made_complex(images, patch_size):
        return patchify(images, patch_size).to(torch.complex64)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "torch.complex64, expected" in said(check.patchify, made_complex)
    with torch.device("meta"):
        layer = MultiHeadAttention(20, 4)
    assert "on the device meta" in said(check.multi_head_attention, layer)


def test_an_error_is_reported_with_its_input():
    def square(images, patch_size):
        B, C, H, _ = images.shape
        return patchify(images.reshape(B, C, H, H), patch_size)

    assert "patch_size)`, for images (2, " in said(check.patchify, square)

    class Raises(MultiHeadAttention):
        def forward(self, x):
            return super().forward(x @ x)

    words = said(check.multi_head_attention, Raises)
    assert "for x (1, 66, 20) and built with embed_dim=20, num_heads=4" in words


def test_a_class_is_not_a_function():
    class Patches:
        def __init__(self, images):
            self.images = images

    words = said(check.patchify, Patches)
    assert words.startswith("patchify: got the class Patches, expected patchify(")


def test_a_module_that_checks_its_own_sizes_is_reminded_of_them():
    words = said(check.patch_embedding, PatchEmbedding(32, 4, 3, 10))
    assert "unless this module, which is built already" in words


def test_booleans_are_never_reported_as_reordered():
    one = torch.tensor([[True, False], [True, True]])
    assert difference(one, one.flip(0)).mistake == "values"


@pytest.mark.parametrize(
    "got, exchanged",
    [
        ([torch.ones(2), torch.zeros(3)], True),
        ([torch.ones(2), torch.zeros(2)], False),
        ([torch.zeros(3)], False),
        ([torch.zeros(3), torch.zeros(3)], False),
        ([torch.full((2,), 1 + 1e-9), torch.zeros(3)], True),
        ([1, torch.zeros(3)], False),
    ],
)
def test_two_parts_that_are_exchanged_are_said_to_be(got, exchanged):
    finding = difference(got, [torch.zeros(3), torch.ones(2)])
    assert (finding.mistake == "exchanged") == exchanged
    assert difference([1, 2], [2, 1]).sentence.endswith("the output are exchanged")


def test_a_gradient_that_nothing_cuts_off_is_not_said_to_be_cut_off():
    def cross_entropy(logits, labels):
        shares = logits.softmax(dim=-1)[range(len(labels)), labels]
        right = -logits.log_softmax(dim=-1)[range(len(labels)), labels].mean()
        loss = -(shares + 1e-3).log().mean()
        return loss + (right - loss).detach()

    words = said(check.cross_entropy, cross_entropy)
    assert "a small number that is added changes it" in words


@pytest.mark.parametrize(
    "output, right, telling",
    [
        (torch.tensor([1.0, torch.nan]), torch.tensor([1.0, 2.0]), False),
        (torch.tensor([1.0, 3.0]), torch.tensor([1.0, 2.0]), True),
        (torch.zeros(3), torch.ones(3), False),
        (torch.ones(0), torch.ones(3), False),
        (torch.ones(()), torch.ones(3), True),
        (torch.ones(3, dtype=torch.bool), torch.ones(2, dtype=torch.bool), True),
        (True, False, False),
        (None, 1, False),
        ([], [1, 2], False),
        ([True, 3], [False, 3], False),
        ([True, 3], [False, 4], True),
        ({"a": True}, {"a": False}, False),
        ({"a": True}, {"b": True}, True),
        (float("nan"), 1.0, False),
        (3, 4, True),
        ("one", "two", True),
    ],
)
def test_an_output_of_many_mistakes_shows_none_of_them(output, right, telling):
    assert is_telling(output, right) == telling


@pytest.mark.parametrize(
    "change, said",
    [
        (lambda x: x + x[0], "it is what it should be +1 · bias"),
        (lambda x: x[:, [2, 0, 1]], "along axis 1 it holds what belongs at 2, 0, 1"),
        (lambda x: x * x[:, :1], "along axis 1 the numbers are right but for a factor"),
        (
            lambda x: x.index_fill(0, torch.tensor(1), 7.0),
            "[1:2, :]; each number of it",
        ),
        (lambda x: x + 1e-4 * x.cos(), "no number is off by more than 0.0"),
    ],
)
def test_wrong_numbers_are_related_to_the_right_ones(change, said):
    right = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    finding = difference(change(right), right)
    assert said in related(finding, change(right), right, {"bias": right[0]}).sentence


def test_where_a_number_came_from_is_said_in_the_names_of_axes():
    def backwards(images, patch_size):
        return patchify(images, patch_size).flip(1)

    words = said(check.patchify, backwards)
    place = (
        "the output holds at image 0, patch 0, number 0 what was at row 15, column 25"
    )
    assert f"{place}, expected that at row 0, column 0; along axis 1" in words


def test_an_error_for_other_numbers_is_said():
    first = {}

    def mean_pool(tokens):
        number = tokens[0, 0, 0].item()
        if first.setdefault(tokens.shape, number) != number:
            raise ValueError("never seen")
        return tokens[:, 1:].mean(dim=1)

    words = said(check.mean_pool, mean_pool)
    assert "is right for one input, and for another it stopped with ValueError" in words


class InOneVector(nn.Module):
    """An MLP with all its numbers in one parameter, which is unusual."""

    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.shapes = (hidden_dim, embed_dim), (hidden_dim,), (embed_dim, hidden_dim)
        self.shapes += ((embed_dim,),)
        many = 2 * embed_dim * hidden_dim + hidden_dim + embed_dim
        self.numbers = nn.Parameter(0.02 * torch.randn(many))

    def forward(self, x):
        pieces = self.numbers.split([math.prod(shape) for shape in self.shapes])
        w1, b1, w2, b2 = (p.view(s) for p, s in zip(pieces, self.shapes, strict=True))
        return nn.functional.gelu(x @ w1.T + b1) @ w2.T + b2


class BiasInTwoPieces(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.sizes = embed_dim, num_heads
        self.layer = MultiHeadAttention(*self.sizes)
        self.layer.qkv = nn.Linear(embed_dim, 3 * embed_dim, bias=False)
        self.most = nn.Parameter(torch.zeros(3 * embed_dim - 1))
        self.last = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        bias = torch.cat([self.most, self.last])
        hook = self.layer.qkv.register_forward_hook(
            lambda layer, given, out: out + bias
        )
        try:
            return self.layer(x)[0]
        finally:
            hook.remove()


@pytest.mark.parametrize(
    "call, answer, theirs, ours",
    [
        (check.mlp, InOneVector, "numbers (136,)", "fc1.weight (10, 6), fc1.bias"),
        (
            check.multi_head_attention,
            BiasInTwoPieces,
            "most (59,), last (1,)",
            "qkv.weight (60, 20), qkv.bias",
        ),
    ],
)
def test_parameters_that_cannot_be_read_are_not_said_to_be_wrong(
    call, answer, theirs, ours
):
    words = said(call, answer)
    assert f"has parameters that this check cannot read ({theirs}" in words
    assert f"it can read {ours}" in words
