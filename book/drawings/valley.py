"""SGD and AdamW in a narrow valley: the same start, as many steps."""

import math

import torch
from torch.optim import SGD, AdamW, Optimizer

from book.drawings.kit import Drawing, Point

START, STEPS = (-9.0, 1.5), 25
STEEPER = 50  # across, at the same distance from the bottom
SGD_LR, ADAMW_LR = 0.036, 0.4
TOO_LARGE, SEEN = 0.042, 8  # with it SGD leaves the valley; after so many steps

LEFT, UNIT, HALF = 2, 28, 1.9  # of a panel: edge, a unit, and how far up it reaches
FROM, TO = -9.7, 2.9  # along the valley
POINTS = 30  # of half a contour


def path(optimizer: str, lr: float, steps: int = STEPS) -> list[Point]:
    """Where PyTorch's own optimiser goes, from the start on."""
    w = torch.tensor(START, dtype=torch.float64, requires_grad=True)
    walker: Optimizer = (
        SGD([w], lr=lr) if optimizer == "SGD" else AdamW([w], lr=lr, weight_decay=0.0)
    )
    places = [START]
    for _ in range(steps):
        walker.zero_grad()
        height = (w[0] ** 2 + STEEPER * w[1] ** 2) / 2
        height.backward()  # type: ignore[no-untyped-call]
        walker.step()
        x, y = w.tolist()
        places.append((x, y))
    return places


def draw() -> Drawing:
    slow, quick = path("SGD", SGD_LR), path("AdamW", ADAMW_LR)
    thrown_out = abs(path("SGD", TOO_LARGE, SEEN)[-1][1])
    left = slow[-1][0]
    said = f"{abs(left):.1f}", f"{abs(quick[-1][0]):.1f}"
    drawing = Drawing(
        "SGD and AdamW in a narrow valley",
        "Two panels with the same long, narrow valley, drawn as contour lines, whose "
        f"walls are {STEEPER} times as steep as its floor. Both optimisers start at "
        f"the left, {-START[0]:g} units from the lowest point and a little up the "
        f"wall, and take {STEPS} steps. Above, SGD jumps from wall to wall, comes to "
        "rest on the floor and creeps along it in ever smaller steps; it ends "
        f"{said[0]} units from the lowest point. Below, AdamW makes steps of nearly "
        f"equal length, swings across the floor and ends {said[1]} units away.",
    )
    top = panel(drawing, 0, f"SGD, learning rate {SGD_LR:g}", slow)
    top = drawing.lines(
        LEFT,
        top + 15,
        f"After {STEPS} steps it is still {said[0]} of {-START[0]:g} units away. At "
        f"{TOO_LARGE:g} the zigzag",
        f"would grow: after {SEEN} steps it would be {thrown_out:.1f} up the wall.",
    ).bottom
    top = panel(drawing, top + 10, f"AdamW, learning rate {ADAMW_LR:g}", quick)
    drawing.lines(
        LEFT,
        top + 15,
        f"After {STEPS} steps it is {said[1]} units away. Steep or flat makes hardly",
        "any difference to the length of its steps.",
    )
    return drawing


def panel(drawing: Drawing, top: float, title: str, places: list[Point]) -> float:
    """A valley with a path in it; gives its lower edge."""
    drawing.text(LEFT, top + 14, title, size=12.5, bold=True)
    with drawing.at(LEFT, top + 22):
        width, height = (TO - FROM) * UNIT, 2 * HALF * UNIT
        drawing.box(0, 0, width, height, colour="line", ground=False, radius=3)
        for reach in (1, 3, 5, 7, 9, 11, 13):
            contour(drawing, reach)
        drawing.line(*map(on_sheet, places), colour="ink", thick=1.25)
        for place in places[1:-1]:
            drawing.circle(*on_sheet(place), 1.6, "ink", thick=1.5)
        x, y = on_sheet(places[0])
        drawing.circle(x, y, 3.5, "asking", thick=2)
        drawing.text(x + 8, y - 3, "start", size=11, bold=True)
        x, y = on_sheet((0, 0))
        drawing.line((x - 5, y), (x + 5, y), colour="asking", thick=2)
        drawing.line((x, y - 5), (x, y + 5), colour="asking", thick=2)
        drawing.text(x + 32, y + 4, "lowest", size=11, bold=True)
    return top + 22 + height


def contour(drawing: Drawing, reach: float) -> None:
    """Where it is as high as so far from the lowest point along the floor."""
    first, last = (math.acos(-x / reach) for x in (max(-reach, FROM), min(reach, TO)))
    for side in (1, -1):
        run: list[Point] = []
        for i in range(POINTS + 1):
            angle = first + (last - first) * i / POINTS
            y = side * reach * math.sin(angle) / STEEPER**0.5
            run.append(on_sheet((-reach * math.cos(angle), y)))
        drawing.line(*run, colour="key", thick=0.9)


def on_sheet(place: Point) -> Point:
    x, y = place
    return (x - FROM) * UNIT, (HALF - y) * UNIT
