"""Draw the matrix E of four models and of chapter 2 to scale: C·P·P rows, D columns."""

from book.drawings.kit import Box, Colour, Drawing, Word
from vit_steps.sizes import as_pair
from vit_steps.vision_transformer import ViTConfig

CHANNELS = 3
OURS = 16, 100  # patch side and D in the chapter
SCALE = 0.062  # units of the sheet for a row or a column
SLOTS = (67, 70, 74, 89, 56)  # widths
LEFT, GROUND, TOP = 2.0, 58.0, 100.0  # left edge, lower edge of patches, upper of E
ROWS: Colour = "patch-0"
COLUMNS: Colour = "patch-2"
PLANES: tuple[Colour, ...] = ("blue", "green", "red")  # from the back to the front


def draw() -> Drawing:
    models = sizes()
    listed = ", ".join(
        f"{name}: {CHANNELS * side**2} rows for patches of {side}×{side}, {D} columns"
        for name, side, D in models
    )
    drawing = Drawing(
        "The matrix E of five models, to scale",
        f"Five patches of three planes, each with a matrix below it, drawn to scale. "
        f"{listed}. The rows follow from the patch, and the columns are a choice. Only "
        "that of ViT-B/16 happens to be a square.",
    )
    x = LEFT
    for slot, (name, side, D) in zip(SLOTS, models, strict=True):
        matrix(drawing, x + slot / 2, name, side, D)
        x += slot
    square, tall, *_ = SLOTS
    below = TOP + SCALE * CHANNELS * OURS[0] ** 2 + 40
    drawing.lines(
        LEFT + square / 2, below, "a square", "by chance", anchor="middle", size=11
    )
    x = LEFT + square + tall + 14
    drawing.text(x, below + 56, Word("The rows", ROWS, bold=True), " of E are the")
    drawing.text(x, below + 72, "numbers in a patch.")
    drawing.text(
        x, below + 98, Word("The columns", COLUMNS, bold=True), " are a choice:"
    )
    drawing.text(x, below + 114, "how long a token is to be.")
    return drawing


def sizes() -> list[tuple[str, int, int]]:
    """Return each model's name, P, and D."""
    models = {
        "B/16": ViTConfig.base(),
        "B/32": ViTConfig.base(patch_size=32),
        "L/16": ViTConfig.large(),
        "H/14": ViTConfig.huge(),
    }
    return [
        *(
            (
                f"ViT-{name}",
                as_pair(config.patch_size, "patch_size")[0],
                config.embed_dim,
            )
            for name, config in models.items()
        ),
        ("here", *OURS),
    ]


def matrix(drawing: Drawing, middle: float, name: str, side: int, D: int) -> None:
    """Draw a patch, and below it the matrix E, with its rows and columns."""
    drawing.text(middle, 13, name, bold=True, anchor="middle")
    for index, plane in enumerate(PLANES):
        shift = 3 * (len(PLANES) - 1 - index)
        x, y = middle - side / 2 - 3 + shift, GROUND - side - shift
        drawing.box(x, y, side, side, colour=plane, radius=0, thick=1.25)
    rows = CHANNELS * side**2
    words = (f"{CHANNELS}·{side}·{side}", f"= {rows} rows")
    drawing.lines(middle, GROUND + 17, *words, size=11, colour=ROWS, anchor="middle")
    wide, high = SCALE * D, SCALE * rows
    place = Box(middle - wide / 2, TOP, wide, high)
    drawing.box(*vars(place).values(), radius=0, thick=1)
    drawing.line((place.x, place.y), (place.x, place.bottom), colour=ROWS, thick=3)
    drawing.line(
        (place.x, place.bottom), (place.right, place.bottom), colour=COLUMNS, thick=3
    )
    if wide > 40:
        drawing.text(middle, TOP + 22, "E", bold=True, size=13, anchor="middle")
    chosen = f"D = {D}"
    drawing.text(
        middle, place.bottom + 16, chosen, size=11, colour=COLUMNS, anchor="middle"
    )
