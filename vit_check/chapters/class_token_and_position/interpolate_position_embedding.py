"""Check of chapter 3: positions for another grid."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn import functional as F

from vit_check.engine.check import Case
from vit_check.engine.drawing import normal
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake
from vit_steps.embedding import interpolate_position_embedding as right_interpolation


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
        (4, 8, (2, 8), torch.float32),  # as many patches as before
        (3, 5, (3, 3), torch.float32),
    ):
        yield [normal(generator, 1, 1 + side * side, D).to(dtype), grid_size]


interpolate_position_embedding = FunctionCheck(
    "interpolate_position_embedding",
    "interpolate_position_embedding(pos_embed, grid_size) -> (1, 1 + rows·columns, D)",
    right_interpolation,
    _interpolation_inputs,
    [
        Mistake(
            "as they were",
            "positions come back as they were wherever there are to be as many as "
            "before: 4×4 and 2×8 are both 16, but they are another grid",
            lambda pos, grid_size: (
                pos
                if math.prod(grid_size) == pos.shape[1] - 1
                else right_interpolation(pos, grid_size)
            ),
        ),
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
            "D is not moved back to the end before the grid is flattened: each "
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
            "antialias=True is missing: without it PyTorch uses a different cubic, and "
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
