"""Draw a query and a key at five places, turned, and with the clock's hand added."""

import math

from book.drawings.kit import Colour, Drawing, Word
from book.drawings.rotary import KEY, QUERY, signed

SPEED = 0.5  # radians from place to place
PLACES = ((0, 3), (2, 5), (7, 10), (7, 9), (10, 7))  # of query and key
TOLD = ((0, 3, "three places on"), (3, 4, "two on"), (4, 5, "three back"))
COLUMN = 72.0
TURNED, ADDED = 21.0, 11.5  # of a vector of length 1
REACH = 34.0  # of a dial
Pair = tuple[float, float]


def hand(place: int) -> Pair:
    """Return the hand of the clock at a place."""
    return math.cos(SPEED * place), math.sin(SPEED * place)


def turned(pair: Pair, place: int) -> Pair:
    (x, y), (cos, sin) = pair, hand(place)
    return x * cos - y * sin, y * cos + x * sin


def added(pair: Pair, place: int) -> Pair:
    return pair[0] + hand(place)[0], pair[1] + hand(place)[1]


def scores() -> list[Pair]:
    """Return the score at each of PLACES, turned and added."""
    return [
        (
            dot(turned(QUERY, query), turned(KEY, key)),
            dot(added(QUERY, query), added(KEY, key)),
        )
        for query, key in PLACES
    ]


def dot(a: Pair, b: Pair) -> float:
    return a[0] * b[0] + a[1] * b[1]


def draw() -> Drawing:
    found = scores()
    listed = [
        f"{query} and {key}: {signed(one)} and {signed(other)}"
        for (query, key), (one, other) in zip(PLACES, found, strict=True)
    ]
    drawing = Drawing(
        "Turned, or with a hand added",
        "A query and a key of two numbers, as vectors in a plane, at five pairs of "
        "places. In the upper row both are turned by their place. With the key three "
        "places after the query, both turn on together, so the angle between them and "
        "the score stay. In the lower row the hand of a clock is added to each, and "
        "angle, lengths and score change. The scores, turned and added, at the places "
        f"{'; '.join(listed)}.",
    )
    for first, end, words in TOLD:
        left, right = first * COLUMN + 4, end * COLUMN - 4
        middle = (left + right) / 2
        drawing.text(middle, 12, words, size=11, colour="soft", anchor="middle")
        drawing.line((left, 18), (right, 18), thick=0.75)
    for column, (query, key) in enumerate(PLACES):
        of_query, of_key = Word(f"q at {query},", "query"), Word(f"k at {key}", "key")
        x = middle_of(column)
        drawing.text(x, 34, of_query, bold=True, anchor="middle")
        drawing.text(x, 49, of_key, bold=True, anchor="middle")
    y = row(drawing, 76, "Turned by the place", True, [one for one, _ in found])
    row(drawing, y, "The clock’s hand added", False, [other for _, other in found])
    return drawing


def middle_of(column: int) -> float:
    return (column + 0.5) * COLUMN


def row(
    drawing: Drawing, y: float, name: str, turns: bool, values: list[float]
) -> float:
    """Draw the five states of a row below its name, and return the y of the next."""
    drawing.text(0, y, name, bold=True)
    centre = y + 12 + REACH
    for column, places in enumerate(PLACES):
        x = middle_of(column)
        drawing.circle(x, centre, REACH, "line", thick=0.5)
        change, unit = (turned, TURNED) if turns else (added, ADDED)
        query, key = change(QUERY, places[0]), change(KEY, places[1])
        side = 1 if query[0] * key[1] - query[1] * key[0] >= 0 else -1
        ray(drawing, x, centre, key, unit, "key", side)
        ray(drawing, x, centre, query, unit, "query", -side)
        if turns:
            between(drawing, x, centre, query, key)
        at = centre + REACH + 17
        said = signed(values[column])
        drawing.text(x, at, said, size=13, bold=True, anchor="middle")
    return centre + REACH + 46


def ray(
    drawing: Drawing,
    x: float,
    y: float,
    pair: Pair,
    unit: float,
    colour: Colour,
    side: int,
) -> None:
    """Draw a vector on the dial at x and y, with its letter at a side of its tip."""
    long, angle = unit * math.hypot(*pair), math.atan2(pair[1], pair[0])
    tip = x + long * math.cos(angle), y - long * math.sin(angle)
    drawing.line((x, y), tip, colour=colour, thick=4.5 if colour == "key" else 2.25)
    far, aside = long + 5, math.atan2(side * 5, long + 5)
    drawing.text(
        x + far * math.cos(angle + aside),
        y - far * math.sin(angle + aside) + 4,
        colour[0],
        size=11,
        anchor="middle",
        colour=colour,
    )


def between(drawing: Drawing, x: float, y: float, query: Pair, key: Pair) -> None:
    """Draw an arc from the query to the key."""
    angles = [math.atan2(pair[1], pair[0]) for pair in (query, key)]
    ends = " ".join(
        f"{x + 11 * math.cos(angle):.2f} {y - 11 * math.sin(angle):.2f} "
        for angle in angles
    ).split()
    over = int(query[0] * key[1] - query[1] * key[0] < 0)
    path = f"M{ends[0]} {ends[1]}A11 11 0 0 {over} {ends[2]} {ends[3]}"
    drawing.shape(path, "ink", thick=1.25)
