"""Check of chapter 5: the whole layer of several heads."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn import functional as F

from vit_check.chapters.multi_head_attention.merge_heads import merged
from vit_check.chapters.scaled_dot_product_attention.scaled_dot_product_attention import (  # noqa: E501
    attend,
)
from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.modules import ModuleCheck, run_module
from vit_check.engine.reading import (
    Linear,
    Part,
    Weights,
    attention_readings,
    linears,
    norms,
)
from vit_check.engine.verdict import Finding, Mistake
from vit_steps.attention import MultiHeadAttention


def _several_heads(
    weights: Weights,
    sizes: Mapping[str, Any],
    x: Tensor,
    scale: str = "d",
    axis: int = -1,
    split: str = "rightly",
    merge: str = "rightly",
    gather: str = "v",
    project: bool = True,
    causal: bool = False,
    late: str | None = None,
) -> Any:
    """Multi-head attention with a place for each usual mistake."""
    h = sizes["num_heads"]
    B, T, D = x.shape
    d = D // h
    qkv = x @ weights["qkv.weight"].T + weights["qkv.bias"]
    if split == "all by view":
        parts = qkv.reshape(3, B, h, T, d)
    elif split == "joint by view":
        parts = qkv.reshape(B, 3, h, T, d).transpose(0, 1)
    else:
        parts = torch.stack(qkv.chunk(3, dim=-1))  # (3, B, T, D)
        if split == "view":
            parts = parts.reshape(3, B, h, T, d)
        elif split == "d before h":
            parts = parts.unflatten(-1, (d, h)).movedim(-1, 2)
        elif split == "none":
            parts = parts.unflatten(-1, (h, d))
        else:
            parts = parts.unflatten(-1, (h, d)).transpose(2, 3)
    q, k, v = parts
    past = torch.ones(T, T, dtype=torch.bool).tril() if causal else None
    factor = {"d": d, "D": D, "1": 1, "d²": d**2, "T": T, "h": h, "1/d": 1 / d}[scale]
    v = {"v": v, "k": k, "q": q}[gather]
    if late is not None:  # what is divided behind the softmax, divides the values too
        v = v / {"d": d, "D": D, "h": h}[late] ** 0.5
    found, shares = attend(q, k, v, past, factor**0.5, axis)
    if merge == "weights":
        return shares
    if merge == "mean of weights":
        return shares.mean(dim=1)
    if split == "none" or merge == "view":
        joined = found.reshape(B, T, D)
    elif merge == "averaged":
        joined = found.mean(dim=1).repeat(1, 1, h)
    elif merge == "d before h" or (split == "d before h" and merge != "h before d"):
        joined = found.permute(0, 2, 3, 1).flatten(2)
    elif merge == "batch":
        joined = found.permute(2, 0, 1, 3).reshape(B, T, D)
    else:
        joined = merged(found)
    if not project:
        return joined
    return joined @ weights["proj.weight"].T + weights["proj.bias"]


def _normed_inside(weights: Weights, sizes: Mapping[str, Any], x: Tensor) -> Any:
    weight, bias = weights["norm.weight"], weights["norm.bias"]
    return _several_heads(weights, sizes, F.layer_norm(x, weight.shape, weight, bias))


def _across_the_batch(weights: Weights, sizes: Mapping[str, Any], x: Tensor) -> Any:
    return _several_heads(weights, sizes, x.transpose(0, 1)).transpose(0, 1)


def _projected_twice(weights: Weights, sizes: Mapping[str, Any], x: Tensor) -> Any:
    once = _several_heads(weights, sizes, x)
    return once @ weights["proj.weight"].T + weights["proj.bias"]


def _without_projection_bias(
    weights: Weights, sizes: Mapping[str, Any], x: Tensor
) -> Any:
    return _several_heads(weights, sizes, x) - weights["proj.bias"]


def _readings(parts: list[Part], sizes: Mapping[str, Any]) -> Iterator[Weights]:
    D = sizes["embed_dim"]
    inside = norms(parts, D)
    h = sizes["num_heads"]
    from_heads = maps_from_heads(parts, D, h)
    for weights in attention_readings(linears(parts, D), D, h, from_heads=from_heads):
        if inside:
            weights["norm.weight"], weights["norm.bias"] = inside[0]
        yield weights


def maps_from_heads(parts: list[Part], D: int, h: int) -> list[Linear]:
    """An output matrix for each head, from its d numbers to D."""
    layers = [p for p in parts if p.kind in ("linear", "norm")]
    return [m for m in linears(layers, D // h) if m.outs == D] if h > 1 else []


def _attention_lacks(parts: list[Part], sizes: Mapping[str, Any]) -> Finding | None:
    D, h = sizes["embed_dim"], sizes["num_heads"]
    maps = linears(parts, D)
    numbers = sum(m.weight.numel() for m in maps)
    if numbers == 3 * D * D:
        return Finding(
            "no projection",
            "has three matrices of D×D in all, expected four: for q, k and v, and the "
            "output projection after the heads",
        )
    if len([m for m in maps if m.outs == h * D]) >= 3:
        return Finding(
            "heads too wide",
            "makes h·D numbers of each token for q, k and v, so that a query of each "
            "head has D numbers; it should have d = D/h",
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


def _output_of_tuple(output: Any) -> Any:
    """The output, where weights (or None, or nothing) come with it in a tuple."""
    return output[0] if isinstance(output, tuple) and len(output) in (1, 2) else output


def _right_heads(weights: Weights, sizes: Mapping[str, Any], x: Tensor) -> Tensor:
    layer = MultiHeadAttention(sizes["embed_dim"], sizes["num_heads"])
    own = {name: weights[name] for name in layer.state_dict()}
    return run_module(layer, own, x)[0]


def _with_all_weights(
    x: Tensor,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    num_heads: int,
    variant: Any = _several_heads,
) -> Any:
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
        "the scores are divided by √D, but the vectors that are multiplied are those "
        "of a head, which have d = D/h numbers",
        partial(_several_heads, scale="D"),
    ),
    Mistake(
        "scale by d",
        "the scores are divided by d, but their standard deviation is √d: divide by "
        "that",
        partial(_several_heads, scale="d²"),
    ),
    Mistake(
        "scale by h",
        "the scores are divided by √h, the root of the number of heads; the vectors "
        "that are multiplied have d numbers",
        partial(_several_heads, scale="h"),
    ),
    Mistake(
        "scale by tokens",
        "the scores are divided by √T, but what spreads them is d, the length of the "
        "vectors that are multiplied",
        partial(_several_heads, scale="T"),
    ),
    Mistake(
        "scale inverted",
        "the scores are multiplied by √d instead of divided",
        partial(_several_heads, scale="1/d"),
    ),
    *(
        Mistake(
            f"scale late, by {letter}",
            f"the attention weights are divided by √{letter} after the softmax, so "
            "that a row no longer sums to 1; divide the scores by √d before it",
            partial(_several_heads, scale="1", late=letter),
        )
        for letter in ("d", "D")
    ),
    Mistake(
        "scaled twice",
        "the scores are divided by √d before the softmax, as they should be, but the "
        "attention weights are divided once more after it",
        partial(_several_heads, late="d"),
    ),
    Mistake(
        "softmax over queries",
        "the softmax runs over the queries: each column of the attention weights sums "
        "to 1, but each row should",
        partial(_several_heads, axis=-2),
    ),
    Mistake(
        "softmax over heads",
        "the softmax runs over the heads: for each pair of tokens the attention "
        "weights of the heads sum to 1, but in each head each row should",
        partial(_several_heads, axis=1),
    ),
    Mistake(
        "softmax over the batch",
        "the softmax runs over axis 0, the batch: its samples compete with each other",
        partial(_several_heads, axis=0),
    ),
    Mistake(
        "heads joined by view",
        "your heads are joined without moving them back beside d: tokens mix",
        partial(_several_heads, merge="view"),
    ),
    Mistake(
        "heads split by view",
        "the heads are split with a view to (B, h, T, d): a head then holds pieces of "
        "different tokens; split D into (h, d) first, then swap h and T",
        partial(_several_heads, split="view"),
    ),
    Mistake(
        "split and joined by view",
        "the heads are split and joined by a view alone: the two undo each other, but "
        "in between a head holds pieces of different tokens",
        partial(_several_heads, split="view", merge="view"),
    ),
    Mistake(
        "qkv cut by view",
        "the combined q, k, v is cut with one view in which the 3 or the heads come "
        "before the tokens: pieces of different tokens mix; split the last axis first, "
        "then permute",
        partial(_several_heads, split="joint by view"),
    ),
    Mistake(
        "qkv cut by view, batch too",
        "the combined q, k, v is cut with one view to (3, B, h, T, d), so that tokens "
        "and images mix; split the last axis first, then permute",
        partial(_several_heads, split="all by view"),
    ),
    Mistake(
        "attention among heads",
        "the heads of one token attend to each other: h and T are not swapped before "
        "q and k are multiplied",
        partial(_several_heads, split="none"),
    ),
    Mistake(
        "d before h",
        "D is cut as (d, h): head 0 gets every h-th number, but it should get the "
        "first d, as parameters trained elsewhere expect",
        partial(_several_heads, split="d before h"),
    ),
    Mistake(
        "d before h in the split",
        "D is cut as (d, h) and joined as (h, d): head 0 gets every h-th number, but "
        "it should get the first d",
        partial(_several_heads, split="d before h", merge="h before d"),
    ),
    Mistake(
        "d before h in the merge",
        "the heads are interleaved when they are joined: number 0 of all heads comes "
        "first, but the d numbers of a head should stay together",
        partial(_several_heads, merge="d before h"),
    ),
    Mistake(
        "batch joined for heads",
        "the batch is moved beside d when the heads are joined, so that samples mix: "
        "swap h and T, axes 1 and 2",
        partial(_several_heads, merge="batch"),
    ),
    Mistake(
        "heads averaged",
        "the heads are averaged before the projection; put them side by side",
        partial(_several_heads, merge="averaged"),
    ),
    Mistake(
        "weights times keys",
        "the attention weights mix the keys; they should mix the values",
        partial(_several_heads, gather="k"),
    ),
    Mistake(
        "causal",
        "a causal mask is built in: no token looks at those after it, but an image has "
        "no next word to hide",
        partial(_several_heads, causal=True),
    ),
    Mistake(
        "across the batch",
        "attention runs over the batch: the first axis is taken for the tokens, as "
        "nn.MultiheadAttention does unless it is told batch_first=True",
        _across_the_batch,
    ),
    Mistake(
        "projection unused",
        "the output projection is there, but what the heads found does not go "
        "through it",
        partial(_several_heads, project=False),
    ),
    Mistake(
        "projected twice",
        "the output projection is applied twice",
        _projected_twice,
    ),
    Mistake(
        "projection without its bias",
        "the bias of the output projection is left out",
        _without_projection_bias,
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
    Mistake(
        "weights first",
        "the attention weights are returned first, expected the output first",
        partial(_several_heads, merge="weights"),
    ),
    Mistake(
        "weights first, averaged",
        "the attention weights, averaged over the heads, are returned first, expected "
        "the output first",
        partial(_several_heads, merge="mean of weights"),
    ),
]
_NORM_INSIDE = Mistake(
    "norm inside",
    "x is normed inside: the norm belongs to the block, not to the attention",
    _normed_inside,
)


def _heads_inputs(generator: Generator, sizes: Mapping[str, Any]) -> list[Tensor]:
    return [
        torch.randn(2, 7, sizes["embed_dim"], generator=generator, dtype=torch.float64)
    ]


def _heads_function_inputs(generator: Generator) -> Iterator[Case]:
    for B, T, D, h, dtype in (
        (2, 7, 20, 4, torch.float64),
        (3, 5, 8, 2, torch.float32),
    ):
        shapes = ((B, T, D), (3 * D, D), (3 * D,), (D, D), (D,))
        x, *weights = (
            torch.randn(shape, generator=generator, dtype=torch.float64)
            for shape in shapes
        )
        weights = [w / w.shape[-1] ** 0.5 if w.ndim == 2 else 0.5 * w for w in weights]
        yield [t.to(dtype) for t in (x, *weights)] + [h]


_HINTS_OF_HEADS = (
    "Write the shape at the end of every line. Which axis is T when q and k are "
    "multiplied, and which when the heads are joined?",
    "q, k and v are (B, h, T, d) before the scores; what comes out is (B, h, T, d) "
    "too, and becomes (B, T, D) by a transpose, then a reshape; last the projection.",
    "qkv = self.qkv(x).reshape(B, T, 3, h, d).permute(2, 0, 3, 1, 4); attention with "
    "√d; output.transpose(1, 2).reshape(B, T, D); self.proj(output).",
)

multi_head_attention = ModuleCheck(
    "multi_head_attention",
    "class MultiHeadAttention(embed_dim, num_heads), called with x (B, T, D)",
    sizes={"embed_dim": 20, "num_heads": 4},  # h is not 3, as q, k, v are
    other_sizes={"embed_dim": 12, "num_heads": 2},
    inputs=_heads_inputs,
    reading=_readings,
    reference=_right_heads,
    package=lambda sizes: MultiHeadAttention(**sizes),
    mistakes=[*_OF_HEADS, _NORM_INSIDE],
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
    normalize=_output_of_tuple,
)
