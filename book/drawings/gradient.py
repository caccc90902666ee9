"""Draw a gradient of chapter 0: one output of a linear layer against each input."""

import torch
from torch import Tensor, nn

from book.drawings.kit import Box, Colour, Drawing, Word

SEED = 0
INPUT = (1.0, 2.0, 3.0)
OUTPUT = 1
NUDGE = 0.5
REACH = 1.0  # how far a graph goes to either side

SIDE, STEP, TOP = 78.0, 90.0, 42.0  # of the graphs
ACROSS, UP = SIDE / 2 / REACH, 52.0  # units of the sheet for 1 of the input, the output
NUDGED: Colour = "patch-0"
MOVED: Colour = "patch-2"


def draw() -> Drawing:
    slopes, others = gradient()
    words = " and ".join((", ".join(map(said, slopes[:-1])), said(slopes[-1])))
    drawing = Drawing(
        "How much an output depends on each input",
        f"Four graphs of output {OUTPUT} of a linear layer, each against one number of "
        f"its input while the others stay. Each is a straight line, and the slopes for "
        f"the three numbers of the output's own vector are {words}: a nudge of {NUDGE} "
        "moves the output by the slope times as much. The three slopes together are "
        f"the gradient, and they are row {OUTPUT} of the weight. Against a number of "
        "another vector the line is flat, and the slope is 0.",
    )
    drawing.text(4, 14, "output 1, while one input changes", bold=True, size=12.5)
    for index, slope in enumerate((*slopes, others)):
        own = index < len(slopes)
        name = f"input {index}" if own else "other vector"
        graph(drawing, 4 + index * STEP, name, slope)
    y = TOP + SIDE + 60
    right = 4 + (len(slopes) - 1) * STEP + SIDE
    drawing.line((4, y), (4, y + 5), (right, y + 5), (right, y), colour="ink")
    middle = (4 + right) / 2
    drawing.text(
        middle,
        y + 22,
        Word("the gradient", bold=True),
        f": ({', '.join(map(said, slopes))})",
        size=12.5,
        anchor="middle",
    )
    drawing.text(
        middle,
        y + 38,
        f"= row {OUTPUT} of the weight",
        size=11,
        colour="soft",
        anchor="middle",
    )
    drawing.lines(
        4 + len(slopes) * STEP + SIDE / 2,
        y + 20,
        "no effect,",
        "so slope 0",
        size=11,
        anchor="middle",
    )
    return drawing


def gradient() -> tuple[list[float], float]:
    """Return the slopes for an output's own inputs, and that for another vector's."""
    with torch.random.fork_rng():
        torch.manual_seed(SEED)
        linear = nn.Linear(3, 5)
    vectors = torch.tensor([INPUT, INPUT], requires_grad=True)  # (N, 3)
    (slopes,) = torch.autograd.grad(linear(vectors)[0, OUTPUT], vectors)  # (N, 3)
    check(linear, slopes[0])
    return slopes[0].tolist(), slopes[1, 0].item()


def check(linear: nn.Linear, slopes: Tensor) -> None:
    """Hold the slopes against nudges."""
    one = torch.tensor(INPUT)
    nudged = linear(one + NUDGE * torch.eye(3))[:, OUTPUT]  # (3,)
    moved = (nudged - linear(one)[OUTPUT]) / NUDGE
    torch.testing.assert_close(moved, slopes, rtol=1e-4, atol=1e-5)


def graph(drawing: Drawing, x: float, name: str, slope: float) -> None:
    """Draw the output against an input, with a nudge, and write what it does."""
    place = Box(x, TOP, SIDE, SIDE)
    drawing.text(place.middle, TOP - 7, name, size=11.5, anchor="middle")
    drawing.box(*vars(place).values(), radius=3)
    at = (place.middle, place.centre)
    rise = slope * REACH * UP
    drawing.line(
        (place.x, place.centre + rise),
        (place.right, place.centre - rise),
        colour="ink",
        thick=2,
    )
    corner = (at[0] + NUDGE * ACROSS, at[1])
    drawing.arrow(at, corner, colour=NUDGED, thick=2)
    end = corner[1] - NUDGE * slope * UP
    if slope:
        drawing.line(corner, (corner[0], end), colour=MOVED, thick=3)
    drawing.circle(*at, 2.5, "ink", thick=1.5)
    low = place.bottom + 15
    drawing.text(
        place.middle, low, f"nudge {NUDGE:g}", size=11, colour=NUDGED, anchor="middle"
    )
    words = f"moves {said(slope * NUDGE)}"
    drawing.text(place.middle, low + 15, words, size=11, colour=MOVED, anchor="middle")
    words = f"slope {said(slope)}"
    drawing.text(place.middle, low + 32, words, bold=True, anchor="middle")


def said(number: float) -> str:
    return f"{number:.2f}".replace("-", "−") if number else "0"
