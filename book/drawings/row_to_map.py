"""Draw how row 0 of a head's attention weights becomes a map over the image."""

import torch

from book.drawings.kit import Box, Drawing, Word
from vit_steps import VisionTransformer, data
from vit_steps.attention_maps import class_token_to_patches
from vit_steps.checkpoint import read_checkpoint
from vit_steps.data import cluttered_digits

IMAGE, BLOCK, HEAD = 17, 2, 1  # as in chapter 9
SIDE, P = 8, 4  # patches along a side of the image, and pixels along a patch's
N, T = SIDE * SIDE, SIDE * SIDE + 1

TABLE = 2  # side of a cell of the table
LEFT, PIECE = 4.5, 5.4  # left edge of the strip, and width of its cells
CELL, MAP = 20.5, 164  # side of a cell of the two maps, and side of a map
WRITTEN = 0.03  # smaller shares are not


def measured() -> tuple[torch.Tensor, list[int]]:
    """Return one head's weights for one image, and the digit's box."""
    images, _, boxes = cluttered_digits.make(500, "test")
    _, card = read_checkpoint("cluttered-digits")
    model = VisionTransformer.from_pretrained("cluttered-digits")
    image = images[IMAGE]
    inputs = data.normalize(image[None], card["mean"], card["std"])
    with torch.no_grad():
        _, weights = model.encode(inputs, need_weights=True)
    return weights[BLOCK][0, HEAD], boxes[IMAGE].tolist()


def draw() -> Drawing:
    weights, box = measured()
    row = weights[0]
    shares = class_token_to_patches(weights).reshape(SIDE, SIDE)
    own, largest = row[0].item(), shares.max().item()
    drawing = Drawing(
        "Row 0 of the attention weights becomes a map",
        f"At the top a table of {T} by {T} attention weights of one head, with a row "
        "for each token that looks and a column for each token that is looked at. Row "
        f"0 is the class token's. It is drawn again as a strip of {T} cells. The first "
        f"is what the class token pays to itself, {own:.3f}, and is left out. The "
        f"other {N} are divided by their sum, {1 - own:.3f}, and folded into {SIDE} "
        f"rows of {SIDE}, one cell for each patch. The largest is {largest:.2f}. At "
        "the end the picture is lit by them: a handwritten 4 in a box, and three "
        "scraps outside it. The light falls on the strokes of the 4.",
    )
    strip = cut_row(drawing, weights)
    top = folded(drawing, strip, own)
    the_map(drawing, top, shares)
    laid_over(drawing, top, shares / largest, box)
    return drawing


def cut_row(drawing: Drawing, weights: torch.Tensor) -> Box:
    """Draw the table, and its first row as a strip."""
    drawing.text(2, 13, "one head’s attention weights", bold=True)
    drawing.text(358, 13, f"({T}, {T})", size=11, colour="soft", anchor="end")
    x, y = 26, 38
    side = T * TABLE
    drawing.text(x, 32, "column: the token that is looked at", size=10.5, colour="soft")
    table = drawing.box(x, y, side, side, colour="line", radius=0)
    strongest = weights[0, 1:].max()
    drawing.heat(table, (weights / strongest).tolist())
    first = Box(x, y, side, 3 * TABLE)
    drawing.frame(first, "class")
    drawing.text(table.right + 14, y + 9, Word("row 0", "class", bold=True))
    drawing.lines(
        table.right + 14,
        y + 25,
        "what the class token",
        f"pays to each of the {T}",
        "tokens, itself among",
        "them; the sum is 1",
    )
    drawing.legend(table.right + 136, y + 96, "0", f"{strongest:.2f} or more")
    strip_y = table.bottom + 26
    strip = drawing.cells(
        LEFT,
        strip_y,
        [[""] * T],
        (PIECE, 18),
        "class",
        shares=[(weights[0] / strongest).tolist()],
        ground=False,
    )
    edges = ((table.x, strip.x), (table.right, strip.right))
    for start, end in edges:
        drawing.line(
            (start, table.bottom + 3), (end, strip.y - 3), colour="class", dashed=True
        )
    return strip


def folded(drawing: Drawing, strip: Box, own: float) -> float:
    """Fold the strip, without its first cell, in eights; return the lower end."""
    first = strip.column(0, T)
    drawing.frame(first, "ink", around=2)
    y = strip.bottom + 4
    for group in range(SIDE):
        left, right = (
            strip.column(1 + SIDE * group, T).x + 1.5,
            strip.column(SIDE * (group + 1), T).right - 1.5,
        )
        drawing.line((left, y), (left, y + 4), (right, y + 4), (right, y))
        drawing.text(
            (left + right) / 2, y + 18, f"{group}", size=11, anchor="middle", bold=True
        )
    drawing.line((first.middle, y), (first.middle, y + 27), colour="ink")
    drawing.lines(
        2,
        y + 39,
        f"column 0, itself, is left out: {own:.3f}. The others are",
        f"divided by their sum, {1 - own:.3f}, and folded, {SIDE} to a row.",
        colour="ink",
    )
    return y + 78


def the_map(drawing: Drawing, top: float, shares: torch.Tensor) -> None:
    drawing.text(16, top, "the map", bold=True)
    drawing.text(16 + MAP, top, "in percent", size=11, colour="soft", anchor="end")
    written = [
        [f"{100 * share:.0f}" if share > WRITTEN else "" for share in row]
        for row in shares.tolist()
    ]
    place = drawing.cells(
        16,
        top + 7,
        written,
        (CELL, CELL),
        "class",
        shares=(shares / shares.max()).tolist(),
        ground=False,
        size=10.5,
        bold=True,
    )
    for row in range(SIDE):
        at = place.row(row, SIDE)
        drawing.text(2, at.centre + 4, f"{row}", size=11, bold=True)


def laid_over(
    drawing: Drawing,
    top: float,
    shares: torch.Tensor,
    box: list[int],
) -> None:
    x, y, pixel = 358 - MAP - 1, top + 7, MAP / (SIDE * P)
    drawing.text(x, top, "over the picture", bold=True)
    place = Box(x, y, MAP, MAP)
    drawing.photograph(place, f"cluttered_digit_{IMAGE}", squares=True)
    drawing.lit(place, shares.tolist())
    upper, left, lower, right = (edge * pixel for edge in box)
    framed = Box(x + left, y + upper, right - left, lower - upper)
    drawing.frame(framed, "key", around=0)
    drawing.text(place.right, place.bottom + 15, "frame: the digit’s box", anchor="end")
