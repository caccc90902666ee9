"""Draw teacher and student at four temperatures, and the gradient that is left."""

import math

import torch
from torch import Tensor

from book.drawings.deit import CLASSES, DISTILLATION, TEACHER
from book.drawings.kit import Box, Colour, Drawing

TAUS = (1, 3, 10, 100)
LEFT, STEP, WIDE = 78, 72, 64  # panels: left edge of the first, distance, width
TOP, HIGH, FULL = 40.0, 96.0, 0.8  # panels: upper edge, height, share at the top
BAR = 8
PUPIL: Colour = "patch-0"  # the distillation token, as in the drawing of the losses


def draw() -> Drawing:
    said = {tau: (shares(TEACHER, tau), shares(DISTILLATION, tau)) for tau in TAUS}
    drawing = Drawing(
        "Teacher and student at four temperatures",
        "Four panels, for the temperatures 1, 3, 10 and 100. In each, for the digits "
        f"{', '.join(CLASSES)}, the teacher's share as a full bar p and the student's "
        "as an open bar q. "
        + " ".join(
            f"At {tau}: teacher {listed(p)}, student {listed(q)}."
            for tau, (p, q) in said.items()
        )
        + " The bars become more and more alike. Below, three rows of numbers for each "
        "temperature: the length of q − p, the same divided by the temperature, which "
        "is the gradient, and the gradient times the temperature's square: "
        + "; ".join(", ".join(written(n) for n in lengths(*said[t], t)) for t in TAUS)
        + ".",
    )
    legend(drawing)
    for place, (tau, (p, q)) in enumerate(said.items()):
        x = LEFT + place * STEP
        panel(drawing, x, tau, p, q)
        for row, length in enumerate(lengths(p, q, tau)):
            drawing.text(
                x + WIDE / 2,
                line(row),
                written(length),
                anchor="middle",
                bold=row == 2,
            )
    names = (("distance", "of p and q"), ("÷ τ:", "gradient"), ("gradient", "times τ²"))
    for row, (one, two) in enumerate(names):
        y = line(row)
        drawing.text(2, y - 6, one, size=11, bold=row == 2)
        drawing.text(2, y + 7, two, size=11, bold=row == 2)
    return drawing


def shares(logits: list[float], tau: float) -> Tensor:
    return (torch.tensor(logits, dtype=torch.float64) / tau).softmax(dim=0)


def lengths(p: Tensor, q: Tensor, tau: float) -> tuple[float, float, float]:
    """Return the length of q - p, of the gradient, and of the gradient times τ²."""
    distance = math.dist(p.tolist(), q.tolist())
    return distance, distance / tau, distance * tau


def legend(drawing: Drawing) -> None:
    drawing.lines(2, TOP + 12, "share of", "a digit", size=11, colour="ink")
    for row, name in enumerate(("teacher p", "student q")):
        y = TOP + 50 + 18 * row
        bar(drawing, 2, y, 11, row == 1)
        drawing.text(15, y, name, size=11)


def panel(drawing: Drawing, x: float, tau: int, p: Tensor, q: Tensor) -> None:
    drawing.text(x + WIDE / 2, 16, f"τ = {tau}", size=13, bold=True, anchor="middle")
    floor = TOP + HIGH
    for digit, name in enumerate(CLASSES):
        middle = x + (digit + 0.5) * WIDE / len(CLASSES)
        for student, share in enumerate((p[digit].item(), q[digit].item())):
            left = middle - BAR + student * (BAR + 0.5)
            bar(drawing, left, floor, HIGH * share / FULL, student == 1)
        drawing.text(middle, floor + 14, name, size=11, anchor="middle")
    drawing.line((x, floor), (x + WIDE, floor), thick=1)


def bar(drawing: Drawing, x: float, floor: float, height: float, open_: bool) -> None:
    if open_:
        high = max(height - 1, 0.5)
        drawing.box(
            x + 0.5, floor - high, BAR - 1, high, colour=PUPIL, radius=0, thick=1.25
        )
    else:
        drawing.full(Box(x, floor - height, BAR, height), "ink")


def line(row: int) -> float:
    return TOP + HIGH + 42 + 36 * row


def written(number: float) -> str:
    return f"{number:.2f}" if number > 0.1 else f"{number:.2g}"


def listed(shares: Tensor) -> str:
    return ", ".join(f"{share:.2f}" for share in shares.tolist())
