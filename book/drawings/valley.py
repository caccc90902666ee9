"""Draw SGD and AdamW in chapter 8's narrow valley, from the same start.

On the page it moves, step by step, from other starts, at other learning rates, with
momentum and with warm-up (scripts/figures/valley.js).
"""

import math
from collections.abc import Sequence

import torch
from torch.optim import SGD, AdamW, Optimizer

from book.drawings.kit import Box, Drawing, Point

START, STEPS = (-9.0, 1.5), 25
MOST = 40  # steps that can be taken
STEEPER = 50  # slope across the valley divided by the slope along it
OPTIMISERS = ("SGD", "AdamW")
LR = {"SGD": 0.036, "AdamW": 0.4}  # at the start
STOPS = {"SGD": (0.002, 22), "AdamW": (0.1, 12)}  # stops of a slider: distance, number
TOO_LARGE, SEEN = 0.042, 8  # SGD's rate that leaves the valley, and steps described
WARMUP = 10  # steps
MOMENTUM = 0.9

LEFT, UNIT, HALF = 2, 28, 1.7  # panels: left edge, length of 1, half of the height
FROM, TO = -9.7, 2.9  # range along the valley
PANELS = {"SGD": 26, "AdamW": 182}  # upper edges
# Starts that can be chosen, rows and columns of a grid with START in one of them.
STARTS = {"along": -9.5, "across": 1.6, "apart": (0.25, 0.1), "size": (33, 49)}
POINTS = 30  # points on half a contour


def path(
    optimizer: str,
    lr: float | Sequence[float],
    steps: int = STEPS,
    start: Point = START,
    momentum: float = 0,
) -> list[Point]:
    """Return the path of PyTorch's optimiser; ``lr`` is one rate, or one per step."""
    w = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    walker: Optimizer = AdamW([w], weight_decay=0.0)
    if optimizer == "SGD":
        walker = SGD([w], momentum=momentum)
    places = [start]
    for rate in [lr] * steps if isinstance(lr, float) else lr:
        walker.param_groups[0]["lr"] = rate
        walker.zero_grad()
        height = (w[0] ** 2 + STEEPER * w[1] ** 2) / 2
        height.backward()  # type: ignore[no-untyped-call]
        walker.step()
        x, y = w.tolist()
        places.append((x, y))
    return places


def draw() -> Drawing:
    slow, quick = (path(name, LR[name]) for name in OPTIMISERS)
    thrown_out = abs(path("SGD", TOO_LARGE, SEEN)[-1][1])
    first, left, reached = (
        f"{math.hypot(*place):.1f}" for place in (START, slow[-1], quick[-1])
    )
    drawing = Drawing(
        "SGD and AdamW in a narrow valley",
        "Two panels with the same long, narrow valley, drawn as contour lines, whose "
        f"walls are {STEEPER} times as steep as its floor. Both optimisers start at "
        f"the left, {first} units from the lowest point and up on one wall, and "
        f"take {STEPS} steps. Above, SGD jumps from wall to wall, comes to rest on the "
        f"floor and creeps along it in ever smaller steps; it ends {left} units from "
        "the lowest point. Below, AdamW begins with steps as long across as along, "
        f"swings across the floor and ends {reached} units away.",
    )
    drawing.numbers = {
        "start": START,
        "steeper": STEEPER,
        "steps": MOST,
        "shown": STEPS,
        "warmup": WARMUP,
        "momentum": MOMENTUM,
        "starts": STARTS,
        "rates": {
            name: {"apart": apart, "stops": stops, "first": round(LR[name] / apart)}
            for name, (apart, stops) in STOPS.items()
        },
        "panels": {name: vars(panel_at(name)) for name in OPTIMISERS},
        "left": FROM,
        "half": HALF,
        "unit": UNIT,
    }
    captions = {
        "SGD": (
            f"After {STEPS} steps it is still {left} of {first} units away. At "
            f"{TOO_LARGE:g} the zigzag",
            f"would grow: after {SEEN} steps it would be {thrown_out:.1f} up the wall.",
        ),
        "AdamW": (
            f"After {STEPS} steps it is {reached} units away. Steep or flat makes",
            "hardly any difference to the length of its first steps.",
        ),
    }
    for name, places in zip(OPTIMISERS, (slow, quick), strict=True):
        panel(drawing, name, places)
        bottom = panel_at(name).bottom
        with drawing.part(f"still-{name}"):
            drawing.lines(LEFT, bottom + 15, *captions[name], size=11)
        with drawing.part(f"line-{name}", moving=True):
            drawing.text(LEFT, bottom + 15, "", size=12)
    return drawing


def panel(drawing: Drawing, name: str, places: list[Point]) -> None:
    """Draw a valley with an optimiser's path in it."""
    place = panel_at(name)
    top = place.y
    with drawing.part(f"title-{name}"):
        title = f"{name}, learning rate {LR[name]:g}"
        drawing.text(LEFT, top - 11, title, size=12.5, bold=True)
    with drawing.at(LEFT, top):
        drawing.box(0, 0, place.width, place.height, ground=False, radius=3)
        for reach in (1, 3, 5, 7, 9, 11):
            contour(drawing, reach)
        with drawing.part(f"ghost-{name}", moving=True):
            drawing.line((0, 0), (0, 0), thick=1, dashed=True)
        with drawing.part(f"path-{name}"):
            drawing.line(*map(on_sheet, places), colour="ink", thick=1.25)
        with drawing.part(f"dots-{name}"):
            for step in places[1:]:
                drawing.circle(*on_sheet(step), 1.6, "ink", thick=1.5)
        with drawing.part(f"more-{name}", moving=True):
            for _ in range(STEPS, MOST):
                drawing.circle(0, 0, 1.6, "ink", thick=1.5)
        with drawing.part(f"last-{name}", moving=True):
            drawing.line((0, 0), (0, 0), colour="query", thick=3)
        x, y = on_sheet(START)
        with drawing.part(f"handle-start-{name}"):
            drawing.circle(x, y, 3.5, "asking", thick=2)
            drawing.text(x + 8, y + 6, "start", size=12, bold=True)
        x, y = on_sheet((0, 0))
        drawing.line((x - 5, y), (x + 5, y), colour="asking", thick=2)
        drawing.line((x, y - 5), (x, y + 5), colour="asking", thick=2)
        drawing.text(x + 32, y + 4, "lowest", size=12, bold=True)


def panel_at(name: str) -> Box:
    return Box(LEFT, PANELS[name], (TO - FROM) * UNIT, 2 * HALF * UNIT)


def contour(drawing: Drawing, reach: float) -> None:
    """Draw the contour that crosses the valley's floor at ``reach`` from its bottom."""
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
