"""Draw one query from its scores to its output, with the numbers of chapter 4.

On the page query, keys and values can be dragged (scripts/figures/one_query.js).
"""

import torch

from book.drawings.kit import Box, Colour, Drawing, Point, Word
from vit_steps.attention import scaled_dot_product_attention

QUERY = [2, 0, 1, 1]
KEYS = [[1, 0, 1, 1], [0, 1, 1, 1], [0, 2, 0, 0]]
VALUES = [[10, 0], [0, 10], [10, 10]]

LEFT, STEP, STRIP = 66, 99, 92  # keys: left edge of the first, distance, width
MIDDLE = LEFT + STEP + STRIP / 2
LOW, HIGH = -2, 3  # range in which a number of the query can be dragged
KEY_HIGH = 2  # the same for a key, which begins at LOW too
UNIT = 10.5  # height of a bar of 1
ZERO = 71  # y of the bars' zero line
BAR = 44  # distance of the bars
PLANE = Box(206, 346, 112, 112)  # both axes go from 0 to 10

BANDS: dict[str, tuple[float, float, Colour]] = {  # the rows that each term lights up
    "q": (28, 122, "query"),
    "k": (138, 211, "key"),
    "d": (180, 211, "soft"),
    "softmax": (216, 290, "soft"),
    "v": (294, 486, "value"),
}


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
        f"its weight, and the sum is the output {listed(output[0])}, a point in the "
        "triangle of the three values.",
    )
    drawing.numbers = {
        "query": QUERY,
        "keys": KEYS,
        "values": VALUES,
        "bars": {"low": LOW, "high": HIGH, "zero": ZERO, "unit": UNIT, "apart": BAR},
        "strips": {"x": LEFT, "apart": STEP, "width": STRIP, "high": KEY_HIGH},
        "plane": {"x": PLANE.x, "y": PLANE.bottom, "unit": PLANE.width / 10},
    }
    for term, (top, bottom, colour) in BANDS.items():
        band(drawing, term, top, bottom, colour)
    formula(drawing)

    query = bars(drawing)
    step(drawing, 51, Word("query", "query", bold=True))
    step(drawing, 150, Word("keys", "key", bold=True))
    step(drawing, 169, "products")
    step(drawing, 196, "score", "÷ √d = √4")
    step(drawing, 232, "exp")
    with drawing.part("total"):
        drawing.text(2, 249.5, f"sum {total:.3f}", size=12, colour="soft")
    step(drawing, 266, "weight")
    with drawing.part("divisor"):
        drawing.text(2, 283.5, f"÷ {total:.3f}", size=12, colour="soft")
    step(drawing, 308, Word("values", "value", bold=True))

    drawing.line((MIDDLE, query.bottom), (MIDDLE, 126))
    drawing.line((LEFT + STRIP / 2, 126), (LEFT + 2 * STEP + STRIP / 2, 126))
    numbers = zip(scores[0], scaled[0], exps[0], weights[0], strict=True)
    for i, (score, small, exp, weight) in enumerate(numbers):
        with drawing.at(LEFT + i * STEP, 0):
            down = STRIP / 2
            drawing.arrow((down, 126), (down, 138))
            compared(drawing, i)
            boxed(drawing, 0, f"score-{i}", f"{score:.0f}")
            drawing.arrow((39, 199), (52, 199))
            boxed(drawing, 54, f"scaled-{i}", f"{small:.0f}")
            drawing.line((73, 211), (73, 218))
            drawing.arrow((73, 218), (down, 218), (down, 224))
            middle = down - 29
            boxed(drawing, middle, f"exp-{i}", f"{exp:.3f}", 224, (58, 16))
            drawing.arrow((down, 240), (down, 258))
            boxed(drawing, middle, f"weight-{i}", f"{weight:.3f}", 258, (58, 16), True)
            with drawing.part(f"share-{i}"):
                drawing.bar(0, 277, STRIP, 9, weight.item(), "asking")
            numbers_of(drawing, f"value-{i}", VALUES[i], 297, 22, "value")
    mixed(drawing, weights[0].tolist(), output[0].tolist())
    plane(drawing, weights[0].tolist(), output[0].tolist())
    return drawing


def formula(drawing: Drawing) -> None:
    """Draw the formula; each term is a part that lights up its rows."""
    x = 102.0
    terms: tuple[tuple[str, str, Colour], ...] = (
        ("softmax", "softmax", "ink"),
        ("", " (", "ink"),
        ("q", "q", "query"),
        ("k", "kᵀ", "key"),
        ("", "/", "ink"),
        ("d", "√d", "ink"),
        ("", ") ", "ink"),
        ("v", "v", "value"),
    )
    for term, text, colour in terms:
        wide = {"softmax": 76, "": 10, "q": 24}.get(term, 30)
        if term:
            with drawing.part(f"term-{term}"):
                drawing.text(
                    x + wide / 2,
                    17,
                    text,
                    size=17,
                    colour=colour,
                    anchor="middle",
                    bold=True,
                )
        else:
            drawing.text(x + wide / 2, 17, text.strip(), size=17, anchor="middle")
        x += wide


def band(
    drawing: Drawing, term: str, top: float, bottom: float, colour: Colour
) -> None:
    """Draw the background that appears behind the rows of a term when it is lit."""
    with drawing.part(f"band-{term}", moving=True):
        drawing.area((0, top), (360, top), (360, bottom), (0, bottom), colour=colour)


def bars(drawing: Drawing) -> Box:
    """Draw the query as bars, and below them as numbers."""
    left = MIDDLE - BAR * len(QUERY) / 2
    cells = [[""] * len(QUERY)]
    strip = drawing.cells(left, 100, cells, (BAR, 20), colour="query", thick=1.75)
    drawing.line((left, ZERO), (strip.right, ZERO), thick=1)
    for j, number in enumerate(QUERY):
        column = strip.column(j, len(QUERY))
        with drawing.part(f"bar-{j}"):
            place = Box(column.middle - 11, ZERO - UNIT * number, 22, UNIT * number)
            drawing.full(place, "query", 0.85, 1)
        with drawing.part(f"query-{j}"):
            drawing.text(column.middle, 114.5, str(number), anchor="middle", bold=True)
        with drawing.part(f"handle-{j}", moving=True), drawing.part(f"knob-{j}"):
            drawing.circle(column.middle, ZERO, 7, "query", thick=2)
            for y in (ZERO - 1.5, ZERO + 1.5):
                x = column.middle
                drawing.line((x - 3, y), (x + 3, y), colour="query", thick=1)
    with drawing.part("hint", moving=True):
        drawing.text(2, 70, "drag the bars", size=12, colour="query")
        drawing.text(40, 154, "↕", size=12, colour="key", bold=True)
    return strip


def compared(drawing: Drawing, i: int) -> None:
    """Draw a key, and below it its products with the query, number by number."""
    strip = numbers_of(drawing, f"key-{i}", KEYS[i], 140, 20, "key")
    for j, (a, b) in enumerate(zip(QUERY, KEYS[i], strict=True)):
        with drawing.part(f"product-{i}-{j}"):
            x = strip.column(j, len(QUERY)).middle
            drawing.text(x, 173, f"{a * b}", size=12, anchor="middle")
    drawing.line((2, 177), (2, 180), (18, 180))
    drawing.line((STRIP - 2, 177), (STRIP - 2, 180), (18, 180))
    drawing.line((18, 180), (18, 187))
    with drawing.part(f"handle-key-{i}", moving=True), drawing.part(f"picked-{i}"):
        drawing.frame(strip.column(0, len(QUERY)), "key", around=2)


def numbers_of(
    drawing: Drawing,
    name: str,
    numbers: list[int],
    y: float,
    high: float,
    colour: Colour,
) -> Box:
    """Draw the numbers of a key or a value, each a part of its own."""
    count = len(numbers)
    cells = [[""] * count]
    strip = drawing.cells(0, y, cells, (STRIP / count, high), colour=colour, thick=1.75)
    for j, number in enumerate(numbers):
        cell = strip.column(j, count)
        with drawing.part(f"{name}-{j}"):
            drawing.text(
                cell.middle, cell.centre + 4.3, f"{number}", anchor="middle", bold=True
            )
    return strip


def boxed(
    drawing: Drawing,
    x: float,
    name: str,
    text: str,
    y: float = 187,
    size: tuple[float, float] = (38, 24),
    bold: bool = False,
) -> None:
    with drawing.part(name):
        drawing.box(x, y, *size, text, bold=bold)


def mixed(drawing: Drawing, weights: list[float], output: list[float]) -> None:
    """Write the weighted values, one below the other, and their sum."""
    for i, weight in enumerate(weights):
        y = 361 + 19 * i
        with drawing.part(f"times-{i}"):
            drawing.text(52, y, f"{weight:.3f}", size=12, anchor="end")
        value = f"· ({VALUES[i][0]}, {VALUES[i][1]})"
        with drawing.part(f"point-{i}"):
            drawing.text(57, y, value, size=12, colour="value")
        if i:
            drawing.text(12, y, "+", size=12, colour="soft", anchor="middle")
    drawing.line((6, 407), (130, 407))
    drawing.text(2, 424, Word("output", "asking", bold=True))
    place = drawing.cells(
        10, 432, [["", ""]], (58, 26), colour="asking", thick=2.25, bold=True
    )
    for n, number in enumerate(output):
        with drawing.part(f"output-{n}"):
            x = place.column(n, 2).middle
            drawing.text(x, 449.5, f"{number:.3f}", anchor="middle", bold=True)


def plane(drawing: Drawing, weights: list[float], output: list[float]) -> None:
    """Draw the values as the corners of a triangle, and the output among them."""
    with drawing.part("triangle"):
        drawing.area(*map(spot, VALUES), colour="value")
    here = spot(output)
    for i, (weight, value) in enumerate(zip(weights, VALUES, strict=True)):
        with drawing.part(f"pull-{i}"):
            drawing.line(spot(value), here, colour="asking", thick=7 * weight)
    for i, value in enumerate(VALUES):
        x, y = spot(value)
        above = value[1] > 0
        with drawing.part(f"handle-value-{i}"):
            drawing.circle(x, y, 5, "value", thick=2)
            drawing.text(
                x + (6 if above and i else 0),
                y - 11 if above else y + 19,
                f"value {i + 1}",
                size=12,
                colour="value",
                anchor="middle",
                bold=True,
            )
    with drawing.part("dot"):
        drawing.circle(*here, 6, "asking", thick=3)


def spot(point: list[int] | list[float]) -> Point:
    """Return the point of the sheet for two numbers of the plane."""
    x, y = point
    return PLANE.x + PLANE.width * x / 10, PLANE.bottom - PLANE.height * y / 10


def step(drawing: Drawing, centre: float, name: str | Word, how: str = "") -> None:
    """Write a step's name at the left, and its operation below it."""
    drawing.text(2, centre + (-2 if how else 4), name)
    if how:
        drawing.text(2, centre + 11, how, size=12, colour="soft")


def listed(numbers: torch.Tensor, digits: int = 3) -> str:
    *first, last = (f"{n:.{digits}f}" for n in numbers.tolist())
    return f"{', '.join(first)} and {last}"
