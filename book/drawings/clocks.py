"""Draw the positions 0 to 4 as clocks with four speeds, as in chapter 3."""

import math

from book.drawings.kit import Drawing, number
from vit_steps.embedding import sincos_position_embedding

CLOCKS, POSITIONS = 4, 5
LEFT, STEP, TOP, DOWN, RADIUS = 114, 55, 56, 60, 24


def angles() -> list[list[float]]:
    """Return the package's angle of each clock at each position, from 0 to 2π.

    In a grid of one row the second half of the numbers encodes the column, which is
    the position.
    """
    positions = sincos_position_embedding(4 * CLOCKS, (1, POSITIONS), cls_token=False)
    sines, cosines = positions[0, :, 2 * CLOCKS :].double().chunk(2, dim=1)
    reached = sines.atan2(cosines) % (2 * math.pi)  # (POSITIONS, CLOCKS)
    shown: list[list[float]] = reached.T.tolist()
    return shown


def draw() -> Drawing:
    shown = angles()
    steps = [math.degrees(reached[1]) for reached in shown]
    degrees = [f"{step:#.3g}°" for step in steps]
    drawing = Drawing(
        "A wall of clocks",
        f"{CLOCKS} rows of clocks with one hand each, at the positions 0 to "
        f"{POSITIONS - 1}. At position 0 every hand points to the right. At each step "
        f"the hands move on, counter-clockwise, by {', '.join(degrees[:-1])} and "
        f"{degrees[-1]}, so that the first has gone more than half round at position "
        f"{POSITIONS - 1} and the last seems to stand still.",
    )
    drawing.text(2, 18, "position", bold=True)
    for position in range(POSITIONS):
        drawing.text(
            LEFT + position * STEP, 18, f"{position}", bold=True, anchor="middle"
        )
    for clock, reached in enumerate(shown):
        y = TOP + clock * DOWN
        drawing.text(2, y, f"clock {clock}", bold=True)
        drawing.text(2, y + 15, f"{degrees[clock]} a step", size=11, colour="soft")
        for position, angle in enumerate(reached):
            face(drawing, LEFT + position * STEP, y, angle)
    drawing.lines(
        2,
        TOP + (CLOCKS - 1) * DOWN + RADIUS + 26,
        "All hands start at the right and turn counter-clockwise.",
        "How far up a hand points is the sine of its angle,",
        "how far to the right is the cosine.",
    )
    return drawing


def face(drawing: Drawing, x: float, y: float, angle: float) -> None:
    """Draw a clock whose hand has moved by an angle from its start."""
    hand = RADIUS - 2.5
    drawing.circle(x, y, RADIUS, "line")
    drawing.line((x, y), (x + RADIUS, y), colour="line", thick=0.75, dashed=True)
    r = 0.5 * RADIUS
    if r * angle > 1:
        end = f"{number(x + r * math.cos(angle))} {number(y - r * math.sin(angle))}"
        drawing.shape(
            f"M{number(x + r)} {number(y)}A{number(r)} {number(r)} 0 "
            f"{int(angle > math.pi)} 0 {end}",
            "position",
            1.75,
        )
    drawing.arrow(
        (x, y),
        (x + hand * math.cos(angle), y - hand * math.sin(angle)),
        colour="ink",
        thick=2,
    )
    drawing.circle(x, y, 1.5, "ink", thick=1.5)
