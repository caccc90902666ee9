"""Draw the cost of attention to scale for chapter 1: a rectangle of T by T + 6D.

Divided by 2·D, the multiply-accumulates of a block are T·T, which is the square of one
head's scores, plus T·6D. On the page image, patches and model can be changed
(scripts/figures/bill.js).
"""

from math import sqrt

from book.drawings.kit import Box, Colour, Drawing, number
from vit_steps.cost import attention_cost, token_count
from vit_steps.sizes import patch_grid
from vit_steps.training_cost import ACCELERATORS

# D and heads: arXiv 2010.11929, table 1; tiny and small: arXiv 2012.12877, table 1.
MODELS = {
    "ViT-Ti": (192, 3),
    "ViT-S": (384, 6),
    "ViT-B": (768, 12),
    "ViT-L": (1024, 16),
    "ViT-H": (1280, 16),
}
MODEL, IMAGE, PATCH = "ViT-B", 224, 16  # at the start
PATCHES = (32, 16, 8, 4, 2, 1)
SIDES = (32, 2048, 32)  # image sides: first, last, step
LIMIT = ACCELERATORS["H100"].memory  # bytes that the scores may take
GPU = f"a GPU of {LIMIT / 1e9:g}\u00a0GB"
PHOTO = Box(2, 4, 84, 84)
STAGE = Box(2, 132, 356, 84)  # the drawn area grows with T until it is height²
GRID_FROM = 2.5  # least distance of grid lines; a finer grid is drawn as a grey veil


def draw() -> Drawing:
    D, heads = MODELS[MODEL]
    T = token_count(IMAGE, PATCH) + 1
    squares = attention_cost(T, D, heads).all_heads_bytes
    quadratic, linear = macs(T, D)
    drawing = Drawing(
        "The bill",
        f"A photograph under a grid of patches of {PATCH} pixels, and what a block of "
        f"{MODEL} has to do for its T = {T} tokens, drawn to scale: a band that is T "
        "high, and T and 6D together long. A square of T by T at its left end is the "
        f"quadratic part, {quadratic / (quadratic + linear):.1%} of the area. All the "
        f"rest, T by 6D, is linear. The squares of scores of the {heads} heads take "
        f"{memory(squares)}, which fits into {GPU}.",
    )
    drawing.numbers = {
        "models": MODELS,
        "model": MODEL,
        "image": IMAGE,
        "sides": SIDES,
        "patches": PATCHES,
        "patch": PATCHES.index(PATCH),
        "gpu": GPU,
        "limit": LIMIT,
        "gridFrom": GRID_FROM,
        "photo": vars(PHOTO),
        "stage": vars(STAGE),
    }
    cut(drawing)
    counted(drawing, T, heads, squares)
    to_scale(drawing, T, D)
    return drawing


def macs(T: int, D: int) -> tuple[int, int]:
    """Return a block's multiply-accumulates: those quadratic in T, and the linear."""
    attention = attention_cost(T, D)
    return attention.matmul_macs, attention.projection_macs + 8 * T * D * D


def cut(drawing: Drawing) -> None:
    """Draw the photograph and the grid of its patches."""
    drawing.photograph(PHOTO, "astronaut")
    with drawing.part("veil"):
        drawing.full(PHOTO, "soft", 0)
    rows, _ = patch_grid(IMAGE, PATCH)
    lines = "".join(
        f"M{number(PHOTO.x + i * PHOTO.width / rows)} {PHOTO.y}v{PHOTO.height}"
        f"M{PHOTO.x} {number(PHOTO.y + i * PHOTO.height / rows)}h{PHOTO.width}"
        for i in range(1, rows)
    )
    with drawing.part("grid"):
        drawing.shape(lines, "soft", 0.6)


def counted(drawing: Drawing, T: int, heads: int, squares: int) -> None:
    """Write the number of tokens, and the memory that their scores need."""
    x = PHOTO.right + 12
    with drawing.part("tokens"):
        drawing.text(x, 16, f"T = {T:,} tokens", size=15, bold=True)
    with drawing.part("patches"):
        words = f"{T - 1:,} patches of {PATCH} pixels + the class token"
        drawing.text(x, 31, words, size=12, colour="soft")
    with drawing.part("scores"):
        drawing.text(x, 52, f"{T:,} × {T:,} scores in each head")
    with drawing.part("squares"):
        drawing.text(x, 69, f"{heads} heads, float32: {memory(squares)}")
    with drawing.part("fits"):
        drawing.text(x, 87, f"✓ fits into {GPU}", bold=True, colour="value")


def to_scale(drawing: Drawing, T: int, D: int) -> None:
    """Draw T·T and T·6D as areas."""
    quadratic, linear = macs(T, D)
    y = PHOTO.bottom + 18
    with drawing.part("block"):
        drawing.text(2, y, f"A block of {MODEL}, D = {D}", bold=True)
    with drawing.part("macs"):
        drawing.text(
            358, y, f"{large(quadratic + linear)} MACs", bold=True, anchor="end"
        )
    share = quadratic / (quadratic + linear)
    parts: tuple[tuple[str, float, Colour, str], ...] = (
        ("quadratic", 2, "asking", f"quadratic, 2T²D: {share:.1%}"),
        ("linear", 186, "position", f"linear, 12TD²: {1 - share:.1%}"),
    )
    for name, x, colour, words in parts:
        drawing.box(x, y + 8, 11, 11, colour=colour, radius=2)
        with drawing.part(f"share-{name}"):
            drawing.text(x + 17, y + 18, words)
    scale = min(STAGE.width / (T + 6 * D), STAGE.height / sqrt(T * (T + 6 * D)))
    side, long = T * scale, 6 * D * scale
    top = STAGE.bottom - side
    with drawing.part("areas"):
        with drawing.part("area-linear"):
            drawing.box(STAGE.x + side, top, long, side, colour="position", radius=0)
        with drawing.part("area-quadratic"):
            drawing.box(STAGE.x, top, side, side, colour="asking", radius=0)
        with drawing.part("start", moving=True):
            drawing.full(Box(STAGE.x, top, side + long, side), "ink")
    with drawing.part("start-name", moving=True):
        drawing.text(STAGE.x + 4, top - 5, "the start", size=12, bold=True)
    with drawing.part("hint", moving=True):
        hint = "Press Next, and the patches get smaller."
        drawing.text(2, STAGE.y + 12, hint, size=12, colour="soft")
    ruled(drawing, scale)
    y = STAGE.bottom + 15
    words = "MACs: 2D times the area. The parts are equal at T = 6D:"
    drawing.text(2, y, words, size=12, colour="soft")
    with drawing.part("equal"):
        drawing.text(2, y + 15, equal_at(PATCH, D), size=12, colour="soft")


def ruled(drawing: Drawing, scale: float) -> None:
    """Draw a line that says how long a number of tokens is."""
    tokens = 500
    right = STAGE.right
    y = STAGE.y + 6
    with drawing.part("ruler"):
        drawing.line((right - tokens * scale, y), (right, y), colour="ink", thick=2)
    with drawing.part("ruled"):
        drawing.text(right, y + 15, f"{tokens} tokens", size=12, anchor="end")


def equal_at(patch: int, D: int) -> str:
    """Return the image side at which T = 6D."""
    return f"in patches of {patch}, at an image side of {patch * sqrt(6 * D - 1):,.0f}."


def memory(size: float) -> str:
    return written(size, 1024, ("bytes", "KiB", "MiB", "GiB", "TiB"))


def large(count: float) -> str:
    return written(
        count, 1000, ("", "thousand", "million", "billion", "trillion", "quadrillion")
    )


def written(value: float, step: int, units: tuple[str, ...]) -> str:
    """Write a number with three digits, in the unit that fits."""
    power = 0
    while value >= step and power < len(units) - 1:
        value /= step
        power += 1
    value += 1e-9  # so that a half is rounded up, as in the script
    digits = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{digits} {units[power]}"
