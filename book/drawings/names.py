"""Draw torchvision's names beside ours, and Hugging Face's q, k and v."""

from book.drawings.kit import Box, Colour, Drawing, Word
from vit_steps.pretrained.names import HUGGINGFACE, LAYER, TORCHVISION

BLOCK = "blocks.{i}."
THEIRS, OURS = 6, 234  # left edges of the columns
WIDE = (162, 120)  # widths of the columns
HIGH, STEP = 19, 23
TOP = 26
LEFT_OUT = "pre_logits"  # exists only in pre-training


def draw() -> Drawing:
    drawing = Drawing(
        "Their names and ours",
        "Two columns of names with lines between them. On the left torchvision's, in "
        "the order of its file, on the right ours, which are timm's: "
        f"{'; '.join(f'{theirs} is {ours}' for theirs, ours in pairs())}. Those in a "
        "frame come once for every block. Below, Hugging Face's three matrices, "
        f"{', '.join(apart())}, of D rows each, become one, attn.qkv, of 3·D rows: "
        "queries above, keys in the middle, values below.",
    )
    bottom = torchvisions(drawing)
    hugging_faces(drawing, bottom + 36)
    return drawing


def pairs() -> list[tuple[str, str]]:
    """Return torchvision's names and ours, shortened, of the model and a block."""
    return [
        (short(theirs, LAYER + "."), short(ours, BLOCK))
        for ours, theirs in TORCHVISION.items()
        if not ours.startswith(LEFT_OUT)
    ]


def short(name: str, block: str) -> str:
    return name.removeprefix(block).removesuffix("{p}").rstrip("._")


def in_a_block() -> set[str]:
    return {short(name, BLOCK) for name in TORCHVISION if name.startswith(BLOCK)}


def apart() -> list[str]:
    table = reversed(HUGGINGFACE.items())  # the first of several spellings wins
    names = {ours: short(theirs, "{layer}.") for theirs, ours in table}
    return [names[f"{BLOCK}attn.{letter}.{{p}}"] for letter in "qkv"]


def torchvisions(drawing: Drawing) -> float:
    drawing.text(THEIRS, 14, "torchvision", size=13, bold=True)
    drawing.text(OURS, 14, "ours, timm’s", size=13, bold=True)
    theirs, ours = map(list, zip(*pairs(), strict=True))
    # Our file has the positions before the patches; torchvision's has them after.
    file = [theirs[ours.index(name)] for name in ("cls_token", "patch_embed.proj")]
    file += [name for name in theirs if name not in file]
    heights = {}
    for index, name in enumerate(ours):
        heights[name] = TOP + index * STEP + gap(index, ours)
    frame(drawing, ours, heights)
    for index, name in enumerate(file):
        ours_name = ours[theirs.index(name)]
        y = TOP + index * STEP + gap(index, ours)
        left = named(drawing, THEIRS, y, WIDE[0], name)
        right = named(drawing, OURS, heights[ours_name], WIDE[1], ours_name)
        drawing.arrow(
            (left.right, left.centre),
            (left.right + 8, left.centre),
            (right.x - 12, right.centre),
            (right.x - 1, right.centre),
            colour="ink" if left.centre != right.centre else "line",
        )
    return max(heights.values()) + HIGH


def gap(index: int, order: list[str]) -> float:
    """Return the extra space above a name: before the block, and after it."""
    inside = [i for i, name in enumerate(order) if name in in_a_block()]
    return 24 * (index >= inside[0]) + 12 * (index > inside[-1])


def frame(drawing: Drawing, order: list[str], heights: dict[str, float]) -> None:
    inside = [heights[name] for name in order if name in in_a_block()]
    top, bottom = inside[0] - 19, inside[-1] + HIGH + 5
    drawing.box(1, top, 358, bottom - top, colour="soft", radius=4)
    drawing.text(
        THEIRS, top + 13, "encoder.layers.encoder_layer_0.", size=10.5, colour="soft"
    )
    drawing.text(OURS, top + 13, "blocks.0.", size=10.5, colour="soft")


def named(drawing: Drawing, x: float, y: float, width: float, name: str) -> Box:
    place = drawing.box(x, y, width, HIGH, colour="line", radius=3)
    drawing.text(x + 5, y + 13.5, Word(name, code=True), size=10.5)
    return place


def hugging_faces(drawing: Drawing, y: float) -> None:
    drawing.text(THEIRS, y, "Hugging Face", size=13, bold=True)
    drawing.text(OURS, y, "ours", size=13, bold=True)
    colours: tuple[Colour, ...] = ("query", "key", "value")
    y += 12
    joined = Box(OURS, y + 12, WIDE[1], 78)
    parts = zip(apart(), colours, "qkv", strict=True)
    for index, (name, colour, letter) in enumerate(parts):
        left = drawing.box(
            THEIRS, y + index * 36, WIDE[0], 30, colour=colour, thick=1.5, radius=3
        )
        drawing.text(THEIRS + 5, left.centre + 4, Word(name, code=True), size=10.5)
        drawing.text(
            left.right - 5, left.centre + 4, "D", size=10.5, colour="soft", anchor="end"
        )
        row = joined.row(index, 3)
        drawing.box(
            row.x, row.y, row.width, row.height, colour=colour, thick=1.5, radius=0
        )
        drawing.text(row.x + 7, row.centre + 4, letter, size=12, bold=True)
        drawing.text(
            row.right - 5, row.centre + 4, "D", size=10.5, colour="soft", anchor="end"
        )
        drawing.arrow(
            (left.right, left.centre),
            (left.right + 8, left.centre),
            (row.x - 12, row.centre),
            (row.x - 1, row.centre),
            colour=colour,
            thick=1.75,
        )
    drawing.text(
        joined.middle,
        joined.y - 5,
        Word("attn.qkv", code=True),
        size=11,
        anchor="middle",
    )
    drawing.text(
        joined.middle,
        joined.bottom + 14,
        "3·D rows",
        size=11,
        colour="soft",
        anchor="middle",
    )
