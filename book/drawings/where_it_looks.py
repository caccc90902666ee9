"""Draw where the heads of a trained ViT look in a photograph, as chapter 9 begins.

On the page any of the maps can be opened (scripts/figures/where_it_looks.js).
"""

from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

import vit_book
from book.drawings.kit import Box, Drawing
from vit_steps.data import cluttered_digits

PHOTOGRAPH, RUN = "coffee", "ViT-S/14"
SIDE, N = 16, 256
HEADS = 6
DIGITS = (17, 32)  # test images; the chapter has the same

PHOTO, MAP = Box(2, 22, 173, 173), Box(185, 22, 173, 173)
STRIP = Box(4, 231, 352, 46)  # of the small maps
GAP = 5
ROW = 304  # upper edge of the digits
DIGIT = 84


@dataclass(frozen=True)
class Map:
    """What the class token takes from each patch, and the patches of one half of it."""

    shares: list[int]  # in hundredths of an even share
    half: list[int]


@cache
def maps() -> list[Map]:
    """Return the mean map of the last block's heads, and then the map of each head."""
    run = vit_book.read_results("stranger")["runs"][RUN]
    of_heads = torch.tensor(run["trained"][list(vit_book.PHOTOS).index(PHOTOGRAPH)])
    return [a_map(one) for one in (of_heads.mean(dim=0), *of_heads)]  # (N,) each


def a_map(shares: Tensor) -> Map:
    ranked = shares.sort(descending=True)
    before = ranked.values.cumsum(dim=0) < shares.sum() / 2
    half = ranked.indices[: int(before.sum()) + 1]
    return Map((100 * shares).round().int().tolist(), half.sort().values.tolist())


def draw() -> Drawing:
    mean = maps()[0]
    _, labels, boxes = cluttered_digits.make(500, "test")
    one, other = (int(labels[index]) for index in DIGITS)
    drawing = Drawing(
        "Where a trained ViT looks",
        "A photograph of a cup of espresso on a saucer, with a spoon, on a wooden "
        f"table. Beside it a map of {SIDE} by {SIDE} squares, where the class token "
        "looks: it is bright where the rim of the cup and the coffee are. On the "
        f"photograph a white line runs around the {len(mean.half)} patches that share "
        f"half of its attention. Below, small maps: that of all {HEADS} heads "
        "together, which is framed, and one for each head, each of them different. In "
        "the last row two small grey pictures of brick or gravel with a handwritten "
        f"{one} and {other}, framed in orange, and three bright scraps of other digits "
        "outside the frame.",
    )
    drawing.numbers = {
        "maps": [vars(found) for found in maps()],
        "side": SIDE,
        "photo": list(vars(PHOTO).values()),
        "map": list(vars(MAP).values()),
        "strip": list(vars(STRIP).values()),
        "size": small(0).width,
    }
    drawing.text(PHOTO.x, 14, "what is this?", size=13, bold=True)
    with drawing.part("title"):
        drawing.text(MAP.x, 14, "where the ViT looks", size=13, bold=True)
    drawing.photograph(PHOTO, PHOTOGRAPH)
    with drawing.part("half"):
        half = {divmod(patch, SIDE) for patch in mean.half}
        drawing.edge(half, PHOTO, SIDE)
    with drawing.part("shades"):
        shaded(drawing, MAP, mean)
    outlined(drawing, MAP)
    drawing.legend(MAP.right, MAP.bottom + 13)
    for index, name in enumerate(("all", "head 0", *map(str, range(1, HEADS)))):
        drawing.text(small(index).middle, STRIP.y - 7, name, anchor="middle")
    with drawing.part("handle-maps"):
        for index, found in enumerate(maps()):
            shaded(drawing, small(index), found)
            outlined(drawing, small(index))
        with drawing.part("chosen"):
            drawing.frame(small(0))
    for index, (number, label) in enumerate(zip(DIGITS, (one, other), strict=True)):
        place = Box(2 + index * (DIGIT + 12), ROW, DIGIT, DIGIT)
        drawing.text(place.x, ROW - 6, f"a {label}", size=13, bold=True)
        drawing.photograph(place, f"cluttered_digit_{number}")
        top, left, bottom, right = (edge * DIGIT / 32 for edge in boxes[number])
        corner = (float(place.x + left), float(place.y + top))
        size = (float(right - left), float(bottom - top))
        drawing.frame(Box(*corner, *size), "key", around=0)
    drawing.lines(
        place.right + 12,
        ROW + 34,
        "In these two pictures",
        "we know where the",
        "answer is: in the frame.",
        size=12,
    )
    return drawing


def small(index: int) -> Box:
    """Return the place of a small map."""
    wide = (STRIP.width + GAP) / (HEADS + 1)
    return Box(STRIP.x + index * wide, STRIP.y, wide - GAP, wide - GAP)


def outlined(drawing: Drawing, place: Box) -> None:
    drawing.box(*vars(place).values(), ground=False, radius=0, thick=0.75)


def shaded(drawing: Drawing, place: Box, found: Map) -> None:
    most = max(found.shares)
    shares = [share / most for share in found.shares]
    drawing.heat(place, [shares[row : row + SIDE] for row in range(0, N, SIDE)])
