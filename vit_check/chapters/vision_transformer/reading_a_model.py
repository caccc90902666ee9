"""The parts of a Vision Transformer, found among what an answer learns."""

import itertools
from collections.abc import Iterator
from typing import Any

from vit_check.chapters.class_token_and_position.position_embedding import num_tokens
from vit_check.chapters.encoder_block.encoder_block import (
    attention_maps,
    block_weights,
    hidden_dim,
)
from vit_check.chapters.encoder_block.mlp import mlp_readings
from vit_check.chapters.multi_head_attention.multi_head_attention import maps_from_heads
from vit_check.engine import reading
from vit_check.engine.reading import Part, Sizes, Weights


def _class_tokens(parts: list[Part], D: int) -> list[Part]:
    """Return the parts that may be the class token, the likeliest first."""
    fitting = [
        part
        for part in reading.without_norms(parts, D)
        if part.kind in ("own", "table") and part.value.numel() == D
    ]
    return sorted(fitting, key=lambda part: part.value.ndim == 1)


def _tables(parts: list[Part], rows: int, D: int) -> list[Part]:
    """Return the parts that may be positions, a row of D numbers each."""
    fitting = [part for part in parts if part.kind in ("own", "table")]
    return [part for part in fitting if reading.as_rows(part, rows, D) is not None]


_BIAS = "patch_embed.proj.bias"


def _kernels(parts: list[Part], sizes: Sizes) -> Iterator[Weights]:
    """Yield weight (D, C, P, P) and bias of the patch projection."""
    C, P, D = sizes["in_channels"], sizes["patch_size"], sizes["embed_dim"]
    vectors = [p for p in reading.without_norms(parts, D) if p.value.numel() == D]
    for part in parts:
        biases = [v for v in vectors if v.owner == part.owner]
        if part.kind == "own" and not biases:
            biases = [v for v in vectors if v.kind == "own"]
        for bias in biases:
            for filters in itertools.islice(reading.as_filters(part, D, (C, P, P)), 2):
                values = bias.value.flatten()
                yield {"patch_embed.proj.weight": filters, _BIAS: values}


def _shared_out(items: list[Any], number: int) -> list[list[Any]]:
    """Cut a list into pieces of the same length."""
    each = len(items) // number
    return [items[place * each : (place + 1) * each] for place in range(number)]


def model_readings(parts: list[Part], sizes: Sizes) -> Iterator[Weights]:
    D, L, T = sizes["embed_dim"], sizes["depth"], num_tokens(sizes)
    M, K, h = hidden_dim(sizes), sizes["num_classes"], sizes["num_heads"]
    norms = reading.layer_norms(parts, D)
    parts = reading.without_norms(parts, D)
    tables = [*_tables(parts, T, D), *_tables(parts, T - 1, D)][:1]
    embeddings = list(
        reading.tokens_and_positions(_class_tokens(parts, D)[:3], tables, T, D)
    )
    heads = [m for m in reading.linears(parts, D) if m.outs == K and m.bias is not None]
    if len(norms) != 2 * L + 1 or not embeddings or len(heads) != 1:
        return
    maps = [m for m in attention_maps(parts, D, h, M) if m.outs != K]
    if not maps or len(maps) % L:
        return
    groups = _shared_out(maps, L)
    from_heads = _shared_out(maps_from_heads(parts, D, h), L)
    mlps = list(mlp_readings(parts, D, M, L))
    with_tokens = [
        kernel | {"cls_token": token, "pos_embed": positions}
        for kernel in _kernels(parts, sizes)
        for used, token, positions in embeddings
        if not any(part.value.flatten().equal(kernel[_BIAS]) for part in used)
    ]
    # In running order, with the usual readings of attention first; then with the norms
    # of each block exchanged, and with a final norm that is never called, or that is
    # called after the first block already.
    pairs, late = _shared_out(norms[:-1], L), _shared_out(norms[1:], L)
    exchanged = [pair[::-1] for pair in pairs]
    for final, of_blocks, ordered in (
        (norms[-1], pairs, True),
        (norms[-1], exchanged, True),
        (norms[0], late, True),
        (norms[2], _shared_out([*norms[:2], *norms[3:]], L), True),
        (norms[-1], pairs, False),
        (norms[-1], exchanged, False),
    ):
        attentions = (
            reading.attention_readings(group, D, h, ordered, out)
            for group, out in zip(groups, from_heads, strict=True)
        )
        for of_attention in zip(*attentions, strict=True):
            for layers, embedding in itertools.product(mlps, with_tokens):
                weights = heads[0].named("head") | embedding
                weights |= {"norm.weight": final[0].value, "norm.bias": final[1].value}
                blocks = zip(of_blocks, of_attention, layers, strict=True)
                for number, parts_of_block in enumerate(blocks):
                    for name, value in block_weights(*parts_of_block).items():
                        weights[f"blocks.{number}.{name}"] = value
                yield weights
