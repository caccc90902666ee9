"""Draw the rows of a combined matrix for q, k and v in two orders: chapter 5."""

import torch
from torch import Tensor

from book.drawings.kit import Colour, Drawing, Word

D, h = 6, 3
d = D // h
PARTS: tuple[tuple[str, Colour], ...] = (("q", "query"), ("k", "key"), ("v", "value"))
WIDE, ROW, APART = 106, 14, 8  # a row of the matrix, and between two thirds of it
LEFT, RIGHT, TOP = 28, 210, 48


def draw() -> Drawing:
    rows = torch.arange(3 * D).reshape(3, h, d)  # (3, h, d)
    by_head = rows.transpose(0, 1)  # (h, 3, d)
    drawing = Drawing(
        "The rows of q, k and v in two orders",
        f"Two matrices of {3 * D} rows. On the left first come all rows of q, then of "
        f"k, then of v, and in each third the {d} rows of head 0, then of head 1, then "
        "of head 2. On the right first come the rows of q, k and v of head 0, then "
        "those of head 1, then those of head 2. Lines lead from each pair of rows on "
        "the left to its place on the right: most of them cross.",
    )
    for x, shape, words in (
        (LEFT, "(3, h, d)", "timm and this book"),
        (RIGHT, "(h, 3, d)", "some language models"),
    ):
        drawing.text(x + WIDE / 2, 14, shape, bold=True, anchor="middle")
        drawing.text(x + WIDE / 2, 30, words, size=11, colour="soft", anchor="middle")
    before, after = order(rows), order(by_head)
    for block in range(3 * h):
        part, head = divmod(block, h)
        name, colour = PARTS[part]
        ends = [height(places.index(block)) + ROW * d / 2 for places in (before, after)]
        for x, places in ((LEFT, before), (RIGHT, after)):
            y = height(places.index(block))
            for number in range(d):
                place = drawing.box(
                    x, y + ROW * number, WIDE, ROW, colour=colour, radius=0, thick=0.75
                )
                drawing.text(
                    place.middle,
                    place.centre + 3.9,
                    Word(name, colour, bold=True),
                    f" of head {head}, no. {number}",
                    size=10.5,
                    anchor="middle",
                )
        drawing.line(
            (LEFT + WIDE + 3, ends[0]),
            (LEFT + WIDE + 12, ends[0]),
            (RIGHT - 12, ends[1]),
            (RIGHT - 3, ends[1]),
            colour=colour,
        )
    for third, (name, colour) in enumerate(PARTS):
        y, tall = height(h * third), ROW * D
        brace(drawing, LEFT - 5, y, tall, -5)
        drawing.text(8, y + tall / 2 + 4, name, colour=colour, bold=True, size=13)
        y = height(3 * third)
        brace(drawing, RIGHT + WIDE + 5, y, tall, 5)
        drawing.text(RIGHT + WIDE + 14, y + tall / 2 - 3, "head", size=11, bold=True)
        drawing.text(
            RIGHT + WIDE + 14, y + tall / 2 + 11, str(third), size=11, bold=True
        )
    return drawing


def order(rows: Tensor) -> list[int]:
    """Return the pairs of rows, numbered as on the left, from top to bottom."""
    return [int(row) // d for row in rows.flatten()[::d]]


def height(block: int) -> float:
    return TOP + block * ROW * d + block // h * APART


def brace(drawing: Drawing, x: float, y: float, tall: float, tip: float) -> None:
    ends = ((x, y + 1), (x + tip, y + 1), (x + tip, y + tall - 1), (x, y + tall - 1))
    drawing.line(*ends)
