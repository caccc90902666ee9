"""Draw the square of scores of chapter 1 to scale: one cell for each pair of tokens."""

from book.drawings.kit import Box, Drawing, Word, number
from vit_steps.cost import token_count

SMALL, LARGE, P = 32, 224, 16  # pixels along an image, and along a patch
COUNTS = [*(token_count(SMALL, side) for side in (16, 8, 4)), token_count(LARGE, P)]
PIXELS = token_count(LARGE, 1)
CELL = 10 / 7  # two pixels on a desk (1.4 times as large), so that the lines are even
TIMES = PIXELS // COUNTS[-1]
METRES = TIMES / 10  # if the last square is 10 cm wide


def draw() -> Drawing:
    last = COUNTS[-1]
    drawing = Drawing(
        "The square of scores",
        "Four squares to the same scale, with one small cell for each pair of tokens: "
        f"{', '.join(f'{n} by {n}' for n in COUNTS)} cells. The first is a dot beside "
        f"the last. The square of {PIXELS:,} pixel tokens would be {TIMES} times as "
        f"wide as the last: {METRES:.1f} m, where the last is 10 cm wide. Only its "
        "corner is on the sheet.",
    )
    floor = 4 + COUNTS[-2] * CELL
    for count, x in zip(COUNTS[:-1], (2, 92, 212), strict=True):
        place = square(drawing, x, floor - count * CELL, count)
        labelled(drawing, x, floor + 16, count)
    place = square(drawing, 2, floor + 46, last)
    labelled(drawing, place.x, place.bottom + 16, last)
    corner(drawing, place.bottom + 56)
    return drawing


def square(drawing: Drawing, x: float, y: float, count: int) -> Box:
    side = count * CELL
    place = drawing.box(x, y, side, side, colour="soft", radius=0, thick=0.75)
    ruled(drawing, place)
    return place


def ruled(drawing: Drawing, place: Box) -> None:
    """Draw the lines between the cells."""
    across, down = round(place.width / CELL), round(place.height / CELL)
    lines = [
        f"M{number(place.x + i * CELL)} {number(place.y)}v{number(place.height)}"
        for i in range(1, across)
    ] + [
        f"M{number(place.x)} {number(place.y + i * CELL)}h{number(place.width)}"
        for i in range(1, down)
    ]
    drawing.shape("".join(lines), "soft", 0.35)


def corner(drawing: Drawing, y: float) -> None:
    """Draw the upper left corner of the square of pixel tokens, open at two sides."""
    words = (Word(f"{PIXELS:,} tokens", bold=True), ", one for each pixel")
    drawing.text(2, y, *words)
    drawing.lines(
        2,
        y + 15,
        f"{PIXELS**2:,} scores: {TIMES} times as wide. If the square above is",
        f"10 cm wide, this one is {METRES:.1f} m wide. Here is its corner:",
    )
    place = Box(2, y + 40, 220 * CELL, 26 * CELL)
    drawing.full(place, "soft", 0.07)
    ruled(drawing, place)
    drawing.line(
        (place.right, place.y),
        (place.x, place.y),
        (place.x, place.bottom),
        colour="soft",
        thick=1.5,
    )
    drawing.arrow((place.right + 4, place.centre), (place.right + 36, place.centre))
    drawing.arrow((place.middle, place.bottom + 4), (place.middle, place.bottom + 26))


def labelled(drawing: Drawing, x: float, y: float, count: int) -> None:
    drawing.text(x, y, f"{count} tokens", bold=True)
    drawing.lines(x, y + 15, f"{count**2:,} scores")
