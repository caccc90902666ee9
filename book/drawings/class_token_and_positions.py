"""Draw the class token in front of the patches, and a position for each row."""

from collections.abc import Sequence

from book.drawings.kit import Box, Colour, Drawing, Word
from vit_steps.cost import token_count

N = token_count(224, 16)
T = N + 1
SHOWN = (0, 1, 2, 3, N - 1, N)  # rows that are drawn, with dots before the last two
COLUMNS = 6
CELL = (13, 18)
WIDE = COLUMNS * CELL[0]
LEFT, RIGHT, BETWEEN = 62, 359, 19
TOP, GAP = 52, 26
PATCHES: list[Colour] = ["ink"] * N
FRAMED = (2, 3)  # row and column of the number whose sum is framed


def draw() -> Drawing:
    drawing = Drawing(
        "The class token and the positions",
        f"A matrix of {N} rows, one a patch, with D columns. A class token slides in "
        f"on top as row 0, which makes {T} rows. A second matrix of {T} rows, the "
        "positions, is added, row to row and number to number. The result has "
        f"{T} rows and D columns.",
    )
    slot = drawing.cells(LEFT, 4, [[""] * COLUMNS], CELL, "class", thick=1.75)
    name = (Word("class token", "class", bold=True), Word("  (1, D)", "soft"))
    drawing.text(slot.right + 8, slot.centre + 4, *name)
    drawing.arrow(
        (slot.middle, slot.bottom + 2), (slot.middle, TOP - 3), colour="class", thick=2
    )

    whole: list[Colour] = ["class", *PATCHES]
    tokens = rows(drawing, LEFT, whole)
    positions = rows(drawing, tokens.right + BETWEEN, ["position"] * T)
    result = rows(drawing, positions.right + BETWEEN, whole)
    for index in range(len(SHOWN)):  # the sum has a little of both colours
        drawing.full(Box(result.x, top_of(index), WIDE, CELL[1]), "position", 0.22, 3)
    for index, row in enumerate(SHOWN):
        base = top_of(index) + CELL[1] / 2 + 4
        whose = Word(f"patch {row - 1}") if row else Word("class", "class", bold=True)
        drawing.text(tokens.x - 6, base, whose, size=11, colour="soft", anchor="end")
        drawing.text(RIGHT, base, f"{row}", size=11, colour="soft", anchor="end")
    drawing.text(RIGHT, TOP - 9, "row", size=11, colour="soft", anchor="end")

    middle = top_of(FRAMED[0]) + CELL[1] / 2
    for left, right, sign in ((tokens, positions, "+"), (positions, result, "=")):
        x = (left.right + right.x) / 2
        drawing.text(x, middle + 6, sign, size=17, bold=True, anchor="middle")
    for place in (tokens, positions, result):
        number = Box(place.x + FRAMED[1] * CELL[0], top_of(FRAMED[0]), CELL[0], CELL[1])
        drawing.frame(number)
        for dot in (-6, 0, 6):
            y = top_of(len(SHOWN) - 2) - GAP / 2 + dot
            drawing.circle(place.middle, y, 1, "soft", thick=1.5)
    caption(drawing, tokens, "tokens", f"({N}, D) → ({T}, D)")
    caption(drawing, positions, "positions", f"({T}, D)", "position")
    caption(drawing, result, "their sum", f"({T}, D)")
    drawing.text(
        LEFT,
        result.bottom + 60,
        "Each number is added to the number in its place.",
        size=11,
        colour="soft",
    )
    return drawing


def caption(
    drawing: Drawing, place: Box, name: str, shape: str, colour: Colour = "ink"
) -> None:
    x, y = place.middle, place.bottom + 20
    drawing.text(x, y, name, bold=True, colour=colour, anchor="middle")
    drawing.text(x, y + 15, shape, size=11, colour="soft", anchor="middle")


def top_of(index: int) -> float:
    """Return the upper edge of a drawn row; the last two are below the dots."""
    return TOP + index * CELL[1] + (GAP if index >= len(SHOWN) - 2 else 0)


def rows(drawing: Drawing, x: float, colours: Sequence[Colour]) -> Box:
    """Draw some rows of a matrix, each in its colour."""
    for index, row in enumerate(SHOWN):
        drawing.cells(x, top_of(index), [[""] * COLUMNS], CELL, colours[row])
    return Box(x, TOP, WIDE, top_of(len(SHOWN) - 1) + CELL[1] - TOP)
