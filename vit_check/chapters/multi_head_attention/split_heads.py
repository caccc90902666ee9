"""The check of ``split_heads``, chapter 5."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake


def split(x: Tensor, num_heads: int) -> Tensor:
    B, T, D = x.shape
    return x.reshape(B, T, num_heads, D // num_heads).transpose(1, 2)


def split_inputs(generator: Generator) -> Iterator[Case]:
    for B, T, D, h, dtype in (
        (2, 5, 12, 3, torch.float32),
        (3, 4, 14, 7, torch.float64),
        (2, 3, 8, 2, torch.bfloat16),
        (2, 6, 8, 2, torch.float32),
    ):
        yield [torch.randn(B, T, D, generator=generator).to(dtype), h]


split_heads = FunctionCheck(
    "split_heads",
    "split_heads(x, num_heads) -> (B, h, T, d)",
    split,
    split_inputs,
    [
        Mistake(
            "no transpose",
            "the heads come after the tokens, (B, T, h, d): swap these two axes, so "
            "that each head has all its tokens together",
            lambda x, h: x.unflatten(2, (h, -1)),
        ),
        Mistake(
            "view instead of transpose",
            "the tokens are cut up: a view to (B, h, T, d) has the right shape, but a "
            "head then holds pieces of different tokens; split D first, then transpose",
            lambda x, h: x.reshape(len(x), h, x.shape[1], -1),
        ),
        Mistake(
            "d before h",
            "D is split as (d, h): head 0 gets every h-th number, but it should get "
            "the first d",
            lambda x, h: x.unflatten(2, (-1, h)).permute(0, 3, 1, 2),
        ),
        Mistake(
            "tokens behind d",
            "the last two axes are (d, T), expected (T, d)",
            lambda x, h: split(x, h).transpose(2, 3),
        ),
        Mistake(
            "tokens split",
            "T is split among the heads instead of D",
            lambda x, h: x.unflatten(1, (h, -1)),
        ),
        Mistake(
            "heads in the batch",
            "the heads are merged into the batch, (B·h, T, d), expected (B, h, T, d)",
            lambda x, h: split(x, h).flatten(0, 1),
        ),
        Mistake(
            "heads first",
            "the heads come before the batch, (h, B, T, d), expected (B, h, T, d)",
            lambda x, h: split(x, h).transpose(0, 1),
        ),
        Mistake(
            "d is h",
            "D is cut into pieces of h numbers; it should be cut into h pieces, of D/h "
            "numbers each",
            lambda x, h: x.unflatten(2, (-1, h)).transpose(1, 2),
        ),
        Mistake(
            "heads reversed",
            "the heads come in reverse order",
            lambda x, h: split(x, h).flip(1),
        ),
        Mistake(
            "first head alone",
            "only the first head is returned, (B, T, d), expected all, (B, h, T, d)",
            lambda x, h: split(x, h)[:, 0],
        ),
        Mistake(
            "batch and tokens swapped",
            "the axes come out as (T, h, B, d), expected (B, h, T, d): only h and T "
            "should change places",
            lambda x, h: x.unflatten(2, (h, -1)).permute(1, 2, 0, 3),
        ),
        Mistake(
            "a tuple of heads",
            "the heads are returned one by one, expected one tensor (B, h, T, d)",
            lambda x, h: x.chunk(h, dim=2),
        ),
    ],
    hints=(
        "Follow one number: token 1, position d of D. Which head should it be in, and "
        "at which token?",
        "First split the last axis, D, into h and d. Only then move the heads in front "
        "of the tokens.",
        "x.reshape(B, T, num_heads, D // num_heads), then .transpose(1, 2).",
    ),
    shape="(B, h, T, d)",
    batched=(0,),
)
