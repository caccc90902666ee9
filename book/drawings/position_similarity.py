"""Draw the similarity of one position to all others, for four kinds of position.

The fixed ones are chapter 3's in a grid of 14×14. The learned ones are those of the
book's model of cluttered digits, with its 8×8 patches, before and after its training.

On the page a place can be chosen (scripts/figures/position_similarity.js).
"""

import math
from dataclasses import replace
from functools import cache
from itertools import groupby

from torch import Tensor
from torch.nn import functional as F

from book.drawings.kit import Box, Drawing
from vit_steps.embedding import sincos_position_embedding
from vit_steps.recipes import RECIPES
from vit_steps.vision_transformer import VisionTransformer

MODEL = "cluttered-digits"
SIDE, EMBED_DIM = 14, 768
CHOSEN, COMPARED = (4, 9), (3, 9)  # at the start, in the grid of 14×14
CHOSEN_SMALL, COMPARED_SMALL = (3, 3), (2, 3)  # at the start, in the grid of 8×8
KINDS = {
    "1-D": "1-D clocks",
    "2-D": "2-D clocks",
    "before": "learned, untrained",
    "after": "learned, trained",
}
POWER = 1.5  # exponent that turns a similarity into a colour's strength, on all maps
SHADES = 16

MAP = Box(2, 26, 224, 224)
PANEL = Box(237, 26, 121, 224)
FACE = 16  # radius of a clock
STILL = 112  # side of a map in the drawing that does not move


def positions(kind: str) -> Tensor:
    """Return one vector for each place, (N, D)."""
    if kind == "1-D":  # in a grid of one row the second half encodes the column
        row = sincos_position_embedding(2 * EMBED_DIM, (1, SIDE**2), cls_token=False)
        return row[0, :, EMBED_DIM:]
    if kind == "2-D":
        return sincos_position_embedding(EMBED_DIM, SIDE, cls_token=False)[0]
    before = kind == "before"
    model = (
        RECIPES[MODEL].build() if before else VisionTransformer.from_pretrained(MODEL)
    )
    return model.pos_embed[0, 1:].detach()


@cache
def similarity(kind: str) -> Tensor:
    """Return the cosine similarity of all pairs of positions, (N, N)."""
    directions = F.normalize(positions(kind).double(), dim=1)
    return directions @ directions.T


def side_of(kind: str) -> int:
    return math.isqrt(len(similarity(kind)))


def begins(kind: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the place that is chosen at the start, and the compared place."""
    large = side_of(kind) == SIDE
    return (CHOSEN, COMPARED) if large else (CHOSEN_SMALL, COMPARED_SMALL)


def seen_from(kind: str, place: tuple[int, int]) -> Tensor:
    """Return the similarity of one place to all places, (rows, columns)."""
    side = side_of(kind)
    return similarity(kind)[place[0] * side + place[1]].reshape(side, side)


def draw() -> Drawing:
    here, there = begins("1-D")
    left, far = seen_from("1-D", here)[there].item(), seen_from("1-D", here)[5, 0]
    drawing = Drawing(
        "How similar positions are",
        f"Four maps: the similarity of the position in row {here[0]}, column {here[1]} "
        f"to those of all places in a grid of {SIDE} by {SIDE}, or of row "
        f"{CHOSEN_SMALL[0]}, column {CHOSEN_SMALL[1]} in one of 8 by 8. With 1-D "
        f"clocks there is a band along the row; the place above has {left:.2f}, the "
        f"far left of the next row {far:.2f}. With 2-D clocks there is a spot with a "
        "cross along row and column. Learned positions are noise before training; "
        "after training the places around the chosen one are similar to it.",
    )
    drawing.numbers = {
        "map": {"x": MAP.x, "y": MAP.y, "side": MAP.width},
        "kinds": {
            kind: {
                "name": name,
                "side": side_of(kind),
                "begins": begins(kind),
            }
            for kind, name in KINDS.items()
        },
        "power": POWER,
        "learned": {kind: below_diagonal(kind) for kind in ("before", "after")},
        "embed_dim": EMBED_DIM,
        "clocks": [clock_place(i) for i in range(8)],
        "hand": FACE - 3,
    }
    with drawing.part("still"):
        for index, kind in enumerate(KINDS):
            with drawing.at(2 + 182 * (index % 2), 4 + 142 * (index // 2)):
                at_rest(drawing, kind)
    with drawing.part("stage", moving=True):
        stage(drawing)
    marks(drawing)
    return drawing


def at_rest(drawing: Drawing, kind: str) -> None:
    """Draw one map of the drawing that does not move, with its scale."""
    drawing.text(0, 11, KINDS[kind], size=12, bold=True)
    place = Box(0, 18, STILL, STILL)
    here = begins(kind)[0]
    shaded(drawing, place, seen_from(kind, here).clamp_min(0) ** POWER)
    side = side_of(kind)
    drawing.frame(place.cell(*here, side, side), around=0)
    for step in range(SHADES):
        bar = Box(place.right + 6, place.y, 9, STILL).row(step, SHADES)
        drawing.full(bar, "position", (1 - step / (SHADES - 1)) ** POWER)
    drawing.box(place.right + 6, place.y, 9, STILL, ground=False, thick=0.75, radius=0)
    drawing.text(place.right + 19, place.y + 9, "1", size=10.5)
    drawing.text(place.right + 19, place.centre + 4, "0.5", size=10.5)
    drawing.text(place.right + 19, place.bottom, "≤ 0", size=10.5)


def shaded(drawing: Drawing, place: Box, shares: Tensor) -> None:
    """Draw cells with shares of a colour, from 0 to 1, with one path for each shade."""
    rows, columns = shares.shape
    runs: dict[int, list[Box]] = {}  # neighbours of one shade are joined into a box
    shades = shares * (SHADES - 1)
    for row, numbers in enumerate(shades.round().int().tolist()):
        column = 0
        for shade, run in groupby(numbers):
            first = place.cell(row, column, rows, columns)
            wide = len(list(run))
            box = replace(first, width=wide * first.width)
            runs.setdefault(shade, []).append(box)
            column += wide
    drawing.box(place.x, place.y, place.width, place.height, thick=0.75, radius=0)
    for shade, boxes in sorted(runs.items()):
        if shade:
            drawing.filled(boxes, "position", shade / (SHADES - 1))


def stage(drawing: Drawing) -> None:
    """Draw an empty map, which the script fills, and the clocks of two places."""
    with drawing.part("kind"):
        drawing.text(2, 14, KINDS["1-D"], size=13, bold=True)
    drawing.text(MAP.right, 14, "choose a place", size=12, colour="soft", anchor="end")
    drawing.text(PANEL.x, 14, "similarity", size=12, colour="soft")
    with drawing.part("similarity"):
        drawing.text(358, 16, "0.66", size=17, bold=True, anchor="end")
    with drawing.part("map"):
        drawing.box(MAP.x, MAP.y, MAP.width, MAP.height, radius=0, thick=0.75)
    with drawing.part("chosen"):
        drawing.text(PANEL.x + 14, 36, "row 4, column 9", size=12)
    drawing.box(
        PANEL.x, 27, 10, 10, colour="asking", ground=False, thick=2.25, radius=2
    )
    with drawing.part("compared"):
        drawing.text(PANEL.x + 14, 54, "row 3, column 9", size=12)
    drawing.circle(PANEL.x + 5, 50, 5, "ink", ground=False, thick=1.75)
    with drawing.part("clocks"):
        for half in range(2):
            with drawing.part(f"half-{half}"):
                x = clock_place(4 * half)[0]
                drawing.text(x, 79, "row", size=12, colour="soft", anchor="middle")
        for index in range(8):
            x, y = clock_place(index)
            drawing.circle(x, y, FACE, "line", thick=0.75)
            with drawing.part(f"other-{index}"):
                drawing.line((x, y), (x + FACE - 3, y), colour="ink", thick=1.5)
            with drawing.part(f"hand-{index}"):
                drawing.line((x, y), (x + FACE - 3, y), colour="asking", thick=2.5)
    with drawing.part("words"):
        for line in range(5):
            with drawing.part(f"line-{line}"):
                drawing.text(PANEL.x, 92 + 17 * line, "", size=12)
    for step in range(SHADES):
        bar = Box(MAP.x, 260, MAP.width, 9).column(step, SHADES)
        drawing.full(bar, "position", (step / (SHADES - 1)) ** POWER)
    drawing.box(MAP.x, 260, MAP.width, 9, ground=False, thick=0.75, radius=0)
    drawing.text(MAP.x, 283, "similarity ≤ 0", size=12)
    drawing.text(MAP.middle, 283, "0.5", size=12, anchor="middle")
    drawing.text(MAP.right, 283, "1", size=12, anchor="end")
    with drawing.part("mean-0"):
        drawing.text(PANEL.x, 268, "the mean cosine of", size=12, colour="soft")
    with drawing.part("mean-1"):
        drawing.text(PANEL.x, 283, "384 pairs of hands", size=12, colour="soft")


def clock_place(index: int) -> tuple[float, float]:
    """Return the centre of a clock, in two columns of four."""
    return PANEL.x + 28 + 58 * (index // 4), 104 + 42 * (index % 4)


def marks(drawing: Drawing) -> None:
    """Draw the marks of the chosen and the compared place in the map's corner."""
    cell = MAP.width / SIDE
    with drawing.part("handle-chosen", moving=True), drawing.part("frame"):
        drawing.frame(Box(MAP.x, MAP.y, cell, cell), around=0)
    with drawing.part("pointed", moving=True):
        drawing.circle(MAP.x, MAP.y, 5, "ink", ground=False, thick=1)
    with drawing.part("handle-compared", moving=True):
        drawing.circle(MAP.x, MAP.y, 7, "ink", ground=False, thick=2)


def below_diagonal(kind: str) -> list[int]:
    """Return the similarity of each place to all before it, in hundredths."""
    return [
        round(100 * number)
        for row, numbers in enumerate(similarity(kind).tolist())
        for number in numbers[:row]
    ]
