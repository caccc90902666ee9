import itertools
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from vit_check.chapters.class_token_and_position.position_embedding import (
    num_tokens,
    one_too_few,
)
from vit_check.engine import reading
from vit_check.engine.drawing import images_of
from vit_check.engine.modules import ModuleCheck
from vit_check.engine.reading import Part, Sizes, Weights
from vit_steps.embedding import ViTEmbedding


def _embedding_readings(parts: list[Part], sizes: Sizes) -> Iterator[Weights]:
    """Read the patches' matrix, a table of positions, and vectors that are left."""
    C, P, D = sizes["in_channels"], sizes["patch_size"], sizes["embed_dim"]
    T = num_tokens(sizes)
    if any(part.kind == "norm" for part in parts):
        return
    vectors = [part for part in parts if part.value.numel() == D]
    tables = [part for part in parts if part not in vectors]
    for matrix in parts:
        filters = list(reading.as_filters(matrix, D, (C, P, P)))
        layer = matrix.kind in ("linear", "convolution")
        own = [v for v in vectors if layer and v.owner == matrix.owner]
        others = [v for v in vectors if v not in own]
        biases: list[Part | None] = [*own] if layer else [*others]
        for bias in biases if own else [*biases, None]:
            left = [v for v in others if v is not bias]
            every = reading.tokens_and_positions(left, tables, T, D)
            for (used, cls, table), weight in itertools.product(every, filters):
                if len(used) < len(left) and len(used) == 2:
                    continue
                shift = weight.new_zeros(D) if bias is None else bias.value.reshape(D)
                yield {
                    "patch_embed.proj.weight": weight,
                    "patch_embed.proj.bias": shift,
                    "cls_token": cls,
                    "pos_embed": table,
                }


def tokens_of(weights: Weights, sizes: Sizes, images: Tensor) -> Tensor:
    filters, bias = weights["patch_embed.proj.weight"], weights["patch_embed.proj.bias"]
    maps = F.conv2d(images, filters, bias, stride=filters.shape[2:])
    patches = maps.flatten(2).mT  # (B, N, D)
    cls, pos = weights["cls_token"].expand(len(images), -1, -1), weights["pos_embed"]
    tokens = torch.cat([cls, patches], dim=1)
    return tokens + pos


TABLE = """
class ViTEmbedding(image_size, patch_size, in_channels, embed_dim), called with images
    (B, C, H, W)
  20, 4, 3, 120
  12, 3, 2, 40
class token last: [cls, patches] -> [patches, cls]
    the class token comes after the patches; in ViT it is the first, at index 0
class token without position: [cls, patches] -> [cls, patches + pos[:, 1:]]
  tokens + pos -> tokens
    the class token gets no position: row 0 of the positions belongs to it
positions before the class token: [cls, patches] -> [cls, patches + pos[:, :-1]]
  tokens + pos -> tokens
    the positions are added before the class token is there: the patches get rows 0 to N
    - 1, and row 0 belongs to the class token
positions multiplied: tokens + pos -> tokens * pos
    tokens and positions are multiplied; in ViT they are added
patches scaled: [cls, patches] -> [cls, patches * cls.shape[-1] ** 0.5]
    the patches are multiplied by √D, as words were in the first Transformer, not in ViT
positions added twice: tokens + pos -> tokens + 2 * pos
    the positions are added twice
class token's position twice: [cls, patches] -> [cls + pos[:, :1], patches]
    the class token gets its position twice
patches down the columns: maps.flatten -> maps.mT.flatten
    the patches come column by column; they are read row by row
view instead of transpose: maps.flatten(2).mT -> maps.reshape(len(maps), -1, len(bias))
    D is moved to the end by a view, (B, D, rows, columns) to (B, N, D): the shape fits,
    and each token holds pieces of many patches
? Three things are learned besides the patch embedding's matrix and bias: what are their
  shapes? Then follow the shape from images to tokens.
? Patches (B, N, D); the class token expanded to (B, 1, D) and put in front gives (B, T,
  D); only then the positions, (1, T, D), are added.
? x = self.patch_embed(images); x = torch.cat([self.cls_token.expand(len(x), -1, -1),
  x], dim=1); return x + self.pos_embed.
"""

embed_images = ModuleCheck(
    "embed_images",
    tokens_of,
    TABLE,
    inputs=lambda generator, sizes: [images_of(sizes, generator)],
    reading=_embedding_readings,
    package=lambda sizes: ViTEmbedding(**sizes),
    shape="(B, T, D)",
    lacking=one_too_few,
)
