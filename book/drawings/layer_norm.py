"""Draw LayerNorm on chapter 6's two tokens, one of which is ten times the other."""

import torch
from torch import Tensor
from torch.nn import functional as F

from book.drawings.kit import Box, Colour, Drawing

TOKENS = [[1.0, 2.0, 3.0, 6.0], [10.0, 20.0, 30.0, 60.0]]
EPS = 1e-6

LEFT, WIDE, STEP = 4, 104, 124  # panels: left edge of the first, width, distance
BAR, PITCH = 17, 25
AS_IT_IS, NORMED = 1.6, 25  # height of a bar of 1, in units of the sheet
NAMES = (
    ("as it", "comes"),
    ("minus", "its mean"),
    ("divided by its", "standard deviation"),
)


def draw() -> Drawing:
    tokens = torch.tensor(TOKENS, dtype=torch.float64)
    centred = tokens - tokens.mean(dim=1, keepdim=True)
    normed = centred / centred.std(dim=1, correction=0, keepdim=True)
    there = F.layer_norm(tokens, tokens.shape[1:], eps=EPS)
    torch.testing.assert_close(normed, there, rtol=1e-6, atol=1e-6)

    drawing = Drawing(
        "LayerNorm on one token",
        f"Two rows of bars. Above, a token as it comes, {listed(tokens[0])}; minus its "
        f"mean, {listed(centred[0])}; divided by its standard deviation, "
        f"{listed(there[0], 1)}. Below, the same token ten times larger, "
        f"{listed(tokens[1])}; minus its mean, {listed(centred[1])}; divided by its "
        f"standard deviation, {listed(there[1], 1)}: the same bars as above.",
    )
    for i, step in enumerate(NAMES):
        x = LEFT + i * STEP + WIDE / 2
        drawing.lines(x, 13, *step, size=11, colour="ink", anchor="middle")
    rows = (("one token", 54, 48), ("the same token, ten times larger", 116, 48))
    top = 46.0
    for row, (name, up, below) in enumerate(rows):
        drawing.text(LEFT, top + 12, name, size=12.5, bold=True)
        zero = top + 18 + up
        for i, numbers in enumerate((tokens[row], centred[row], there[row])):
            scale = NORMED if i == 2 else AS_IT_IS
            x = LEFT + i * STEP
            if i == 2:
                drawing.box(
                    x - 2, zero - 62, WIDE + 4, 62 + below, colour="ink", thick=1.75
                )
                if row:
                    same = (x + WIDE / 2, zero - 70)
                    drawing.text(
                        *same, "the same bars", size=11.5, bold=True, anchor="middle"
                    )
            bars(
                drawing,
                x,
                zero,
                numbers,
                scale,
                "ink" if i == 2 else "line",
                int(i == 2),
            )
            write_numbers(drawing, x + WIDE / 2, zero + below + 16, numbers)
            if i:
                drawing.arrow((x - 17, zero), (x - 4, zero))
        top = zero + below + 30
    drawing.lines(
        LEFT,
        top + 14,
        "μ is the mean of the four numbers, σ their standard deviation.",
        "The bars at the right are drawn on a larger scale.",
        size=10.5,
    )
    return drawing


def bars(
    drawing: Drawing,
    x: float,
    zero: float,
    numbers: Tensor,
    scale: float,
    colour: Colour,
    digits: int,
) -> None:
    start = x + (WIDE - len(numbers) * PITCH) / 2
    for i, number in enumerate(numbers.tolist()):
        high, left = abs(number) * scale, start + i * PITCH
        above = number > -1e-9
        place = Box(left + (PITCH - BAR) / 2, zero - high * above, BAR, high)
        drawing.full(place, colour)
        y = zero - high - 4 if above else zero + high + 12
        drawing.text(
            place.middle, y, written(number, digits), size=10.5, anchor="middle"
        )
    drawing.line((start, zero), (start + len(numbers) * PITCH, zero), thick=1)


def write_numbers(drawing: Drawing, x: float, y: float, numbers: Tensor) -> None:
    mean, deviation = numbers.mean().item(), numbers.std(correction=0).item()
    words = f"μ = {short(mean)}, σ = {short(deviation)}"
    drawing.text(x, y, words, size=10.5, colour="soft", anchor="middle")


def short(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".").replace("-0", "0")


def written(number: float, digits: int = 0) -> str:
    return f"{number + 0.0:.{digits}f}".replace("-", "−")


def listed(numbers: Tensor, digits: int = 0) -> str:
    *first, last = (written(n, digits) for n in numbers.tolist())
    return f"{', '.join(first)} and {last}"
