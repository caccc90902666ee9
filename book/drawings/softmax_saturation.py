"""Draw how 197 keys share a query's attention, with and without √d, as in chapter 4.

On the page d can be dragged (scripts/figures/softmax_saturation.js).
"""

import math
from functools import cache

import torch
from torch import Tensor

from book.drawings.kit import Box, Drawing, Word

DIMS = [2**i for i in range(11)]
SHOWN = 64  # d at the start
KEYS = 197
BARS = {"undivided": 46, "divided": 124}  # upper edges
BAR = Box(2, 0, 356, 30)
CHART = Box(34, 214, 306, 112)


@cache
def ranked(d: int, divided: bool) -> Tensor:
    """Return the mean largest weight, the mean second largest and so on, (197,)."""
    torch.manual_seed(d)
    q = torch.randn(50, 20, d, dtype=torch.float64)  # 50 sets, 20 queries each
    k = torch.randn(50, KEYS, d, dtype=torch.float64)  # (50, 197, d)
    scores = q @ k.transpose(1, 2)  # (50, 20, 197)
    w = (scores / math.sqrt(d) if divided else scores).softmax(dim=2)  # (50, 20, 197)
    return w.sort(dim=2, descending=True).values.mean(dim=(0, 1))  # (197,)


def draw() -> Drawing:
    drawing = Drawing(
        "How the attention is shared out",
        f"Two bars, each the whole attention of a query, cut into the shares of {KEYS} "
        f"keys, the largest first, for d = {SHOWN}. Undivided, the best key has "
        f"{best(SHOWN, False):.2f} of it, divided by the square root of d "
        f"{best(SHOWN, True):.2f}. Below them the largest weight against d, from 1 to "
        f"1,024: undivided it climbs from {best(1, False):.2f} to "
        f"{best(1024, False):.2f}, divided it stays near {best(SHOWN, True):.2f}.",
    )
    drawing.numbers = {
        "dims": DIMS,
        "shown": DIMS.index(SHOWN),
        "shares": {name: [per_mille(d, name) for d in DIMS] for name in BARS},
        "bar": {"x": BAR.x, "width": BAR.width, "height": BAR.height, "y": BARS},
        "chart": {"x": CHART.x, "y": CHART.bottom, "w": CHART.width, "h": CHART.height},
    }
    heading = drawing.text(2, 14, f"Mean over 1,000 queries, {KEYS} keys:", size=13)
    with drawing.part("d"):
        drawing.text(heading.right + 16, 14, f"d = {SHOWN}", size=13, bold=True)
    with drawing.part("hint", moving=True):
        drawing.text(358, 14, "drag d", size=12, colour="soft", anchor="end")
    shared(drawing, "undivided", "softmax(q kᵀ), undivided")
    shared(drawing, "divided", "softmax(q kᵀ / √d)")
    chart(drawing)
    return drawing


def shared(drawing: Drawing, name: str, formula: str) -> None:
    """Draw a query's attention as a bar, cut into the shares of the keys."""
    y = BARS[name]
    drawing.text(2, y - 7, formula, bold=True)
    weights = ranked(SHOWN, name == "divided")
    drawing.box(BAR.x, y, BAR.width, BAR.height, colour="asking", radius=0)
    with drawing.part(f"best-{name}"):
        width = BAR.width * weights[0].item()
        drawing.full(Box(BAR.x, y, width, BAR.height), "asking")
    with drawing.part(f"cuts-{name}"):
        ends = BAR.x + BAR.width * weights.cumsum(0)
        cuts = "".join(f"M{x:.1f} {y}v{BAR.height}" for x in ends.tolist()[:-1])
        drawing.shape(cuts, "soft", 0.5)
    with drawing.part(f"share-{name}"):
        drawing.text(
            2, y + 44, f"best key {weights[0]:.2f}", bold=True, colour="asking"
        )


def chart(drawing: Drawing) -> None:
    """Draw the largest weight against d."""
    head = CHART.y - 14
    drawing.text(2, head, "weight of the best key", size=12)
    for left, divided, words in (
        (159, False, "undivided"),
        (251, True, "divided by √d"),
    ):
        ends = (left, head - 4), (left + 14, head - 4)
        drawing.line(*ends, colour="asking", thick=2, dashed=not divided)
        drawing.text(left + 18, head, words, size=12)
    for share in (0, 0.5, 1):
        y = CHART.bottom - CHART.height * share
        drawing.text(CHART.x - 6, y + 4, f"{share:g}", size=12, anchor="end")
        drawing.line((CHART.x, y), (CHART.right, y), thick=0.5)
    for d in DIMS[::2]:
        drawing.text(across(d), CHART.bottom + 18, f"{d}", size=12, anchor="middle")
    drawing.text(2, CHART.bottom + 18, Word("d", bold=True), size=12)
    for divided in (False, True):
        points = [(across(d), up(d, divided)) for d in DIMS]
        drawing.line(*points, colour="asking", thick=2, dashed=not divided)
    x = across(SHOWN)
    with drawing.part("now"):
        drawing.line((x, CHART.y), (x, CHART.bottom + 4), colour="ink", thick=1)
    for name in BARS:
        with drawing.part(f"dot-{name}"):
            y = up(SHOWN, name == "divided")
            drawing.circle(x, y, 4.5, "asking", thick=2.25)
    with drawing.part("chart", moving=True):
        drawing.full(CHART, "ink", 0)


def best(d: int, divided: bool) -> float:
    return ranked(d, divided)[0].item()


def across(d: int) -> float:
    return CHART.x + CHART.width * math.log2(d) / math.log2(DIMS[-1])


def up(d: int, divided: bool) -> float:
    return CHART.bottom - CHART.height * best(d, divided)


def per_mille(d: int, name: str) -> list[int]:
    """Return the ranked shares in units of 1/10,000, without those that round to 0."""
    weights = ranked(d, name == "divided")
    return [share for share in (1e4 * weights).round().int().tolist() if share]
