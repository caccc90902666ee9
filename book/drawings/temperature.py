"""Draw four scores and what a softmax makes of them at each temperature (chapter 0).

On the page the scores and the temperature can be dragged
(scripts/figures/temperature.js).
"""

from itertools import pairwise

import torch
from torch import Tensor

from book.drawings.kit import Anchor, Box, Colour, Drawing

NAMES = ("astronaut", "temple", "cat", "coffee")
COLOURS: tuple[Colour, ...] = ("patch-0", "patch-1", "patch-2", "patch-3")
SCORES = (3, 2, 0.5, -1)
LOWEST, HIGHEST, STEP = -3, 5, 0.5  # of a score
FIRST = (0.1, 0.125, 0.16, 0.2, 0.25, 0.32, 0.4, 0.5, 0.63, 0.8)
# has each of TICKS, 1, and each temperature that the chapter's table names
TAUS = (*FIRST, 1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8, 10)
SHOWN = TAUS.index(1)
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10)

ROW = 45  # as high as a finger needs it
TRACK = Box(92, 20, 116, ROW * len(NAMES))  # places of the lowest and highest score
KNOB = (36, 20)
BAR = Box(238, 0, 84, 18)  # bar of a share of 1
CHART = Box(2, 228, 278, 104)


def shares(tau: float, scores: tuple[float, ...] = SCORES) -> Tensor:
    """Return the shares of the scores at a temperature, (K,)."""
    return (torch.tensor(scores, dtype=torch.float64) / tau).softmax(dim=0)


def draw() -> Drawing:
    ends = {tau: shares(tau).tolist() for tau in (TAUS[0], 1, TAUS[-1])}
    said = {tau: ", ".join(f"{p:.2f}" for p in found) for tau, found in ends.items()}
    drawing = Drawing(
        "Scores, temperature and shares",
        f"The scores 3, 2, 0.5 and −1 of {', '.join(NAMES[:-1])} and {NAMES[-1]}, and "
        f"their shares at a temperature of 1: {said[1]}. Below them the shares at each "
        f"temperature, as four bands that fill a height of 1. At {TAUS[0]} they are "
        f"{said[TAUS[0]]}, at {TAUS[-1]} {said[TAUS[-1]]}.",
    )
    drawing.numbers = {
        "names": NAMES,
        "scores": SCORES,
        "range": [LOWEST, HIGHEST, STEP],
        "taus": TAUS,
        "shown": SHOWN,
        "row": ROW,
        "track": vars(TRACK),
        "bar": BAR.width,
        "chart": vars(CHART),
    }
    drawing.text(TRACK.middle, 13, "score", colour="soft", anchor="middle")
    drawing.text(BAR.x, 13, "share at", colour="soft")
    with drawing.part("tau"):
        drawing.text(BAR.x + 56, 13, f"τ = {TAUS[SHOWN]:g}", bold=True)
    for index, share in enumerate(ends[1]):
        row(drawing, index, share)
    chart(drawing)
    return drawing


def row(drawing: Drawing, index: int, share: float) -> None:
    """Draw a class: its score on a track, and its share as a bar."""
    colour = COLOURS[index]
    y = TRACK.y + (index + 0.5) * ROW
    drawing.text(2, y + 4, NAMES[index], bold=True, colour=colour)
    drawing.line((TRACK.x, y), (TRACK.right, y), thick=1)
    with drawing.part(f"handle-{index}"), drawing.part(f"knob-{index}"):
        x = across(SCORES[index]) - KNOB[0] / 2
        words = f"{SCORES[index]:g}".replace("-", "−")
        drawing.box(
            x, y - KNOB[1] / 2, *KNOB, words, colour=colour, thick=1.75, bold=True
        )
    with drawing.part(f"bar-{index}"):
        drawing.bar(BAR.x, y - BAR.height / 2, BAR.width, BAR.height, share, colour)
    with drawing.part(f"share-{index}"):
        drawing.text(BAR.right + 8, y + 4, f"{share:.2f}", bold=True)


def chart(drawing: Drawing) -> None:
    """Draw the shares against the temperature, one upon the other."""
    words = "shares at every temperature τ, one upon the other"
    drawing.text(CHART.x, CHART.y - 8, words, size=12, colour="soft")
    found = torch.stack([shares(tau) for tau in TAUS])  # (temperatures, K)
    edges = [torch.zeros(len(TAUS)), *found.cumsum(dim=1).T]  # of the bands, from above
    for index, (above, below) in enumerate(pairwise(edges)):
        upper, lower = (
            [at(place, share) for place, share in enumerate(edge.tolist())]
            for edge in (above, below)
        )
        with drawing.part(f"area-{index}"):
            drawing.area(*upper, *lower[::-1], colour=COLOURS[index])
        with drawing.part(f"edge-{index}"):
            drawing.line(*lower, colour=COLOURS[index], thick=1.5)
        middle = (upper[-1][1] + lower[-1][1]) / 2
        with drawing.part(f"name-{index}"):
            drawing.text(
                CHART.right + 8,
                middle + 4,
                NAMES[index],
                size=12,
                bold=True,
                colour=COLOURS[index],
            )
    anchors: dict[float, Anchor] = {TICKS[0]: "start", TICKS[-1]: "end"}
    for tau in TICKS:
        x, _ = at(TAUS.index(tau), 0)
        drawing.line((x, CHART.bottom), (x, CHART.bottom + 4), thick=1)
        anchor = anchors.get(tau, "middle")
        drawing.text(x, CHART.bottom + 17, f"{tau:g}", size=12, anchor=anchor)
    drawing.text(CHART.right + 8, CHART.bottom + 17, "τ", size=12)
    x, _ = at(SHOWN, 0)
    with drawing.part("now"):
        drawing.line((x, CHART.y - 4), (x, CHART.bottom + 4), colour="ink", thick=2)
    with drawing.part("chart", moving=True):
        drawing.full(CHART, "ink", 0.001)


def across(score: float) -> float:
    return TRACK.x + TRACK.width * (score - LOWEST) / (HIGHEST - LOWEST)


def at(place: int, share: float) -> tuple[float, float]:
    """Return the chart's point for a share at the temperature with this index."""
    return CHART.x + CHART.width * place / (
        len(TAUS) - 1
    ), CHART.y + CHART.height * share
