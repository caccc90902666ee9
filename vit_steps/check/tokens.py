"""Checks of chapter 3: class token, positions, and both on the patches of an image."""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn import functional as F

from vit_steps.check.checking import Case
from vit_steps.check.function_check import FunctionCheck
from vit_steps.check.module_check import ModuleCheck, run_module
from vit_steps.check.reading import Part, Weights
from vit_steps.check.verdict import Finding, Mistake
from vit_steps.embedding import ViTEmbedding
from vit_steps.embedding import interpolate_position_embedding as right_interpolation
from vit_steps.embedding import sincos_position_embedding as right_sincos

Wrong = Callable[..., Any]


def _normal(generator: Generator, *shape: int) -> Tensor:
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def _with_weights(mistakes: Sequence[Mistake], name: str) -> list[Mistake]:
    """Mistakes of a function of (x, weight), for a module with that one weight."""

    def for_module(wrong: Wrong) -> Wrong:
        return lambda weights, sizes, x: wrong(x, weights[name])

    return [Mistake(m.name, m.sentence, for_module(m.wrong)) for m in mistakes]


# Above 0.71, which sines and cosines have, and below 1.
_WIDE = 0.72


def _starts_wide(weights: Weights, sizes: Mapping[str, Any]) -> Finding | None:
    """Class token or positions that begin as wide as what they are put beside."""
    for name, what in (("cls_token", "the class token"), ("pos_embed", "positions")):
        numbers = weights.get(name)
        if numbers is None or numbers.numel() < 100:  # too few to tell
            continue
        if numbers.square().mean().sqrt() > _WIDE:
            return Finding(
                "wide start",
                f"starts {what} with numbers about 1 wide, as large as those of the "
                "patches: begin narrow, as with 0.02, or the class token at zero",
            )
    return None


# The class token


def _in_front(patches: Tensor, cls_token: Tensor) -> Tensor:
    return torch.cat([cls_token.expand(len(patches), -1, -1), patches], dim=1)


_OF_CLASS_TOKEN = [
    Mistake(
        "last",
        "the class token stands behind the patches; in ViT it is the first, at index 0",
        lambda x, cls: _in_front(x, cls).roll(-1, 1),
    ),
    Mistake(
        "added",
        "the class token is added to the patches; it is to be a token of its own, "
        "so that N patches become N + 1 tokens",
        lambda x, cls: x + cls,
    ),
    Mistake(
        "along D",
        "the class token is joined along D: every patch has become longer, and there "
        "is no token more",
        lambda x, cls: torch.cat([cls.expand_as(x), x], dim=2),
    ),
    Mistake(
        "replaces the first patch",
        "the class token is written over the first patch, which is lost",
        lambda x, cls: torch.cat([cls.expand(len(x), -1, -1), x[:, 1:]], dim=1),
    ),
    Mistake(
        "replaces the last patch",
        "the last patch is lost: N patches and the class token are N + 1 tokens",
        lambda x, cls: _in_front(x, cls)[:, :-1],
    ),
    Mistake(
        "one for every patch",
        "a class token is put in front for every patch, 2·N tokens in all; an image "
        "gets one",
        lambda x, cls: torch.cat([cls.expand_as(x), x], dim=1),
    ),
    Mistake(
        "along the batch",
        "class tokens and patches are joined along the batch, so that the class "
        "tokens have become images of their own",
        lambda x, cls: torch.cat([cls.expand_as(x), x]),
    ),
    Mistake(
        "one image more",
        "the class token is joined along the batch, dim 0, which is what torch.cat "
        "takes when no dim is given: it has become one image more",
        lambda x, cls: torch.cat([cls.expand(1, x.shape[1], -1), x]),
    ),
    Mistake(
        "missing",
        "the patches come back as they were, without a class token",
        lambda x, cls: x,
    ),
    Mistake(
        "patches lost",
        "only the class token comes back; the patches are to follow it",
        lambda x, cls: cls.expand(len(x), -1, -1),
    ),
    Mistake(
        "zeros in front",
        "zeros stand in front and not the class token, which is to be learned",
        lambda x, cls: _in_front(x, torch.zeros_like(cls)),
    ),
    Mistake(
        "mean in front",
        "the mean of the patches stands in front; the class token is a vector of its "
        "own, the same for every image",
        lambda x, cls: torch.cat([x.mean(1, keepdim=True), x], dim=1),
    ),
    Mistake(
        "both ends",
        "the class token stands in front and behind, once too often",
        lambda x, cls: _in_front(_in_front(x, cls).roll(-1, 1), cls),
    ),
    Mistake(
        "first image alone",
        "only the first image gets the class token; the others get zeros",
        lambda x, cls: torch.cat([F.pad(cls, (0, 0, 0, 0, 0, len(x) - 1)), x], dim=1),
    ),
    Mistake(
        "patches reversed",
        "the class token is where it should be, and the patches behind it come in "
        "reverse order",
        lambda x, cls: _in_front(x.flip(1), cls),
    ),
]


def _class_token_readings(
    parts: list[Part], sizes: Mapping[str, Any]
) -> Iterator[Weights]:
    for part in parts:
        if part.value.numel() == sizes["embed_dim"]:
            yield {"cls_token": part.value.reshape(1, 1, -1)}


def _class_token_lacks(parts: list[Part], sizes: Mapping[str, Any]) -> Finding | None:
    D = sizes["embed_dim"]
    if not parts:
        return NOT_LEARNED
    if len(parts) > 1:
        return None
    shape = tuple(parts[0].value.shape)
    if parts[0].value.numel() == 1:
        return Finding(
            "one number",
            f"has a class token of one number, {shape}; it is a vector of D numbers",
        )
    if shape[-1] == D:
        return Finding(
            "one for each image",
            f"has several class tokens, {shape}: there is one, (1, 1, D), which all "
            "images of a batch share, however many they are",
        )
    return None


NOT_LEARNED = Finding(
    "not a parameter",
    "has nothing to learn: a plain tensor or a buffer is no parameter, so no optimizer "
    "finds it, and training leaves it as it is",
)


def _class_token_inputs(generator: Generator) -> Iterator[Case]:
    for B, N, D, dtype in (
        (3, 5, 8, torch.float32),
        (2, 7, 6, torch.float64),
        (4, 3, 8, torch.bfloat16),
        (3, 1, 6, torch.float32),  # one patch: joining along any axis works
    ):
        patches, cls = _normal(generator, B, N, D), _normal(generator, 1, 1, D)
        yield [patches.to(dtype), cls.to(dtype)]


_HINTS_OF_CLASS_TOKEN = (
    "Compare shapes: N patches come in, N + 1 tokens go out. Which axis has grown?",
    "There is one class token, (1, 1, D), and B images: expand it to (B, 1, D), then "
    "join it and the patches along the axis of the tokens, the class token first.",
    "torch.cat([cls_token.expand(B, -1, -1), patches], dim=1), where cls_token is an "
    "nn.Parameter of shape (1, 1, D).",
)

class_token = ModuleCheck(
    "class_token",
    "class ClassToken(embed_dim), called with patches (B, N, D)",
    sizes={"embed_dim": 192},
    inputs=lambda generator, sizes: [_normal(generator, 3, 5, sizes["embed_dim"])],
    coinciding=lambda generator, sizes: [_normal(generator, 2, 1, sizes["embed_dim"])],
    reading=_class_token_readings,
    reference=lambda weights, sizes, x: _in_front(x, weights["cls_token"]),
    mistakes=_with_weights(_OF_CLASS_TOKEN, "cls_token"),
    hints=_HINTS_OF_CLASS_TOKEN,
    shape="(B, 1 + N, D)",
    lacking=_class_token_lacks,
    initial=_starts_wide,
    function=FunctionCheck(
        "class_token",
        "class_token(patches, cls_token) -> (B, 1 + N, D)",
        _in_front,
        _class_token_inputs,
        _OF_CLASS_TOKEN,
        _HINTS_OF_CLASS_TOKEN,
        shape="(B, 1 + N, D)",
        batched=(0,),
    ),
)


# Learned positions

_OF_POSITIONS = [
    Mistake(
        "class token left out",
        "the class token gets no position: row 0 of the positions belongs to it",
        lambda x, pos: torch.cat([x[:, :1], x[:, 1:] + pos[:, 1:]], dim=1),
    ),
    Mistake(
        "class token lost",
        "the class token is gone: T tokens come in, and T go out",
        lambda x, pos: (x + pos)[:, 1:],
    ),
    Mistake(
        "concatenated",
        "positions are put beside the tokens, so that each is 2·D long; in ViT they "
        "are added, number by number",
        lambda x, pos: torch.cat([x, pos.expand_as(x)], dim=2),
    ),
    Mistake(
        "more tokens",
        "positions are put behind the tokens as if they were tokens; in ViT they are "
        "added to them",
        lambda x, pos: torch.cat([x, pos.expand_as(x)], dim=1),
    ),
    Mistake(
        "multiplied",
        "tokens and positions are multiplied; in ViT they are added",
        lambda x, pos: x * pos,
    ),
    Mistake(
        "missing",
        "the tokens come back as they were, without a position",
        lambda x, pos: x,
    ),
    Mistake(
        "tokens lost",
        "only the positions come back; they are to be added to the tokens",
        lambda x, pos: pos.expand_as(x),
    ),
    Mistake(
        "same for all tokens",
        "all tokens get the first position, so that none can tell where it is",
        lambda x, pos: x + pos[:, :1],
    ),
    Mistake(
        "by the batch",
        "positions are counted along the batch: all tokens of image 0 get the first "
        "position, those of image 1 the second; it is the token that has a position",
        lambda x, pos: x + pos[0, : len(x), None],
    ),
    Mistake(
        "reversed",
        "the positions are added in reverse order",
        lambda x, pos: x + pos.flip(1),
    ),
    Mistake(
        "one too far",
        "each token gets the position of the one behind it: row 0 belongs to the "
        "class token",
        lambda x, pos: x + pos.roll(-1, 1),
    ),
    Mistake(
        "one too early",
        "each token gets the position of the one before it: row 0 belongs to the "
        "class token",
        lambda x, pos: x + pos.roll(1, 1),
    ),
    Mistake(
        "twice",
        "the positions are added twice",
        lambda x, pos: x + 2 * pos,
    ),
    Mistake(
        "subtracted",
        "the positions are subtracted; in ViT they are added",
        lambda x, pos: x - pos,
    ),
    Mistake(
        "tokens scaled",
        "the tokens are multiplied by √D before the positions are added: the first "
        "Transformer did so, ViT does not",
        lambda x, pos: x * x.shape[-1] ** 0.5 + pos,
    ),
    Mistake(
        "averaged",
        "the mean of token and position is taken, expected their sum",
        lambda x, pos: (x + pos) / 2,
    ),
    Mistake(
        "first image alone",
        "only the first image of the batch gets positions",
        lambda x, pos: torch.cat([x[:1] + pos, x[1:]]),
    ),
    Mistake(
        "view instead of transpose",
        "the positions are brought into shape by a view: a token then gets pieces of "
        "several positions",
        lambda x, pos: x + pos.reshape(1, pos.shape[2], pos.shape[1]).mT,
    ),
]


def _position_readings(
    parts: list[Part], sizes: Mapping[str, Any]
) -> Iterator[Weights]:
    """One table of T rows; or several with T rows in all, in any order of two."""
    T, D = sizes["num_tokens"], sizes["embed_dim"]
    for part in parts:
        if part.value.numel() == T * D:
            if part.value.shape[-1] in (D, T * D):
                yield {"pos_embed": part.value.reshape(1, T, D)}
            elif tuple(part.value.shape[-2:]) == (D, T):
                yield {"pos_embed": part.value.reshape(1, D, T).mT}
    rows = [p.value.reshape(-1, D) for p in parts if p.value.shape[-1] == D]
    if len(rows) == len(parts) > 1 and sum(map(len, rows)) == T:
        for order in (rows, rows[::-1]):
            yield {"pos_embed": torch.cat(order)[None]}


def _positions_lack(parts: list[Part], sizes: Mapping[str, Any]) -> Finding | None:
    T, D = sizes["num_tokens"], sizes["embed_dim"]
    if not parts:
        return NOT_LEARNED
    if len(parts) > 1:
        return None
    shape, many = tuple(parts[0].value.shape), parts[0].value.numel()
    if many == (T - 1) * D:
        return Finding(
            "one position too few",
            f"has positions for T - 1 tokens, {shape}: the class token has one too",
        )
    if many == (T + 1) * D:
        return Finding(
            "one position too many",
            f"has positions for T + 1 tokens, {shape}: num_tokens counts the class "
            "token already",
        )
    if many == D:
        return Finding(
            "same for all tokens",
            f"has one position for all tokens, {shape}, so that none can tell where "
            "it is: each of the T tokens has D numbers of its own",
        )
    if many == T:
        return Finding(
            "one number a token",
            f"has one number for each token, {shape}: a position is a vector of D "
            "numbers, as a token is",
        )
    if many == 1:
        return Finding(
            "one number",
            f"has one number, {shape}: each of the T tokens has D numbers of its own",
        )
    if many % (T * D) == 0:
        return Finding(
            "one for each image",
            f"has positions for {many // (T * D)} images, {shape}: they are learned "
            "once, (1, T, D), and shared by all images of a batch",
        )
    if shape[-1] == D:
        return Finding(
            "another number",
            f"has positions for {many // D} tokens, {shape}: num_tokens says how many "
            "there are",
        )
    return None


def _position_inputs(generator: Generator) -> Iterator[Case]:
    for B, T, D, dtype in (
        (3, 5, 8, torch.float32),
        (2, 7, 6, torch.float64),
        (4, 6, 8, torch.bfloat16),
    ):
        tokens, pos = _normal(generator, B, T, D), _normal(generator, 1, T, D)
        yield [tokens.to(dtype), pos.to(dtype)]


_HINTS_OF_POSITIONS = (
    "Take one image and one token, at place t. Which D numbers are to be added to it? "
    "And to the class token, at place 0?",
    "There is one table of T positions of D numbers, shared by all images: adding "
    "(1, T, D) to (B, T, D) gives each image the same.",
    "tokens + pos_embed, where pos_embed is an nn.Parameter of shape (1, T, D), drawn "
    "with a standard deviation of 0.02.",
)

position_embedding = ModuleCheck(
    "position_embedding",
    "class PositionEmbedding(num_tokens, embed_dim), called with tokens (B, T, D)",
    sizes={"num_tokens": 9, "embed_dim": 32},
    inputs=lambda generator, sizes: [
        _normal(generator, 3, sizes["num_tokens"], sizes["embed_dim"])
    ],
    reading=_position_readings,
    reference=lambda weights, sizes, x: x + weights["pos_embed"],
    mistakes=_with_weights(_OF_POSITIONS, "pos_embed"),
    hints=_HINTS_OF_POSITIONS,
    shape="(B, T, D)",
    lacking=_positions_lack,
    initial=_starts_wide,
    function=FunctionCheck(
        "position_embedding",
        "position_embedding(tokens, pos_embed) -> (B, T, D)",
        lambda x, pos: x + pos,
        _position_inputs,
        _OF_POSITIONS,
        _HINTS_OF_POSITIONS,
        shape="(B, T, D)",
        batched=(0,),
    ),
)


# Sines and cosines in two dimensions


def _sincos(
    embed_dim: int,
    grid_size: tuple[int, int],
    cls_token: bool = True,
    places: Callable[[int], Tensor] = torch.arange,
    exponents: Callable[[Tensor, int], Tensor] = lambda i, n: i / n,
    order: str = "(row sin)(row cos)(column sin)(column cos)",
    downwards: bool = False,
    first: str = "zeros",
) -> Tensor:
    """Positions of the grid, with a place for each usual mistake."""
    rows, columns = grid_size
    n = embed_dim // 4
    speeds = 10000.0 ** -exponents(torch.arange(n, dtype=torch.float64), n)
    row, column = torch.meshgrid(places(rows), places(columns), indexing="ij")
    if downwards:
        row, column = row.T, column.T
    quarters = {}
    for name, place in (("row", row), ("column", column)):
        angles = place.reshape(-1, 1).double() * speeds  # (N, D/4)
        quarters[f"{name} sin"], quarters[f"{name} cos"] = angles.sin(), angles.cos()
    names = order.strip("()").split(")(")
    code = torch.cat([quarters[name] for name in names], dim=1)  # (N, D)
    if cls_token and first == "zeros":
        code = F.pad(code, (0, 0, 1, 0))
    elif cls_token and first == "last":
        code = F.pad(code, (0, 0, 0, 1))
    elif cls_token and first == "place 0":
        code = torch.cat([code[:1], code])
    return code[None].to(torch.get_default_dtype())


def _in_turns(embed_dim: int, grid_size: Any, cls_token: bool = True) -> Tensor:
    right = _sincos(embed_dim, grid_size, cls_token)
    return right.unflatten(2, (2, 2, -1)).transpose(3, 4).flatten(2)


def _in_one_dimension(embed_dim: int, grid_size: Any, cls_token: bool = True) -> Tensor:
    line = (grid_size[0] * grid_size[1], 1)
    return _sincos(2 * embed_dim, line, cls_token)[..., :embed_dim]


def _one_dimension_in_turns(
    embed_dim: int, grid_size: Any, cls_token: bool = True
) -> Tensor:
    line = _in_one_dimension(embed_dim, grid_size, cls_token)
    return line.unflatten(2, (2, -1)).transpose(2, 3).flatten(2)


def _both_added(embed_dim: int, grid_size: Any, cls_token: bool = True) -> Tensor:
    whole = _sincos(2 * embed_dim, grid_size, cls_token)
    return whole[..., :embed_dim] + whole[..., embed_dim:]


def _in_float32(output: Any) -> Any:
    """Nothing that came in says which floating type is wanted."""
    floating = isinstance(output, Tensor) and output.is_floating_point()
    return output.float() if floating else output


sincos_position_embedding = FunctionCheck(
    "sincos_position_embedding",
    "sincos_position_embedding(embed_dim, grid_size, cls_token=True) -> (1, 1 + N, D)",
    right_sincos,
    lambda generator: [[16, (3, 5), True], [24, (4, 2), False], [8, (6, 7)]],
    [
        Mistake(
            "column first",
            "the first half of the numbers tells the column, expected the row",
            partial(_sincos, order="(column sin)(column cos)(row sin)(row cos)"),
        ),
        Mistake(
            "rows and columns swapped",
            "the patches are numbered down the columns; they come row by row, as one "
            "reads",
            partial(_sincos, downwards=True),
        ),
        Mistake(
            "sines together",
            "the quarters are in another order: the sines of row and column stand "
            "together; expected row sines, row cosines, column sines, column cosines",
            partial(_sincos, order="(row sin)(column sin)(row cos)(column cos)"),
        ),
        Mistake(
            "in turns",
            "sines and cosines take turns within each half; here all sines of a half "
            "come first, then its cosines",
            _in_turns,
        ),
        Mistake(
            "cosine first",
            "the cosines come before the sines",
            partial(_sincos, order="(row cos)(row sin)(column cos)(column sin)"),
        ),
        Mistake(
            "column cosine first",
            "cosines before sines, and the column before the row: the order of the "
            "quarters is row sines, row cosines, column sines, column cosines",
            partial(_sincos, order="(column cos)(column sin)(row cos)(row sin)"),
        ),
        Mistake(
            "one dimension",
            "the places are counted along the line of patches, in one dimension: half "
            "of the numbers are to tell the row, half the column",
            _in_one_dimension,
        ),
        Mistake(
            "one dimension in turns",
            "this is the code for a sentence, in one dimension: half of the numbers "
            "are to tell the row, half the column",
            _one_dimension_in_turns,
        ),
        Mistake(
            "row alone",
            "both halves tell the row",
            partial(_sincos, order="(row sin)(row cos)(row sin)(row cos)"),
        ),
        Mistake(
            "added",
            "the codes of row and column are added; each is to have its own half of "
            "the D numbers",
            _both_added,
        ),
        Mistake(
            "exponent of D",
            "the clocks slow down half as fast as they should: each half has D/2 "
            "numbers, and so D/4 clocks, over which the exponent runs from 0 to 1",
            partial(_sincos, exponents=lambda i, n: i / (2 * n)),
        ),
        Mistake(
            "exponent doubled",
            "the exponent runs from 0 to 2 over the D/4 clocks, expected 0 to 1",
            partial(_sincos, exponents=lambda i, n: 2 * i / n),
        ),
        Mistake(
            "end included",
            "the exponent of the last clock is 1: D/4 clocks have exponents i/(D/4), "
            "and the 1 is not reached",
            partial(_sincos, exponents=lambda i, n: i / (n - 1)),
        ),
        Mistake(
            "multiplied",
            "the clocks get faster and faster: the place is divided by 10000 to the "
            "exponent",
            partial(_sincos, exponents=lambda i, n: -i / n),
        ),
        Mistake(
            "from 1",
            "rows and columns are counted from 1, expected from 0",
            partial(_sincos, places=lambda many: torch.arange(1, many + 1)),
        ),
        Mistake(
            "shares of the side",
            "places are given as shares of the side, from 0 to 1; a clock counts rows "
            "and columns",
            partial(_sincos, places=lambda many: torch.linspace(0, 1, many)),
        ),
        Mistake(
            "no class token",
            "the row for the class token is missing, although it is asked for",
            partial(_sincos, first="none"),
        ),
        Mistake(
            "class token always",
            "there is a row for the class token although cls_token is False",
            lambda embed_dim, grid_size, cls_token=True: _sincos(embed_dim, grid_size),
        ),
        Mistake(
            "class token last",
            "the class token's zeros stand at the end, expected at index 0",
            partial(_sincos, first="last"),
        ),
        Mistake(
            "class token at place 0",
            "the class token gets the code of the first patch; it is nowhere in the "
            "grid, and gets zeros",
            partial(_sincos, first="place 0"),
        ),
        Mistake(
            "no batch axis",
            "the first axis, of length 1, is missing: (1, 1 + N, D), so that the "
            "positions can be added to a batch",
            lambda *arguments: _sincos(*arguments)[0],
        ),
    ],
    hints=(
        "Print the positions for embed_dim 8 on a grid of 2 by 3. Which four numbers "
        "stay the same along a row? They tell the row.",
        "Each half has D/4 clocks. Clock i turns by 10000**(-i / (D/4)) a step: sines "
        "of all clocks, then cosines; first for the row, then for the column.",
        "angles = place[:, None] * 10000 ** -(torch.arange(D // 4) / (D // 4)); "
        "torch.cat([angles.sin(), angles.cos()], dim=1) is one half; expand it over "
        "the other axis of the grid, join the halves, flatten the grid, put a row of "
        "zeros in front.",
    ),
    shape="(1, 1 + N, D)",
    gradients=False,
    normalise=_in_float32,
)


# Positions for another grid


def _resize(
    pos: Tensor,
    grid_size: tuple[int, int],
    size: Callable[[int, int], tuple[int, int]] = lambda rows, columns: (rows, columns),
    moved: bool = True,
    back: str = "moved",
    first: str = "kept",
    **how: Any,
) -> Tensor:
    """Positions resized, with a place for each usual mistake."""
    side, D = math.isqrt(pos.shape[1] - 1), pos.shape[2]
    image = pos[:, 1:].reshape(1, side, side, D).permute(0, 3, 1, 2)
    if not moved:
        image = pos[:, 1:].reshape(1, D, side, side)
    how = how or {"mode": "bicubic", "antialias": True}
    image = F.interpolate(image, size(*grid_size), **how)
    if back == "moved":
        patches = image.flatten(2).mT
    elif back == "downwards":
        patches = image.mT.flatten(2).mT
    else:
        patches = image.reshape(1, -1, D)
    if first == "lost":
        return patches
    if first == "last":
        return torch.cat([patches, pos[:, :1]], dim=1)
    cls = torch.zeros_like(pos[:, :1]) if first == "zeros" else pos[:, :1]
    return torch.cat([cls, patches], dim=1)


def _along_the_line(pos: Tensor, many: int) -> Tensor:
    return F.interpolate(pos.mT, many, mode="linear").mT


def _numbers_resized(pos: Tensor, grid_size: tuple[int, int]) -> Tensor:
    many, D = math.prod(grid_size), pos.shape[2]
    how: dict[str, Any] = {"mode": "bicubic", "antialias": True}
    table = F.interpolate(pos[None, :, 1:], (many, D), **how)
    return torch.cat([pos[:, :1], table[0]], dim=1)


def _repeated(pos: Tensor, grid_size: tuple[int, int]) -> Tensor:
    old, new = pos.shape[1] - 1, math.prod(grid_size)
    return torch.cat([pos[:, :1], pos[:, 1 + torch.arange(new) % old]], dim=1)


def _filled_up(pos: Tensor, grid_size: tuple[int, int]) -> Tensor:
    old, new = pos.shape[1] - 1, math.prod(grid_size)
    return F.pad(pos, (0, 0, 0, new - old))


def _interpolation_inputs(generator: Generator) -> Iterator[Case]:
    for side, D, grid_size, dtype in (
        (3, 6, (5, 7), torch.float32),
        (5, 4, (2, 3), torch.float64),
        (4, 8, (6, 3), torch.float32),
        (3, 5, (3, 3), torch.float32),
    ):
        yield [_normal(generator, 1, 1 + side * side, D).to(dtype), grid_size]


interpolate_position_embedding = FunctionCheck(
    "interpolate_position_embedding",
    "interpolate_position_embedding(pos_embed, grid_size) -> (1, 1 + rows·columns, D)",
    right_interpolation,
    _interpolation_inputs,
    [
        Mistake(
            "class token resized",
            "the class token is resized with the patches, along the line of tokens: "
            "it has no place in the grid, and its row is left as it is",
            lambda pos, grid: _along_the_line(pos, 1 + math.prod(grid)),
        ),
        Mistake(
            "one dimension",
            "the positions are resized along the line of patches: lay them out as the "
            "grid they belong to first, rows by columns",
            lambda pos, grid: torch.cat(
                [pos[:, :1], _along_the_line(pos[:, 1:], math.prod(grid))], dim=1
            ),
        ),
        Mistake(
            "class token lost",
            "the class token's position is gone: put it back in front",
            partial(_resize, first="lost"),
        ),
        Mistake(
            "class token last",
            "the class token's position has gone to the end, expected at index 0",
            partial(_resize, first="last"),
        ),
        Mistake(
            "class token zero",
            "the class token's position has become zeros; it is to stay as it is",
            partial(_resize, first="zeros"),
        ),
        Mistake(
            "rows and columns swapped",
            "the new grid has as many rows as it should have columns: grid_size is "
            "(rows, columns)",
            partial(_resize, size=lambda rows, columns: (columns, rows)),
        ),
        Mistake(
            "flattened downwards",
            "the new positions are read down the columns; patches come row by row",
            partial(_resize, back="downwards"),
        ),
        Mistake(
            "swapped and read downwards",
            "rows and columns are swapped twice, in the size and in reading: the old "
            "grid is stretched along the wrong axes",
            partial(
                _resize,
                size=lambda rows, columns: (columns, rows),
                back="downwards",
            ),
        ),
        Mistake(
            "view instead of permute",
            "D is brought in front of the grid by a view, which cuts the positions to "
            "pieces: lay them out as (1, rows, columns, D), then permute",
            partial(_resize, moved=False),
        ),
        Mistake(
            "not moved back",
            "D is not moved behind the grid before the positions are flattened: each "
            "new one holds pieces of several",
            partial(_resize, back="reshaped"),
        ),
        Mistake(
            "never moved",
            "the positions are viewed as (1, D, rows, columns) and back, without a "
            "permute: what is resized is no grid of positions",
            partial(_resize, moved=False, back="reshaped"),
        ),
        Mistake(
            "numbers resized",
            "D takes part as if it were an axis of the image: the image is rows by "
            "columns, and the D numbers are its channels",
            _numbers_resized,
        ),
        Mistake(
            "no antialias",
            "antialias=True is missing: without it PyTorch takes another cubic, and "
            "skips positions when the grid shrinks",
            partial(_resize, mode="bicubic"),
        ),
        Mistake(
            "bilinear",
            "the positions are resized bilinearly, expected bicubic",
            partial(_resize, mode="bilinear"),
        ),
        Mistake(
            "nearest",
            "each new position is a copy of the nearest old one, which is what "
            "F.interpolate does unless a mode is given; expected bicubic",
            partial(_resize, mode="nearest"),
        ),
        Mistake(
            "corners aligned",
            "align_corners puts the middles of the corner patches on one another; a "
            "patch is an area, and it is the edges of the image that coincide",
            partial(_resize, mode="bicubic", align_corners=True),
        ),
        Mistake(
            "corners aligned with antialias",
            "align_corners puts the middles of the corner patches on one another; a "
            "patch is an area, and it is the edges of the image that coincide",
            partial(_resize, mode="bicubic", align_corners=True, antialias=True),
        ),
        Mistake(
            "repeated",
            "the old positions are repeated until there are enough; new ones lie "
            "between the old",
            _repeated,
        ),
        Mistake(
            "filled up",
            "the old positions are kept and the rest is zeros; new ones lie between "
            "the old",
            _filled_up,
        ),
        Mistake(
            "left as it is",
            "the positions come back for the old grid",
            lambda pos, grid: pos,
        ),
    ],
    hints=(
        "Which row has no place in the grid? Write down the shape after every line; D "
        "is never resized.",
        "Take row 0 off. Lay the others out as (1, rows, columns, D), move D to where "
        "an image has its channels, resize, and go the same way back.",
        "image = pos_embed[:, 1:].reshape(1, side, side, -1).permute(0, 3, 1, 2); "
        'F.interpolate(image, grid_size, mode="bicubic", antialias=True); '
        ".flatten(2).transpose(1, 2); torch.cat with pos_embed[:, :1].",
    ),
    shape="(1, 1 + rows·columns, D)",
)


# Images to tokens


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
        return Finding(
            "no positions",
            "has no learned positions: T = N + 1 of them, of D numbers each",
        )
    vectors = [p for p in parts if p.value.numel() == D]
    if all(p.kind in ("linear", "convolution") for p in vectors):
        return Finding(
            "no class token", "has no class token: one learned vector of D numbers"
        )
    return None


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
    inputs=lambda generator, sizes: [
        _normal(
            generator,
            2,
            sizes["in_channels"],
            sizes["image_size"],
            sizes["image_size"],
        )
    ],
    reading=_embedding_readings,
    reference=_right_embedding,
    mistakes=[
        Mistake(
            "class token last",
            "the class token stands behind the patches; in ViT it is the first, at "
            "index 0",
            partial(_embed, cls="last"),
        ),
        Mistake(
            "class token and its position last",
            "the class token stands behind the patches, and its position with it; in "
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
            "zeros stand in front and not the class token, which is to be learned",
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
            "D is moved behind the patches by a view, (B, D, rows, columns) to "
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
            "the bias of the patch embedding is there and not added",
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
    initial=_starts_wide,
)
