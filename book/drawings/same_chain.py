"""Draw a chain of steps, cut into blocks of chapter 6's bug and of post-norm."""

from book.drawings.kit import Anchor, Box, Colour, Drawing

CHAIN = ("norm", "+ attention", "norm", "+ MLP") * 2 + ("norm",)
LEFT, WIDE, HIGH, STEP = 128, 104, 24, 34
TOP = 44  # upper edge of the first box


def draw() -> Drawing:
    drawing = Drawing(
        "One chain, cut in two ways",
        "A chain of nine steps from top to bottom: norm, plus attention, norm, plus "
        "MLP, the same four once more, and a last norm. Brackets on the left cut it "
        "into two blocks of the bug, which begin at the first norm and leave out the "
        "last. Brackets on the right cut it into two blocks of post-norm, which leave "
        "out the first norm and end with the last.",
    )
    places: list[Box] = []
    for step, name in enumerate(CHAIN):
        colour: Colour = "line" if name == "norm" else "ink"
        place = drawing.box(
            LEFT, TOP + step * STEP, WIDE, HIGH, name, colour=colour, size=12.5
        )
        if places:
            middle = place.middle
            drawing.arrow((middle, places[-1].bottom), (middle, place.y))
        places.append(place)
    edge = drawing.width
    drawing.text(LEFT - 14, 16, "the bug", bold=True, size=13, anchor="end")
    drawing.text(edge - LEFT + 14, 16, "post-norm", bold=True, size=13)
    for block in range(2):
        bracket(drawing, places[4 * block : 4 * block + 4], LEFT - 10, -1, block)
        bracket(
            drawing, places[4 * block + 1 : 4 * block + 5], edge - LEFT + 10, 1, block
        )
    return drawing


def bracket(
    drawing: Drawing, places: list[Box], x: float, side: int, block: int
) -> None:
    """Draw a bracket around a block's steps, open towards them, with its name."""
    top, bottom = places[0].y, places[-1].bottom
    back = x + 8 * side
    drawing.line((x, top), (back, top), (back, bottom), (x, bottom), thick=1.75)
    anchor: Anchor = "start" if side > 0 else "end"
    words = f"block {block}"
    centre = (top + bottom) / 2 + 4
    drawing.text(back + 8 * side, centre, words, anchor=anchor, colour="soft")
