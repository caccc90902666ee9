"""Draw a query that walks past blocks of keys, with the numbers of chapter 11."""

import math

import torch

from book.drawings.kit import Box, Colour, Drawing, Word
from vit_steps.attention import scaled_dot_product_attention

QUERY = [2, 0, 2, 2]
KEYS = [[1, 0, 0, 0], [1, 1, 1, 1], [1, 2, 1, 0], [2, 0, 1, 2]]
VALUES = [[10, 0], [0, 10], [5, 5], [20, 0]]
BLOCK = 2

LEFT, STRIP, STEP = 76, 100, 142  # keys: left edge of the first, width, distance
COLUMNS = ((76, 60), (152, 76), (244, 98))  # carried values: left edge, width


def walk() -> list[tuple[float, float, float, list[float]]]:
    """Return factor, largest score, sum and mixture after each block."""
    query, keys, values = (
        torch.tensor(n, dtype=torch.float64) for n in (QUERY, KEYS, VALUES)
    )
    scores = keys @ query / math.sqrt(len(QUERY))  # (T,)
    largest, total = -math.inf, 0.0
    mixture = torch.zeros(2, dtype=torch.float64)
    steps = []
    for start in range(0, len(KEYS), BLOCK):
        part, those = scores[start : start + BLOCK], values[start : start + BLOCK]
        new_largest = max(largest, part.max().item())
        factor = math.exp(largest - new_largest)
        shares = (part - new_largest).exp()  # (BLOCK,)
        total = factor * total + shares.sum().item()
        mixture = factor * mixture + shares @ those  # (2,)
        largest = new_largest
        steps.append((factor, largest, total, mixture.tolist()))
    output, _ = scaled_dot_product_attention(query[None], keys, values)
    torch.testing.assert_close(mixture / total, output[0])
    return steps


def draw() -> Drawing:
    steps = walk()
    (_, first, sum_1, mix_1), (factor, second, sum_2, mix_2) = steps
    output = [n / sum_2 for n in mix_2]
    scores = [
        sum(a * b for a, b in zip(QUERY, key, strict=True)) / math.sqrt(len(QUERY))
        for key in KEYS
    ]
    drawing = Drawing(
        "A query walks past two blocks of keys",
        f"The first block has two keys with the scores {scores[0]:.0f} and "
        f"{scores[1]:.0f} and two values. After it the query carries the largest score "
        f"{first:.0f}, the sum of exponentials {sum_1:.3f} and the mixture of values "
        f"{mix_1[0]:.2f}, {mix_1[1]:.2f}. In the second block a larger score comes, "
        f"{second:.0f}, so sum and mixture are multiplied by {factor:.3f} before the "
        f"block's own exponentials are added. Then the sum is {sum_2:.3f} and the "
        f"mixture {mix_2[0]:.2f}, {mix_2[1]:.2f}. Mixture divided by sum is the output "
        f"{output[0]:.2f}, {output[1]:.2f}.",
    )
    query = drawing.cells(
        161, 4, [as_text(QUERY)], (25, 22), "query", thick=1.75, bold=True
    )
    label(drawing, query.centre, Word("query", "query", bold=True))
    tops = (50, 252)
    first_block, second_block = (
        block(drawing, number, top, scores) for number, top in enumerate(tops)
    )
    rows = (tops[0] + 146, tops[1] + 176)
    for y, (_, largest, total, mixture) in zip(rows, steps, strict=True):
        carried(drawing, y, largest, total, mixture)
    drawing.arrow((query.middle, query.bottom + 2), (query.middle, tops[0] - 2))
    middle, under = first_block.middle, first_block.bottom
    drawing.arrow((middle, under), (middle, under + 18))
    for x, wide in COLUMNS:
        drawing.arrow((x + wide / 2, rows[0] + 29), (x + wide / 2, tops[1] - 2))
        start = second_block.bottom + 2
        drawing.arrow((x + wide / 2, start), (x + wide / 2, rows[1] - 16))
    for x, wide in COLUMNS[1:]:
        drawing.text(
            x + wide / 2 - 6,
            second_block.bottom + 29,
            f"old × {factor:.3f}",
            anchor="end",
            size=11.5,
            colour="asking",
            bold=True,
        )
    drawing.lines(
        2,
        second_block.bottom + 22,
        f"exp({first:.0f} − {second:.0f})",
        f"= {factor:.3f}",
    )
    end = rows[1] + 64
    drawing.arrow((293, end - 33), (293, end - 2))
    drawing.text(
        286, end - 12, f"÷ {sum_2:.3f}", anchor="end", colour="asking", bold=True
    )
    place = drawing.cells(
        COLUMNS[2][0],
        end,
        [[f"{n:.2f}" for n in output]],
        (49, 26),
        colour="asking",
        thick=2.25,
        bold=True,
    )
    drawing.text(
        COLUMNS[2][0] - 8,
        place.centre + 4,
        Word("output", "asking", bold=True),
        anchor="end",
    )
    return drawing


def block(drawing: Drawing, number: int, top: float, scores: list[float]) -> Box:
    """Draw one block's keys, scores and values in a frame."""
    frame = drawing.box(
        66, top, 290, 112, colour="soft", ground=False, dashed=True, radius=6
    )
    drawing.lines(2, top + 14, f"block {number}", size=12, colour="ink", bold=True)
    label(drawing, top + 22 + 13, Word("keys", "key", bold=True))
    label(drawing, top + 62, "scores")
    label(drawing, top + 93, Word("values", "value", bold=True))
    for place in range(BLOCK):
        which = number * BLOCK + place
        with drawing.at(LEFT + place * STEP, top):
            drawing.cells(
                15, 12, [as_text(KEYS[which])], (25, 22), "key", thick=1.75, bold=True
            )
            drawing.arrow((65, 36), (65, 48))
            drawing.box(42, 50, 46, 22, f"{scores[which]:.0f}", bold=True)
            drawing.cells(
                35,
                82,
                [as_text(VALUES[which])],
                (30, 22),
                "value",
                thick=1.75,
                bold=True,
            )
    return frame


def carried(
    drawing: Drawing, top: float, largest: float, total: float, mixture: list[float]
) -> None:
    """Draw the three values that are carried from block to block."""
    label(drawing, top + 18, "carried")
    values = [[f"{largest:.0f}"], [f"{total:.3f}"], [f"{n:.2f}" for n in mixture]]
    names = ("largest", "sum", "mixture")
    for (x, wide), name, numbers in zip(COLUMNS, names, values, strict=True):
        drawing.text(
            x + wide / 2, top - 3, name, size=11, colour="soft", anchor="middle"
        )
        colour: Colour = "value" if name == "mixture" else "ink"
        drawing.cells(
            x, top + 2, [numbers], (wide / len(numbers), 24), colour, bold=True
        )


def label(drawing: Drawing, centre: float, name: str | Word) -> None:
    drawing.text(2, centre + 4, name)


def as_text(numbers: list[int]) -> list[str]:
    return [str(number) for number in numbers]
