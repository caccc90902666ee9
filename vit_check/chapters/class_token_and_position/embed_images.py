"""Check of chapter 3: images to tokens."""

import itertools
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from vit_check.chapters.class_token_and_position.class_token import NOT_LEARNED
from vit_check.engine.drawing import normal
from vit_check.engine.modules import ModuleCheck, run_module
from vit_check.engine.reading import Part, Weights
from vit_check.engine.verdict import Finding, Mistake
from vit_steps.embedding import ViTEmbedding


def _grid_side(sizes: Mapping[str, Any]) -> int:
    side: int = sizes["image_size"] // sizes["patch_size"]
    return side


def _embedding_readings(
    parts: list[Part], sizes: Mapping[str, Any]
) -> Iterator[Weights]:
    """A matrix for the patches, a table of positions; what is left is vectors."""
    C, P, D = sizes["in_channels"], sizes["patch_size"], sizes["embed_dim"]
    T = 1 + _grid_side(sizes) ** 2
    if any(part.kind == "norm" for part in parts):
        return
    vectors = [part for part in parts if part.value.numel() == D]
    tables = [p.value.reshape(1, T, D) for p in parts if p.value.numel() == T * D]
    short = [p.value.reshape(1, -1, D) for p in parts if p.value.numel() == (T - 1) * D]
    for matrix in parts:
        if matrix.value.numel() != D * C * P * P or matrix.value.ndim < 2:
            continue
        layer = matrix.kind in ("linear", "convolution")
        own = [v for v in vectors if layer and v.owner == matrix.owner]
        others = [v for v in vectors if v not in own]
        biases: list[Part | None] = [*own] if layer else [*others]
        for bias in biases if own else [*biases, None]:
            left = [v.value.reshape(1, 1, D) for v in others if v is not bias]
            pairs = [(cls, table) for table in tables for cls in left]
            if not tables and len(left) == 2:  # the class token's position apart
                pairs = [
                    (left[0], torch.cat([left[1], table], dim=1)) for table in short
                ]
            for (cls, table), weight in itertools.product(
                pairs, _as_filters(matrix, C, P, D)
            ):
                yield {
                    "patch_embed.proj.weight": weight,
                    "patch_embed.proj.bias": bias.value.reshape(D)
                    if bias is not None
                    else weight.new_zeros(D),
                    "cls_token": cls,
                    "pos_embed": table,
                }


def _as_filters(matrix: Part, C: int, P: int, D: int) -> Iterator[Tensor]:
    """A matrix as (D, C, P, P), for each order in which a patch may be flattened."""
    value = matrix.value
    if tuple(value.shape) == (D, C, P, P):
        yield value
        return
    flat = value.flatten(1) if value.shape[0] == D else value.flatten(0, -2).T
    if tuple(flat.shape) != (D, C * P * P):
        return
    lengths = (C, P, P)
    for order in ((0, 1, 2), (1, 2, 0), (0, 2, 1), (2, 1, 0), (1, 0, 2), (2, 0, 1)):
        laid_out = flat.reshape(D, *(lengths[axis] for axis in order))
        yield laid_out.permute(0, *(1 + order.index(axis) for axis in range(3)))


def _embedding_lacks(parts: list[Part], sizes: Mapping[str, Any]) -> Finding | None:
    D, N = sizes["embed_dim"], _grid_side(sizes) ** 2
    P, C = sizes["patch_size"], sizes["in_channels"]
    if not parts:
        return NOT_LEARNED
    if any(part.kind == "norm" for part in parts):
        return Finding(
            "norm",
            "has a layer norm: z_0 is the patches times a matrix, the class token and "
            "the positions; norms come in the blocks",
        )
    counts = [part.value.numel() for part in parts]
    if D * C * P * P not in counts:
        return Finding(
            "no patch embedding",
            "has no matrix that makes D numbers of the C·P·P of a patch",
        )
    table = next((p for p in parts if p.value.numel() == N * D), None)
    if table is not None:
        return Finding(
            "one position too few",
            f"has positions for N patches, {table.name} {tuple(table.value.shape)}: "
            "the class token has one too, which makes T = N + 1",
        )
    if (N + 1) * D not in counts:
        return _without_positions(parts, sizes)
    vectors = [p for p in parts if p.value.numel() == D]
    if all(p.kind in ("linear", "convolution") for p in vectors):
        return Finding(
            "no class token", "has no class token: one learned vector of D numbers"
        )
    return None


def _without_positions(parts: list[Part], sizes: Mapping[str, Any]) -> Finding:
    D, N = sizes["embed_dim"], _grid_side(sizes) ** 2
    H, P = sizes["image_size"], sizes["patch_size"]
    needed = (
        f"an image of {H}×{H} has N = {N} patches of {P}×{P}, so T = N + 1 = {N + 1}"
    )
    own = [p for p in parts if p.kind in ("own", "table") and p.value.shape[-1] == D]
    for part in own:
        shape, many = tuple(part.value.shape), part.value.numel() // D
        if many > 1 and part.value.numel() != D * sizes["in_channels"] * P * P:
            return Finding(
                "another number of positions",
                f"has positions for {many} tokens, {part.name} {shape}; {needed}",
            )
    single = [p for p in own if p.value.ndim > 1 and p.value.numel() == D]
    if len(single) > 1:
        names = " and ".join(f"{p.name} {tuple(p.value.shape)}" for p in single)
        return Finding(
            "one position for all",
            f"has {names}, of D numbers each: that is a class token and one position "
            f"for all tokens; {needed}, and each has a position of its own",
        )
    return Finding(
        "no positions",
        "has no learned positions: T = N + 1 of them, of D numbers each",
    )


def _embed(
    weights: Weights,
    sizes: Mapping[str, Any],
    images: Tensor,
    cut: str = "rightly",
    cls: str = "first",
    positions: str = "added",
) -> Tensor:
    """z_0, with a place for each usual mistake."""
    P = sizes["patch_size"]
    filters, bias = (weights[f"patch_embed.proj.{end}"] for end in ("weight", "bias"))
    grid = F.conv2d(images, filters, bias, stride=P)  # (B, D, rows, columns)
    B, D = grid.shape[:2]
    patches = grid.flatten(2).mT  # (B, N, D)
    if cut == "downwards":
        patches = grid.mT.flatten(2).mT
    elif cut == "reshaped":
        patches = grid.reshape(B, -1, D)
    elif cut == "image viewed":
        patches = F.linear(images.reshape(*patches.shape[:2], -1), filters.flatten(1))
        patches = patches + bias
    elif cut == "activation":
        patches = patches.relu()
    elif cut == "unbiased":
        patches = patches - bias
    pos, token = weights["pos_embed"], weights["cls_token"].expand(B, -1, -1)
    if positions == "early":
        patches = patches + pos[:, : patches.shape[1]]
    elif positions == "patches alone":
        patches = patches + pos[:, 1:]
    if cls == "first":
        tokens = torch.cat([token, patches], dim=1)
    elif cls == "last":
        tokens = torch.cat([patches, token], dim=1)
    elif cls == "added":
        tokens = patches + token
    elif cls == "zeros":
        tokens = torch.cat([torch.zeros_like(token), patches], dim=1)
    else:
        return patches + pos[:, 1:]
    if positions == "added":
        return tokens + (pos if cls != "added" else pos[:, 1:])
    if positions == "moved too":
        return tokens + pos.roll(-1, 1)
    if positions == "beside":
        return torch.cat([tokens, pos.expand_as(tokens)], dim=2)
    if positions == "multiplied":
        return tokens * pos
    if positions == "same":
        return tokens + pos[:, :1]
    if positions == "by the batch":
        return tokens + pos[0, :B, None]
    if positions == "twice":
        return tokens + 2 * pos
    if positions == "scaled":
        return tokens * D**0.5 + pos
    return tokens


def _right_embedding(
    weights: Weights, sizes: Mapping[str, Any], images: Tensor
) -> Tensor:
    with torch.device("meta"):  # its own weights are not needed
        embedding = ViTEmbedding(**sizes)
    tokens: Tensor = run_module(embedding, weights, images)
    return tokens


embed_images = ModuleCheck(
    "embed_images",
    "class ViTEmbedding(image_size, patch_size, in_channels, embed_dim), called with "
    "images (B, C, H, W)",
    sizes={"image_size": 20, "patch_size": 4, "in_channels": 3, "embed_dim": 120},
    other_sizes={"image_size": 12, "patch_size": 3, "in_channels": 2, "embed_dim": 40},
    inputs=lambda generator, sizes: [
        normal(
            generator,
            2,
            sizes["in_channels"],
            sizes["image_size"],
            sizes["image_size"],
        )
    ],
    reading=_embedding_readings,
    reference=_right_embedding,
    package=lambda sizes: ViTEmbedding(**sizes),
    mistakes=[
        Mistake(
            "class token last",
            "the class token comes after the patches; in ViT it is the first, at "
            "index 0",
            partial(_embed, cls="last"),
        ),
        Mistake(
            "class token and its position last",
            "the class token comes after the patches, and its position with it; in "
            "ViT it is the first, at index 0",
            partial(_embed, cls="last", positions="moved too"),
        ),
        Mistake(
            "class token without position",
            "the class token gets no position: row 0 of the positions belongs to it",
            partial(_embed, positions="patches alone"),
        ),
        Mistake(
            "positions before the class token",
            "the positions are added before the class token is there: the patches get "
            "rows 0 to N - 1, and row 0 belongs to the class token",
            partial(_embed, positions="early"),
        ),
        Mistake(
            "no class token",
            "the class token is made but not put in front of the patches",
            partial(_embed, cls="none"),
        ),
        Mistake(
            "class token added",
            "the class token is added to the patches; it is to be a token of its own, "
            "in front of them",
            partial(_embed, cls="added"),
        ),
        Mistake(
            "zeros in front",
            "zeros are in front and not the class token, which is to be learned",
            partial(_embed, cls="zeros"),
        ),
        Mistake(
            "no positions",
            "the positions are made but not added",
            partial(_embed, positions="none"),
        ),
        Mistake(
            "positions concatenated",
            "positions are put beside the tokens, so that each is 2·D long; in ViT "
            "they are added, number by number",
            partial(_embed, positions="beside"),
        ),
        Mistake(
            "positions multiplied",
            "tokens and positions are multiplied; in ViT they are added",
            partial(_embed, positions="multiplied"),
        ),
        Mistake(
            "same position for all",
            "all tokens get the first position, so that none can tell where it is",
            partial(_embed, positions="same"),
        ),
        Mistake(
            "positions by the batch",
            "positions are counted along the batch: all tokens of image 0 get the "
            "first, those of image 1 the second; it is the token that has a position",
            partial(_embed, positions="by the batch"),
        ),
        Mistake(
            "positions twice",
            "the positions are added twice",
            partial(_embed, positions="twice"),
        ),
        Mistake(
            "tokens scaled",
            "the tokens are multiplied by √D before the positions are added: the "
            "first Transformer did so, ViT does not",
            partial(_embed, positions="scaled"),
        ),
        Mistake(
            "patches down the columns",
            "the patches come column by column; they are read row by row",
            partial(_embed, cut="downwards"),
        ),
        Mistake(
            "view instead of transpose",
            "D is moved to the end by a view, (B, D, rows, columns) to "
            "(B, N, D): the shape fits, and each token holds pieces of many patches",
            partial(_embed, cut="reshaped"),
        ),
        Mistake(
            "image viewed as patches",
            "the image is cut by a view: the shape fits, but a row of numbers is then "
            "a strip of pixels and no patch",
            partial(_embed, cut="image viewed"),
        ),
        Mistake(
            "activation",
            "negative numbers of the patches are cut off: the patch embedding is one "
            "matrix and a bias, without an activation",
            partial(_embed, cut="activation"),
        ),
        Mistake(
            "bias unused",
            "the bias of the patch embedding is there but not added",
            partial(_embed, cut="unbiased"),
        ),
    ],
    hints=(
        "Three things are learned besides the patch embedding's matrix and bias: what "
        "are their shapes? Then follow the shape from images to tokens.",
        "Patches (B, N, D); the class token expanded to (B, 1, D) and put in front "
        "gives (B, T, D); only then the positions, (1, T, D), are added.",
        "x = self.patch_embed(images); x = torch.cat([self.cls_token.expand(len(x), "
        "-1, -1), x], dim=1); return x + self.pos_embed.",
    ),
    shape="(B, T, D)",
    lacking=_embedding_lacks,
)
