"""Draw one photograph at four sizes, and what an attention layer needs for each.

The times are those of chapter 11's record. On the page they appear one after the other,
so that a reader can guess (scripts/figures/four_sizes.js).
"""

import math
from itertools import pairwise

from book.drawings.kit import Box, Drawing, Point
from vit_book import read_results
from vit_steps import ViTConfig

SIDES = (16, 64, 256, 1024)  # of the photograph, in pixels
PHOTOGRAPHS = ("astronaut_16", "astronaut_64", "astronaut_224", "astronaut_224")
PATCH = 16
D = ViTConfig.base().embed_dim
RECORD = "speed", "one attention layer at four sizes"

LEFT, WIDE, STEP = 66, 66, 76  # of the photographs; STEP leads to the next
PHOTO_TOP = 22
CHART = Box(LEFT, 96, 3 * STEP + WIDE, 104)
LOWEST, HIGHEST = 0.1, 1000.0  # milliseconds at the chart's lower and upper edge
ROWS = {"tokens": 238, "work": 261, "time": 284}  # base lines


def tokens(side: int) -> int:
    return (side // PATCH) ** 2


def work(T: int) -> int:
    """Return the multiply-accumulates of the layer, as the chapter counts them."""
    return 4 * T * D**2 + 2 * T**2 * D


def milliseconds() -> list[float]:
    name, key = RECORD
    return list(read_results(name)["runs"][key])


def times(numbers: list[float]) -> list[str]:
    """Return by what each number is larger than the one before."""
    return [f"× {after / before:.0f}" for before, after in pairwise(numbers)]


def written(ms: float) -> str:
    return f"{ms:.2f} ms" if ms < 10 else f"{ms:,.0f} ms"


def middle(index: float) -> float:
    return LEFT + WIDE / 2 + index * STEP


def at(index: int, ms: float) -> Point:
    share = math.log(ms / LOWEST) / math.log(HIGHEST / LOWEST)
    return middle(index), CHART.bottom - share * CHART.height


def draw() -> Drawing:
    counts = [tokens(side) for side in SIDES]
    took = milliseconds()
    factors = {
        "tokens": times([float(count) for count in counts]),
        "work": times([float(work(count)) for count in counts]),
        "time": times(took),
    }
    said = {name: ", ".join(row).replace("× ", "") for name, row in factors.items()}
    drawing = Drawing(
        "One photograph at four sizes",
        "The photograph of an astronaut four times, "
        f"{', '.join(map(str, SIDES))} pixels wide: one blurred patch, {counts[1]} "
        f"patches, {counts[2]} patches, and {counts[3]:,}, drawn without their grid. "
        "Below, a line through four points on a logarithmic axis, the time of one "
        f"attention layer: {', '.join(map(written, took))}. Three rows say what each "
        f"step multiplies: the tokens by {said['tokens']}, the work by "
        f"{said['work']}, and the time by {said['time']}.",
    )
    drawing.numbers = {
        "tokens": counts,
        "times": [written(ms) for ms in took],
        "factors": factors,
        "photos": [middle(0), PHOTO_TOP, 3 * STEP, ROWS["time"] - PHOTO_TOP + 6],
    }
    for index, side in enumerate(SIDES):
        photograph(drawing, index, side)
    drawing.lines(2, CHART.y + 22, "time of", "one layer,", "log. axis", size=12)
    chart(drawing, took)
    for name, base in ROWS.items():
        bold = name == "time"
        drawing.text(2, base, name, size=12, bold=bold)
        for index, factor in enumerate(factors[name]):
            with drawing.part(f"{name}-{index}"):
                x = middle(index + 0.5)
                drawing.text(x, base, factor, bold=bold, anchor="middle")
            if bold:
                with drawing.part(f"ask-{index}", moving=True):
                    drawing.text(x, base, "× ?", bold=True, anchor="middle")
    drawing.line((2, ROWS["tokens"] - 17), (358, ROWS["tokens"] - 17), thick=0.5)
    return drawing


def photograph(drawing: Drawing, index: int, side: int) -> None:
    """Draw the photograph at one of its sizes, cut into its patches."""
    place = Box(LEFT + index * STEP, PHOTO_TOP, WIDE, WIDE)
    drawing.text(middle(index), 14, f"{side:,} px", size=12, anchor="middle")
    drawing.photograph(place, PHOTOGRAPHS[index])
    cut = side // PATCH
    for line in range(1, cut if cut < 64 else 1):
        x, y = place.column(line, cut).x, place.row(line, cut).y
        drawing.line((x, place.y), (x, place.bottom), thick=0.5)
        drawing.line((place.x, y), (place.right, y), thick=0.5)
    count = f"{tokens(side):,}"
    drawing.text(middle(index), ROWS["tokens"], count, bold=True, anchor="middle")


def chart(drawing: Drawing, took: list[float]) -> None:
    """Draw the times, each in a part with the line that leads to it."""
    points = [at(index, ms) for index, ms in enumerate(took)]
    for index, (x, y) in enumerate(points):
        with drawing.part(f"point-{index}"):
            if index:
                drawing.line(points[index - 1], (x, y), colour="query", thick=2)
            drawing.circle(x, y, 4.5, colour="query", thick=2.5)
            last = index == len(points) - 1
            drawing.text(
                x - 10 if last else x + 4,
                y + 4 if last else y + 19,
                written(took[index]),
                bold=True,
                colour="query",
                anchor="end" if last else "start",
            )
    with drawing.part("chart", moving=True):
        drawing.full(CHART, "ink", 0)
