"""Draw multi-head attention in ViT-B/16: three sheets, twelve bands, twelve maps."""

from book.drawings.kit import Box, Colour, Drawing, Word
from vit_steps import ViTConfig

MODEL = ViTConfig.base()
STEPS = {step.name: step for step in MODEL.cost().steps}
(h, T, d), D = STEPS["attn: weights v"].shape, MODEL.embed_dim
FOLLOWED = 4

WIDE, HIGH = 104, 34  # width and height of a sheet
SHEETS: tuple[tuple[Colour, str, str, float], ...] = (
    ("query", "q", "queries", 4),
    ("key", "k", "keys", 128),
    ("value", "v", "values", 252),
)
MIDDLE = 180
MAP, PITCH = 23, 26  # side and distance of the attention maps
LANE = 348  # x of the line on which v passes the maps
FAINT, STRONG, FULL = 0.1, 0.3, 0.85
THICK = 1.75


def draw() -> Drawing:
    sheet = f"({T}, {D})"
    drawing = Drawing(
        "Multi-head attention",
        f"From top to bottom. A sheet of tokens, {sheet}, goes through three linear "
        "layers, which make three sheets of the same size: queries q, keys k and "
        f"values v, each from the whole of the tokens. Each sheet is cut into {h} "
        f"bands of {d} columns, one for each head. From the bands of q and k come {h} "
        f"square maps of attention weights, ({T}, {T}). With its map each head mixes "
        f"its own band of v. The {h} results stand side by side, {sheet}, and the "
        f"output projection makes the output, {sheet}. One head, number {FOLLOWED}, is "
        "framed all the way.",
    )
    tokens = whole(drawing, MIDDLE - WIDE / 2, 18, "line")
    drawing.text(MIDDLE, 12, "tokens", bold=True, anchor="middle")
    drawing.lines(
        2,
        22,
        "three linear layers:",
        f"each reads all {D}",
        "numbers of a token",
        size=10.5,
    )

    y = braced(drawing, tokens)
    drawing.line((56, y + 8), (304, y + 8))
    drawing.line((MIDDLE, y), (MIDDLE, y + 8))
    framed = []
    for colour, name, words, x in SHEETS:
        middle = x + WIDE / 2
        drawing.arrow((middle, y + 8), (middle, y + 24))
        drawing.text(
            middle,
            y + 38,
            Word(f"{name} ", bold=True),
            words,
            colour=colour,
            anchor="middle",
        )
        sheet_of = whole(drawing, x, y + 44, colour)
        drawing.arrow((middle, sheet_of.bottom + 2), (middle, sheet_of.bottom + 20))
        framed.append(bands(drawing, x, sheet_of.bottom + 22, colour))
    for x, words in ((118, f"cut into {h} bands"), (242, f"of {d} columns")):
        drawing.text(
            x, y + 44 + HIGH + 15, words, size=10.5, colour="soft", anchor="middle"
        )

    # One head is followed: its bands of q and k make its map.
    of_q, of_k, of_v = framed
    x = 4 + FOLLOWED * PITCH + MAP / 2
    y = of_q.bottom + 26
    for band in (of_q, of_k):
        drawing.line(
            (band.middle, band.bottom + 2), (band.middle, y), colour="ink", thick=THICK
        )
    drawing.text(of_q.middle + 9, y - 6, f"head {FOLLOWED}", size=10.5, bold=True)
    drawing.line((of_q.middle, y), (of_k.middle, y), colour="ink", thick=THICK)
    drawing.arrow((x, y), (x, y + 28), colour="ink", thick=THICK)
    drawing.text(x + 8, y + 18, "softmax(q kᵀ / √d)", size=11, colour="soft")
    for head in range(h):
        place = drawing.box(
            4 + head * PITCH, y + 30, MAP, MAP, str(head), radius=2, size=11
        )
        if head == FOLLOWED:
            drawing.frame(place, "ink")
            map_of = place
    drawing.text(
        x + 8,
        map_of.bottom + 17,
        "attention weights, ",
        f"({T}, {T}) each",
        size=11,
        colour="soft",
    )
    drawing.text(4, map_of.bottom + 17, f"head 0 to {h - 1}", size=11, colour="soft")

    # The map mixes the head's band of v.
    y = map_of.bottom + 42
    upper = of_v.bottom + 12
    result = MIDDLE - WIDE / 2 + (FOLLOWED + 0.5) * WIDE / h
    v_way = (
        (of_v.middle, of_v.bottom + 2),
        (of_v.middle, upper),
        (LANE, upper),
        (LANE, y),
        (result + 9, y),
    )
    drawing.arrow(*v_way, colour="value", thick=THICK)
    drawing.arrow(
        (x, map_of.bottom + 2), (x, y), (result - 9, y), colour="ink", thick=THICK
    )
    drawing.box(result - 9, y - 9, 18, 18, colour="ink", thick=THICK, radius=9)
    for s in (1, -1):
        drawing.line(
            (result - 3.2, y - 3.2 * s),
            (result + 3.2, y + 3.2 * s),
            colour="ink",
            thick=THICK,
        )
    drawing.text(result + 22, y - 6, "mixes its own band of v", size=11, colour="soft")
    drawing.arrow((result, y + 9), (result, y + 28), colour="ink", thick=THICK)
    joined = bands(drawing, MIDDLE - WIDE / 2, y + 30, "value", apart=0)
    beside(drawing, joined, f"{h} bands", "side by side")
    drawing.text(
        MIDDLE + WIDE / 2 + 12, joined.centre + 4, sheet, size=11, colour="soft"
    )

    y = braced(drawing, Box(tokens.x, joined.y, WIDE, HIGH))
    drawing.arrow((MIDDLE, y), (MIDDLE, y + 16))
    box = drawing.box(
        tokens.x - 10, y + 18, WIDE + 20, 26, "output projection", size=11.5, bold=True
    )
    drawing.lines(box.right + 10, box.centre - 3, "here the heads", "meet", size=10.5)
    drawing.arrow((MIDDLE, box.bottom + 2), (MIDDLE, box.bottom + 18))
    output = whole(drawing, tokens.x, box.bottom + 20, "line")
    beside(drawing, output, "output")
    return drawing


def whole(drawing: Drawing, x: float, y: float, colour: Colour) -> Box:
    """Draw an uncut sheet with its shape."""
    shape = Word(f"({T}, {D})", "soft", size=11)
    return drawing.box(x, y, WIDE, HIGH, shape, colour=colour, thick=1.5, radius=3)


def bands(
    drawing: Drawing, x: float, y: float, colour: Colour, apart: float = 1.5
) -> Box:
    """Draw a sheet cut into the heads' bands, and return the framed one."""
    sheet = Box(x, y, WIDE, HIGH)
    for head in range(h):
        place = sheet.column(head, h)
        strength = FULL if head == FOLLOWED else STRONG if head % 2 else FAINT
        inner = Box(place.x + apart / 2, y, place.width - apart, HIGH)
        drawing.full(inner, colour, strength)
        drawing.box(
            inner.x,
            y,
            inner.width,
            HIGH,
            colour=colour,
            ground=False,
            thick=0.75,
            radius=0,
        )
    followed = sheet.column(FOLLOWED, h)
    drawing.frame(followed, "ink")
    return followed


def braced(drawing: Drawing, sheet: Box) -> float:
    """Draw a brace below a sheet that is used as a whole, and return its lower end."""
    y = sheet.bottom + 4
    ends = ((sheet.x, y), (sheet.x, y + 4), (sheet.right, y + 4), (sheet.right, y))
    drawing.line(*ends)
    drawing.line((sheet.middle, y + 4), (sheet.middle, y + 10))
    return y + 10


def beside(drawing: Drawing, at: Box, *names: str) -> None:
    """Write the name of a sheet in the middle to its left."""
    for i, name in enumerate(names):
        y = at.centre + 4 + 15 * (i - (len(names) - 1) / 2)
        drawing.text(MIDDLE - WIDE / 2 - 12, y, name, bold=True, anchor="end")
