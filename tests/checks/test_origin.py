"""Test that a library's own answer passes, and that the judge records its origin."""

import functools

import pytest
import torch
import torchvision
from torch import nn
from torch.nn import functional as F

import vit_check as check
from vit_check.engine.origin import origin_of
from vit_steps import MultiHeadAttention, patchify

OWN = "vit_steps.attention.MultiHeadAttention"
SPLIT = "vit_check.chapters.multi_head_attention.split_heads"


class Renamed(MultiHeadAttention):
    """A subclass that changes nothing."""


class Made(nn.Module):
    forward = MultiHeadAttention.forward


@pytest.mark.parametrize(
    "answer, origin",
    [
        (MultiHeadAttention, OWN),
        (MultiHeadAttention(4, 2), OWN),
        (MultiHeadAttention(4, 2).forward, OWN),
        (functools.partial(functools.partial(MultiHeadAttention), num_heads=2), OWN),
        (Renamed, OWN),
        (Made, OWN),
        (patchify, "vit_steps.patch_embedding.patchify"),
        (torch.no_grad()(patchify), "vit_steps.patch_embedding.patchify"),
        (check.split_heads.reference, f"{SPLIT}.split_heads"),
        (nn.MultiheadAttention, "torch.nn.modules.activation.MultiheadAttention"),
        (torchvision.ops.MLP, "torchvision.ops.misc.MLP"),
        (F.softmax, "torch.nn.functional.softmax"),
        (torch.softmax, "torch.softmax"),
        (torch.Tensor.softmax, "torch._C.softmax"),
    ],
)
def test_an_answer_from_a_library_is_named(answer, origin):
    assert origin_of(answer) == origin


class Own(nn.Module):
    def forward(self, x):
        return MultiHeadAttention(4, 2)(x)

    def method(self, x):
        return x


class Layers(nn.Sequential):
    def __init__(self, embed_dim):
        super().__init__(nn.Linear(embed_dim, embed_dim))


class Called(nn.Module):
    def __call__(self, x):
        return x


def wraps_itself(x):
    return x


wraps_itself.__wrapped__ = wraps_itself


@pytest.mark.parametrize(
    "answer",
    [
        Own,
        Own(),
        Own().method,
        Layers,
        Layers(3),
        nn.Sequential(Own()),
        Called,
        lambda x: patchify(x, 2),
        torch.no_grad()(lambda x: x),
        functools.lru_cache(lambda x: x),
        functools.partial(lambda x: x),
        wraps_itself,
        len,
        int,
        None,
        577,
        "text",
        torch.ones(2),
    ],
)
def test_a_students_own_answer_has_no_origin(answer):
    assert origin_of(answer) == ""


def test_the_judge_records_the_origin_and_lets_it_pass(asked):
    check.multi_head_attention(MultiHeadAttention)
    check.split_heads(lambda x, h: x.unflatten(2, (h, -1)).transpose(1, 2))
    check.answer("tokens_at_384", 577)
    told = [(record.passed, record.origin) for record in asked.records]
    assert told == [(True, OWN), (True, ""), (True, "")]
