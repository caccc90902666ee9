"""Draw the formula of attention, large, and below it the same as matrices."""

import torch

from book.drawings.kit import Box, Colour, Drawing, Word
from vit_steps.attention import scaled_dot_product_attention

T, d, CELL = 5, 3, 15  # tokens, their numbers, and a cell's side in units
ASKING = 1


def draw() -> Drawing:
    drawing = Drawing(
        "The formula of attention",
        "Softmax of q times k transposed, divided by the square root of d, times v. "
        "Below it as matrices: the queries, (T, d), times the keys turned on their "
        "side, (d, T), make the scores, (T, T). Divided by the square root of d, and "
        "each row put through a softmax, they are the weights, (T, T), whose rows add "
        "up to 1. The weights times the values, (T, d), make the output, (T, d). One "
        "row is framed all the way: one token's query, scores, weights and output.",
    )
    with drawing.at(24, 0):
        formula(drawing)
    matrices(drawing)
    return drawing


def formula(drawing: Drawing) -> None:
    size = 30
    drawing.text(20, 104, "softmax", size=26)
    drawing.shape("M136 58 Q120 95 136 132 M243 58 Q259 95 243 132", "ink", 2)
    drawing.line((142, 95), (237, 95), colour="ink", thick=2)
    drawing.text(153, 85, Word("q", "query", bold=True), size=size)
    drawing.text(
        193,
        85,
        Word("k", "key", bold=True),
        Word("T", "key", size=18, raised=11),
        size=size,
    )
    drawing.shape("M169 117 L174 115 L181 127 L189 103 H212", "ink", 1.75)
    drawing.text(191, 127, "d", size=24)
    drawing.text(270, 105, Word("v", "value", bold=True), size=size)

    above(drawing, 124, 134, "query", "queries", "(T, d)", (158, 63))
    above(drawing, 212, 209, "key", "keys", "(T, d)", (204, 59))
    above(drawing, 290, 288, "value", "values", "(T, d)", (280, 84))
    drawing.line((68, 112), (68, 143))
    drawing.lines(
        68, 156, "turns each row into", "weights that", "add up to 1", anchor="middle"
    )
    drawing.line((192, 133), (192, 143))
    drawing.lines(
        192,
        156,
        "keeps the spread",
        "of the scores from",
        "growing with d",
        anchor="middle",
    )


def above(
    drawing: Drawing,
    x: float,
    foot: float,
    colour: Colour,
    name: str,
    shape: str,
    to: tuple[float, float],
) -> None:
    drawing.text(x, 14, name, size=12, colour=colour, bold=True, anchor="middle")
    drawing.text(x, 29, shape, size=11, colour="soft", anchor="middle")
    drawing.line((foot, 35), to, colour=colour)


def matrices(drawing: Drawing) -> None:
    q, k, v = torch.randn(3, T, d, generator=torch.Generator().manual_seed(5))
    scores = q @ k.T / d**0.5  # (T, T)
    _, weights = scaled_dot_product_attention(q, k, v)  # (T, T)
    shown = (scores - scores.min()) / (scores.max() - scores.min())  # (T, T)

    upper, lower, x1, x2, x3 = 232, 378, 40, 125, 240
    queries = matrix(drawing, x1, upper, T, d, "query", "q", "(T, d)")
    keys = matrix(drawing, x2, upper + 15, d, T, "key", "kᵀ", "(d, T)")
    compared = matrix(
        drawing, x3, upper, T, T, "ink", "scores", "(T, T)", (0.5 * shown).tolist()
    )
    mixed = matrix(drawing, x1, lower, T, T, "ink", "weights", "(T, T)")
    drawing.cells(
        x1,
        lower,
        [[""] * T] * T,
        (CELL, CELL),
        "ink",
        shares=(weights / weights.max()).tolist(),
    )
    drawing.legend(mixed.right + 13, mixed.bottom + 18)
    values = matrix(drawing, x2 + 30, lower, T, d, "value", "v", "(T, d)")
    output = matrix(drawing, x3, lower, T, d, "ink", "output", "(T, d)")
    for sign, left, right, place in (
        ("×", queries, keys, queries),
        ("=", keys, compared, queries),
        ("×", mixed, values, mixed),
        ("=", values, output, mixed),
    ):
        x = (left.right + right.x) / 2
        drawing.text(x, place.centre + 5, sign, size=16, anchor="middle")
    drawing.mark(mixed.row(ASKING, T))  # or the frame is dark on dark
    for matrix_of_rows in (queries, compared, mixed, output):
        drawing.frame(matrix_of_rows.row(ASKING, T))

    x, y = compared.middle, compared.bottom + 19
    drawing.arrow(
        (x, compared.bottom + 2), (x, y), (mixed.middle, y), (mixed.middle, lower - 34)
    )
    drawing.text(
        x - 12,
        y - 6,
        "÷ √d, then softmax along each row",
        size=11,
        colour="soft",
        anchor="end",
    )
    drawing.lines(
        2,
        output.bottom + 38,
        "The framed rows belong to one token: its query, how well",
        "each key fits it, its weights, and what it receives.",
    )


def matrix(
    drawing: Drawing,
    x: float,
    y: float,
    rows: int,
    columns: int,
    colour: Colour,
    name: str,
    shape: str,
    strengths: list[list[float]] | None = None,
) -> Box:
    """Draw a matrix of empty cells with its name and shape above it."""
    place = drawing.cells(
        x, y, [[""] * columns] * rows, (CELL, CELL), colour, strengths
    )
    words = (Word(name, colour, bold=True), " ", Word(shape, "soft", size=11))
    drawing.text(place.middle, y - 9, *words, anchor="middle")
    return place
