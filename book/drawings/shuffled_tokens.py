"""Draw three tokens and the sum that attention collects, with and without positions.

On the page the tokens can change places (scripts/figures/shuffled_tokens.js).
"""

from collections.abc import Sequence
from itertools import permutations

import torch
from torch import Tensor

from book.drawings.kit import Box, Colour, Drawing

TOKENS = (3, 1, 2)
ADDED = (0, 0.5, 1)  # number that the first, second and third place adds
COLOURS: tuple[Colour, ...] = ("patch-0", "patch-1", "patch-2")  # colours of the tokens
ORDERS = [(0, 1, 2), (1, 0, 2), (1, 2, 0), (2, 1, 0), (2, 0, 1), (0, 2, 1)]

COLUMNS = (160, 232, 304)  # centres of the places
LEFT, UNIT = 2, 70  # left edge of the bars, and length of 1
HIGH = 20  # height of a bar
TOPS = {"alone": 74, "placed": 174}  # upper edges of the bars
TABLE = Box(64, 206, 294, 58)  # the table of all orders


def terms(numbers: Sequence[float]) -> tuple[Tensor, Tensor]:
    """Return the attention weights, and the summand of each token."""
    tokens = torch.tensor(numbers, dtype=torch.float64)
    weights = tokens.softmax(dim=0)
    return weights, weights * tokens


def arranged(order: Sequence[int], placed: bool) -> list[float]:
    """Return the tokens' numbers in an order, with their places added if wanted."""
    return [
        TOKENS[token] + placed * added
        for token, added in zip(order, ADDED, strict=True)
    ]


def draw() -> Drawing:
    sums = {
        placed: [terms(arranged(order, placed))[1].sum().item() for order in ORDERS]
        for placed in (False, True)
    }
    assert sorted(ORDERS) == sorted(permutations(range(3)))
    drawing = Drawing(
        "Three tokens in six orders",
        f"The tokens {TOKENS[0]}, {TOKENS[1]} and {TOKENS[2]}, their attention weights "
        f"and a bar of what is collected, {sums[False][0]:.3f}. Below them the same "
        "tokens, to which their places add 0, 0.5 and 1, and a second bar, "
        f"{sums[True][0]:.3f}. A table of the six orders has {sums[False][0]:.3f} six "
        "times without positions, and six different numbers with them, from "
        f"{min(sums[True]):.3f} to {max(sums[True]):.3f}.",
    )
    drawing.numbers = {
        "tokens": TOKENS,
        "added": ADDED,
        "orders": ORDERS,
        "columns": COLUMNS,
        "bars": {"x": LEFT, "unit": UNIT},
        "apart": TABLE.width / len(ORDERS),
    }
    drawing.text(2, 13, "Without positions", size=13, bold=True)
    for name, x in zip(("first", "second", "third"), COLUMNS, strict=True):
        drawing.text(x, 13, name, size=12, colour="soft", anchor="middle")
    drawing.text(2, 40, "token")
    collected(drawing, "alone", sums[False])
    drawing.text(2, 122, "With positions", size=13, bold=True, colour="position")
    for added, x in zip(ADDED, COLUMNS, strict=True):
        words = f"+ {added:g}"
        drawing.text(x, 122, words, bold=True, colour="position", anchor="middle")
    drawing.text(2, 141, "token + position")
    for place, number in enumerate(arranged(ORDERS[0], True)):
        with drawing.part(f"sum-{place}"):
            text = f"{number:g}"
            drawing.text(COLUMNS[place], 141, text, bold=True, anchor="middle")
    collected(drawing, "placed", sums[True])
    all_orders(drawing, sums)
    for token, x in enumerate(COLUMNS):
        with drawing.part(f"handle-{token}"):
            card(drawing, x, token)
    return drawing


def card(drawing: Drawing, x: float, token: int) -> None:
    drawing.box(
        x - 24,
        20,
        48,
        26,
        f"{TOKENS[token]}",
        colour=COLOURS[token],
        thick=1.75,
        size=15,
        bold=True,
    )


def collected(drawing: Drawing, name: str, sums: list[float]) -> None:
    """Draw a bar of the tokens' summands, and their sum."""
    y = TOPS[name]
    weights, given = terms(arranged(ORDERS[0], name == "placed"))
    drawing.text(2, y - 12, "attention weight")
    for place, weight in enumerate(weights.tolist()):
        with drawing.part(f"weight-{name}-{place}"):
            drawing.text(COLUMNS[place], y - 12, f"{weight:.3f}", anchor="middle")
    start: float = LEFT
    for token, share in enumerate(given.tolist()):
        with drawing.part(f"given-{name}-{token}"):
            drawing.full(Box(start, y, UNIT * share, HIGH), COLOURS[token])
        start += UNIT * share
    drawing.text(312, y + 14, "collected", size=12, colour="soft", anchor="end")
    with drawing.part(f"total-{name}"):
        text = f"{sums[0]:.3f}"
        drawing.text(358, y + 15, text, size=14, bold=True, anchor="end")


def all_orders(drawing: Drawing, sums: dict[bool, list[float]]) -> None:
    """Draw the sums of all orders; the present one is framed."""
    with drawing.part("now"):
        drawing.frame(TABLE.column(0, len(ORDERS)), around=0)
    for y, name in ((36, "without"), (53, "with")):
        drawing.text(2, TABLE.y + y, name, size=12)
    for index, order in enumerate(ORDERS):
        column = TABLE.column(index, len(ORDERS))
        tokens = " ".join(str(TOKENS[token]) for token in order)
        with drawing.part(f"order-{index}"):
            drawing.full(column, "soft", 0)
            with drawing.at(column.middle, TABLE.y):
                drawing.text(0, 16, tokens, size=12, colour="soft", anchor="middle")
                for y, placed in ((36, False), (53, True)):
                    text = f"{sums[placed][index]:.3f}"
                    drawing.text(0, y, text, size=12, anchor="middle")
