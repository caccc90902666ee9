"""Draw a query and a key that are turned by where they stand, and their score.

On the page both can be moved, each by itself or together (scripts/figures/rotary.js).
"""

import math

import torch
from torch import Tensor

from book.drawings.kit import Box, Colour, Drawing, Point
from vit_steps.variants.rotary import apply_rope, rope_angles

SIDE, PAIRS = 8, 4  # patches along a side of the image, pairs of numbers in the head
QUERY, KEY = (1.0, 0.4), (0.7, -0.5)  # one pair; all four pairs of the head are alike
NAMES = ("row, fast", "row, slow", "column, fast", "column, slow")
STATES = (((1, 1), (3, 2)), ((3, 4), (5, 5)), ((3, 2), (1, 1)))  # of query and key

MAP = Box(2, 24, 176, 176)
REACH = 26  # of a vector of length 1 on a dial
LETTER = 7  # from the end of a vector to its letter
TABLE = 228  # y of what stands below
Place = tuple[int, int]


def vector(pair: tuple[float, float]) -> Tensor:
    """Return a head's numbers, with the same pair PAIRS times: (d,)."""
    return torch.tensor(pair, dtype=torch.float64).repeat_interleave(PAIRS)


def angles_at(place: Place) -> Tensor:
    """Return by how much each pair turns at a place: (d/2,)."""
    return rope_angles((SIDE, SIDE), 2 * PAIRS)[SIDE * place[0] + place[1]].double()


def turned(pair: tuple[float, float], place: Place) -> Tensor:
    """Return the pairs of a query or key at a place: (2, d/2)."""
    return apply_rope(vector(pair)[None], angles_at(place)[None]).reshape(2, PAIRS)


def score(query: Place, key: Place) -> float:
    return (turned(QUERY, query) * turned(KEY, key)).sum().item()


def added(query: Place, key: Place) -> float:
    """Return the score if the clocks' hands are added to the pairs, as in chapter 3."""
    placed = []
    for pair, place in ((QUERY, query), (KEY, key)):
        angles = angles_at(place)
        hands = torch.stack([angles.cos(), angles.sin()])  # (2, d/2)
        placed.append(vector(pair).reshape(2, PAIRS) + hands)
    return (placed[0] * placed[1]).sum().item()


def signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def draw() -> Drawing:
    query, key = STATES[0]
    drawing = Drawing(
        "Rotary positions",
        f"A grid of {SIDE} by {SIDE} places with a query in row {query[0]}, column "
        f"{query[1]} and a key in row {key[0]}, column {key[1]}. Four dials show how "
        "far their four pairs of numbers are turned, two by the row and two by the "
        f"column. The score is {signed(score(query, key))}. It is the same after both "
        "have moved on by 2 rows and 3 columns, and another after they have changed "
        "places. If the hands are added instead, it changes with the place.",
    )
    drawing.numbers = {
        "side": SIDE,
        "query": {"pair": QUERY, "place": query},
        "key": {"pair": KEY, "place": key},
        "map": [MAP.x, MAP.y, MAP.width, MAP.height],
        "dials": [dial(pair) for pair in range(PAIRS)],
        "reach": REACH,
        "letter": LETTER,
        "base": 100,
    }
    drawing.text(MAP.x, 14, "a query and a key", size=12, bold=True)
    drawing.text(192, 14, "their four pairs, turned", size=12, bold=True)
    with drawing.part("map"):
        drawing.box(MAP.x, MAP.y, MAP.width, MAP.height, radius=0, thick=0.75)
    with drawing.part("still"):
        shaded(drawing, query)
    for cells in range(1, SIDE):
        at = cells * MAP.width / SIDE
        drawing.line((MAP.x + at, MAP.y), (MAP.x + at, MAP.bottom), thick=0.5)
        drawing.line((MAP.x, MAP.y + at), (MAP.right, MAP.y + at), thick=0.5)
    for pair, name in enumerate(NAMES):
        one_dial(drawing, pair, name, query, key)
    with drawing.part("handle-query"):
        mark(drawing, "q", query, "query")
    with drawing.part("handle-key"):
        mark(drawing, "k", key, "key")
    with drawing.part("still"):
        states(drawing)
    with drawing.part("now", moving=True):
        results(drawing)
    return drawing


def shaded(drawing: Drawing, query: Place) -> None:
    """Shade each place by the score that a key would have there."""
    largest = PAIRS * math.hypot(*QUERY) * math.hypot(*KEY)
    for row in range(SIDE):
        for column in range(SIDE):
            share = score(query, (row, column)) / largest
            if share > 0.02:
                drawing.full(MAP.cell(row, column, SIDE, SIDE), "query", 0.6 * share)


def dial(pair: int) -> Point:
    """Return a dial's centre; the dials of the row stand above those of the column."""
    return 226 + 86 * (pair % 2), 64 + 96 * (pair // 2)


def one_dial(drawing: Drawing, pair: int, name: str, query: Place, key: Place) -> None:
    x, y = dial(pair)
    drawing.circle(x, y, REACH * math.hypot(*QUERY), "line", thick=0.75)
    ends: tuple[tuple[str, Tensor, Colour], ...] = (
        ("key", turned(KEY, key)[:, pair], "key"),
        ("query", turned(QUERY, query)[:, pair], "query"),
    )
    for part, (a, b), colour in ends:
        long = math.hypot(a, b)
        with drawing.part(f"{part}-{pair}"):
            end = x + REACH * float(a), y - REACH * float(b)
            drawing.line((x, y), end, colour=colour, thick=2.75)
        with drawing.part(f"{part}-letter-{pair}"):
            far = REACH + LETTER / long
            at = x + far * float(a), y - far * float(b) + 4
            drawing.text(*at, part[0], size=12, anchor="middle", colour=colour)
    product = (turned(QUERY, query) * turned(KEY, key)).sum(dim=0)[pair].item()
    drawing.text(x, y + 50, name, size=12, anchor="middle", colour="soft")
    with drawing.part(f"product-{pair}"):
        drawing.text(x + 46, y - 33, signed(product), size=12, anchor="end", bold=True)


def mark(drawing: Drawing, letter: str, place: Place, colour: Colour) -> None:
    cell = MAP.cell(*place, SIDE, SIDE)
    x, y = cell.x + 2, cell.y + 2
    drawing.box(
        x, y, 18, 18, letter, colour=colour, thick=2, radius=4, bold=True, size=13
    )


def states(drawing: Drawing) -> None:
    """Write the scores of all STATES, for a page that does not move."""
    columns = (60, 150, 252, 356)
    for x, name in zip(columns, ("query", "key", "turned", "added"), strict=True):
        drawing.text(x, TABLE, name, size=11, colour="soft", anchor="end")
    for number, (query, key) in enumerate(STATES):
        y = TABLE + 20 * (number + 1)
        for x, (row, column) in zip(columns[:2], (query, key), strict=True):
            drawing.text(x, y, f"({row}, {column})", size=12, anchor="end")
        for x, value in zip(
            columns[2:], (score(query, key), added(query, key)), strict=True
        ):
            drawing.text(x, y, signed(value), size=12, anchor="end", bold=True)


def results(drawing: Drawing) -> None:
    """Write the present scores large, which the script replaces."""
    for name, x, words in (
        ("turned", MAP.x, "score, turned"),
        ("added", 192, "score, hands added"),
    ):
        drawing.text(x, TABLE, words, size=12, colour="soft")
        with drawing.part(name):
            drawing.text(x, TABLE + 25, "+0.00", size=17.5, bold=True)
        with drawing.part(f"{name}-says"):
            drawing.text(x, TABLE + 46, "", size=12)
