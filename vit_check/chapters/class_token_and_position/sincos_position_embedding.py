"""Check of chapter 3: sines and cosines in two dimensions."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake
from vit_steps.embedding import sincos_position_embedding as right_sincos


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


_OF_A_TURN = math.log(2 * math.pi, 10000)


def _sizes_exchanged(embed_dim: int, grid_size: Any, cls_token: bool = True) -> Tensor:
    return _sincos(embed_dim, (grid_size[1], grid_size[0]), cls_token)


def _in_turns(embed_dim: int, grid_size: Any, cls_token: bool = True) -> Tensor:
    right = _sincos(embed_dim, grid_size, cls_token)
    return right.unflatten(2, (2, 2, -1)).transpose(3, 4).flatten(2)


def _column_first_in_turns(
    embed_dim: int, grid_size: Any, cls_token: bool = True
) -> Tensor:
    return torch.cat(_in_turns(embed_dim, grid_size, cls_token).chunk(2, -1)[::-1], -1)


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
    lambda generator: [[16, (3, 5), True], [24, (4, 2), False], [12, (6, 7)]],
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
            "sizes exchanged",
            "the grid's rows and columns are exchanged: grid_size is (rows, "
            "columns), and a row holds as many patches as there are columns",
            _sizes_exchanged,
        ),
        Mistake(
            "sines together",
            "the quarters are in a different order: the sines of row and column come "
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
            "column first, in turns",
            "the column comes before the row, and a sine and a cosine take turns: the "
            "order of the quarters is row sines, row cosines, column sines, column "
            "cosines",
            _column_first_in_turns,
        ),
        Mistake(
            "whole turns",
            "the angles are multiplied by 2π, so that the fastest clock goes round "
            "once a step and always reads the same",
            partial(_sincos, exponents=lambda i, n: i / n - _OF_A_TURN),
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
            "column first, end included",
            "the column comes before the row, and the exponent of the last clock is "
            "1: the first half of the numbers tells the row, and D/4 clocks have "
            "exponents i/(D/4)",
            partial(
                _sincos,
                order="(column sin)(column cos)(row sin)(row cos)",
                exponents=lambda i, n: i / (n - 1),
            ),
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
            "the class token's zeros are at the end, expected at index 0",
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
    normalize=_in_float32,
)
