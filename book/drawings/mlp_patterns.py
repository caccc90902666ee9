"""Draw chapter 6's smallest MLP: what a hidden number looks for, and what it adds."""

import torch
from torch import Tensor
from torch.nn import functional as F

from book.drawings.kit import Box, Colour, Drawing, Word

W1 = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 1.0]])  # (M, D)
W2 = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])  # (D, M)
TOKENS = torch.tensor([[3.0, 0.0], [0.0, 3.0], [3.0, 3.0]])  # (T, D)
PATTERNS = ("first number", "second number", "second − first")
COLOURS: tuple[Colour, ...] = ("patch-0", "patch-1", "patch-2")

CELL = (26.0, 22.0)
LOOKS, ADDS = 4.0, 302.0  # left edges of the rows of W1 and of the columns of W2
FIRST, STEP = 127.0, 63.0  # middle of the first token's column, and to the next
TOP, ROW = 118.0, 50.0


def draw() -> Drawing:
    hidden = TOKENS @ W1.T  # (T, M)
    passed = F.gelu(hidden)  # (T, M)
    out = passed @ W2.T  # (T, D)
    drawing = Drawing(
        "What an MLP looks for, and what it adds",
        "A table with a row for each of the three hidden numbers of an MLP and a "
        f"column for each of three tokens, {listed(TOKENS)}. At the left of a row is a "
        f"row of W1, {listed(W1)}, and at its right a column of W2, {listed(W2.T)}. "
        f"The hidden numbers of the tokens are {listed(hidden)}, after the GELU about "
        f"{listed(passed)}, and the outputs about {listed(out)}. The third token is "
        "the sum of the first two, but its output is not the sum of theirs.",
    )
    looks = ("each row of W1", "looks for", "a pattern")
    adds = ("its column", "of W2", "adds")
    drawing.lines(LOOKS, 76, *looks, size=11.5, colour="ink")
    drawing.lines(ADDS - 6, 76, *adds, size=11.5, colour="ink")
    sums(drawing, 14, "tokens", TOKENS, "=")
    for row, colour in enumerate(COLOURS):
        pattern(drawing, row, colour)
        for column in range(len(TOKENS)):
            number = hidden[column, row].item(), passed[column, row].item()
            reaction(drawing, row, column, colour, *number)
    bottom = TOP + len(COLOURS) * ROW
    for column in range(len(TOKENS)):
        added(drawing, column, bottom + 12, passed[column])
        x = FIRST + column * STEP
        drawing.arrow((x, 44), (x, TOP - 8))
    sums(drawing, bottom + 54, "results", out, "≠")
    drawing.text(LOOKS, bottom + 12, "what is added", size=11.5)
    drawing.text(
        LOOKS,
        bottom + 96,
        "In the boxes: before and after the GELU. All numbers are rounded.",
        size=10.5,
        colour="soft",
    )
    return drawing


def sums(drawing: Drawing, y: float, name: str, pairs: Tensor, sign: str) -> None:
    """Draw the tokens, or the results, with a sign between each two."""
    drawing.text(LOOKS, y + 15, name, bold=True, size=13)
    for column, pair in enumerate(pairs):
        x = FIRST + column * STEP
        bold = name == "results"
        written = [[whole(number) for number in pair.tolist()]]
        cell = (22.0, CELL[1])
        drawing.cells(x - 22, y, written, cell, "ink", ground=False, bold=bold)
    for column, between in enumerate(("+", sign)):
        middle = FIRST + (column + 0.5) * STEP
        drawing.text(middle, y + 16, between, size=15, bold=True, anchor="middle")


def pattern(drawing: Drawing, row: int, colour: Colour) -> None:
    """Draw a row of W1 at the left, and the same column of W2 at the right."""
    y = TOP + row * ROW
    for x, pair in ((LOOKS, W1[row]), (ADDS, W2[:, row])):
        written = [[whole(number) for number in pair.tolist()]]
        drawing.cells(x, y, written, CELL, colour, thick=1.5)
    drawing.text(LOOKS, y + 36, PATTERNS[row], size=10.5, colour=colour)


def reaction(
    drawing: Drawing,
    row: int,
    column: int,
    colour: Colour,
    before: float,
    after: float,
) -> None:
    """Draw a hidden number before and after the GELU, full if it passes."""
    y = TOP + row * ROW
    passes = after > 0.5
    words = f"{whole(before)} → {whole(after)}"
    place = Box(FIRST + column * STEP - 26, y, 52, CELL[1])
    drawing.box(
        *vars(place).values(),
        words,
        colour=colour if passes else "line",
        ground=passes,
        thick=2 if passes else 0.75,
        dashed=not passes,
        bold=passes,
        ink="ink" if passes else "soft",
        radius=3,
    )


def added(drawing: Drawing, column: int, y: float, passed: Tensor) -> None:
    """Write which columns of W2 a token's hidden numbers add."""
    x = FIRST + column * STEP
    terms = [
        [Word(f"{whole(number)}·{pair(W2[:, row])}", COLOURS[row])]
        for row, number in enumerate(passed.tolist())
        if number > 0.5
    ]
    for index, term in enumerate(terms):
        plus = [] if index == 0 else [Word("+ ", "ink")]
        drawing.text(x, y + 14 * index, *plus, *term, size=11, anchor="middle")


def whole(number: float) -> str:
    return f"{round(number)}".replace("-", "−")


def pair(numbers: Tensor) -> str:
    return f"({', '.join(whole(n) for n in numbers.tolist())})"


def listed(rows: Tensor) -> str:
    *first, last = (pair(row) for row in rows)
    return f"{', '.join(first)} and {last}"
