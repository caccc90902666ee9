"""Draw what is added to the scores in a window: a learned number, or minus infinity."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from book.drawings.kit import Box, Colour, Drawing, Word
from vit_steps.variants.swin import relative_position_index, shifted_window_mask

ROWS, COLUMNS, W = 4, 6, 2  # chapter 13's map by hand, and its windows
WINDOW = 2  # the window whose tokens come from both sides
QUERY = 0  # the token whose row of scores is followed
SEED = 1219  # the best score is forbidden, and the numbers add up as they are written
SQUARE = Box(124, 50, 152, 108)
PITCH = 17  # of the table's rows


def draw() -> Drawing:
    names, allowed = tokens()
    index = relative_position_index(W)
    table, scores, weights = numbers(allowed, index)
    asks = names[QUERY]
    drawing = Drawing(
        "What is added to the scores in a window",
        f"A window of four tokens after the roll: {names[0]} and {names[2]} from the "
        f"right edge of the map, {names[1]} and {names[3]} from the left edge, with a "
        "seam between them. Beside it a square with a row for each query and a column "
        "for each key. Where both come from the same edge, a cell has the number of a "
        "row in a table of nine learned numbers; pairs with the same difference of "
        "places have the same row. All other cells are minus infinity. Below, the row "
        f"of {asks}: scores {listed(scores, 1)}; plus {listed(bias(table, index), 1)} "
        "where it may look, or minus infinity; and the attention weights after the "
        f"softmax, {listed(weights, 2)}.",
    )
    window(drawing, names)
    square(drawing, names, allowed, index, table)
    learned(drawing, table)
    one_row(drawing, names, allowed, index, table, scores, weights)
    return drawing


def tokens() -> tuple[list[str], Tensor]:
    """Return the names of the window's tokens, and which may look at which."""
    map_of_names = 10 * torch.arange(ROWS)[:, None] + torch.arange(COLUMNS)
    rolled = map_of_names.roll((-(W // 2), -(W // 2)), dims=(0, 1))
    top, left = divmod(WINDOW * W, COLUMNS)
    inside = rolled[top * W : top * W + W, left : left + W].flatten().tolist()
    mask = shifted_window_mask(ROWS, COLUMNS, W, W // 2)[WINDOW]
    return [f"{name:02}" for name in inside], mask


def numbers(allowed: Tensor, index: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return a head's table, the scores of the query, and its attention weights."""
    generator = torch.Generator().manual_seed(SEED)
    table = torch.randn((2 * W - 1) ** 2, generator=generator)
    q, k = torch.randn(2, W * W, 4, generator=generator)  # (w², d) each
    added = table[index].masked_fill(~allowed, -torch.inf)
    values = torch.eye(W * W)
    weights = F.scaled_dot_product_attention(
        q[None], k[None], values[None], attn_mask=added
    )
    return table, (q @ k.T)[QUERY] / math.sqrt(4), weights[0, QUERY]


def bias(table: Tensor, index: Tensor) -> Tensor:
    return table[index[QUERY]]


def window(drawing: Drawing, names: list[str]) -> None:
    drawing.text(4, 14, "the window", bold=True)
    drawing.text(4, 29, "after the roll", size=10.5, colour="soft")
    place = drawing.cells(
        4, SQUARE.y, [names[:W], names[W:]], cell=(34, 34), colour="line"
    )
    drawing.line(
        (place.middle, place.y - 5), (place.middle, place.bottom + 5), thick=2.5
    )
    drawing.lines(
        4,
        place.bottom + 20,
        "left of the seam:",
        "the right edge;",
        "right of it:",
        "the left edge",
        size=10.5,
    )


def square(
    drawing: Drawing, names: list[str], allowed: Tensor, index: Tensor, table: Tensor
) -> None:
    drawing.text(SQUARE.x - 22, 14, "what is added to the scores", bold=True)
    each = "rows are queries, columns are keys"
    drawing.text(SQUARE.x - 22, 28, each, size=10.5, colour="soft")
    drawing.box(SQUARE.x, SQUARE.y, SQUARE.width, SQUARE.height, radius=3)
    for i, name in enumerate(names):
        row, column = SQUARE.row(i, W * W), SQUARE.column(i, W * W)
        drawing.text(column.middle, SQUARE.y - 5, name, size=11, anchor="middle")
        drawing.text(
            SQUARE.x - 6,
            row.centre + 4,
            name,
            size=11,
            anchor="end",
            bold=i == QUERY,
            colour="asking" if i == QUERY else "ink",
        )
        for j in range(W * W):
            cell = SQUARE.cell(i, j, W * W, W * W)
            if allowed[i, j]:
                number = int(index[i, j])
                shaded(drawing, cell, table, number)
                words = [Word("row ", "soft", size=10.5), Word(f"{number}", bold=True)]
            else:
                drawing.box(
                    cell.x, cell.y, cell.width, cell.height, colour="soft", radius=0
                )
                words = [Word("−∞", "soft")]
            drawing.text(cell.middle, cell.centre + 4, *words, anchor="middle")
    drawing.frame(SQUARE.row(QUERY, W * W))


def learned(drawing: Drawing, table: Tensor) -> None:
    drawing.text(356, 14, "table", bold=True, anchor="end")
    for number in range(len(table)):
        cell = drawing.box(320, 28 + number * PITCH, 36, PITCH, radius=0)
        shaded(drawing, cell, table, number)
        base = cell.centre + 4
        drawing.text(cell.x - 6, base, f"{number}", size=11, bold=True, anchor="end")
        drawing.text(cell.middle, base, signed(table[number]), size=11, anchor="middle")


def one_row(
    drawing: Drawing,
    names: list[str],
    allowed: Tensor,
    index: Tensor,
    table: Tensor,
    scores: Tensor,
    weights: Tensor,
) -> None:
    """Draw the scores of one query, what is added, and the weights."""
    top = 216.0
    best = int(scores.argmax())
    assert not allowed[QUERY, best]
    drawing.line((4, top - 22), (356, top - 22), colour="soft", thick=0.75, dashed=True)
    added = [
        signed(number) if may else "−∞"
        for number, may in zip(bias(table, index), allowed[QUERY], strict=True)
    ]
    rows = (
        ("scores of ", [signed(score) for score in scores], False),
        ("plus its row", added, False),
        ("after the softmax", [f"{weight:.2f}" for weight in weights], True),
    )
    for place, (name, row, bold) in enumerate(rows):
        y = top + 26 * place
        words = [name] if place else [name, Word(names[QUERY], "asking", bold=True)]
        drawing.text(SQUARE.x - 6, y, *words, anchor="end", size=11.5)
        for j, written in enumerate(row):
            column = SQUARE.column(j, W * W)
            ink: Colour = "ink" if allowed[QUERY, j] or not place else "soft"
            x = column.middle
            drawing.text(x, y, written, colour=ink, bold=bold, anchor="middle")
    drawing.lines(
        SQUARE.right + 10,
        top,
        f"{names[best]} is best,",
        "but only the",
        "roll brought",
        "it here.",
        size=10.5,
    )


def shaded(drawing: Drawing, cell: Box, table: Tensor, number: int) -> None:
    """Shade a cell by a number of the table, the larger the fuller."""
    lowest, highest = table.min().item(), table.max().item()
    share = (table[number].item() - lowest) / (highest - lowest)
    drawing.full(cell, "position", 0.03 + 0.37 * share)


def signed(number: Tensor) -> str:
    written = f"{number.item():+.1f}".replace("-", "−")
    return "0" if written[1:] == "0.0" else written


def listed(values: Tensor, digits: int) -> str:
    return ", ".join(f"{n:.{digits}f}".replace("-", "−") for n in values.tolist())
