"""The whole Vision Transformer with the shapes of ViT-B/16."""

from book.drawings.kit import Box, Colour, Drawing, Word
from vit_steps import ViTConfig
from vit_steps.sizes import as_pair

MODEL = ViTConfig.base()
STEPS = {step.name: step for step in MODEL.cost().steps}
(N, D), (T, _) = STEPS["patch_embed.proj"].shape, STEPS["pos_embed"].shape
(K,), M, L = STEPS["head"].shape, STEPS["mlp.fc1"].shape[1], MODEL.depth
PATCH = as_pair(MODEL.patch_size, "patch_size")
NUMBERS = MODEL.in_channels * PATCH[0] * PATCH[1]

LEFT, PITCH, SLOTS = 4, 25, 8  # the class token has slot 0, an ellipsis has slot 5
GAP = 4
SHOWN = (1, 2, 3, 4, 6, 7)  # the slots of patches
RIGHT = LEFT + SLOTS * PITCH - GAP
WORDS = RIGHT + 15  # left edge of the words
FLOW = (LEFT + PITCH + RIGHT) / 2  # the middle of the patches
STREAM, BRANCH, THICK = 30, 122, 2.75  # lines in the opened block
SCENE = ("sosss", "sssss", "ssgss", "sgggs", "ggggg")
PIECES = "." + SCENE[0][:4] + "." + SCENE[-1][-2:]  # names of the pieces in the slots
PAINT: dict[str, tuple[Colour, float]] = {
    "s": ("query", 0.25),
    "o": ("key", 0.8),
    "g": ("value", 0.55),
}


def draw() -> Drawing:
    image = STEPS["image"].shape
    drawing = Drawing(
        "The whole Vision Transformer",
        "From top to bottom, with the shapes of ViT-B/16. A batch of photographs, "
        f"{shape(*image)}, is cut into patches, {shape(N, NUMBERS)}. The patch "
        f"embedding makes tokens, {shape(N, D)}. The class token is put in front, "
        f"{shape(T, D)}, and a position is added to each, {shape(T, D)}. {L} encoder "
        "blocks follow. One is opened: norm, attention, plus, norm, MLP, plus. After "
        f"the last norm, still {shape(T, D)}, the class token alone goes on, "
        f"{shape(D)}. The head makes of it the logits, {shape(K)}.",
    )
    side = 60.0
    photo = photograph(drawing, Box(FLOW - side / 2, 2, side, side))
    label(drawing, photo, shape(*image), "photograph")
    y = down(drawing, photo, FLOW)
    patches = [cut(drawing, slot(i, y, 20), PIECES[i]) for i in SHOWN]
    ellipsis(drawing, patches[0])
    label(drawing, patches[0], shape(N, NUMBERS), f"{N} patches")
    y = down(drawing, patches[0], FLOW)
    box = drawing.box(
        LEFT + PITCH, y, RIGHT - LEFT - PITCH, 26, "patch embedding", bold=True
    )
    label(drawing, box, shape(N, D), f"{N} tokens")
    y = down(drawing, box, FLOW)

    row = tokens(drawing, y)
    label(drawing, row, shape(T, D), "class token", "in front", colour="class")
    y = row.bottom + 21
    drawing.text(FLOW, y - 5, "+", size=16, bold=True, anchor="middle")
    places = [slot(i, y, 22) for i in (0, *SHOWN)]
    for place, name in zip(places, numbered(T), strict=True):
        boxed = (place.x, place.y, place.width, place.height)
        drawing.box(*boxed, name, size=10.5, radius=3)
    ellipsis(drawing, places[0])
    label(drawing, places[0], shape(T, D), "positions added")

    y = opened(drawing, places[0].bottom)
    norm = normed(drawing, Box(LEFT, y, RIGHT - LEFT, 24))
    label(drawing, norm, shape(T, D), "last norm")

    y = norm.bottom + 20
    row = tokens(drawing, y, left_behind=True)
    label(drawing, row, shape(D), "class token", "alone", colour="class")
    y = row.bottom + 20
    for above, below in ((norm.bottom, row.y), (row.bottom, y)):
        ends = ((row.middle, above + 2), (row.middle, below - 2))
        drawing.arrow(*ends, colour="class", thick=1.75)
    head = drawing.box(LEFT, y, RIGHT - LEFT, 26, "head", bold=True)
    label(drawing, head, f"Linear {D} → {K}")
    y = down(drawing, head, head.middle)
    names = [*numbered(K)[:5], "…", *numbered(K)[-2:]]
    wide = (RIGHT - LEFT) / SLOTS
    logits = drawing.cells(LEFT, y, [names], (wide, 22), size=10.5)
    label(drawing, logits, shape(K), f"{K} logits")
    return drawing


def shape(*sizes: int) -> str:
    return f"({', '.join(['B', *map(str, sizes)])})"


def numbered(of: int) -> list[str]:
    return [str(n) for n in (*range(5), of - 2, of - 1)]


def slot(i: int, y: float, height: float) -> Box:
    return Box(LEFT + i * PITCH, y, PITCH - GAP, height)


def down(drawing: Drawing, above: Box, x: float) -> float:
    """Draw an arrow down from a place, and return the y at which the next begins."""
    y = above.bottom + 20
    drawing.arrow((x, above.bottom + 2), (x, y - 2))
    return y


def label(
    drawing: Drawing, beside: Box, sizes: str, *name: str, colour: Colour = "ink"
) -> None:
    """Write the name and the shape of a place to its right."""
    high = 15 * len(name) + 14
    y = beside.centre - high / 2 + 11
    for i, line in enumerate(name):
        drawing.text(WORDS, y + 15 * i, line, colour=colour, bold=True)
    drawing.text(WORDS, y + 15 * len(name), sizes, size=11.5, colour="soft")


def photograph(drawing: Drawing, place: Box) -> Box:
    rows = len(SCENE)
    for i, row in enumerate(SCENE):
        for j, letter in enumerate(row):
            drawing.full(place.cell(i, j, rows, rows), *PAINT[letter])
    empty = [[""] * rows] * rows
    cell = place.width / rows
    return drawing.cells(place.x, place.y, empty, (cell, cell), ground=False)


def cut(drawing: Drawing, place: Box, letter: str) -> Box:
    drawing.full(place, *PAINT[letter])
    return drawing.cells(
        place.x, place.y, [[""]], (place.width, place.height), ground=False
    )


def ellipsis(drawing: Drawing, row: Box) -> None:
    drawing.text(slot(5, 0, 0).middle, row.centre + 3, "…", size=14, anchor="middle")


def tokens(drawing: Drawing, y: float, left_behind: bool = False) -> Box:
    """Draw a strip of numbers for each token, the class token first."""
    for i in SHOWN:
        if left_behind:
            place = slot(i, y, 28)
            drawing.box(
                place.x,
                y,
                place.width,
                28,
                colour="soft",
                ground=False,
                dashed=True,
                radius=3,
                thick=0.75,
            )
        else:
            drawing.cells(slot(i, y, 28).x, y, [[""]] * 4, (PITCH - GAP, 7), "line")
    ellipsis(drawing, slot(0, y, 28))
    return drawing.cells(LEFT, y, [[""]] * 4, (PITCH - GAP, 7), "class", thick=1.75)


def opened(drawing: Drawing, above: float) -> float:
    """Draw a block with the others behind it; return the y at which the stream ends."""
    y, wide, high = above + 22, RIGHT - LEFT - 8, 236
    end = y + high + 8 + 20
    for back in (8, 4, 0):
        drawing.box(LEFT + back, y + back, wide, high, colour="line", radius=8)
    stream = ((STREAM, above + 2), (STREAM, end - 2))
    drawing.arrow(*stream, colour="ink", thick=THICK)
    title = (Word(f"{L} blocks", "ink", bold=True, size=12),)
    drawing.lines(WORDS, y + 18, title, shape(T, D), "one opened", size=11.5)
    for top, name in ((y + 16, "attention"), (y + 124, "MLP")):
        norm = normed(drawing, Box(BRANCH - 60, top + 14, 120, 24))
        part = drawing.box(BRANCH - 60, norm.bottom + 14, 120, 26, name, bold=True)
        plus = part.bottom + 16
        drawing.arrow((STREAM, top), (BRANCH, top), (BRANCH, norm.y))
        drawing.arrow((BRANCH, norm.bottom), (BRANCH, part.y))
        drawing.arrow((BRANCH, part.bottom), (BRANCH, plus), (STREAM + 9, plus))
        drawing.box(STREAM - 9, plus - 9, 18, 18, colour="ink", thick=1.75, radius=9)
        for x1, y1 in ((4.5, 0), (0, 4.5)):
            ends = ((STREAM - x1, plus - y1), (STREAM + x1, plus + y1))
            drawing.line(*ends, colour="ink", thick=1.75)
        how = (
            f"{MODEL.num_heads} heads of {D // MODEL.num_heads}"
            if name == "attention"
            else f"{D} → {M} → {D}"
        )
        drawing.text(WORDS, part.centre + 4, how, size=11.5, colour="soft")
    return end


def normed(drawing: Drawing, place: Box) -> Box:
    x, y, width, height = place.x, place.y, place.width, place.height
    return drawing.box(x, y, width, height, "norm", colour="ink", thick=1.75, bold=True)
