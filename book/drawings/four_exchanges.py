"""Draw the tokens and a block of a ViT-S/16 of 2020, and DINOv3's beside them."""

from book.drawings.kit import Box, Colour, Drawing
from vit_steps.variants.modern_vit import VariantConfig

OLD, NEW = VariantConfig.small(), VariantConfig.dinov3_small()
WIDE = 164.0  # of a column
LEFTS = (1.0, 195.0)  # left edges of the columns
SIDE = 15.0  # of a token and of a circle
CHANGED: Colour = "asking"  # its frame is thick
BOX = 17.0  # height of a layer
APART = 6.5  # from a layer to the next


def draw() -> Drawing:
    drawing = Drawing(
        "A block of 2020 and one of DINOv3",
        "Two columns, from top to bottom. On the left a ViT-S/16 of 2020: the class "
        "token and the patches, with positions added to all. In the block, LayerNorm, "
        "queries, keys and values with biases, attention, an addition, then LayerNorm, "
        f"MLP and an addition. On the right DINOv3's: {NEW.num_registers} registers "
        "beside the class token and no positions. In the block, queries, keys and "
        "values have no biases, queries and keys are turned by their place, and what "
        "attention and MLP add is first multiplied by a LayerScale. All else is equal.",
    )
    for x, name, config in zip(LEFTS, ("2020", "DINOv3"), (OLD, NEW), strict=True):
        drawing.text(x + WIDE / 2, 13, name, size=13.5, bold=True, anchor="middle")
        y = tokens(drawing, x, 20, config)
        block(drawing, x, y, config)
    return drawing


def tokens(drawing: Drawing, x: float, y: float, config: VariantConfig) -> float:
    """Draw the tokens and what is added to them, and return the y below."""
    registers, learned = config.num_registers, config.positions == "learned"
    patches = 5
    count = 1 + registers + patches
    left = x + (10 if learned else 0)
    for place in range(count):
        colour: Colour = "patch-0"
        if place <= registers:
            colour = CHANGED if place else "class"
        here = Box(left + place * SIDE, y, SIDE - 2, SIDE - 2)
        thick = 2.25 if colour == CHANGED else 1
        drawing.box(*vars(here).values(), colour=colour, thick=thick, radius=2)
        if learned:
            below = here.x, y + SIDE + 1, here.width, here.height
            drawing.box(*below, colour="position", radius=2)
    right = left + count * SIDE + 1
    drawing.text(right, y + 10, "…", size=12)
    if registers:
        both = f"{registers} registers", "no positions"
        for at, word in zip((left + SIDE, left + 6 * SIDE), both, strict=True):
            drawing.text(at, y + 27, word, size=11, colour=CHANGED, bold=True)
    if learned:
        drawing.text(left - 2, y + SIDE + 12, "+", size=12, anchor="end")
        drawing.text(right, y + SIDE + 11, "…", size=12, colour="position")
        drawing.text(right + 13, y + SIDE + 11, "positions", size=11, colour="position")
    return y + 36


def block(drawing: Drawing, x: float, top: float, config: VariantConfig) -> None:
    """Draw a block, from its tokens to the next block's."""
    middle = x + 63
    y = top
    for parts in ("attention", "MLP"):
        branch = y + 4
        y = arrow(drawing, middle, y, 12)
        y = layer(drawing, middle, y, "LayerNorm")
        if parts == "attention":
            y = three(drawing, middle, y, config)
        if config.layer_scale is None:
            y = layer(drawing, middle, y, parts, down=BOX + 2 * APART)
        else:
            y = layer(drawing, middle, y, parts)
            y = layer(drawing, middle, y, "LayerScale", CHANGED)
        r = SIDE / 2
        drawing.circle(middle, y + r, r)
        drawing.text(middle, y + r + 4, "+", anchor="middle")
        around = (middle, branch), (x + 7, branch), (x + 7, y + r), (middle - r, y + r)
        drawing.arrow(*around, thick=1)
        if parts == "attention":
            words = "one of", f"{config.depth} blocks"
            drawing.lines(middle + 46, y + 5, *words)
        y += SIDE
    y = arrow(drawing, middle, y, 10)
    drawing.box(x, top, WIDE, y - top, ground=False, thick=0.75)


def arrow(drawing: Drawing, x: float, y: float, long: float = APART) -> float:
    """Draw an arrow down, and return the y of its tip."""
    drawing.arrow((x, y), (x, y + long), thick=1)
    return y + long


def layer(
    drawing: Drawing,
    middle: float,
    y: float,
    name: str,
    colour: Colour = "line",
    down: float = APART,
) -> float:
    """Draw a layer with an arrow to the next one, and return the y of that."""
    drawing.box(
        middle - 46,
        y,
        92,
        BOX,
        name,
        colour=colour,
        thick=2.25 if colour == CHANGED else 1,
        radius=4,
        size=11.5,
        bold=colour == CHANGED,
        ink=colour if colour == CHANGED else "ink",
    )
    return arrow(drawing, middle, y + BOX, down)


def three(drawing: Drawing, middle: float, y: float, config: VariantConfig) -> float:
    """Draw queries, keys and values, and what turns them; return the y below."""
    colours: tuple[Colour, ...] = ("query", "key", "value")
    below = y + BOX + APART
    for place, colour in enumerate(colours):
        x = middle + (place - 1) * 32
        drawing.box(x - 14, y, 28, BOX, colour[0], colour=colour, radius=4)
        if config.rope and colour != "value":
            arrow(drawing, x, y + BOX)
            drawing.box(
                x - 14.5,
                below,
                29,
                BOX,
                "turn",
                colour=CHANGED,
                thick=2.25,
                radius=4,
                size=11,
                bold=True,
                ink=CHANGED,
            )
            arrow(drawing, x, below + BOX)
        else:
            arrow(drawing, x, y + BOX, BOX + 2 * APART)
    has = config.qkv_bias
    drawing.lines(
        middle + 50,
        y + 7,
        "with" if has else "no",
        "biases",
        size=11,
        colour="soft" if has else CHANGED,
        bold=not has,
    )
    return y + 2 * (BOX + APART)
