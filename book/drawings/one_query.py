"""One query from its scores to its output, with the numbers of chapter 4."""

import torch

from book.drawings.kit import Box, Drawing, Word
from vit_steps.attention import scaled_dot_product_attention

QUERY = [2, 0, 1, 1]
KEYS = [[1, 0, 1, 1], [0, 1, 1, 1], [0, 2, 0, 0]]
VALUES = [[10, 0], [0, 10], [5, 5]]

LEFT, STEP, STRIP = 70, 98, 88  # where the first key begins, from key to key, its width
MIDDLE = LEFT + STEP + STRIP / 2


def draw() -> Drawing:
    q, k, v = (torch.tensor(n, dtype=torch.float64) for n in ([QUERY], KEYS, VALUES))
    output, weights = scaled_dot_product_attention(q, k, v)  # (1, 2), (1, 3)
    scores = q @ k.T  # (1, 3)
    scaled = scores / len(QUERY) ** 0.5  # (1, 3)
    exps = scaled.exp()  # (1, 3)
    total = exps.sum().item()
    torch.testing.assert_close(exps / total, weights)

    drawing = Drawing(
        "One query, three keys, three values",
        "The query is multiplied by each key, place by place, and the products are "
        f"added up: the scores {listed(scores[0], 0)}. Divided by the square root of "
        f"4 they are {listed(scaled[0], 0)}. Their exponentials, divided by the sum of "
        f"all three, are the weights {listed(weights[0])}. Each value is multiplied by "
        f"its weight, and the sum is the output {listed(output[0])}.",
    )
    query = drawing.cells(
        LEFT + STEP, 4, [as_text(QUERY)], colour="query", thick=1.75, bold=True
    )
    step(drawing, query.centre, Word("query", "query", bold=True))
    step(drawing, 73, Word("keys", "key", bold=True))
    step(drawing, 103, "products", "with query")
    step(drawing, 136, "scores", "added up")
    step(drawing, 184, "divided", "by √d = √4")
    step(drawing, 232, "exp", f"sum {total:.3f}")
    step(drawing, 283, "weights", f"÷ {total:.3f}")
    step(drawing, 337, Word("values", "value", bold=True))
    step(drawing, 385, "weight", "times value")
    numbers = zip(scores[0], scaled[0], exps[0], weights[0], strict=True)
    for i, (score, small, exp, weight) in enumerate(numbers):
        with drawing.at(LEFT + i * STEP, 0):
            to_query = MIDDLE - LEFT - i * STEP
            down = STRIP / 2
            drawing.arrow((to_query, query.bottom + 2), (down, 59))
            compared(drawing, KEYS[i])
            boxed(drawing, 136, f"{score:.0f}")
            drawing.arrow((down, 150), (down, 170))
            boxed(drawing, 184, f"{small:.0f}")
            drawing.arrow((down, 198), (down, 218))
            boxed(drawing, 232, f"{exp:.3f}")
            drawing.arrow((down, 246), (down, 264))
            drawing.text(down, 280, f"{weight:.3f}", bold=True, anchor="middle")
            drawing.bar(0, 286, STRIP, 9, weight.item(), "asking")
            drawing.text(down, 315, "×", size=13, anchor="middle")
            drawing.cells(
                0,
                326,
                [as_text(VALUES[i])],
                (STRIP / 2, 22),
                colour="value",
                thick=1.75,
                bold=True,
            )
            drawing.arrow((down, 351), (down, 370))
            parts = [[f"{part:.3f}" for part in (weight * v[i]).tolist()]]
            drawing.cells(0, 374, parts, (STRIP / 2, 22), colour="value", ground=False)
            drawing.arrow((down, 399), (down + (to_query - down) * 0.7, 440))
    summed = drawing.cells(
        MIDDLE - 56,
        444,
        [[f"{n:.3f}" for n in output[0].tolist()]],
        (56, 26),
        colour="asking",
        thick=2.25,
        bold=True,
    )
    step(drawing, summed.centre, Word("output", "asking", bold=True), "added up")
    return drawing


def compared(drawing: Drawing, key: list[int]) -> None:
    """A key, and below it its products with the query, place by place."""
    strip = drawing.cells(0, 62, [as_text(key)], colour="key", thick=1.75, bold=True)
    products = [a * b for a, b in zip(QUERY, key, strict=True)]
    for j, product in enumerate(products):
        column = strip.column(j, len(products))
        drawing.text(column.middle, 107, f"{product}", anchor="middle")
        if j:
            drawing.text(column.x, 107, "+", size=11.5, colour="soft", anchor="middle")
    drawing.line((2, 113), (2, 117), (STRIP - 2, 117), (STRIP - 2, 113))
    drawing.line((STRIP / 2, 117), (STRIP / 2, 123))


def boxed(drawing: Drawing, centre: float, text: str) -> Box:
    return drawing.box(STRIP / 2 - 26, centre - 12, 52, 24, text)


def step(drawing: Drawing, centre: float, name: str | Word, how: str = "") -> None:
    """A step's name at the left, and below it how it is taken."""
    drawing.text(2, centre + (-2 if how else 4), name)
    if how:
        drawing.text(2, centre + 11, how, size=10.5, colour="soft")


def as_text(numbers: list[int]) -> list[str]:
    return [str(number) for number in numbers]


def listed(numbers: torch.Tensor, digits: int = 3) -> str:
    *first, last = (f"{n:.{digits}f}" for n in numbers.tolist())
    return f"{', '.join(first)} and {last}"
