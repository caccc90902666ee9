"""Checks of chapter 9: attention as maps, and the tests of a map."""

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from vit_steps import attention_maps as right
from vit_steps.check.checking import Case
from vit_steps.check.function_check import FunctionCheck
from vit_steps.check.verdict import Mistake

Weights = list[Tensor]


def _weights(
    generator: Generator,
    blocks: int,
    B: int,
    h: int,
    T: int,
    dtype: torch.dtype = torch.float64,
) -> Weights:
    """Attention as a model has it: rows that sum to 1, no two alike."""
    return [
        (1.5 * torch.randn(B, h, T, T, generator=generator, dtype=torch.float64))
        .softmax(dim=-1)
        .to(dtype)
        for _ in range(blocks)
    ]


def _shares(amounts: Tensor) -> Tensor:
    return amounts / amounts.sum(dim=-1, keepdim=True)


def _mapped(
    weights: Weights,
    row: Callable[[Tensor], Tensor] = lambda a: _shares(a[..., 0, 1:]),
    order: str = "(B, L, h, N)",
) -> Tensor:
    """The class token's maps with a place for each usual mistake."""
    maps = [row(block) for block in weights]  # L of (B, h, N)
    return {
        "(B, L, h, N)": lambda: torch.stack(maps, dim=1),
        "(L, B, h, N)": lambda: torch.stack(maps),
        "(B, h, L, N)": lambda: torch.stack(maps, dim=2),
        "(B, L, N)": lambda: torch.stack(maps, dim=1).mean(dim=2),
        "last block": lambda: maps[-1],
        "over blocks": lambda: torch.stack(maps, dim=1).mean(dim=1),
        "reversed": lambda: torch.stack(maps[::-1], dim=1),
    }[order]()


_ROWS: list[tuple[str, str, Callable[[Tensor], Tensor]]] = [
    (
        "not divided",
        "the shares do not sum to 1: what the class token pays to itself is left out, "
        "and the rest is not divided by its sum",
        lambda a: a[..., 0, 1:],
    ),
    (
        "class token kept",
        "the class token's share of itself is still in the row: it has no place in the "
        "picture",
        lambda a: a[..., 0, :],
    ),
    (
        "last token dropped",
        "the last token is dropped instead of the first: the class token is at index "
        "0, and every patch's share stands one place too late",
        lambda a: _shares(a[..., 0, :-1]),
    ),
    (
        "column for row",
        "the column of the class token is taken, what the patches pay to it; its row "
        "is what it pays to them",
        lambda a: _shares(a[..., 1:, 0]),
    ),
    (
        "last row",
        "the row of the last token is taken for the class token's, which is at index 0",
        lambda a: _shares(a[..., -1, 1:]),
    ),
    (
        "class token last",
        "the class token is taken to be the last token; it is at index 0",
        lambda a: _shares(a[..., -1, :-1]),
    ),
    (
        "first patch's row",
        "the row of the first patch is taken: index 1 is a patch, 0 the class token",
        lambda a: _shares(a[..., 1, 1:]),
    ),
    (
        "softmax again",
        "a softmax is taken of shares, which levels them out: divide by their sum",
        lambda a: a[..., 0, 1:].softmax(dim=-1),
    ),
    (
        "divided by the largest",
        "the row is divided by its largest share, expected by its sum: maps of "
        "different images could no longer be compared",
        lambda a: a[..., 0, 1:] / a[..., 0, 1:].amax(dim=-1, keepdim=True),
    ),
    (
        "mean over all rows",
        "the rows of all tokens are averaged, expected the class token's alone",
        lambda a: _shares(a[..., 1:].mean(dim=-2)),
    ),
]

class_token_attention = FunctionCheck(
    "class_token_attention",
    "class_token_attention(weights) -> (B, L, h, N)",
    right.class_token_attention,
    lambda g: iter(
        [
            [_weights(g, 3, 2, 4, 7)],
            [_weights(g, 3, 3, 3, 5, torch.float32)],
            [_weights(g, 4, 5, 2, 6)],
        ]
    ),
    [
        *(Mistake(name, text, partial(_mapped, row=row)) for name, text, row in _ROWS),
        Mistake(
            "blocks first",
            "the blocks stand before the batch, (L, B, h, N), expected (B, L, h, N)",
            partial(_mapped, order="(L, B, h, N)"),
        ),
        Mistake(
            "heads before blocks",
            "the heads stand before the blocks, (B, h, L, N), expected (B, L, h, N)",
            partial(_mapped, order="(B, h, L, N)"),
        ),
        Mistake(
            "heads averaged",
            "the heads are averaged, which hides what a single one does: keep them",
            partial(_mapped, order="(B, L, N)"),
        ),
        Mistake(
            "last block alone",
            "only the last block's map is returned, expected every block's",
            partial(_mapped, order="last block"),
        ),
        Mistake(
            "blocks averaged",
            "the blocks are averaged, expected each by itself",
            partial(_mapped, order="over blocks"),
        ),
        Mistake(
            "blocks reversed",
            "the last block comes first",
            partial(_mapped, order="reversed"),
        ),
        Mistake(
            "a list of blocks",
            "the blocks are returned one by one, expected one tensor (B, L, h, N)",
            lambda weights: [_shares(a[..., 0, 1:]) for a in weights],
        ),
    ],
    hints=(
        "In a (T, T) table, row is who asks and column who is asked. Which row, and "
        "which columns, make the picture?",
        "Row 0 without its first number, divided by its sum; then all blocks stacked "
        "behind the batch.",
        "row = block[:, :, 0, 1:]; row / row.sum(dim=-1, keepdim=True); "
        "torch.stack(rows, dim=1).",
    ),
    shape="(B, L, h, N)",
    batched=(0,),
    gradients=False,
)


def _with_a_lonely_token(generator: Generator) -> Iterator[Case]:
    yield [_weights(generator, 1, 2, 3, 6)[0]]
    yield [_weights(generator, 1, 3, 1, 5, torch.float32)[0][:, 0]]
    lonely = _weights(generator, 1, 2, 4, 4)[0]
    lonely[1, 2, 0] = torch.tensor([1.0, 0.0, 0.0, 0.0])
    yield [lonely]


class_token_to_patches = FunctionCheck(
    "class_token_to_patches",
    "class_token_to_patches(attention) -> (..., N)",
    right.class_token_to_patches,
    _with_a_lonely_token,
    [
        *(Mistake(name, text, row) for name, text, row in _ROWS),
        Mistake(
            "row of NaN",
            "where the class token pays the patches nothing, 0 is divided by 0: such a "
            "row should be zeros",
            lambda a: _shares(a[..., 0, 1:]),
        ),
        Mistake(
            "divided over everything",
            "all rows of the batch are divided by one sum, expected each row by its "
            "own",
            lambda a: a[..., 0, 1:] / a[..., 0, 1:].sum(),
        ),
    ],
    hints=(
        "Which row of the table is the class token's, and which of its numbers is no "
        "patch's?",
        "Leave the first number of row 0 out and divide by what the others sum to; "
        "look at a row in which that is 0.",
        "row = attention[..., 0, 1:]; total = row.sum(dim=-1, keepdim=True); "
        "row / total.clamp_min(1e-12).",
    ),
    shape="(..., N)",
    batched=(0,),
    gradients=False,
)


def _rollout(
    weights: Weights,
    heads: str = "mean",
    residual: float = 0.5,
    mix: str = "rightly",
    product: str = "later on the left",
    result: str = "rightly",
) -> Tensor:
    """Attention rollout with a place for each usual mistake."""
    identity = torch.eye(weights[0].shape[-1]).to(weights[0])  # (T, T)
    passed = []
    for block in weights:
        merged = {
            "mean": lambda block=block: block.mean(dim=1),
            "sum": lambda block=block: block.sum(dim=1),
            "largest": lambda block=block: block.amax(dim=1),
            "smallest": lambda block=block: block.amin(dim=1),
            "product": lambda block=block: block.prod(dim=1),
            "first": lambda block=block: block[:, 0],
        }[heads]()  # (B, T, T)
        if mix == "rightly":
            merged = residual * identity + (1 - residual) * merged
        elif mix == "renormalised":
            merged = _shares(merged + identity)
        elif mix == "by columns":
            merged = merged + identity
            merged = merged / merged.sum(dim=-2, keepdim=True)
        elif mix == "added":
            merged = merged + identity
        elif mix == "everywhere":
            merged = residual + (1 - residual) * merged
        passed.append(merged)
    if product == "last block":
        rollout = passed[-1]
    elif product == "all but the last":
        return _rollout(weights[:-1])
    elif product == "sum":
        rollout = torch.stack(passed).sum(dim=0)
    elif product == "mean":
        rollout = torch.stack(passed).mean(dim=0)
    else:
        rollout = passed[0]
        for block in passed[1:]:
            rollout = {
                "later on the left": lambda a, b: b @ a,
                "later on the right": lambda a, b: a @ b,
                "number by number": lambda a, b: a * b,
            }[product](rollout, block)
    if result == "mixed at the end":
        return residual * identity + (1 - residual) * rollout
    if result == "class token's row":
        return rollout[:, 0]
    if result == "map":
        return _shares(rollout[:, 0, 1:])
    return rollout.mT if result == "turned" else rollout


attention_rollout = FunctionCheck(
    "attention_rollout",
    "attention_rollout(weights) -> (B, T, T)",
    right.attention_rollout,
    lambda g: iter(
        [
            [_weights(g, 3, 2, 4, 5)],
            [_weights(g, 2, 4, 3, 6, torch.float32)],
            [_weights(g, 4, 3, 3, 3)],
        ]
    ),
    [
        Mistake(
            "order reversed",
            "the product runs the wrong way: a later block takes what the earlier ones "
            "have mixed, so it stands on the left",
            partial(_rollout, product="later on the right"),
        ),
        Mistake(
            "no residual",
            "attention alone is multiplied: what the residual connection carries past "
            "it, the identity, is left out",
            partial(_rollout, mix="none"),
        ),
        Mistake(
            "identity added",
            "the identity is added and nothing taken off: the rows of a block sum to "
            "2, and those of L blocks to 2 to the power of L",
            partial(_rollout, mix="added"),
        ),
        Mistake(
            "divided by columns",
            "each column is divided by its sum, expected each row: a row is what one "
            "token has, in shares",
            partial(_rollout, mix="by columns"),
        ),
        Mistake(
            "a half everywhere",
            "one half is added to every entry; the identity has it on the diagonal, "
            "where each token keeps itself",
            partial(_rollout, mix="everywhere"),
        ),
        Mistake(
            "residual once",
            "the identity is mixed in once, behind the last block, expected in every "
            "one",
            partial(_rollout, mix="none", result="mixed at the end"),
        ),
        Mistake(
            "heads summed",
            "the heads are summed, expected averaged: their rows would sum to h",
            partial(_rollout, heads="sum"),
        ),
        Mistake(
            "heads summed and divided",
            "the heads are summed and the rows divided again: attention then counts h "
            "times as much as the residual, expected as much",
            partial(_rollout, heads="sum", mix="renormalised"),
        ),
        Mistake(
            "heads multiplied",
            "the heads are multiplied with each other, expected averaged",
            partial(_rollout, heads="product"),
        ),
        Mistake(
            "largest head",
            "the largest weight of all heads is taken, expected their mean",
            partial(_rollout, heads="largest"),
        ),
        Mistake(
            "largest head, divided",
            "the largest weight of all heads is taken, expected their mean; dividing "
            "the rows afterwards does not make up for it",
            partial(_rollout, heads="largest", mix="renormalised"),
        ),
        Mistake(
            "smallest head",
            "the smallest weight of all heads is taken, expected their mean",
            partial(_rollout, heads="smallest"),
        ),
        Mistake(
            "first head alone",
            "only the first head is used, expected the mean of all",
            partial(_rollout, heads="first"),
        ),
        Mistake(
            "sum of blocks",
            "the blocks are added, expected multiplied: content that passes through "
            "two blocks takes a share of a share",
            partial(_rollout, product="sum"),
        ),
        Mistake(
            "mean of blocks",
            "the blocks are averaged, expected multiplied",
            partial(_rollout, product="mean"),
        ),
        Mistake(
            "number by number",
            "the blocks are multiplied number by number; summing over all paths is a "
            "matrix product",
            partial(_rollout, product="number by number"),
        ),
        Mistake(
            "last block alone",
            "only the last block is in the result: what was gathered so far is "
            "overwritten",
            partial(_rollout, product="last block"),
        ),
        Mistake(
            "last block missing",
            "the last block is missing in the product",
            partial(_rollout, product="all but the last"),
        ),
        Mistake(
            "turned",
            "rows and columns are exchanged: a row should be an output token, and sum "
            "to 1",
            partial(_rollout, result="turned"),
        ),
        Mistake(
            "class token's row alone",
            "only the class token's row is returned, expected the whole table",
            partial(_rollout, result="class token's row"),
        ),
        Mistake(
            "map alone",
            "only the class token's map is returned, expected the whole table",
            partial(_rollout, result="map"),
        ),
    ],
    hints=(
        "Sum the rows of your result: if they are not 1, something is counted twice or "
        "left out. If they are, look at the order.",
        "Each block passes on half the identity and half its attention, averaged over "
        "the heads; the rollout so far is multiplied by it from the left.",
        "rollout = (0.5 * torch.eye(T) + 0.5 * block.mean(dim=1)) @ rollout.",
    ),
    shape="(B, T, T)",
    batched=(0,),
    gradients=False,
)


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
        "squared": (down**2 + across**2) * 1.0,
        "steps": (down.abs() + across.abs()) * 1.0,
        "larger": torch.maximum(down.abs(), across.abs()) * 1.0,
        "rows alone": down.abs() * 1.0,
        "index": (place[:, None] - place).abs() * 1.0,
    }[measure].to(weights[0])  # (N, N)
    distances = patch_size * distances
    means = []
    for block in weights:
        table = {
            "without the first": block[..., 1:, 1:],
            "without the last": block[..., :-1, :-1],
            "class token asks": block[..., :1, 1:],
        }[patches]
        table = table.mT if asked == "columns" else table
        table = _shares(table) if divide else table
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
            [_weights(g, 3, 4, 2, 16), (3, 5), 8],
            [_weights(g, 2, 3, 4, 9, torch.float32), (4, 2), 3],
            [_weights(g, 3, 2, 3, 10), (3, 3), 4],
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
            "rows and columns of the table are exchanged: a row is who asks, and its "
            "shares are the weights of the mean",
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
            "the heads stand before the blocks, (h, L), expected (L, h)",
            partial(_distance, result="(h, L)"),
        ),
    ],
    hints=(
        "Give it a table in which every patch attends itself alone, then one in which "
        "each attends its right neighbour. What should come out?",
        "Without row 0 and column 0, each row divided by its sum; patch i is in row "
        "i // columns and column i % columns.",
        "shares = table[..., 1:, 1:]; shares / shares.sum(-1, keepdim=True); times "
        "distances (N, N), summed over the last axis, averaged over images and "
        "patches.",
    ),
    shape="(L, h)",
    gradients=False,
)


def _mass(
    attention: Tensor,
    boxes: Tensor,
    image_size: tuple[int, int],
    patch_size: int,
    sides: str = "top left bottom right",
    count: str = "by area",
    end: int = 0,
    order: str = "rows",
    result: str = "inside",
) -> Tensor:
    """The share inside the box with a place for each usual mistake."""
    (H, W), P = image_size, patch_size
    inside = []
    for box in boxes.tolist():
        named = dict(zip(sides.split(), box, strict=True))
        top, left = named["top"], named["left"]
        bottom, right_ = named["bottom"] + end, named["right"] + end
        pixels = torch.zeros(H, W, dtype=attention.dtype)
        pixels[max(top, 0) : bottom, max(left, 0) : right_] = 1
        blocks = pixels.unfold(0, P, P).unfold(1, P, P)  # (rows, columns, P, P)
        share = {
            "by area": blocks.mean(dim=(2, 3)),
            "whole if touched": blocks.amax(dim=(2, 3)),
            "whole or not": blocks.amin(dim=(2, 3)),
            "by its first pixel": blocks[:, :, 0, 0],
            "by its middle": blocks[:, :, P // 2, P // 2],
            "in pixels": blocks.sum(dim=(2, 3)),
        }[count]  # (rows, columns)
        inside.append((share if order == "rows" else share.T).flatten())
    share = torch.stack(inside)  # (B, N)
    mass = (attention * share).sum(dim=1)  # (B,)
    return {
        "inside": mass,
        "outside": 1 - mass,
        "area": share.mean(dim=1),
        "over area": mass / share.mean(dim=1),
        "mean": mass.mean(),
        "average": (attention * share).mean(dim=1),
    }[result]


def _mass_inputs(generator: Generator) -> Iterator[Case]:
    for B, (H, W), P in ((3, (24, 40), 8), (4, (20, 15), 5), (3, (18, 18), 6)):
        N = (H // P) * (W // P)
        raw = torch.randn(B, N, generator=generator, dtype=torch.float64)
        # Every box cuts patches on all sides and is not square.
        top = torch.randint(1, P, (B,), generator=generator)
        left = torch.randint(1, P // 2 + 1, (B,), generator=generator)
        bottom = H - torch.randint(2, P, (B,), generator=generator)
        right_ = left + P + torch.randint(1, P, (B,), generator=generator)
        boxes = torch.stack([top, left, bottom, right_], dim=1)
        yield [(1.5 * raw).softmax(dim=1), boxes, (H, W), P]


mass_inside = FunctionCheck(
    "mass_inside",
    "mass_inside(attention, boxes, image_size, patch_size) -> (B,)",
    right.mass_inside,
    _mass_inputs,
    [
        Mistake(
            "whole patch if touched",
            "a patch that the box cuts counts whole, expected by the share of its area "
            "inside",
            partial(_mass, count="whole if touched"),
        ),
        Mistake(
            "cut patches left out",
            "a patch that the box cuts does not count, expected by the share of its "
            "area inside",
            partial(_mass, count="whole or not"),
        ),
        Mistake(
            "by the first pixel",
            "a patch counts whole or not at all, by its first pixel, expected by the "
            "share of its area inside",
            partial(_mass, count="by its first pixel"),
        ),
        Mistake(
            "by the middle",
            "a patch counts whole or not at all, by its middle, expected by the share "
            "of its area inside",
            partial(_mass, count="by its middle"),
        ),
        Mistake(
            "pixels counted whole",
            "every pixel inside counts with the whole share of its patch, expected "
            "with its part of it: a patch has P·P pixels",
            partial(_mass, count="in pixels"),
        ),
        Mistake(
            "left before top",
            "the box is read as left, top, right, bottom; it is top, left, bottom, "
            "right",
            partial(_mass, sides="left top right bottom"),
        ),
        Mistake(
            "one pixel too many",
            "the box is a pixel too large: bottom and right are the first pixels "
            "outside",
            partial(_mass, end=1),
        ),
        Mistake(
            "one pixel too few",
            "the box is a pixel too small: bottom and right are the first pixels "
            "outside, so the ones before them are in",
            partial(_mass, end=-1),
        ),
        Mistake(
            "columns first",
            "the patches are counted down the columns; they are numbered row by row",
            partial(_mass, order="columns"),
        ),
        Mistake(
            "outside",
            "the share outside the box is returned",
            partial(_mass, result="outside"),
        ),
        Mistake(
            "area of the box",
            "the box's share of the image is returned: the attention takes no part",
            partial(_mass, result="area"),
        ),
        Mistake(
            "divided by the area",
            "the share is divided by the box's area, expected the share itself",
            partial(_mass, result="over area"),
        ),
        Mistake(
            "averaged over patches",
            "the shares inside are averaged over all patches, expected added up",
            partial(_mass, result="average"),
        ),
        Mistake(
            "averaged over images",
            "the images are averaged, expected a number for each, (B,)",
            partial(_mass, result="mean"),
        ),
    ],
    hints=(
        "Spread each patch's share evenly over its P·P pixels. Which pixels lie in the "
        "box?",
        "A patch counts by (rows of pixels inside / P) times (columns inside / P); the "
        "first pixel outside is bottom, and right.",
        "pixels = attention.reshape(B, rows, columns) / P², repeated P times along "
        "both axes; pixels[i, top:bottom, left:right].sum() for each image.",
    ),
    shape="(B,)",
    batched=(0, 1),
    gradients=False,
)


def _mask(
    images: Tensor,
    patch_size: int,
    indices: Tensor,
    fill: float = 0.0,
    count: str = "rows",
    shift: int = 0,
    put: str = "fill",
    which: str = "all",
    channels: str = "all",
) -> Tensor:
    """Patches taken out with a place for each usual mistake."""
    H, W, P = images.shape[2], images.shape[3], patch_size
    rows, columns = H // P, W // P
    output = images.clone()
    per_image = indices[:1].expand_as(indices) if which == "first image's" else indices
    if which == "everybody's":
        per_image = indices.flatten().expand(len(images), -1)
    if which == "first":
        per_image = per_image[:, :1]
    for picture, hidden in zip(output, per_image.tolist(), strict=True):
        taken = torch.zeros(1, H, W, dtype=torch.bool)
        for index in hidden:
            index = (index + shift) % (rows * columns)
            row, column = {
                "rows": divmod(index, columns),
                "columns": divmod(index, rows)[::-1],
                "by the rows": divmod(index, rows),
            }[count]
            taken[:, row * P : (row + 1) * P, column * P : (column + 1) * P] = True
        if put == "kept":
            taken = ~taken
        value = {"zero": 0.0, "mean": picture.mean().item()}.get(put, fill)
        hole = picture.masked_fill(taken, value)
        if put == "added":
            hole = picture + fill * taken
        elif put == "multiplied":
            hole = picture * torch.where(taken, fill, 1.0)
        picture.copy_(hole)
    if channels == "first":
        output[:, 1:] = images[:, 1:]
    return output


def _mask_inputs(generator: Generator) -> Iterator[Case]:
    for B, C, (rows, columns), P, k, fill in (
        (3, 2, (3, 5), 4, 4, []),
        (2, 3, (5, 3), 2, 6, [0.7]),
        (4, 1, (3, 3), 5, 2, [-1.5]),
        (3, 3, (4, 4), 2, 3, [0.4]),
    ):
        images = torch.randn(B, C, rows * P, columns * P, generator=generator)
        # The first and the last patch are left alone: their neighbours are there too.
        draws = torch.rand(B, rows * columns - 2, generator=generator)
        yield [images, P, 1 + draws.argsort(dim=1)[:, :k], *fill]


mask_patches = FunctionCheck(
    "mask_patches",
    "mask_patches(images, patch_size, indices, fill=0.0) -> (B, C, H, W)",
    right.mask_patches,
    _mask_inputs,
    [
        Mistake(
            "the others taken",
            "the patches that are named stay, and all others are taken out",
            partial(_mask, put="kept"),
        ),
        Mistake(
            "columns first",
            "the patches are counted down the columns; they are numbered row by row",
            partial(_mask, count="columns"),
        ),
        Mistake(
            "rows for columns",
            "the row of a patch is its number divided by the number of rows; a new row "
            "begins after as many patches as there are columns",
            partial(_mask, count="by the rows"),
        ),
        Mistake(
            "counted from 1",
            "the patches are counted from 1: the one before is taken; the class token "
            "has no number here, patch 0 is the first",
            partial(_mask, shift=-1),
        ),
        Mistake(
            "one too late",
            "the patch after the one that is named is taken: there is no class token "
            "among the numbers",
            partial(_mask, shift=1),
        ),
        Mistake(
            "first image's patches",
            "all images lose the patches of the first; each has a row of its own",
            partial(_mask, which="first image's"),
        ),
        Mistake(
            "everybody's patches",
            "each image loses the patches of all; each has a row of its own",
            partial(_mask, which="everybody's"),
        ),
        Mistake(
            "first patch alone",
            "only the first of an image's patches is taken out",
            partial(_mask, which="first"),
        ),
        Mistake(
            "first channel alone",
            "only the first channel is covered",
            partial(_mask, channels="first"),
        ),
        Mistake(
            "fill ignored",
            "fill has no effect: the patches become 0",
            partial(_mask, put="zero"),
        ),
        Mistake(
            "fill added",
            "fill is added to what is there, expected in its place",
            partial(_mask, put="added"),
        ),
        Mistake(
            "fill multiplied",
            "the patches are multiplied by fill, expected replaced by it",
            partial(_mask, put="multiplied"),
        ),
        Mistake(
            "filled with the mean",
            "the patches get the mean of the image, expected fill",
            partial(_mask, put="mean"),
        ),
    ],
    hints=(
        "Patch 7 of a grid that has 5 columns: in which row and column is it, and "
        "which pixels are its?",
        "Row index // columns, column index % columns; from row · P to (row + 1) · P, "
        "likewise across, in a copy of the images.",
        "hidden = torch.zeros(B, N, dtype=torch.bool).scatter(1, indices, True), "
        "reshaped to (B, 1, rows, columns), each entry repeated P times along both "
        "axes.",
    ),
    shape="(B, C, H, W)",
    batched=(0, 2),
    gradients=False,
)
