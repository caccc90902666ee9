"""Draw what a block computes for one token, as areas to one scale: chapter 1."""

from book.drawings.bill import macs
from book.drawings.kit import Drawing, Word
from vit_steps.cost import token_count

D = 768
T = token_count(224, 16) + 1
SIDE, LEFT, APART = 28.0, 4.0, 7.0  # a square of D·D, and between two groups of them
GROUPS = (
    (4, 1, "four projections", "D × D each"),
    (4, 4, "MLP: up to 4D", "D × 4D"),
    (4, 4, "MLP: back to D", "4D × D"),
)
STRIPS = ("compare with T tokens", "average T tokens")


def draw() -> Drawing:
    quadratic, linear = (number / T for number in macs(T, D))
    drawing = Drawing(
        "A block's work for one token",
        "Areas to one scale. What a block does to one token by itself are twelve "
        f"squares of D times D, {linear / 1e6:.1f} million multiply-accumulates: four "
        "for the projections, four for the way up in the MLP and four for the way "
        "back. What it does with the other tokens are two strips, D high and T wide, "
        f"{quadratic / 1e6:.1f} million for {T} tokens. Each is a quarter as wide as a "
        "square. Arrows say that they become wider with T.",
    )
    drawing.text(
        LEFT,
        14,
        Word("by itself: 12·D²", bold=True, colour="position"),
        Word(f" = {linear / 1e6:.1f} million MACs", colour="soft"),
    )
    x, y = LEFT, 44.0
    for squares, long, name, size in GROUPS:
        for i in range(0, squares, long):
            drawing.box(x + i * SIDE, y, long * SIDE, SIDE, colour="position", radius=0)
        middle = x + squares * SIDE / 2
        drawing.text(middle, y - 8, name, size=11, anchor="middle")
        drawing.text(
            middle, y + SIDE + 15, size, size=11, colour="soft", anchor="middle"
        )
        x += squares * SIDE + APART

    y += SIDE + 48
    drawing.text(
        LEFT,
        y,
        Word("with the other tokens: 2·T·D", bold=True, colour="asking"),
        Word(f" = {quadratic / 1e6:.1f} million MACs for T = {T}", colour="soft"),
    )
    y += 14
    for x, name in zip((LEFT, 190), STRIPS, strict=True):
        strip = drawing.box(x, y, SIDE * T / D, SIDE, colour="asking", radius=0)
        drawing.arrow((strip.right + 3, strip.centre), (strip.right + 24, strip.centre))
        drawing.lines(
            strip.right + 30, strip.centre - 3, name, "D × T, wider with T", size=11
        )
    return drawing
