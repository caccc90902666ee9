"""Draw the weights that one patch of a photograph gives, as a map beside it.

Queries and keys are mean colours, as in chapter 4. On the page any patch can be chosen
as the query (scripts/figures/asking_patch.js).
"""

from functools import cache

from torch import Tensor

import vit_book
from book.drawings.kit import Box, Drawing
from vit_steps import patchify, scaled_dot_product_attention

SIDE, N = 14, 196
ASKS, SHOULDER = (12, 5), (7, 3)  # rows and columns

PHOTO = Box(2, 22, 168, 168)
MAP = Box(190, 22, 168, 168)
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
        f"{number}, on the suit, is framed, and a white line runs around the patches "
        "that share half of its attention: most of the suit, and a little beside it. "
        "Right, a map of all weights, the larger the brighter. The framed "
        f"patch gives itself {weights[number]:.4f}, and the largest weight, in a thin "
        f"frame, is {weights.max():.4f}. A third patch, on her shoulder, has a dashed "
        "frame.",
    )
    drawing.numbers = {
        "side": SIDE,
        "asks": ASKS,
        "colours": [[round(c, 3) for c in colour] for colour in colours().tolist()],
        "photo": [PHOTO.x, PHOTO.y, PHOTO.width, PHOTO.height],
        "map": [MAP.x, MAP.y, MAP.width, MAP.height],
    }
    with drawing.part("asks"):
        drawing.text(PHOTO.x, 14, f"patch {number} looks", size=13, bold=True)
    drawing.text(MAP.x, 14, "where its attention goes", size=13, bold=True)
    drawing.photograph(PHOTO, "astronaut")
    for index in range(1, SIDE):
        x, y = PHOTO.column(index, SIDE).x, PHOTO.row(index, SIDE).y
        drawing.line((x, PHOTO.y), (x, PHOTO.bottom), thick=0.5)
        drawing.line((PHOTO.x, y), (PHOTO.right, y), thick=0.5)
    with drawing.part("half"):
        ranked = weights.sort(descending=True)
        count = int((ranked.values.cumsum(dim=0) < 0.5).sum()) + 1
        most = {divmod(patch, SIDE) for patch in ranked.indices[:count].tolist()}
        drawing.edge(most, PHOTO, SIDE)
    with drawing.part("shades"):
        drawing.heat(MAP, (weights / weights.max()).reshape(SIDE, SIDE).tolist())
    drawing.box(MAP.x, MAP.y, MAP.width, MAP.height, ground=False, radius=0, thick=0.75)
    with drawing.part("shoulder"):
        drawing.mark(MAP.cell(*SHOULDER, SIDE, SIDE), dashed=True)
    with drawing.part("best"):
        best = divmod(int(weights.argmax()), SIDE)
        drawing.mark(MAP.cell(*best, SIDE, SIDE))
    with drawing.part("handle-asks"), drawing.part("frame-photo"):
        drawing.mark(PHOTO.cell(*ASKS, SIDE, SIDE), asks=True)
    with drawing.part("frame-map"):
        drawing.mark(MAP.cell(*ASKS, SIDE, SIDE), asks=True)
    with drawing.part("own"):
        drawing.text(PHOTO.x, BELOW, f"its own weight {weights[number]:.4f}")
    with drawing.part("most"):
        drawing.legend(MAP.right, BELOW, "0", f"largest weight {weights.max():.4f}")
    return drawing
