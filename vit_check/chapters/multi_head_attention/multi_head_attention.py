import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from torch import Generator, Tensor

from vit_check.chapters.scaled_dot_product_attention import (
    scaled_dot_product_attention as of_one_head,
)
from vit_check.engine import reading
from vit_check.engine.drawing import normal
from vit_check.engine.modules import ModuleCheck
from vit_check.engine.reading import Linear, Part, Sizes, Weights
from vit_check.engine.verdict import Finding
from vit_steps.attention import MultiHeadAttention


def several_heads(weights: Weights, sizes: Sizes, x: Tensor) -> Any:
    B, T, D = x.shape
    h = sizes["num_heads"]
    d = D // h
    qkv = x @ weights["qkv.weight"].T + weights["qkv.bias"]
    q, k, v = qkv.reshape(B, T, 3, h, d).permute(2, 0, 3, 1, 4)  # (B, h, T, d) each
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    shares = scores.softmax(dim=-1)
    joined = (shares @ v).transpose(1, 2).reshape(B, T, D)
    return joined @ weights["proj.weight"].T + weights["proj.bias"]


def _readings(parts: list[Part], sizes: Sizes) -> Iterator[Weights]:
    D = sizes["embed_dim"]
    inside = [
        (weight.value, bias.value) for weight, bias in reading.layer_norms(parts, D)
    ]
    h = sizes["num_heads"]
    from_heads = maps_from_heads(parts, D, h)
    for weights in reading.attention_readings(
        reading.linears(parts, D), D, h, from_heads=from_heads
    ):
        if inside:
            weights |= zip(OF_NORM, inside[0], strict=True)
        yield weights


def maps_from_heads(parts: list[Part], D: int, h: int) -> list[Linear]:
    """Return an output matrix for each head, from its d numbers to D.

    If none of these has a bias, one beside them belongs to their sum.
    """
    layers = [p for p in parts if p.kind in ("linear", "norm")]
    found = [m for m in reading.linears(layers, D // h) if m.outs == D] if h > 1 else []
    names = [p.name for p in layers if tuple(p.value.shape) == (D, D // h)]
    beside = [p for p in parts if p.kind == "own" and p.value.numel() == D]
    beside = [p for p in beside if all(name.startswith(p.owner) for name in names)]
    if found and len(beside) == 1 and all(m.bias is None for m in found):
        found[0] = replace(found[0], bias=beside[0].value.flatten())
    return found


def _attention_lacks(parts: list[Part], sizes: Sizes) -> Finding | None:
    D, h = sizes["embed_dim"], sizes["num_heads"]
    maps = reading.linears(parts, D)
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
    return None


def output_of_tuple(output: Any) -> Any:
    """Return the output without the attention weights or None that may come with it."""
    return output[0] if isinstance(output, tuple) and output else output


OF_NORM = ("norm.weight", "norm.bias")  # if the layer has a norm

TABLE = f"""
class MultiHeadAttention(embed_dim, num_heads), called with x (B, T, D)
  20, 4  # h is not 3, as q, k and v are
  12, 2
{of_one_head.OF_SCORES}
{of_one_head.OVER_QUERIES}
scale by D: math.sqrt(q.shape[-1]) -> math.sqrt(D)
    the scores are divided by √D, but the vectors that are multiplied are those of a
    head, which have d = D/h numbers
scale by heads: math.sqrt(q.shape[-1]) -> math.sqrt(h)
    the scores are divided by √h, but their spread grows with d = D/h
queries for keys: q @ k.mT -> q @ q.mT
    the queries are compared with queries, expected keys
weights times keys: shares @ v -> shares @ k
    the weights gather keys; what they are to gather is the values
heads averaged: shares @ v -> shares.mean(dim=1, keepdim=True) @ v
    the weights are averaged over the heads before they meet the values
softmax over heads: softmax(dim=-1) -> softmax(dim=1)
    the softmax runs over the heads: for each pair of tokens the attention weights of
    the heads sum to 1, but in each head each row should
heads joined by view: .transpose(1, 2).reshape -> .reshape
    your heads are joined before h and T are swapped back: tokens mix
heads joined before the tokens: .transpose(1, 2).reshape -> .permute(0, 3, 1, 2).reshape
    the heads are joined from (B, d, h, T), expected from (B, T, h, d): tokens mix
heads split by view: (2, 0, 3, 1, 4) -> (2, 0, 1, 3, 4).reshape(3, B, h, T, d)
    the heads are split with a view to (B, h, T, d): a head then holds pieces of
    different tokens; split D into (h, d) first, then swap h and T
qkv cut by view: T, 3, h, d).permute(2, 0, 3, 1, 4) -> 3, h, T, d).transpose(0, 1)
    the combined q, k, v is cut with one view in which the 3 or the heads come before
    the tokens: pieces of different tokens mix; split the last axis first, then permute
attention among heads: permute(2, 0, 3, 1, 4) -> permute(2, 0, 1, 3, 4)
  .transpose(1, 2).reshape -> .reshape
    the heads of one token attend to each other: swap h and T before the scores
d before h: 3, h, d).permute(2, 0, 3, 1, 4) -> 3, d, h).permute(2, 0, 4, 1, 3)
  transpose(1, 2).reshape -> permute(0, 2, 3, 1).reshape
    D is cut as (d, h): head 0 gets every h-th number, but it should get the first d, as
    parameters trained elsewhere expect
d before h in the merge: transpose(1, 2).reshape -> permute(0, 2, 3, 1).reshape
    the heads are interleaved when they are joined: number 0 of all heads comes first,
    but the d numbers of a head should stay together
causal: scores.softmax
  -> scores.masked_fill(scores.new_ones(T, T).triu(1).bool(), -math.inf).softmax
    a causal mask is built in, but an image has no next word to hide
across the batch: B, T, D = x.shape -> x = x.transpose(0, 1); B, T, D = x.shape
  return joined @ -> joined = joined.transpose(0, 1); return joined @
    attention runs over the batch: the first axis is taken for the tokens, as
    nn.MultiheadAttention does unless it is told batch_first=True
one head: h = sizes["num_heads"] -> h = 1
    num_heads has no effect: here all of D is one head
residual inside: return joined -> return x + joined
    x is added inside: the residual belongs to the block, not to the attention
weights first: return joined @ -> return shares; joined @
    the attention weights are returned first, expected the output first
norm inside: qkv = x @ -> qkv = F.layer_norm(x, (D,), *map(weights.get, OF_NORM)) @
    x is normed inside: the norm belongs to the block, not to the attention
? Write the shape at the end of every line. Which axis is T when q and k are multiplied,
  and which when the heads are joined?
? q, k and v are (B, h, T, d) before the scores; what comes out is (B, h, T, d) too, and
  becomes (B, T, D) by a transpose, then a reshape; last the projection.
? qkv = self.qkv(x).reshape(B, T, 3, h, d).permute(2, 0, 3, 1, 4); attention with √d;
  output.transpose(1, 2).reshape(B, T, D); self.proj(output).
"""


def _loud(generator: Generator, sizes: Sizes) -> list[Tensor]:
    """Return more tokens than elsewhere, two so large that scores are thousands.

    The two point in opposite directions, so that each head has a score far above 0.
    """
    shape = (1, 66, sizes["embed_dim"])
    x = normal(generator, *shape)
    x[:, 5] *= 40
    x[:, 6] = -x[:, 5]
    return [x]


multi_head_attention = ModuleCheck(
    "multi_head_attention",
    several_heads,
    TABLE,
    inputs=lambda generator, sizes: [normal(generator, 2, 7, sizes["embed_dim"])],
    more_inputs=_loud,
    reading=_readings,
    package=lambda sizes: MultiHeadAttention(**sizes),
    shape="(B, T, D)",
    lacking=_attention_lacks,
    as_function="multi_head_attention(x, qkv_weight, qkv_bias, proj_weight, proj_bias, "
    "num_heads) -> (B, T, D)",
    normalize=output_of_tuple,
    output_alone=True,
    asked=[{"need_weights": False}, {"need_weights": True}],
)
