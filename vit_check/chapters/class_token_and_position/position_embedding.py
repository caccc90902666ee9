from collections.abc import Iterator

import torch
from torch import Tensor, nn

from vit_check.engine.drawing import normal
from vit_check.engine.modules import ModuleCheck
from vit_check.engine.reading import Part, Sizes, Weights, as_rows
from vit_check.engine.verdict import Finding


def _added(weights: Weights, sizes: Sizes, x: Tensor) -> Tensor:
    pos = weights["pos_embed"]
    return x + pos


TABLE = """
class PositionEmbedding(num_tokens, embed_dim), called with tokens (B, T, D)
  9, 32
  6, 20
class token left out: x + pos -> torch.cat([x[:, :1], x[:, 1:] + pos[:, 1:]], dim=1)
    the class token gets no position: row 0 of the positions belongs to it
concatenated: x + pos -> torch.cat([x, pos.expand_as(x)], dim=2)
    positions are put beside the tokens, 2·D numbers; in ViT they are added
multiplied: x + pos -> x * pos
    tokens and positions are multiplied; in ViT they are added
tokens scaled: x + pos -> x * x.shape[-1] ** 0.5 + pos
    the tokens are multiplied by √D before the positions are added: the first
    Transformer did so, ViT does not
by the batch: x + pos -> x + pos[0, : len(x), None]
    positions are counted along the batch: all tokens of image 0 get the first position,
    those of image 1 the second; it is the token that has a position
? Take one image and one token, at place t. Which D numbers are to be added to it? And
  to the class token, at place 0?
? There is one table of T positions of D numbers, shared by all images: adding (1, T, D)
  to (B, T, D) gives each image the same.
? tokens + pos_embed, where pos_embed is an nn.Parameter of shape (1, T, D), drawn with
  a standard deviation of 0.02.
"""


def _position_readings(parts: list[Part], sizes: Sizes) -> Iterator[Weights]:
    """Yield a table of T rows, or several with T rows in all, in both orders."""
    T, D = sizes["num_tokens"], sizes["embed_dim"]
    for part in parts:
        table = as_rows(part, T, D)
        if table is not None:
            yield {"pos_embed": table[None]}
    rows = [p.value.reshape(-1, D) for p in parts if p.value.shape[-1] == D]
    if len(rows) == len(parts) > 1 and sum(map(len, rows)) == T:
        for order in (rows, rows[::-1]):
            yield {"pos_embed": torch.cat(order)[None]}


def num_tokens(sizes: Sizes) -> int:
    """Return T, for a module that is built with it or with an image's sizes."""
    if "num_tokens" in sizes:
        return int(sizes["num_tokens"])
    return 1 + int(sizes["image_size"] // sizes["patch_size"]) ** 2


def one_too_few(parts: list[Part], sizes: Sizes) -> Finding | None:
    """Return a finding if patches have positions and the class token has none."""
    T, D = num_tokens(sizes), sizes["embed_dim"]
    for part in parts:
        if part.kind in ("own", "table") and as_rows(part, T - 1, D) is not None:
            return Finding(
                "one position too few",
                f"has positions for T - 1 tokens, {part.name} "
                f"{tuple(part.value.shape)}: the class token has one too",
            )
    return None


def _starts_otherwise(weights: Weights, sizes: Sizes) -> Finding | None:
    """Return a finding if positions do not start as is asked for, 0.02 around 0."""
    rows = weights["pos_embed"][0].double()  # (T, D)
    spread, mean = rows.std().item(), rows.mean().item()
    if bool((rows == rows[:1]).all()):
        said = "all positions alike, expected random ones, standard deviation 0.02"
    elif not 0.0125 < spread < 0.03:
        said = f"positions with a standard deviation of about {spread:.2g}"
        said += ", expected 0.02" + ", not its root" * (0.12 < spread < 0.16)
    elif abs(mean) > 0.01:
        said = f"positions with a mean of about {mean:.2g}, expected 0"
    else:
        return None
    return Finding("start", f"starts {said}")


position_embedding = ModuleCheck(
    "position_embedding",
    _added,
    TABLE,
    inputs=lambda generator, sizes: [
        normal(generator, 3, sizes["num_tokens"], sizes["embed_dim"])
    ],
    reading=_position_readings,
    reference=_added,
    package=lambda sizes: nn.ParameterDict(
        {"pos_embed": torch.zeros(1, sizes["num_tokens"], sizes["embed_dim"])}
    ),
    shape="(B, T, D)",
    lacking=one_too_few,
    initial=_starts_otherwise,
    as_function="position_embedding(tokens, pos_embed) -> (B, T, D)",
)
