"""Checks of chapters 4 and 5: attention, with one head and with several."""

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor

from vit_steps.attention import MultiHeadAttention
from vit_steps.attention import scaled_dot_product_attention as right_attention
from vit_steps.check.checking import Case
from vit_steps.check.function_check import FunctionCheck
from vit_steps.check.module_check import ModuleCheck, run_module
from vit_steps.check.reading import Part, Weights, attention_readings, linears
from vit_steps.check.verdict import Finding, Mistake


def _attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    scale: float | None = None,
    axis: int = -1,
    masked: str = "rightly",
) -> tuple[Tensor, Tensor]:
    """Attention with a place for each usual mistake."""
    scale = q.shape[-1] ** 0.5 if scale is None else scale
    scores = q @ k.transpose(-2, -1) / scale  # (..., T_q, T_k)
    if mask is not None and masked in ("rightly", "inverted", "nan", "level"):
        keep = ~mask if masked == "inverted" else mask
        lowest = -1e9 if masked == "level" else -math.inf
        scores = scores.masked_fill(~keep, lowest)
    if mask is not None and masked == "multiplied":
        scores = scores * mask
    weights = scores.softmax(dim=axis)
    if mask is not None and masked == "late":
        weights = weights * mask
    if masked != "nan":
        weights = weights.nan_to_num(0.0)
    return weights @ v, weights


def _scaled_by(size: str, q: Tensor, k: Tensor, v: Tensor, *mask: Any) -> Any:
    scales = {
        "nothing": 1.0,
        "d": float(q.shape[-1]),
        "keys": k.shape[-2] ** 0.5,
        "inverse": q.shape[-1] ** -0.5,
    }
    return _attend(q, k, v, mask[0] if mask else None, scales[size])


def _scaled_late(q: Tensor, k: Tensor, v: Tensor, *mask: Any) -> Any:
    _, weights = _attend(q, k, v, mask[0] if mask else None, 1.0)
    weights = weights / q.shape[-1] ** 0.5
    return weights @ v, weights


def _scores_for_weights(q: Tensor, k: Tensor, v: Tensor, *mask: Any) -> Any:
    output, _ = right_attention(q, k, v, *mask)
    return output, q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5


def _keys_reshaped(q: Tensor, k: Tensor, v: Tensor, *mask: Any) -> Any:
    turned = k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])
    return _attend(q, turned.transpose(-2, -1), v, *mask)


def _attention_inputs(generator: Generator, masks: bool) -> Iterator[Case]:
    def normal(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)

    def masks_of(*shape: int) -> list[Tensor]:
        if not masks:
            return []
        mask = torch.rand(shape, generator=generator) < 0.6
        mask[..., 0, :] = False
        mask[..., 1, :] = True
        return [mask]

    for leading, queries, keys, d, values, dtype in (
        ((2, 3), 7, 5, 6, 4, torch.float32),
        ((3,), 4, 4, 5, 5, torch.float64),
        ((2,), 3, 3, 3, 3, torch.float32),
        ((2,), 5, 6, 8, 8, torch.bfloat16),
    ):
        q = normal(*leading, queries, d, dtype=dtype)
        k = normal(*leading, keys, d, dtype=dtype)
        v = normal(*leading, keys, values, dtype=dtype)
        yield [q, k, v, *masks_of(*leading, queries, keys)]


_OF_ATTENTION = [
    Mistake(
        "no scale",
        "the scores are not divided by √d before the softmax",
        partial(_scaled_by, "nothing"),
    ),
    Mistake(
        "scale by d",
        "the scores are divided by d; their width is √d, so divide by that",
        partial(_scaled_by, "d"),
    ),
    Mistake(
        "scale by tokens",
        "the scores are divided by the root of the number of keys; what makes them "
        "wide is d, the length of the vectors that are multiplied",
        partial(_scaled_by, "keys"),
    ),
    Mistake(
        "scale inverted",
        "the scores are multiplied by √d instead of divided",
        partial(_scaled_by, "inverse"),
    ),
    Mistake(
        "scale late",
        "the division by √d comes after the softmax, where the weights of a query no "
        "longer sum to 1",
        _scaled_late,
    ),
    Mistake(
        "softmax over queries",
        "the softmax runs over the queries: each column of the weights sums to 1, and "
        "each row should",
        partial(_attend, axis=-2),
    ),
    Mistake(
        "no softmax",
        "there is no softmax: the scores themselves weigh the values",
        lambda q, k, v, *mask: (
            (q @ k.mT / q.shape[-1] ** 0.5) @ v,
            q @ k.mT / q.shape[-1] ** 0.5,
        ),
    ),
    Mistake(
        "q and k swapped",
        "q and k are swapped: the keys ask and the queries answer",
        lambda q, k, v, *mask: _attend(k, q, v, *mask),
    ),
    Mistake(
        "k and v swapped",
        "k and v are swapped: the queries are compared with the values",
        lambda q, k, v, *mask: _attend(q, v, k, *mask),
    ),
    Mistake(
        "weights times keys",
        "the weights gather keys; what they are to gather is the values",
        lambda q, k, v, *mask: _attend(q, k, k, *mask),
    ),
    Mistake(
        "keys reshaped",
        "the keys are reshaped where they should be transposed: the shape fits, and "
        "the scores mix numbers of different keys",
        _keys_reshaped,
    ),
    Mistake(
        "scores for weights",
        "the second thing returned is the scores, expected the weights, after the "
        "softmax",
        _scores_for_weights,
    ),
    Mistake(
        "weights first",
        "the weights are returned first, expected the output first",
        lambda *qkv: right_attention(*qkv)[::-1],
    ),
    Mistake(
        "output alone",
        "only the output is returned, expected (output, weights)",
        lambda *qkv: right_attention(*qkv)[0],
    ),
]

scaled_dot_product_attention = FunctionCheck(
    "scaled_dot_product_attention",
    "scaled_dot_product_attention(q, k, v) -> (output, weights)",
    right_attention,
    partial(_attention_inputs, masks=False),
    _OF_ATTENTION,
    hints=(
        "Write the shape of q, k, v and of the scores beside each line, then look at "
        "which axis the softmax takes.",
        "Scores are q times k transposed in its last two axes, divided by the root of "
        "q.shape[-1]; each query's row of weights sums to 1.",
        "scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), then "
        "scores.softmax(dim=-1), then weights @ v.",
    ),
    shape="(..., T_q, d_v)",
    batched=(0, 1, 2),
)

masked_attention = FunctionCheck(
    "masked_attention",
    "masked_attention(q, k, v, mask) -> (output, weights)",
    right_attention,
    partial(_attention_inputs, masks=True),
    [
        Mistake(
            "mask inverted",
            "the mask is the wrong way round: True says that a key may be attended",
            partial(_attend, masked="inverted"),
        ),
        Mistake(
            "mask ignored",
            "the mask has no effect",
            partial(_attend, masked="not"),
        ),
        Mistake(
            "mask multiplied",
            "the scores are multiplied by the mask: a score of 0 still gets weight, "
            "since e⁰ is 1; minus infinity gets none",
            partial(_attend, masked="multiplied"),
        ),
        Mistake(
            "mask after softmax",
            "the mask comes after the softmax, and the weights that are left no longer "
            "sum to 1",
            partial(_attend, masked="late"),
        ),
        Mistake(
            "row of NaN",
            "a query that may attend nothing gets NaN: its row is all minus infinity; "
            "give it zeros",
            partial(_attend, masked="nan"),
        ),
        Mistake(
            "row left level",
            "a query that may attend nothing attends everything alike: all its scores "
            "are the same large negative number; give it zeros",
            partial(_attend, masked="level"),
        ),
        *_OF_ATTENTION,
    ],
    hints=(
        "A key that is masked should get a weight of exactly 0, and the others should "
        "still sum to 1. Which score becomes a weight of 0?",
        "Before the softmax, put minus infinity where the mask is False. Then look at "
        "a row that is False throughout.",
        "scores.masked_fill(~mask, -math.inf), the softmax, and then "
        "weights.masked_fill(~mask, 0.0), which also clears a row of NaN.",
    ),
    shape="(..., T_q, d_v)",
    batched=(0, 1, 2, 3),
)


def _split(x: Tensor, num_heads: int) -> Tensor:
    B, T, D = x.shape
    return x.reshape(B, T, num_heads, D // num_heads).transpose(1, 2)


def _merge(x: Tensor) -> Tensor:
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
        yield [_split(x, h)]


merge_heads = FunctionCheck(
    "merge_heads",
    "merge_heads(x) -> (B, T, D)",
    _merge,
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
            "not joined",
            "the heads are back beside d but not joined, (B, T, h, d), expected "
            "(B, T, D)",
            lambda x: x.transpose(1, 2),
        ),
        Mistake(
            "T and D swapped",
            "the output is (B, D, T), expected (B, T, D)",
            lambda x: _merge(x).mT,
        ),
        Mistake(
            "heads reversed",
            "the heads come in reverse order",
            lambda x: _merge(x.flip(1)),
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


def _several_heads(
    weights: Weights,
    sizes: Mapping[str, Any],
    x: Tensor,
    scale: str = "d",
    axis: int = -1,
    merge: str = "rightly",
    project: bool = True,
    swap: bool = False,
) -> Any:
    """Multi-head attention with a place for each usual mistake."""
    h = sizes["num_heads"]
    B, T, D = x.shape
    qkv = x @ weights["qkv.weight"].T + weights["qkv.bias"]
    q, k, v = (_split(part, h) for part in qkv.chunk(3, dim=-1))
    if merge == "view":
        q, k, v = (part.reshape(B, h, T, D // h) for part in qkv.chunk(3, dim=-1))
    if merge == "among heads":
        q, k, v = (part.transpose(1, 2) for part in (q, k, v))
    factor = {"d": D // h, "D": D, "1": 1, "d²": (D // h) ** 2, "T": T}[scale] ** 0.5
    found, _ = _attend(q, k, v, scale=factor, axis=axis)
    if merge in ("rightly", "view"):
        joined = _merge(found)
    elif merge == "no transpose":
        joined = found.reshape(B, T, D)
    elif merge == "averaged":
        joined = found.mean(dim=1).repeat(1, 1, h)
    else:
        joined = found.reshape(B, T, D)
    if not project:
        return joined
    return joined @ weights["proj.weight"].T + weights["proj.bias"]


def _attention_lacks(parts: list[Part], sizes: Mapping[str, Any]) -> Finding | None:
    D = sizes["embed_dim"]
    maps = linears(parts, D)
    numbers = sum(m.weight.numel() for m in maps)
    if numbers == 3 * D * D:
        return Finding(
            "no projection",
            "has matrices for q, k and v but none behind the heads: the output "
            "projection, D×D, is missing",
        )
    if numbers > 4 * D * D and all(m.outs == D for m in maps):
        return Finding(
            "too many matrices",
            f"has {len(maps)} matrices of D×D, expected 4: each head has its own d "
            "of the D rows, not a matrix of its own",
        )
    if not maps:
        return Finding(
            "no matrices",
            "has no matrix that takes D numbers: q, k, v and the projection are "
            "learned, so make them in __init__",
        )
    return None


def _output_of_pair(output: Any) -> Any:
    """The output, where weights (or None) come with it."""
    return output[0] if isinstance(output, tuple) and len(output) == 2 else output


def _right_heads(weights: Weights, sizes: Mapping[str, Any], x: Tensor) -> Tensor:
    layer = MultiHeadAttention(sizes["embed_dim"], sizes["num_heads"])
    return run_module(layer, weights, x)[0]


def _with_all_weights(
    x: Tensor,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    num_heads: int,
    variant: Any = _several_heads,
) -> Tensor:
    weights = {
        "qkv.weight": qkv_weight,
        "qkv.bias": qkv_bias,
        "proj.weight": proj_weight,
        "proj.bias": proj_bias,
    }
    return variant(weights, {"num_heads": num_heads}, x)


_OF_HEADS = [
    Mistake(
        "no scale",
        "the scores are not divided by √d before the softmax",
        partial(_several_heads, scale="1"),
    ),
    Mistake(
        "scale by D",
        "the scores are divided by √D, the width of the model; the vectors that are "
        "multiplied have the head's width, d = D/h",
        partial(_several_heads, scale="D"),
    ),
    Mistake(
        "scale by d",
        "the scores are divided by d; their width is √d, so divide by that",
        partial(_several_heads, scale="d²"),
    ),
    Mistake(
        "scale by tokens",
        "the scores are divided by √T; what makes them wide is d, the length of the "
        "vectors that are multiplied",
        partial(_several_heads, scale="T"),
    ),
    Mistake(
        "softmax over queries",
        "the softmax runs over the queries: each column of the weights sums to 1, and "
        "each row should",
        partial(_several_heads, axis=-2),
    ),
    Mistake(
        "heads joined by view",
        "your heads are joined without moving them back beside d: tokens mix",
        partial(_several_heads, merge="no transpose"),
    ),
    Mistake(
        "heads split by view",
        "the heads are split with a view to (B, h, T, d): a head then holds pieces of "
        "different tokens; split D into (h, d) first, then swap h and T",
        partial(_several_heads, merge="view"),
    ),
    Mistake(
        "attention among heads",
        "the heads of one token attend to each other: h and T are not swapped before "
        "q and k are multiplied",
        partial(_several_heads, merge="among heads"),
    ),
    Mistake(
        "heads averaged",
        "the heads are averaged before the projection; put them side by side",
        partial(_several_heads, merge="averaged"),
    ),
    Mistake(
        "projection unused",
        "the output projection is there, but what the heads found does not go "
        "through it",
        partial(_several_heads, project=False),
    ),
    Mistake(
        "one head",
        "num_heads has no effect: all of D is one head",
        lambda weights, sizes, x: _several_heads(weights, {"num_heads": 1}, x),
    ),
    Mistake(
        "residual inside",
        "x is added inside: the residual belongs to the block, not to the attention",
        lambda weights, sizes, x: x + _several_heads(weights, sizes, x),
    ),
]


def _heads_inputs(generator: Generator, sizes: Mapping[str, Any]) -> list[Tensor]:
    return [
        torch.randn(2, 5, sizes["embed_dim"], generator=generator, dtype=torch.float64)
    ]


def _heads_function_inputs(generator: Generator) -> Iterator[Case]:
    for B, T, D, h, dtype in (
        (2, 5, 12, 3, torch.float64),
        (3, 7, 8, 2, torch.float32),
    ):
        shapes = ((B, T, D), (3 * D, D), (3 * D,), (D, D), (D,))
        x, *weights = (
            torch.randn(shape, generator=generator, dtype=torch.float64)
            for shape in shapes
        )
        weights = [w / w.shape[-1] ** 0.5 if w.ndim == 2 else 0.5 * w for w in weights]
        yield [t.to(dtype) for t in (x, *weights)] + [h]


_HINTS_OF_HEADS = (
    "Write the shape behind every line. Where does T stand when q and k are "
    "multiplied, and where when the heads are joined?",
    "q, k and v are (B, h, T, d) before the scores; what comes out is (B, h, T, d) "
    "too, and becomes (B, T, D) by a transpose, then a reshape; last the projection.",
    "qkv = self.qkv(x).reshape(B, T, 3, h, d).permute(2, 0, 3, 1, 4); attention with "
    "√d; output.transpose(1, 2).reshape(B, T, D); self.proj(output).",
)

multi_head_attention = ModuleCheck(
    "multi_head_attention",
    "class MultiHeadAttention(embed_dim, num_heads), called with x (B, T, D)",
    sizes={"embed_dim": 12, "num_heads": 3},
    inputs=_heads_inputs,
    reading=lambda parts, sizes: attention_readings(
        linears(parts, sizes["embed_dim"]), sizes["embed_dim"], sizes["num_heads"]
    ),
    reference=_right_heads,
    mistakes=_OF_HEADS,
    hints=_HINTS_OF_HEADS,
    shape="(B, T, D)",
    lacking=_attention_lacks,
    function=FunctionCheck(
        "multi_head_attention",
        "multi_head_attention(x, qkv_weight, qkv_bias, proj_weight, proj_bias, "
        "num_heads) -> (B, T, D)",
        _with_all_weights,
        _heads_function_inputs,
        [
            Mistake(m.name, m.sentence, partial(_with_all_weights, variant=m.wrong))
            for m in _OF_HEADS
        ],
        _HINTS_OF_HEADS,
        shape="(B, T, D)",
        batched=(0,),
    ),
    normalise=_output_of_pair,
)
