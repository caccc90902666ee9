"""Draw all parameters of ViT-B/16 to scale for chapter 7: each block is one row.

A small square stands for the D·D numbers of one matrix from D numbers to D.
"""

from book.drawings.kit import Box, Colour, Drawing
from vit_steps import ViTConfig

CONFIG = ViTConfig.base()
SIDE = 23.5  # of the square that stands for D·D parameters
GAP = 1.6  # between two blocks
BETWEEN = 8.0  # attention and MLP
LEFT, TOP = 54.0, 104.0  # corner of the first block
ATTENTION, MLP = 4, 8  # D·D matrices in a block
ONE_BY_ONE: tuple[tuple[str, Colour], ...] = (
    ("q", "query"),
    ("k", "key"),
    ("v", "value"),
    ("proj", "soft"),
)
PARTS = {
    "patch embedding": ("patch_embed.proj",),
    "class token, positions": ("cls_token", "pos_embed"),
    "attention": ("attn.qkv", "attn.proj"),
    "MLP": ("mlp.fc1", "mlp.fc2"),
    "all norms": ("norm1", "norm2", "norm"),
    "head": ("head",),
}


def held() -> dict[str, int]:
    """Return the parameters of each part, biases included."""
    steps = {step.name: step.total_parameters for step in CONFIG.cost().steps}
    return {part: sum(steps[name] for name in names) for part, names in PARTS.items()}


def draw() -> Drawing:
    parts, total = held(), CONFIG.cost().parameters
    L = CONFIG.depth
    shares = {part: f"{count / total:.1%}" for part, count in parts.items()}
    drawing = Drawing(
        "All parameters of ViT-B/16",
        f"The {total:,} parameters of ViT-B/16 as areas. A row of twelve small squares "
        f"for each of the {L} blocks: four for attention, {shares['attention']} in "
        f"all, and eight for the MLP, {shares['MLP']}. Above the blocks, the patch "
        "embedding is one square and the positions are a quarter of one. Below, the "
        "norms are a line and the head is a little more than one square.",
    )
    around(drawing, 4, 2, "patch embedding", parts)
    around(drawing, 4, 186, "class token, positions", parts)
    x = LEFT
    for part, squares in (("attention", ATTENTION), ("MLP", MLP)):
        drawing.text(x, TOP - 50, part, bold=True)
        drawing.lines(x, TOP - 36, f"{parts[part]:,}", shares[part])
        x += squares * SIDE + BETWEEN
    for index, (name, colour) in enumerate(ONE_BY_ONE):
        middle = LEFT + (index + 0.5) * SIDE
        drawing.text(middle, TOP - 6, name, size=11, colour=colour, anchor="middle")
    for index, name in enumerate(("fc1", "fc2")):
        middle = LEFT + (ATTENTION + 4 * index + 2) * SIDE + BETWEEN
        drawing.text(middle, TOP - 6, name, size=11, colour="patch-3", anchor="middle")
    for number in range(L):
        block(drawing, number)
    bottom = TOP + L * (SIDE + GAP) + 16
    around(drawing, bottom, 2, "all norms", parts)
    around(drawing, bottom, 186, "head", parts)
    return drawing


def block(drawing: Drawing, number: int) -> None:
    """Draw the matrices of a block in one row."""
    y = TOP + number * (SIDE + GAP)
    drawing.text(LEFT - 8, y + 16, f"block {number}", size=10.5, anchor="end")
    x = LEFT
    for _, colour in ONE_BY_ONE:
        drawing.box(x, y, SIDE, SIDE, colour=colour, radius=0, thick=0.75)
        x += SIDE
    x += BETWEEN
    for _ in range(2):
        drawing.box(x, y, 4 * SIDE, SIDE, colour="patch-3", radius=0, thick=0.75)
        for inner in range(1, 4):
            at = x + inner * SIDE
            drawing.line((at, y), (at, y + SIDE), colour="patch-3", thick=0.3)
        x += 4 * SIDE


def around(
    drawing: Drawing, y: float, x: float, part: str, parts: dict[str, int]
) -> None:
    """Draw a part that is not in a block as high as a square, with its number."""
    wide = parts[part] / CONFIG.embed_dim**2 * SIDE
    place = Box(x, y, wide, SIDE)
    drawing.box(*vars(place).values(), colour="ink", radius=0, thick=0.75)
    share = parts[part] / CONFIG.cost().parameters
    drawing.text(place.right + 7, y + 9, part, bold=True)
    words = f"{parts[part]:,}, {share:.2%}"
    drawing.text(place.right + 7, y + 23, words, size=11, colour="soft")
