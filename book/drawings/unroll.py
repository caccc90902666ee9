"""Draw patch 75 of chapter 2: its planes, one strip, a row of a matrix, a token."""

from book.drawings.kit import Box, Colour, Drawing, Word
from vit_steps.cost import token_count

SIZE, P = 224, 16
SIDE = SIZE // P  # patches along a side of the image
N = token_count(SIZE, P)
ROW, COLUMN = 5, 5
PATCH = ROW * SIDE + COLUMN
PLANES: tuple[Colour, ...] = ("red", "green", "blue")
NUMBERS = len(PLANES) * P * P

LEFT, WIDE = 4, 352  # left edge and width of the strip
PLANE, PIXEL = 104, 4.5  # left edge of the planes, and side of one of their cells
SMALL = 5  # side of a patch in the photograph


def draw() -> Drawing:
    drawing = Drawing(
        "One patch becomes one token",
        f"Patch {PATCH} stands in row {ROW} and column {COLUMN} of {SIDE} by {SIDE} "
        f"patches. It has a red, a green and a blue plane of {P} by {P} numbers each. "
        "They are laid out as one strip, row after row: first all of red, then green, "
        f"then blue, {NUMBERS} numbers. The strip is row {PATCH} of a matrix of {N} "
        f"rows and {NUMBERS} columns. This row times a weight of {NUMBERS} rows and D "
        "columns is one token of D numbers.",
    )
    planes = patch(drawing)
    strip = unrolled(drawing, planes)
    row = multiplied(drawing)
    drawing.arrow(
        (6, strip.bottom + 3), (6, row.centre), (18, row.centre), colour="asking"
    )
    return drawing


def patch(drawing: Drawing) -> list[Box]:
    """Draw the patch in the photograph's grid, and its planes; return the planes."""
    drawing.text(2, 13, "photograph", bold=True)
    drawing.text(2, 28, f"{SIDE}×{SIDE} patches", size=11, colour="soft")
    photograph = drawing.cells(2, 36, [[""] * SIDE] * SIDE, (SMALL, SMALL), "line")
    here = photograph.cell(ROW, COLUMN, SIDE, SIDE)
    drawing.box(here.x, here.y, SMALL, SMALL, colour="asking", radius=0, thick=1.5)
    drawing.full(here, "asking")
    planes = []
    for index, colour in enumerate(PLANES):
        x = PLANE + index * (P * PIXEL + 18)
        planes.append(
            drawing.cells(x, 36, [[""] * P] * P, (PIXEL, PIXEL), colour, thick=1.5)
        )
        drawing.full(planes[-1].row(0, P), colour)
        drawing.text(
            planes[-1].middle, 30, colour, size=11, colour=colour, anchor="middle"
        )
    drawing.line((here.right + 2, here.y), (PLANE - 4, 36), colour="asking")
    drawing.line(
        (here.right + 2, here.bottom), (PLANE - 4, 36 + P * PIXEL), colour="asking"
    )
    drawing.text(PLANE, 13, Word(f"patch {PATCH}", "asking", bold=True))
    drawing.text(
        LEFT + WIDE,
        13,
        f"{P}×{P} numbers in each plane",
        size=11,
        colour="soft",
        anchor="end",
    )
    return planes


def unrolled(drawing: Drawing, planes: list[Box]) -> Box:
    """Draw the strip of all numbers, with a piece for each row of a plane."""
    y, high = 146, 14
    for index, (plane, colour) in enumerate(zip(planes, PLANES, strict=True)):
        part = Box(LEFT, y, WIDE, high).column(index, len(PLANES))
        piece = part.width / P
        drawing.cells(part.x, y, [[""] * P], (piece, high), colour, thick=1.5)
        drawing.full(part.column(0, P), colour)
        drawing.line(
            (plane.x, plane.bottom + 2), (part.x + 1, y - 2), colour=colour, thick=1
        )
        drawing.line(
            (plane.right, plane.bottom + 2),
            (part.right - 1, y - 2),
            colour=colour,
            thick=1,
        )
        drawing.text(
            part.middle,
            y + high + 15,
            f"{P * P} numbers",
            size=11,
            colour=colour,
            anchor="middle",
        )
    strip = Box(LEFT, y, WIDE, high)
    drawing.text(
        strip.middle,
        y + high + 34,
        Word(f"one strip of {NUMBERS} numbers", bold=True),
        ", row after row",
        anchor="middle",
    )
    drawing.text(
        strip.middle,
        y + high + 50,
        "filled: the first row of each plane",
        size=11,
        colour="soft",
        anchor="middle",
    )
    return strip


def multiplied(drawing: Drawing) -> Box:
    """Draw the matrix of all strips, row 75 of it times the weight, and the token."""
    x, y, wide, high, gap = 68, 240, 136, 13, 20
    shown = (0, 1, PATCH, N - 2, N - 1)
    height = len(shown) * high + 2 * gap
    drawing.box(x, y, wide, height, colour="line", radius=3)
    for index, row in enumerate(shown):
        top = y + index * high + gap * ((row >= PATCH) + (row > PATCH))
        place = Box(x, top, wide, high)
        if row == PATCH:
            here = place
        else:
            edge = place.bottom if row < PATCH else place.y
            drawing.line((x, edge), (x + wide, edge), thick=0.75)
        drawing.text(
            x - 5,
            place.centre + 4,
            f"row {row}",
            size=11,
            colour="asking" if row == PATCH else "soft",
            bold=row == PATCH,
            anchor="end",
        )
    for top in (y + 2 * high, y + 3 * high + gap):
        for dot in (-5, 0, 5):
            middle = top + gap / 2 + dot
            drawing.circle(x + wide / 2, middle, 1, "soft", thick=1.5)
    for index, colour in enumerate(PLANES):
        part = here.column(index, len(PLANES))
        drawing.box(part.x, part.y, part.width, part.height, colour=colour, radius=0)
    drawing.frame(here)

    tall = height + 24
    narrow = 34
    weight = drawing.box(
        228, here.centre - tall / 2, narrow, tall, colour="ink", thick=1.5, radius=3
    )
    token = drawing.box(
        300, here.y, narrow, high, colour="asking", thick=2.25, radius=3
    )
    for left, right, sign in ((here, weight, "×"), (weight, token, "=")):
        drawing.text(
            (left.right + right.x) / 2, here.centre + 5, sign, size=16, anchor="middle"
        )
    below = weight.bottom + 16
    for place, name, shape in (
        (here, "patches", f"({N}, {NUMBERS})"),
        (weight, "weight", f"({NUMBERS}, D)"),
        (token, "token", "D numbers"),
    ):
        ink: Colour = "asking" if place is token else "ink"
        drawing.text(place.middle, below, name, bold=True, colour=ink, anchor="middle")
        drawing.text(
            place.middle, below + 15, shape, size=11, colour="soft", anchor="middle"
        )
    return here
