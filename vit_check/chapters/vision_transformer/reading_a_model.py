"""The parts of a Vision Transformer, found among what an answer learns."""

import itertools
from collections.abc import Iterator

import torch
from torch import Tensor

from vit_check.chapters.encoder_block.encoder_block import (
    attention_maps,
    block_weights,
    hidden_dim,
)
from vit_check.chapters.encoder_block.mlp import mlp_lacks, mlp_readings
from vit_check.chapters.multi_head_attention.multi_head_attention import (
    maps_from_heads,
)
from vit_check.engine.reading import (
    Linear,
    Part,
    Sizes,
    Weights,
    as_filters,
    as_rows,
    attention_readings,
    layer_norms,
    linears,
    tokens_and_positions,
    without_norms,
)
from vit_check.engine.verdict import Finding


def _class_tokens(parts: list[Part], D: int) -> list[Part]:
    """What may be the class token, the likeliest first."""
    fitting = [
        part
        for part in without_norms(parts, D)
        if part.kind in ("own", "table") and part.value.numel() == D
    ]
    return sorted(fitting, key=lambda part: part.value.ndim == 1)


def _tables(parts: list[Part], rows: int, D: int) -> list[Part]:
    """What may be positions, a row of D numbers each."""
    fitting = [part for part in parts if part.kind in ("own", "table")]
    return [part for part in fitting if as_rows(part, rows, D) is not None]


def _rows_of_tokens(parts: list[Part], D: int) -> list[Part]:
    """Rows of D numbers that are no matrix of the blocks, more than one."""
    return [
        part
        for part in parts
        if part.value.shape[-1] == D < part.value.numel()
        and (part.kind == "table" or (part.value.ndim == 3 and len(part.value) == 1))
    ]


def _kernels(parts: list[Part], sizes: Sizes) -> Iterator[tuple[Tensor, Tensor]]:
    """Weight (D, C, P, P) and bias of the patch projection; a linear map's numbers
    may be in the order channel, row, column or row, column, channel."""
    C, P, D = sizes["in_channels"], sizes["patch_size"], sizes["embed_dim"]
    vectors = [p for p in without_norms(parts, D) if p.value.numel() == D]
    for part in parts:
        biases = [v for v in vectors if v.owner == part.owner]
        if part.kind == "own" and not biases:
            biases = [v for v in vectors if v.kind == "own"]
        for bias in biases:
            for filters in itertools.islice(as_filters(part, D, (C, P, P)), 2):
                yield filters, bias.value.flatten()


def _tokens_of(sizes: Sizes) -> int:
    return 1 + (sizes["image_size"] // sizes["patch_size"]) ** 2


def model_readings(parts: list[Part], sizes: Sizes) -> Iterator[Weights]:
    D, L, T = sizes["embed_dim"], sizes["depth"], _tokens_of(sizes)
    M, K, h = hidden_dim(sizes), sizes["num_classes"], sizes["num_heads"]
    norms = layer_norms(parts, D)
    parts = without_norms(parts, D)
    tables = [*_tables(parts, T, D), *_tables(parts, T - 1, D)][:1]
    embeddings = list(tokens_and_positions(_class_tokens(parts, D)[:3], tables, T, D))
    heads = [m for m in linears(parts, D) if m.outs == K and m.bias is not None]
    if len(norms) != 2 * L + 1 or not embeddings or len(heads) != 1:
        return
    maps = [m for m in attention_maps(parts, D, h, M) if m.outs != K]
    if not maps or len(maps) % L:
        return
    each = len(maps) // L
    groups = [maps[number * each : (number + 1) * each] for number in range(L)]
    out = maps_from_heads(parts, D, h)
    of_each = len(out) // L
    from_heads = [out[number * of_each : (number + 1) * of_each] for number in range(L)]
    outside = {
        "head.weight": heads[0].weight,
        "head.bias": heads[0].bias_or_zeros(),
    }
    mlps, kernels = list(mlp_readings(parts, D, M, L)), list(_kernels(parts, sizes))
    with_tokens = [
        (kernel, bias, token, positions)
        for kernel, bias in kernels
        for used, token, positions in embeddings
        if not any(torch.equal(part.value.flatten(), bias) for part in used)
    ]
    # In running order, the usual readings of attention first; then with the two norms
    # of a block the other way round, and with a final norm that is never called.
    pairs = [norms[2 * number : 2 * number + 2] for number in range(L)]
    late = [norms[2 * number + 1 : 2 * number + 3] for number in range(L)]
    for final, of_blocks, ordered in (
        (norms[-1], pairs, True),
        (norms[-1], [pair[::-1] for pair in pairs], True),
        (norms[0], late, True),
        (norms[-1], pairs, False),
        (norms[-1], [pair[::-1] for pair in pairs], False),
    ):
        attentions = (
            attention_readings(group, D, h, ordered, out)
            for group, out in zip(groups, from_heads, strict=True)
        )
        for of_attention in zip(*attentions, strict=True):
            for layers in mlps:
                for kernel, bias, token, positions in with_tokens:
                    weights = {**outside, "cls_token": token, "pos_embed": positions}
                    weights |= {"patch_embed.proj.weight": kernel}
                    weights |= {"patch_embed.proj.bias": bias}
                    weights |= {"norm.weight": final[0].value}
                    weights |= {"norm.bias": final[1].value}
                    for number in range(L):
                        block = block_weights(
                            of_blocks[number], of_attention[number], layers[number]
                        )
                        for name, value in block.items():
                            weights[f"blocks.{number}.{name}"] = value
                    yield weights


def model_lacks(parts: list[Part], sizes: Sizes) -> Finding | None:
    D, L, T = sizes["embed_dim"], sizes["depth"], _tokens_of(sizes)
    M, K, h = hidden_dim(sizes), sizes["num_classes"], sizes["num_heads"]
    for found in (
        _embedding_lacks(parts, sizes, T),
        _blocks_lack(attention_maps(parts, D, h, M), sizes),
        _norms_lack(parts, D, L),
        mlp_lacks(parts, D, M, L),
    ):
        if found is not None:
            return found
    with_bias = [m for m in linears(parts, D) if m.bias is not None]
    heads = [m for m in with_bias if m.outs == K]
    if len(heads) != 1:
        inside = {D, 2 * D, 3 * D, 4 * D, M, D // h, 3 * D // h}
        others = [m.outs for m in with_bias if m.outs not in inside]
        if not heads and len(others) == 1:
            return Finding(
                "number of classes",
                f"has a head of {others[0]} outputs, expected {K}, the num_classes "
                "that was asked for",
            )
        return Finding(
            "no head",
            "has no single linear layer with a bias from D numbers to the K classes",
        )
    return None


def _embedding_lacks(parts: list[Part], sizes: Sizes, T: int) -> Finding | None:
    C, P, D = sizes["in_channels"], sizes["patch_size"], sizes["embed_dim"]
    if not list(_kernels(parts, sizes)):
        return Finding(
            "no patch projection",
            "has no map with a bias from the C·P·P numbers of a patch, "
            f"{C * P * P} here, to D, {D} here",
        )
    if not _class_tokens(parts, D):
        return Finding(
            "no class token",
            "has no class token: a parameter of D numbers, (1, 1, D)",
        )
    if not _tables(parts, T, D):
        if _tables(parts, T - 1, D) and len(_class_tokens(parts, D)) > 1:
            return None  # the class token's position may be one of them
        if _tables(parts, T - 1, D):
            return Finding(
                "positions for the patches alone",
                "has N positions, one for each patch; the class token has one too, so "
                "there are T of them",
            )
        others = _rows_of_tokens(parts, D)
        if others:
            shape = tuple(others[0].value.shape)
            return Finding(
                "another number of positions",
                f"has positions for {others[0].value.numel() // D} tokens, "
                f"{others[0].name} {shape}; T is {T} here, computed from the sizes",
            )
        return Finding(
            "no learned positions",
            "has no parameter of T·D numbers for the positions, (1, T, D)",
        )
    return None


def _norms_lack(parts: list[Part], D: int, L: int) -> Finding | None:
    norms = len(layer_norms(parts, D))
    if norms == 2 * L:
        return Finding(
            "final norm missing",
            "has two norms for each block and none after the last one",
        )
    if norms == L + 1:
        return Finding(
            "one norm a block", "has one norm in each block, expected two in each"
        )
    if norms > 2 * L + 1:
        return Finding(
            "norms too many",
            f"has {norms} norms over D numbers, expected {2 * L + 1}: two in each "
            "block and one after the last",
        )
    return None


def _blocks_lack(maps: list[Linear], sizes: Sizes) -> Finding | None:
    D, L = sizes["embed_dim"], sizes["depth"]
    numbers = sum(m.weight.numel() for m in maps)
    if numbers == 4 * D * D and L > 1:
        return Finding(
            "one block shared",
            f"has the parameters of one block, expected those of {L}: the blocks of "
            "the list are one and the same, or there is only one",
        )
    if numbers % (4 * D * D) == 0 and numbers and numbers != 4 * D * D * L:
        return Finding(
            "number of blocks",
            f"has {numbers // (4 * D * D)} blocks, expected {L}, the depth that was "
            "asked for",
        )
    if numbers == 3 * D * D * L:
        return Finding(
            "no projection",
            "has matrices for q, k and v but none after the heads: the output "
            "projection of each block is missing",
        )
    return None
