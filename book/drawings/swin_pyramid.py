"""Draw Swin-T's four stages: one photograph in ever larger tokens and windows."""

from book.drawings.kit import Box, Drawing, Word, number
from vit_steps.sizes import as_pair
from vit_steps.variants import SwinConfig

SWIN = SwinConfig()
SCALE = 0.5  # units for a pixel
PIXELS, _ = as_pair(SWIN.image_size, "image_size")
SIDE = PIXELS * SCALE
STEP = 146  # distance of the stages
LEFT = SIDE + 20


def stages() -> list[tuple[int, int, int, int]]:
    """Return each stage's tokens in a row, pixels of a token and a window, width D."""
    found = []
    for stage in range(len(SWIN.depths)):
        pixels = SWIN.patch_size * 2**stage
        side = PIXELS // pixels
        window = min(SWIN.window_size, side)
        found.append((side, pixels, window * pixels, SWIN.embed_dim * 2**stage))
    return found


def draw() -> Drawing:
    sizes = [
        f"Stage {i}: {side} by {side} tokens of {pixels} by {pixels} pixels, width "
        f"{width}, windows of {window} by {window} pixels."
        for i, (side, pixels, window, width) in enumerate(stages(), start=1)
    ]
    drawing = Drawing(
        "The pyramid of Swin",
        "The area of one photograph, four times, cut into tokens by thin lines and "
        f"into windows by thick ones. {' '.join(sizes)} The window that holds one and "
        "the same spot is marked in each; in the last stage it is the photograph.",
    )
    widest = stages()[-1][-1]
    for i, (side, pixels, window, width) in enumerate(stages()):
        with drawing.at(0, i * STEP):
            photograph(drawing, side, window)
            drawing.text(LEFT, 16, f"Stage {i + 1}", bold=True, size=13)
            count = (side * pixels // window) ** 2
            drawing.lines(
                LEFT,
                35,
                [Word(f"{side} × {side} tokens", "ink"), f" of {pixels} × {pixels} px"],
                [
                    Word(f"{window} × {window} px", "asking", bold=True),
                    f" a window, {count} in all",
                ],
                [Word(f"D = {width}", "ink"), " numbers in a token:"],
                size=11.5,
            )
            length = (drawing.width - LEFT - 4) * width / widest
            drawing.full(Box(LEFT, 74, length, 10), "ink", 1, 2)
            if i + 1 < len(stages()):
                drawing.arrow((SIDE / 2, SIDE + 6), (SIDE / 2, STEP))
                drawing.lines(
                    LEFT,
                    SIDE + 24,
                    "Merging: four tokens become one.",
                    size=11,
                )
    return drawing


def photograph(drawing: Drawing, side: int, window: int) -> None:
    """Draw the photograph's area in tokens and windows, with one window marked."""
    place = drawing.box(2, 2, SIDE, SIDE, colour="line", radius=0, ground=False)
    spot = 100 // window * window  # the window around pixel (100, 100)
    marked = Box(2 + spot * SCALE, 2 + spot * SCALE, window * SCALE, window * SCALE)
    drawing.full(marked, "asking", 0.3)
    ruled(drawing, place, side, 0.3)
    ruled(drawing, place, PIXELS // window, 1.1)
    drawing.frame(marked, "asking", 0)


def ruled(drawing: Drawing, place: Box, parts: int, thick: float) -> None:
    step = place.width / parts
    lines = [
        f"M{number(place.x + i * step)} {number(place.y)}v{number(place.height)}"
        f"M{number(place.x)} {number(place.y + i * step)}h{number(place.width)}"
        for i in range(1, parts)
    ]
    if lines:
        drawing.shape("".join(lines), "line", thick)
