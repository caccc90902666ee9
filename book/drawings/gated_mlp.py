"""Draw a block's MLP beside a gated one with as many weights, widths to scale."""

from book.drawings.kit import Box, Colour, Drawing
from vit_steps.encoder import MLP
from vit_steps.variants.gated_mlp import GatedMLP
from vit_steps.vision_transformer import ViTConfig

D = ViTConfig.small().embed_dim
PLAIN, GATED = 4 * D, 8 * D // 3  # M of either
SCALE = 79 / GATED  # units for a number
LEFT, RIGHT = 80.0, 266.0  # middles of the columns
APART = 86  # from the middle of what passes to the middle of the gates
TOP, BAR, MATRIX, BEND = 44.0, 15.0, 54.0, 64.0  # heights but for the first
FOLLOWED = 0.84  # the number that is followed, from the left edge of a bar
GATE: Colour = "patch-1"


def draw() -> Drawing:
    plain, gated = weights()
    drawing = Drawing(
        "An MLP and a gated MLP",
        f"Two columns, from top to bottom. On the left a token of D = {D} numbers is "
        f"widened to M = {PLAIN:,} by a matrix, each of these numbers goes through "
        "GELU by itself, and a second matrix brings them back to D. On the right the "
        f"same token goes through two matrices beside each other, to M = {GATED:,} "
        "numbers that may pass and to as many gates, which go through SiLU. Each "
        "number is multiplied by the gate at its own place, and a third matrix brings "
        f"the products back to D. Both have {plain:,} weights.",
    )
    both = (
        (LEFT, "MLP", "a number decides about itself", PLAIN, 2, plain),
        (RIGHT, "gated MLP", "a gate decides about a number", GATED, 3, gated),
    )
    for x, name, how, hidden, count, all_weights in both:
        drawing.text(x, 14, name, size=13.5, bold=True, anchor="middle")
        drawing.text(x, 29, how, size=11, colour="soft", anchor="middle")
        numbers(drawing, x, TOP, D)
        drawing.text(x - 19, TOP + 11.5, "token", size=10.5, anchor="end")
        drawing.text(x + 19, TOP + 11.5, f"D = {D}", size=10.5)
        y = TOP + 2 * BAR + MATRIX + BEND
        matrix(drawing, "fc2", x, y + BAR, hidden, D)
        y += BAR + MATRIX
        numbers(drawing, x, y, D)
        drawing.text(x + 19, y + 11.5, f"D = {D}", size=10.5)
        of_one = all_weights // count
        y += 34
        drawing.text(x, y, f"{count} × {of_one:,}", size=11, anchor="middle")
        drawing.text(
            x, y + 16, f"= {all_weights:,} weights", bold=True, anchor="middle"
        )
    bent(drawing)
    multiplied(drawing)
    return drawing


def weights() -> tuple[int, int]:
    """Return how many weights, without biases, the two have."""
    models = MLP(D, PLAIN), GatedMLP(D, GATED)
    plain, gated = (
        sum(p.numel() for p in model.parameters() if p.ndim == 2) for model in models
    )
    return plain, gated


def bent(drawing: Drawing) -> None:
    """Draw the left column's middle, in which a number goes through GELU."""
    matrix(drawing, "fc1", LEFT, TOP + BAR, D, PLAIN)
    y = TOP + BAR + MATRIX
    before = numbers(drawing, LEFT, y, PLAIN)
    drawing.text(before.x + 4, y + 11.5, f"M = {PLAIN:,}", size=10.5)
    after = numbers(drawing, LEFT, y + BAR + BEND, PLAIN)
    x = before.x + FOLLOWED * before.width
    gelu = drawing.box(x - 24, y + BAR + 21, 48, 22, "GELU", size=11.5)
    drawing.arrow((x, before.bottom), (x, gelu.y), colour="ink")
    drawing.arrow((x, gelu.bottom), (x, after.y), colour="ink")
    for place in (before, after):
        follow(drawing, place, "ink")


def multiplied(drawing: Drawing) -> None:
    """Draw the right column's middle, in which numbers and gates are multiplied."""
    y = TOP + BAR + MATRIX
    passing, gates = RIGHT - APART / 2, RIGHT + APART / 2
    matrix(drawing, "fc1_x", RIGHT, TOP + BAR, D, GATED, passing)
    matrix(drawing, "fc1_g", RIGHT, TOP + BAR, D, GATED, gates, GATE)
    a = numbers(drawing, passing, y, GATED)
    b = numbers(drawing, gates, y, GATED, GATE)
    drawing.text(a.x + 4, y + 11.5, f"M = {GATED:,}", size=10.5)
    drawing.text(b.x + 4, y + 11.5, f"M = {GATED:,}", size=10.5, colour=GATE)
    drawing.text(a.x, y + BAR + 13, "to pass", size=10.5)
    drawing.text(b.x, y + BAR + 13, "gates", size=10.5, colour=GATE)
    after = numbers(drawing, RIGHT, y + BAR + BEND, GATED)
    x = after.x + FOLLOWED * after.width
    from_a, from_b = (box.x + FOLLOWED * box.width for box in (a, b))
    middle = y + BAR + 33
    silu = drawing.box(from_b - 21, middle - 11, 42, 22, "SiLU", size=11.5, colour=GATE)
    drawing.arrow((from_b, b.bottom), (from_b, silu.y), colour=GATE)
    times = drawing.circle(x, middle, 10, colour="ink", thick=1.75)
    drawing.text(x, middle + 5, "×", size=15, bold=True, anchor="middle")
    drawing.arrow((silu.x, middle), (times.right, middle), colour=GATE)
    drawing.arrow((from_a, a.bottom), (from_a, middle), (times.x, middle), colour="ink")
    drawing.arrow((x, times.bottom), (x, after.y), colour="ink")
    follow(drawing, a, "ink")
    follow(drawing, b, GATE)
    follow(drawing, after, "ink")


def numbers(
    drawing: Drawing, x: float, y: float, count: int, colour: Colour = "line"
) -> Box:
    """Draw so many numbers as a bar around a middle."""
    width = SCALE * count
    return drawing.box(x - width / 2, y, width, BAR, colour=colour, radius=2)


def matrix(
    drawing: Drawing,
    name: str,
    x: float,
    y: float,
    into: int,
    out_of: int,
    to: float | None = None,
    colour: Colour = "soft",
) -> None:
    """Draw a matrix as what leads from one bar to the next."""
    end = x if to is None else to
    above, below = SCALE * into / 2, SCALE * out_of / 2
    drawing.area(
        (x - above, y),
        (x + above, y),
        (end + below, y + MATRIX),
        (end - below, y + MATRIX),
        colour=colour,
    )
    ink = colour if colour == GATE else "ink"
    share = 0.5 if to is None else 0.75  # of the way, where it lies on no other matrix
    where = x + share * (end - x), y + share * MATRIX + 4
    drawing.text(*where, name, size=11, code=True, colour=ink, anchor="middle")


def follow(drawing: Drawing, bar: Box, colour: Colour) -> None:
    """Mark the number of a bar that is followed."""
    drawing.full(Box(bar.x + FOLLOWED * bar.width - 4, bar.y, 8, BAR), colour)
