"""Check of chapter 9: how far attention looks."""

from functools import partial

import torch
from torch import Tensor

from vit_check.chapters.attention_maps.drawn_maps import Weights, drawn_weights, shares
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake
from vit_steps import attention_maps as right


def _distance(
    weights: Weights,
    grid_size: tuple[int, int],
    patch_size: int,
    patches: str = "without the first",
    divide: bool = True,
    along: str = "columns",
    measure: str = "straight",
    result: str = "(L, h)",
    asked: str = "rows",
) -> Tensor:
    """Mean attention distance with a place for each usual mistake."""
    rows, columns = grid_size
    N = rows * columns
    width = {"columns": columns, "rows": rows}[along]
    place = torch.arange(N)
    down = (place // width)[:, None] - place // width
    across = (place % width)[:, None] - place % width
    distances = {
        "straight": (down**2 + across**2) ** 0.5,
        "straight, squared": (down**2 + across**2) ** 0.5,
        "squared": (down**2 + across**2) * 1.0,
        "steps": (down.abs() + across.abs()) * 1.0,
        "larger": torch.maximum(down.abs(), across.abs()) * 1.0,
        "rows alone": down.abs() * 1.0,
        "index": (place[:, None] - place).abs() * 1.0,
    }[measure].to(weights[0])  # (N, N)
    distances = patch_size * distances
    distances = distances**2 if measure == "straight, squared" else distances
    means = []
    for block in weights:
        table = {
            "without the first": block[..., 1:, 1:],
            "without the last": block[..., :-1, :-1],
            "class token asks": block[..., :1, 1:],
            "without itself": block[..., 1:, 1:],
        }[patches]
        table = table.mT if asked == "columns" else table
        if patches == "without itself":
            table = block[..., 1:, 1:] * (1 - torch.eye(N).to(block))
        table = shares(table) if divide else table
        if measure == "straight" and result == "of the largest":
            nearest = table.argmax(dim=-1)  # (B, h, N)
            distance = distances[place, nearest]
        else:
            origin = distances[:1] if patches == "class token asks" else distances
            distance = (table * origin).sum(dim=-1)  # (B, h, N)
        means.append(distance)
    stacked = torch.stack(means)  # (L, B, h, N)
    return {
        "(L, h)": lambda: stacked.mean(dim=(1, 3)),
        "of the largest": lambda: stacked.mean(dim=(1, 3)),
        "(h, L)": lambda: stacked.mean(dim=(1, 3)).T,
        "summed": lambda: stacked.mean(dim=1).sum(dim=2),
        "heads": lambda: stacked.mean(dim=(1, 2, 3)),
        "images": lambda: stacked.mean(dim=3),
        "patches": lambda: stacked.mean(dim=1),
    }[result]()


attention_distance = FunctionCheck(
    "attention_distance",
    "attention_distance(weights, grid_size, patch_size) -> (L, h)",
    right.attention_distance,
    lambda g: iter(
        [
            [drawn_weights(g, 3, 4, 2, 16), (3, 5), 8],
            [drawn_weights(g, 2, 3, 4, 9, torch.float32), (4, 2), 3],
            [drawn_weights(g, 3, 2, 3, 10), (3, 3), 4],
        ]
    ),
    [
        Mistake(
            "last token dropped",
            "the last token is dropped instead of the first: the class token, at index "
            "0, is taken for a patch, and every patch stands one place too late",
            partial(_distance, patches="without the last"),
        ),
        Mistake(
            "not divided",
            "a patch's shares of the patches do not sum to 1 any more when the class "
            "token is left out: divide them by their sum",
            partial(_distance, divide=False),
        ),
        Mistake(
            "without itself",
            "what a patch pays to itself is left out: it belongs to the mean, with a "
            "distance of 0",
            partial(_distance, patches="without itself"),
        ),
        Mistake(
            "not divided, and rows for columns",
            "there are two mistakes: the shares of the patches do not sum to 1, and "
            "the places are counted with the number of rows instead of columns",
            partial(_distance, divide=False, along="rows"),
        ),
        Mistake(
            "rows for columns",
            "places are counted with the number of rows instead of columns: a new row "
            "begins after as many patches as there are columns",
            partial(_distance, along="rows"),
        ),
        Mistake(
            "in patches",
            "the distance is in patches, expected in pixels",
            lambda weights, grid_size, patch_size: _distance(weights, grid_size, 1),
        ),
        Mistake(
            "squared",
            "the squared distance is averaged: the root is missing",
            partial(_distance, measure="squared"),
        ),
        Mistake(
            "squared in pixels",
            "the squared distance is averaged: the root is missing",
            partial(_distance, measure="straight, squared"),
        ),
        Mistake(
            "along the grid",
            "rows and columns are added up, as a rook moves; expected the straight "
            "distance of two centres",
            partial(_distance, measure="steps"),
        ),
        Mistake(
            "the larger of the two",
            "the larger of the distances down and across is taken, expected the "
            "straight distance",
            partial(_distance, measure="larger"),
        ),
        Mistake(
            "down alone",
            "only the distance in rows counts: columns are left out",
            partial(_distance, measure="rows alone"),
        ),
        Mistake(
            "difference of indices",
            "the difference of the patches' numbers is taken for their distance: the "
            "patch below has a number that is larger by a whole row",
            partial(_distance, measure="index"),
        ),
        Mistake(
            "columns ask",
            "rows and columns of the table are exchanged: a row belongs to the token "
            "that looks, and its shares are the weights of the mean",
            partial(_distance, asked="columns"),
        ),
        Mistake(
            "most attended alone",
            "the distance to the most attended patch alone is taken, expected the mean "
            "over all, with the attention as weights",
            partial(_distance, result="of the largest"),
        ),
        Mistake(
            "summed over patches",
            "the distances of the patches are summed, expected their mean",
            partial(_distance, result="summed"),
        ),
        Mistake(
            "heads averaged",
            "the heads are averaged, (L,), expected each by itself, (L, h)",
            partial(_distance, result="heads"),
        ),
        Mistake(
            "images kept",
            "there is a distance for each image, (L, B, h), expected their mean, (L, "
            "h)",
            partial(_distance, result="images"),
        ),
        Mistake(
            "patches kept",
            "there is a distance for each patch, (L, h, N), expected their mean, (L, "
            "h)",
            partial(_distance, result="patches"),
        ),
        Mistake(
            "heads before blocks",
            "the heads come before the blocks, (h, L), expected (L, h)",
            partial(_distance, result="(h, L)"),
        ),
    ],
    hints=(
        "Give it a table in which every patch attends only to itself, then one in "
        "which each attends to its right neighbour. What should come out?",
        "Without row 0 and column 0, each row divided by its sum; patch i is in row "
        "i // columns and column i % columns.",
        "shares = table[..., 1:, 1:]; shares / shares.sum(-1, keepdim=True); times "
        "distances (N, N), summed over the last axis, averaged over images and "
        "patches.",
    ),
    shape="(L, h)",
    gradients=False,
)
