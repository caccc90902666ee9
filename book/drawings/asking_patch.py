"""Draw a photograph whose patches are as bright as the weight that one patch gives.

Queries and keys are mean colours, as in chapter 4. On the page any patch can be chosen
as the query (_assets/figures/asking_patch.js).
"""

from functools import cache

from torch import Tensor

import vit_book
from book.drawings.kit import Box, Drawing
from vit_steps import patchify, scaled_dot_product_attention

SIDE, N = 14, 196
ASKS, SHOULDER = (12, 5), (7, 3)  # rows and columns
DARKEST = 0.85  # share of its light that a patch with no weight loses
SHADES = 16

PHOTO = Box(2, 22, 168, 168)
LIT = Box(190, 22, 168, 168)
BELOW = PHOTO.bottom + 17


@cache
def colours() -> Tensor:
    """Return the queries and keys, (N, 3): centred mean colours, times 4."""
    patches = patchify(vit_book.photo("astronaut", 224)[None], 16)[0]  # (N, 3·16·16)
    means = patches.reshape(N, 3, -1).mean(dim=2)
    return 4 * (means - means.mean(dim=0))


def attention() -> Tensor:
    """Return the attention weights of all patches, (N, N)."""
    return scaled_dot_product_attention(colours(), colours(), colours())[1]


def draw() -> Drawing:
    number = SIDE * ASKS[0] + ASKS[1]
    weights = attention()[number]
    drawing = Drawing(
        "One patch of a photograph asks",
        f"Left, an astronaut in an orange suit, in {SIDE} by {SIDE} patches; patch "
        f"{number}, on the suit, is framed. Right, the same photograph, each patch as "
        "bright as the attention it gets: the orange of the suit is lit and the rest "
        f"dimmed. The framed patch gives itself {weights[number]:.4f}, and the largest "
        f"weight, in a thin frame, is {weights.max():.4f}. A third patch, on her "
        "shoulder, has a dashed frame.",
    )
    drawing.numbers = {
        "side": SIDE,
        "asks": ASKS,
        "colours": [[round(c, 3) for c in colour] for colour in colours().tolist()],
        "photo": [PHOTO.x, PHOTO.y, PHOTO.width, PHOTO.height],
        "lit": [LIT.x, LIT.y, LIT.width, LIT.height],
        "darkest": DARKEST,
    }
    with drawing.part("asks"):
        drawing.text(PHOTO.x, 14, f"patch {number} looks", size=13, bold=True)
    drawing.text(LIT.x, 14, "where its attention goes", size=13, bold=True)
    for place in (PHOTO, LIT):
        drawing.photograph(place, "astronaut")
    for index in range(1, SIDE):
        x, y = PHOTO.column(index, SIDE).x, PHOTO.row(index, SIDE).y
        drawing.line((x, PHOTO.y), (x, PHOTO.bottom), thick=0.5)
        drawing.line((PHOTO.x, y), (PHOTO.right, y), thick=0.5)
    with drawing.part("shades"):
        shades(drawing, weights)
    with drawing.part("shoulder"):
        drawing.mark(LIT.cell(*SHOULDER, SIDE, SIDE), dashed=True)
    with drawing.part("best"):
        best = divmod(int(weights.argmax()), SIDE)
        drawing.mark(LIT.cell(*best, SIDE, SIDE))
    with drawing.part("handle-asks"), drawing.part("frame-photo"):
        drawing.mark(PHOTO.cell(*ASKS, SIDE, SIDE), asks=True)
    with drawing.part("frame-lit"):
        drawing.mark(LIT.cell(*ASKS, SIDE, SIDE), asks=True)
    with drawing.part("own"):
        drawing.text(PHOTO.x, BELOW, f"its own weight {weights[number]:.4f}")
    with drawing.part("most"):
        words = f"largest weight {weights.max():.4f}"
        drawing.text(LIT.right, BELOW, words, anchor="end")
    return drawing


def shades(drawing: Drawing, weights: Tensor) -> None:
    """Darken patches that get little weight; patches of one shade share a shape."""
    dark = DARKEST * (1 - weights / weights.max())
    steps = (dark / DARKEST * (SHADES - 1)).round().int().tolist()
    for step in range(1, SHADES):
        places = [
            LIT.cell(*divmod(patch, SIDE), SIDE, SIDE)
            for patch, own in enumerate(steps)
            if own == step
        ]
        drawing.shadows(places, DARKEST * step / (SHADES - 1))
