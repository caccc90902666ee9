"""Draw queries split into heads and merged again, with the numbers of chapter 5.

On the page the calls can be made in any order (scripts/figures/split_and_merge.js).
"""

import torch
from torch import Tensor

from book.drawings.kit import Box, Colour, Drawing

T, D, h = 3, 4, 2
d = D // h
QUERIES = 10 * torch.arange(T)[:, None] + torch.arange(D)  # (T, D)
TOKENS: tuple[Colour, ...] = ("patch-0", "patch-1", "patch-2")
SMALL, LARGE, READ = (25, 21), (32, 26), (29, 26)  # cells: still, moving, in a row
STRENGTH = (0.0, 0.33)  # opacity of a head's ground


def draw() -> Drawing:
    cut = QUERIES.reshape(T, h, d)  # (T, h, d)
    split = cut.transpose(0, 1)  # (h, T, d)
    merged = split.transpose(0, 1).reshape(T, D)  # (T, D)
    scrambled = split.reshape(T, D)  # (T, D)
    assert torch.equal(merged, QUERIES) and not torch.equal(scrambled, QUERIES)

    drawing = Drawing(
        "Split and merge",
        "Three queries of four numbers. Reshape cuts each into two pieces, and "
        "transpose makes two heads of them, each with two numbers of every token. "
        "Transpose and then reshape brings the queries back. Reshape alone does not: "
        f"its first row is {', '.join(map(str, scrambled[0].tolist()))}.",
    )
    drawing.numbers = {
        "queries": QUERIES.tolist(),
        "heads": h,
        "cell": LARGE,
        "read": READ,
    }
    with drawing.part("still"):
        at_rest(drawing, cut, split, merged, scrambled)
    with drawing.part("stage", moving=True):
        on_the_move(drawing)
    return drawing


def at_rest(
    drawing: Drawing, cut: Tensor, split: Tensor, merged: Tensor, scrambled: Tensor
) -> None:
    """Draw every state at once, for a page that does not move."""
    drawing.text(10, 14, "q, (T, D)", bold=True)
    table(drawing, 10, 22, QUERIES)
    arrow(drawing, (114, 53), (162, 53), "reshape")
    drawing.text(168, 14, "cut, (T, h, d)", bold=True)
    for token in range(T):
        table(drawing, 168 + 64 * token, 32, cut[token])
        drawing.text(193 + 64 * token, 90, f"token {token}", size=11, anchor="middle")
    arrow(drawing, (257, 98), (257, 132), "transpose")
    drawing.text(93, 162, "split, (h, T, d)", bold=True)
    for head in range(h):
        table(drawing, 198 + 68 * head, 138, split[head])
        drawing.text(223 + 68 * head, 217, f"head {head}", size=11, anchor="middle")
    drawing.arrow((190, 186), (60, 186), (60, 246))
    drawing.lines(66, 206, "transpose,", "then reshape", size=11, colour="ink")
    table(drawing, 10, 250, merged)
    drawing.text(10, 330, "✓ merged", bold=True, colour="value")
    arrow(drawing, (257, 224), (257, 246), "reshape alone")
    table(drawing, 207, 250, scrambled)
    drawing.text(207, 330, "✗ scrambled", bold=True, colour="red")


def on_the_move(drawing: Drawing) -> None:
    """Draw the moving cells; the script puts them in their places."""
    with drawing.part("shape"):
        drawing.text(6, 16, f"(T, D) = ({T}, {D})", size=13, bold=True)
    for block in range(T):
        with drawing.part(f"name-{block}"):
            drawing.text(0, 0, "", size=12, colour="soft", anchor="middle")
    with drawing.part("verdict"):
        drawing.text(354, 16, "", size=13, anchor="end", bold=True)
    drawing.text(6, 206, "the same numbers, read row by row", size=12, colour="soft")
    for name, size in (("cell", LARGE), ("read", READ)):
        for number, written in enumerate(QUERIES.flatten().tolist()):
            with drawing.part(f"{name}-{number}"):
                one(drawing, Box(0, 0, *size), number // D, number % D // d, written)
    for line in range(2):
        with drawing.part(f"code-{line}"):
            drawing.text(6, 272 + 19 * line, "", size=12, code=True)


def table(drawing: Drawing, x: float, y: float, numbers: Tensor) -> None:
    rows, columns = numbers.shape
    place = Box(x, y, SMALL[0] * columns, SMALL[1] * rows)
    for i in range(rows):
        for j in range(columns):
            token, number = divmod(int(numbers[i, j]), 10)
            cell = place.cell(i, j, rows, columns)
            one(drawing, cell, token, number // d, int(numbers[i, j]))


def one(drawing: Drawing, place: Box, token: int, head: int, written: int) -> None:
    """Draw a number in its token's colour; the second head's has a stronger ground."""
    colour = TOKENS[token]
    drawing.box(place.x, place.y, place.width, place.height, colour=colour, radius=2)
    if STRENGTH[head]:
        drawing.full(place, colour, STRENGTH[head], 2)
    drawing.text(
        place.middle,
        place.centre + 4.2,
        str(written),
        size=12,
        anchor="middle",
        bold=True,
    )


def arrow(
    drawing: Drawing, start: tuple[float, float], end: tuple[float, float], name: str
) -> None:
    drawing.arrow(start, end)
    if start[1] == end[1]:
        drawing.text(
            (start[0] + end[0]) / 2, start[1] - 6, name, size=11, anchor="middle"
        )
    else:
        drawing.text(start[0] + 7, (start[1] + end[1]) / 2 + 4, name, size=11)
