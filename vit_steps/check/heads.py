"""Checks of chapter 5: tokens split into heads, and heads merged."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from vit_steps.check.checking import Case
from vit_steps.check.function_check import FunctionCheck
from vit_steps.check.verdict import Mistake


def _split(x: Tensor, num_heads: int) -> Tensor:
    B, T, D = x.shape
    return x.reshape(B, T, num_heads, D // num_heads).transpose(1, 2)


def merged(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


def _split_inputs(generator: Generator) -> Iterator[Case]:
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
    _split,
    _split_inputs,
    [
        Mistake(
            "no transpose",
            "the heads stand behind the tokens, (B, T, h, d): swap these two axes, so "
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
            "D is split as (d, h): head 0 gets every h-th number, where it should get "
            "the first d",
            lambda x, h: x.unflatten(2, (-1, h)).permute(0, 3, 1, 2),
        ),
        Mistake(
            "tokens behind d",
            "the last two axes are (d, T), expected (T, d)",
            lambda x, h: _split(x, h).transpose(2, 3),
        ),
        Mistake(
            "tokens split",
            "T is split among the heads instead of D",
            lambda x, h: x.unflatten(1, (h, -1)),
        ),
        Mistake(
            "heads in the batch",
            "the heads are merged into the batch, (B·h, T, d), expected (B, h, T, d)",
            lambda x, h: _split(x, h).flatten(0, 1),
        ),
        Mistake(
            "heads first",
            "the heads stand before the batch, (h, B, T, d), expected (B, h, T, d)",
            lambda x, h: _split(x, h).transpose(0, 1),
        ),
        Mistake(
            "d is h",
            "D is cut into pieces of h numbers; it is to be cut into h pieces, of D/h "
            "numbers each",
            lambda x, h: x.unflatten(2, (-1, h)).transpose(1, 2),
        ),
        Mistake(
            "heads reversed",
            "the heads come in reverse order",
            lambda x, h: _split(x, h).flip(1),
        ),
        Mistake(
            "first head alone",
            "only the first head is returned, (B, T, d), expected all, (B, h, T, d)",
            lambda x, h: _split(x, h)[:, 0],
        ),
        Mistake(
            "batch and tokens swapped",
            "the tokens stand before the heads and the batch behind them: it is h and "
            "T that are to change places",
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


def _merge_inputs(generator: Generator) -> Iterator[Case]:
    for x, h in _split_inputs(generator):
        yield [_split(x, h).contiguous()]


merge_heads = FunctionCheck(
    "merge_heads",
    "merge_heads(x) -> (B, T, D)",
    merged,
    _merge_inputs,
    [
        Mistake(
            "view instead of transpose",
            "your heads are joined without moving them back beside d: tokens mix",
            lambda x: x.reshape(len(x), x.shape[2], -1),
        ),
        Mistake(
            "averaged",
            "the heads are averaged, (B, T, d): put them side by side, (B, T, h·d)",
            lambda x: x.mean(dim=1),
        ),
        Mistake(
            "summed",
            "the heads are summed, (B, T, d): put them side by side, (B, T, h·d)",
            lambda x: x.sum(dim=1),
        ),
        Mistake(
            "d before h",
            "the heads are interleaved: number 0 of all heads comes first; each head's "
            "d numbers are to stay together",
            lambda x: x.permute(0, 2, 3, 1).flatten(2),
        ),
        Mistake(
            "heads along the tokens",
            "the heads are put one below the other, (B, h·T, d), expected side by side",
            lambda x: x.flatten(1, 2),
        ),
        Mistake(
            "largest taken",
            "the largest of the heads is taken, (B, T, d): put them side by side, "
            "(B, T, h·d)",
            lambda x: x.amax(dim=1),
        ),
        Mistake(
            "not joined",
            "the heads are back beside d but not joined, (B, T, h, d), expected "
            "(B, T, D)",
            lambda x: x.transpose(1, 2),
        ),
        Mistake(
            "T and D swapped",
            "the output is (B, D, T), expected (B, T, D)",
            lambda x: merged(x).mT,
        ),
        Mistake(
            "heads reversed",
            "the heads come in reverse order",
            lambda x: merged(x.flip(1)),
        ),
        Mistake(
            "batch and tokens mixed",
            "tokens of different samples are mixed: swap axes 1 and 2, not the batch",
            lambda x: x.permute(2, 0, 1, 3).reshape(len(x), x.shape[2], -1),
        ),
        Mistake(
            "first head alone",
            "only the first head is returned",
            lambda x: x[:, 0],
        ),
    ],
    hints=(
        "It is split_heads backwards: merge_heads(split_heads(x, h)) should be x.",
        "Heads and d must stand side by side before they can become one axis.",
        "x.transpose(1, 2), then .reshape(B, T, h * d).",
    ),
    shape="(B, T, D)",
    batched=(0,),
)


def _reordered(rows: Tensor, num_heads: int) -> Tensor:
    return rows.unflatten(0, (num_heads, 3, -1)).transpose(0, 1).flatten(0, 2)


def _reorder_inputs(generator: Generator) -> Iterator[Case]:
    for D, h, dtype in ((20, 4, torch.float32), (6, 2, torch.float64)):
        yield [torch.randn(3 * D, D, generator=generator).to(dtype), h]
        yield [torch.randn(3 * D, generator=generator).to(dtype), h]


reorder_qkv = FunctionCheck(
    "reorder_qkv",
    "reorder_qkv(rows, num_heads) -> the same rows, those of q first, then k, then v",
    _reordered,
    _reorder_inputs,
    [
        Mistake(
            "left as they were",
            "the rows are in the order in which they came: a reshape there and back "
            "moves nothing",
            lambda rows, h: rows.clone(),
        ),
        Mistake(
            "the other way",
            "the rows are moved the other way, as if they came as (3, h, d) and were "
            "to be (h, 3, d)",
            lambda rows, h: rows.unflatten(0, (3, h, -1)).transpose(0, 1).flatten(0, 2),
        ),
        Mistake(
            "d before h",
            "within q, k and v the rows of the heads are mixed: each head's d rows are "
            "to stay together",
            lambda rows, h: rows.unflatten(0, (h, 3, -1)).movedim(0, 2).flatten(0, 2),
        ),
        Mistake(
            "read as (h, d, 3)",
            "the rows are read as (h, d, 3), one of q, one of k, one of v in turn; "
            "they come as (h, 3, d)",
            lambda rows, h: rows.unflatten(0, (h, -1, 3)).movedim(2, 0).flatten(0, 2),
        ),
        Mistake(
            "d first",
            "number 0 of all heads comes first: d is moved to the front, and it is the "
            "3 that belongs there",
            lambda rows, h: rows.unflatten(0, (h, 3, -1)).movedim(2, 0).flatten(0, 2),
        ),
        Mistake(
            "values first",
            "v comes first and q last",
            lambda rows, h: torch.cat(_reordered(rows, h).chunk(3)[::-1]),
        ),
        Mistake(
            "heads reversed",
            "the heads come in reverse order",
            lambda rows, h: (
                rows.unflatten(0, (h, 3, -1)).flip(0).transpose(0, 1).flatten(0, 2)
            ),
        ),
        Mistake(
            "q alone",
            "only the rows of q are returned",
            lambda rows, h: _reordered(rows, h).chunk(3)[0],
        ),
        Mistake(
            "transposed",
            "the weight is transposed as well: rows stay rows",
            lambda rows, h: _reordered(rows, h).mT,
        ),
        Mistake(
            "not joined",
            "the rows are in order but still cut up, (3, h, d, D), expected (3·D, D)",
            lambda rows, h: rows.unflatten(0, (h, 3, -1)).transpose(0, 1),
        ),
        Mistake(
            "three tensors",
            "q, k and v are returned apart, expected one tensor of all their rows",
            lambda rows, h: _reordered(rows, h).chunk(3),
        ),
    ],
    hints=(
        "Write a label on each row, such as k1.0 for number 0 of head 1's key, for two "
        "heads of two numbers. In which order do they come, in which are they to be?",
        "Cut the row axis into (h, 3, d), bring the 3 to the front, and join the three "
        "axes again. The columns take no part.",
        "rows.unflatten(0, (num_heads, 3, -1)), then .transpose(0, 1), then "
        ".flatten(0, 2).",
    ),
    shape="(3·D, ...)",
)
