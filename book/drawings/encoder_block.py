"""Draw the encoder block on its residual stream, pre-norm and post-norm."""

from book.drawings.kit import Box, Drawing, Word

STREAM, BRANCH = 38, 112  # x of both lines in a column of 180 units
LEFT, WIDE, THICK = 60, 104, 2.75
TOP, BOTTOM = 76, 432  # end and beginning of the stream, which runs upwards
LEAVES = (252, 410)  # y at which the upper and the lower branch leave the stream
RADIUS = 9


def draw() -> Drawing:
    drawing = Drawing(
        "The encoder block, pre-norm and post-norm",
        "Two encoder blocks side by side, both from the bottom to the top. A thick "
        "straight line is the residual stream: tokens of shape (B, T, D) come in and "
        "leave with the same shape. In pre-norm a branch leaves the stream, goes "
        "through a norm and attention, and is added to the stream at a plus sign; a "
        "second one goes through a norm and the MLP and is added too. In post-norm the "
        "branches hold only attention and the MLP, and after each plus sign there is a "
        "norm on the stream itself.",
    )
    pre_norm(drawing)
    drawing.line((182, 8), (182, 448), colour="soft", thick=0.75, dashed=True)
    with drawing.at(184, 0):
        post_norm(drawing)
    return drawing


def pre_norm(drawing: Drawing) -> None:
    ends(drawing, "pre-norm", "as in a ViT")
    drawing.arrow((STREAM, BOTTOM), (STREAM, TOP), colour="ink", thick=THICK)
    for leaves, (name, how) in zip(LEAVES, PARTS, strict=True):
        y = leaves - 126
        norm = normed(drawing, BRANCH, leaves - 26, WIDE)
        part = computed(drawing, leaves - 77, name, how)
        drawing.arrow((STREAM, leaves), (BRANCH, leaves), (BRANCH, norm.bottom))
        drawing.arrow((BRANCH, norm.y), (BRANCH, part.bottom))
        drawing.arrow((BRANCH, part.y), (BRANCH, y), (STREAM + RADIUS, y))
        plus(drawing, y)
    drawing.lines(
        STREAM + 12,
        96,
        [Word("residual stream:", bold=True)],
        "only two plus signs",
        size=10.5,
    )


def post_norm(drawing: Drawing) -> None:
    ends(drawing, "post-norm", "as in the first Transformer")
    drawing.arrow((STREAM, BOTTOM), (STREAM, TOP), colour="ink", thick=THICK)
    for leaves, (name, how) in zip(LEAVES, PARTS, strict=True):
        y = leaves - 92
        part = computed(drawing, leaves - 46, name, how)
        drawing.arrow((STREAM, leaves), (BRANCH, leaves), (BRANCH, part.bottom))
        drawing.arrow((BRANCH, part.y), (BRANCH, y), (STREAM + RADIUS, y))
        plus(drawing, y)
        normed(drawing, STREAM, y - 34, 56)
    drawing.lines(
        STREAM + 36,
        124,
        [Word("norms", bold=True), " are"],
        "on the stream",
        size=10.5,
    )


PARTS = (("MLP", "each token alone"), ("attention", "between tokens"))


def ends(drawing: Drawing, name: str, whose: str) -> None:
    drawing.text(6, 16, name, size=13, bold=True)
    drawing.text(6, 32, whose, size=11, colour="soft")
    for y in (TOP - 8, BOTTOM + 14):
        drawing.text(STREAM - 26, y, "tokens ", Word("(B, T, D)", "soft", size=11))


def normed(drawing: Drawing, x: float, y: float, width: float) -> Box:
    return drawing.box(
        x - width / 2, y - 13, width, 26, "norm", colour="ink", thick=1.75, bold=True
    )


def computed(drawing: Drawing, y: float, name: str, how: str) -> Box:
    box = drawing.box(LEFT, y - 20, WIDE, 40)
    drawing.text(box.middle, y - 3, name, size=12.5, bold=True, anchor="middle")
    drawing.text(box.middle, y + 12, how, size=10.5, colour="soft", anchor="middle")
    return box


def plus(drawing: Drawing, y: float) -> None:
    side = 2 * RADIUS
    drawing.box(
        STREAM - RADIUS, y - RADIUS, side, side, colour="ink", thick=1.75, radius=RADIUS
    )
    drawing.line((STREAM - 4.5, y), (STREAM + 4.5, y), colour="ink", thick=1.75)
    drawing.line((STREAM, y - 4.5), (STREAM, y + 4.5), colour="ink", thick=1.75)
