"""The elements of the drawings: boxes, text, arrows, grids of cells, bars.

A drawing is a sheet, 360 units wide, that grows downwards: as wide as a phone's column
at its own size, and 1.4 times as large in a notebook. On a page of the book it has 432
to 592 pixels on a desk, as much as the window has room for, and its letters do not grow
with it: a unit of them is 1.2 pixels (``book.css``), so labels of 10.5 to 12 units and
headings of 13.5 at most are smaller than the text around the drawing. Each text keeps
its anchor and the middle of its line. What is placed by the measured width of another
text does not, so what reads as one line is one ``text``, of several words. Lines of one
text have the same ``x`` and follow each other. Its colours are CSS custom
properties, so that one file is right in light and dark, in a page of the book, in a
notebook and alone. A colour is named by its use: ``"query"``, ``"key"``, ``"value"``,
``"asking"`` for the token whose query it is, ``"class"`` for the class token,
``"position"`` for positions, ``"red"``, ``"green"`` and ``"blue"`` for the planes of an
image, ``"patch-0"`` to ``"patch-3"`` for four patches, ``"ink"``, ``"soft"`` for
explanations, and ``"line"``. No part is known by its colour alone: it also has a name
or a place of its own.

How much attention a patch gets is none of these. A map or a matrix of attention weights
has the scale of the plots and the lab (``heat``, and ``legend`` beside it), and on a
photograph attention is light (``lit``). A line that carries attention is as wide as its
weight, and not on the scale, whose dark end is lost on a dark page: it has the ink, or
the colour of the token whose share it is. Scores and similarities may be below 0 and
are no weights, so they are paler or fuller in the colour of their use.

A drawing moves on the book's page if it has ``numbers`` and a script of its name in
``book/scripts/figures/``; the script changes the parts that are named here. What it
shows then has letters of at least 12 units, 12 pixels on a phone; on a desk they grow
less than the drawing.

Text that is too small, or does not fit the sheet, raises a ValueError.
"""

import base64
import itertools
import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

from fontTools.ttLib import TTFont
from matplotlib import colormaps
from matplotlib.colors import to_hex

from vit_book.style import FONTS, SCALE

WIDTH = 360
ENLARGED = 1.4
SMALLEST = 10.5
TONES = 16  # that are told apart on a map
MARGIN = 4
PHOTOGRAPHS = Path(__file__).with_name("photographs")
PIXELS = 224  # a photograph's side; pieces of it are given in these pixels

# Each use has a colour for lines and letters, and a pale one for grounds. They began as
# Okabe and Ito's, darker or lighter where letters need it. Tests check their contrast,
# and that those of the grammar are far enough apart for every kind of colour vision.
LIGHT = {
    "ink": ("#1b2733", "#e6ebf0"),
    "soft": ("#55626f", "#f3f6f9"),
    "line": ("#5b6875", "#ffffff"),
    "query": ("#0067a0", "#dceefa"),
    "key": ("#9f5b00", "#fdeecb"),
    "value": ("#00704f", "#d5f1e6"),
    "asking": ("#882800", "#fde3d3"),
    "class": ("#8c3b68", "#f8e2ee"),
    "position": ("#2c289a", "#e5e0fb"),
    "red": ("#b3261e", "#fad7d3"),
    "green": ("#1d6b2c", "#d2efd3"),
    "blue": ("#2350b8", "#d8e2fb"),
    "patch-0": ("#00687a", "#bfe8f2"),
    "patch-1": ("#6b5a00", "#fbeb9a"),
    "patch-2": ("#a3374c", "#fbd3d8"),
    "patch-3": ("#5b4aa8", "#dfd9fb"),
}
DARK = {
    "ink": ("#e8eef4", "#33404c"),
    "soft": ("#b3c0cc", "#232e39"),
    "line": ("#9aa8b6", "#1b242d"),
    "query": ("#9bd5fd", "#0c2a3f"),
    "key": ("#fdbf3a", "#3a2806"),
    "value": ("#4fd3a8", "#0b3b2c"),
    "asking": ("#e88e61", "#4c2509"),
    "class": ("#df9ac0", "#472438"),
    "position": ("#ad95ff", "#322a5e"),
    "red": ("#ff9088", "#571b16"),
    "green": ("#7fd68c", "#15431d"),
    "blue": ("#92b4ff", "#183369"),
    "patch-0": ("#6cd0e4", "#0d434f"),
    "patch-1": ("#e3cf4a", "#453e00"),
    "patch-2": ("#ff9dab", "#5a2230"),
    "patch-3": ("#b9a9ff", "#352c66"),
}
PAPER = {"light": "#ffffff", "dark": "#121212"}

Colour = Literal[
    "ink",
    "soft",
    "line",
    "query",
    "key",
    "value",
    "asking",
    "class",
    "position",
    "red",
    "green",
    "blue",
    "patch-0",
    "patch-1",
    "patch-2",
    "patch-3",
]
Anchor = Literal["start", "middle", "end"]
Point = tuple[float, float]


def properties(theme: Literal["light", "dark"]) -> str:
    rules = [f"--vd-paper: {PAPER[theme]};"]
    for name, (line, ground) in (LIGHT if theme == "light" else DARK).items():
        rules.append(f"--vd-{name}: {line}; --vd-{name}-ground: {ground};")
    return " ".join(rules)


STYLE = f"""
.vit-drawing {{ {properties("light")}
  display: block; max-width: 100%; height: auto; }}
:where(html[data-theme="dark"], html[theme="dark"], \
body[data-jp-theme-light="false"], body.vscode-dark) .vit-drawing {{ \
{properties("dark")} }}
svg.vit-drawing:root {{ background: var(--vd-paper); }}
@media (prefers-color-scheme: dark) {{ svg.vit-drawing:root {{ \
{properties("dark")} }} }}
@media print {{ svg.vit-drawing.vit-drawing.vit-drawing {{ \
{properties("light")} }} }}
{
    "".join(
        f".vd-{name} {{ --vd-c: var(--vd-{name}); --vd-g: var(--vd-{name}-ground); }}"
        for name in LIGHT
    )
}
.vd-text {{ fill: var(--vd-c); font-family: "Book Text", Inter, "Helvetica Neue", \
Arial, sans-serif; font-variant-numeric: tabular-nums; }}
.vd-code {{ font-family: "Book Code", "Fira Code", monospace; }}
.vd-bold {{ font-weight: 600; }}
.vd-italic {{ font-style: italic; }}
.vd-box {{ fill: var(--vd-g); stroke: var(--vd-c); }}
.vd-open {{ fill: none; }}
.vd-stroke {{ fill: none; stroke: var(--vd-c); }}
.vd-full {{ fill: var(--vd-c); }}
"""


@cache
def widths(face: str) -> tuple[dict[int, int], int]:
    """Return the width of each character in the book's font, and its units per em."""
    font = TTFont(FONTS / f"{face}.ttf")
    advance = font["hmtx"]
    known = {code: advance[glyph][0] for code, glyph in font.getBestCmap().items()}
    return known, font["head"].unitsPerEm


def width_of(text: str, size: float, bold: bool = False, code: bool = False) -> float:
    """Return the width of a text in the book's font."""
    if code:
        return 0.6 * size * len(text)
    known, em = widths("text-bold" if bold else "text")
    return size * sum(known.get(ord(letter), 0.65 * em) for letter in text) / em


def tone(share: float) -> str:
    """Return the colour of a share of the largest number, the same in both themes."""
    return to_hex(colormaps[SCALE](share))


def letters_on(share: float) -> str:
    """Return the colour of letters on a tone: they are legible on each."""
    return "#000" if share > 0.43 else "#fff"


def number(value: float) -> str:
    """Write a number of units for SVG, with at most two decimal places."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


@dataclass(frozen=True)
class Word:
    """A part of a line that looks different; None means "as in the line"."""

    text: str
    colour: Colour | None = None
    bold: bool | None = None
    italic: bool = False
    code: bool | None = None
    size: float | None = None
    raised: float = 0


@dataclass(frozen=True)
class Box:
    """The place of an element, to align other elements with it."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def centre(self) -> float:
        """The y half-way down; ``middle`` is the x half-way across."""
        return self.y + self.height / 2

    def cell(self, row: int, column: int, rows: int, columns: int) -> "Box":
        """Return one cell of the place, divided into a grid of rows and columns."""
        width, height = self.width / columns, self.height / rows
        return Box(self.x + column * width, self.y + row * height, width, height)

    def row(self, row: int, rows: int) -> "Box":
        return self.cell(row, 0, rows, 1)

    def column(self, column: int, columns: int) -> "Box":
        return self.cell(0, column, 1, columns)


class Drawing:
    """A sheet to draw on.

    Args:
        title: title in a few words.
        text: description in sentences, for readers who cannot see the drawing.
        width: width of the sheet; 340 to 380 units fit a phone's column.
        enlarged: largest magnification, used on a desk.
    """

    def __init__(
        self, title: str, text: str, width: float = WIDTH, enlarged: float = ENLARGED
    ) -> None:
        self.title = title
        self.about = text
        self.width = width
        self.enlarged = enlarged
        self.height = 0.0
        self.numbers: Mapping[str, object] = {}  # start values for the drawing's script
        self._parts: list[ElementTree.Element] = []
        self._photographs: dict[str, list[ElementTree.Element]] = {}
        self._origin: Point = (0, 0)

    @contextmanager
    def at(self, x: float, y: float) -> Iterator[None]:
        """Move everything that is drawn inside to the right and down."""
        before = self._origin
        self._origin = (before[0] + x, before[1] + y)
        yield
        self._origin = before

    @contextmanager
    def part(self, name: str, moving: bool = False) -> Iterator[None]:
        """Join everything that is drawn inside into a part that a script can find.

        Args:
            name: name of the part.
            moving: whether the part is visible only where the drawing moves.
        """
        around = self._parts
        self._parts = []
        yield
        group = ElementTree.Element("g", {"data-part": name})
        if moving:
            group.attrib |= {"class": "vd-moving", "display": "none"}
        group.extend(self._parts)
        self._parts = around
        self._parts.append(group)

    # Text

    def text(
        self,
        x: float,
        y: float,
        *words: str | Word,
        size: float = 12,
        colour: Colour = "ink",
        anchor: Anchor = "start",
        bold: bool = False,
        code: bool = False,
    ) -> Box:
        """Draw one line of text on the base line ``y``, and return its place."""
        line = Word("", colour, bold, False, code, size)
        parts = [
            replace(line, text=word)
            if isinstance(word, str)
            else replace(
                word,
                colour=word.colour or colour,
                bold=bold if word.bold is None else word.bold,
                code=code if word.code is None else word.code,
                size=word.size or size,
            )
            for word in words
        ]
        smallest = min(part.size or size for part in parts)
        whole = "".join(part.text for part in parts)
        if smallest < SMALLEST:
            raise ValueError(
                f"size: got {smallest:g} for {whole!r}, at least {SMALLEST}"
            )
        width = sum(
            width_of(part.text, part.size or size, bool(part.bold), bool(part.code))
            for part in parts
        )
        start = {"start": x, "middle": x - width / 2, "end": x - width}[anchor]
        box = Box(start, y - size, width, 1.25 * size)
        left, _ = self._moved(start, y)
        if left < 0 or left + width > self.width:
            raise ValueError(
                f"{whole!r}: stands from {left:.0f} to {left + width:.0f}, "
                f"expected 0 to {self.width:g}"
            )
        element = self._add("text", *self._moved(x, y), _classes(line))
        element.set("font-size", number(size))
        if anchor != "start":
            element.set("text-anchor", anchor)
        raised = 0.0
        for part in parts:
            span = element
            if part != replace(line, text=part.text) or raised:
                span = ElementTree.SubElement(element, "tspan")
                span.set("class", _classes(part))
                if part.size != size:
                    span.set("font-size", number(part.size or size))
                if part.raised != raised:
                    span.set("dy", number(raised - part.raised))
                raised = part.raised
                span.text = part.text
            elif len(element):
                element[-1].tail = (element[-1].tail or "") + part.text
            else:
                element.text = (element.text or "") + part.text
        self._grow(y + 0.3 * size)
        return box

    def lines(
        self,
        x: float,
        y: float,
        *lines: str | Sequence[str | Word],
        size: float = 11,
        colour: Colour = "soft",
        anchor: Anchor = "start",
        bold: bool = False,
    ) -> Box:
        """Draw lines of text, the first on the base line ``y``; return their place."""
        boxes = []
        for index, line in enumerate(lines):
            words = [line] if isinstance(line, str) else line
            base = y + index * 1.3 * size
            boxes.append(
                self.text(
                    x,
                    base,
                    *words,
                    size=size,
                    colour=colour,
                    anchor=anchor,
                    bold=bold,
                )
            )
        left, right = min(b.x for b in boxes), max(b.right for b in boxes)
        return Box(left, boxes[0].y, right - left, boxes[-1].bottom - boxes[0].y)

    # Shapes

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *words: str | Word,
        colour: Colour = "line",
        ground: bool = True,
        thick: float = 1,
        radius: float = 6,
        dashed: bool = False,
        size: float = 12,
        bold: bool = False,
        ink: Colour = "ink",
    ) -> Box:
        """Draw a rounded box, with a line of text in its middle if there are words."""
        classes = f"vd-box vd-{colour}" + ("" if ground else " vd-open")
        element = self._add("rect", *self._moved(x, y), classes)
        element.set("width", number(width))
        element.set("height", number(height))
        if radius:
            element.set("rx", number(radius))
        _stroke(element, thick, dashed)
        self._grow(y + height + thick / 2)
        place = Box(x, y, width, height)
        if words:
            base = place.centre + 0.36 * size
            self.text(
                place.middle,
                base,
                *words,
                size=size,
                colour=ink,
                anchor="middle",
                bold=bold,
            )
        return place

    def frame(self, place: Box, colour: Colour = "asking", around: float = 1) -> Box:
        """Draw a thick frame, without a ground, around a place."""
        a = around
        return self.box(
            place.x - a,
            place.y - a,
            place.width + 2 * a,
            place.height + 2 * a,
            colour=colour,
            ground=False,
            thick=2.25,
            radius=3,
        )

    def mark(self, place: Box, asks: bool = False, dashed: bool = False) -> None:
        """Draw a frame on a photograph, the same in light and dark.

        Args:
            place: the framed place.
            asks: whether the patch is the query; its frame is yellow, others white.
            dashed: whether the line is dashed.
        """
        inner = ("#ffe800", 1.75) if asks else ("#fff", 1.25)
        for colour, thick in (("#000", 2 * inner[1]), inner):
            frame = self._add("rect", *self._moved(place.x, place.y), "vd-mark")
            frame.attrib |= {"width": number(place.width), "fill": "none"}
            frame.attrib |= {"height": number(place.height), "stroke": colour}
            _stroke(frame, thick, dashed=dashed and colour != "#000")

    def edge(self, inside: Container[Point], grid: Box, side: int) -> None:
        """Draw a white line around cells of a photograph, the same in light and dark.

        Args:
            inside: rows and columns of the cells.
            grid: place of the photograph.
            side: number of cells along its side.
        """
        path = ""
        for row, column in itertools.product(range(side), repeat=2):
            if (row, column) not in inside:
                continue
            cell = grid.cell(row, column, side, side)
            x, y = map(number, self._moved(cell.x, cell.y))
            right, bottom = map(number, self._moved(cell.right, cell.bottom))
            path += f"M{x} {y}H{right}" if (row - 1, column) not in inside else ""
            path += f"M{x} {bottom}H{right}" if (row + 1, column) not in inside else ""
            path += f"M{x} {y}V{bottom}" if (row, column - 1) not in inside else ""
            path += f"M{right} {y}V{bottom}" if (row, column + 1) not in inside else ""
        for colour, thick in (("#000", 3.5), ("#fff", 1.75)):
            line = self._add("path", 0, 0, "vd-mark")
            line.attrib |= {"d": path, "fill": "none", "stroke": colour}
            line.set("stroke-linecap", "square")
            _stroke(line, thick)

    def cells(
        self,
        x: float,
        y: float,
        rows: Sequence[Sequence[str]],
        cell: tuple[float, float] = (22, 22),
        colour: Colour = "ink",
        strengths: Sequence[Sequence[float]] | None = None,
        shares: Sequence[Sequence[float]] | None = None,
        ground: bool = True,
        thick: float = 1,
        size: float = 12,
        bold: bool = False,
        ink: Colour = "ink",
    ) -> Box:
        """Draw a grid of cells with a text in each; a strip is a grid of one row.

        Args:
            x: left edge.
            y: upper edge.
            rows: text of each cell, ``""`` for an empty one.
            cell: width and height of each cell.
            colour: colour of the lines and the ground.
            strengths: opacity of the colour in each cell, from 0 to 1; letters on it
                stay legible up to 0.4.
            shares: shares of the largest number, as the cells of a map of attention.
            ground: whether the grid has a pale ground of its colour.
            thick: width of the outer line.
            size: size of the text.
            bold: whether the text is bold.
            ink: colour of the text.
        """
        wide, high = cell
        width, height = wide * len(rows[0]), high * len(rows)
        place = self.box(
            x, y, width, height, colour=colour, ground=ground, thick=thick, radius=3
        )
        for i, row in enumerate(strengths or ()):
            for j, strength in enumerate(row):
                if strength > 0:
                    self.full(
                        place.cell(i, j, len(rows), len(row)), colour, strength, 0
                    )
        if shares:
            self.heat(place, shares)
        inner = "".join(
            f"M{number(px)} {number(py)}v{number(height)}"
            for px, py in (self._moved(x + j * wide, y) for j in range(1, len(rows[0])))
        ) + "".join(
            f"M{number(px)} {number(py)}h{number(width)}"
            for px, py in (self._moved(x, y + i * high) for i in range(1, len(rows)))
        )
        if inner:
            element = self._add("path", 0, 0, f"vd-stroke vd-{colour}")
            element.set("d", inner)
            element.set("stroke-opacity", "0.55")
            _stroke(element, 0.75)
        for i, written in enumerate(rows):
            for j, word in enumerate(written):
                if word:
                    where = place.cell(i, j, len(rows), len(written))
                    self.text(
                        where.middle,
                        where.centre + 0.36 * size,
                        word,
                        size=size,
                        colour=ink,
                        anchor="middle",
                        bold=bold,
                    )
                    if shares:
                        fill = f"fill: {letters_on(shares[i][j])}"
                        self._parts[-1].set("style", fill)
        return place

    def circle(
        self,
        x: float,
        y: float,
        radius: float,
        colour: Colour = "line",
        ground: bool = True,
        thick: float = 1,
    ) -> Box:
        """Draw a circle around a point."""
        return self.box(
            x - radius,
            y - radius,
            2 * radius,
            2 * radius,
            colour=colour,
            ground=ground,
            thick=thick,
            radius=radius,
        )

    def bar(
        self, x: float, y: float, width: float, height: float, share: float, of: Colour
    ) -> Box:
        """Draw a bar that is filled to a share of its width, from 0 to 1."""
        place = self.box(x, y, width, height, colour=of, ground=False, radius=2)
        self.full(Box(x, y, share * width, height), of, 1, 2)
        return place

    def full(
        self, place: Box, colour: Colour, strength: float = 1, radius: float = 0
    ) -> None:
        """Fill a place with a colour, without a line around it."""
        element = self._add(
            "rect", *self._moved(place.x, place.y), f"vd-full vd-{colour}"
        )
        element.set("width", number(place.width))
        element.set("height", number(place.height))
        if radius:
            element.set("rx", number(min(radius, place.width / 2)))
        if strength < 1:
            element.set("fill-opacity", number(strength))
        self._grow(place.bottom)

    def filled(
        self, places: Iterable[Box], colour: Colour, strength: float = 1
    ) -> None:
        """Fill many places with a colour, as one shape."""
        element = self._add("path", 0, 0, f"vd-full vd-{colour}")
        element.set("d", self._outlines(places))
        if strength < 1:
            element.set("fill-opacity", number(strength))

    def toned(self, places: Iterable[Box], share: float) -> None:
        """Fill many places with the colour of a share of the largest number."""
        element = self._add("path", 0, 0, "vd-tone")
        element.attrib |= {"d": self._outlines(places), "fill": tone(share)}
        element.set("shape-rendering", "crispEdges")  # no seams between neighbours

    def heat(self, place: Box, shares: Sequence[Sequence[float]]) -> None:
        """Colour a grid of cells by their shares of the largest number."""
        self.toned([place], 0)
        for step, runs in _runs(place, shares).items():
            if step:
                self.toned(runs, step / TONES)

    def lit(self, place: Box, shares: Sequence[Sequence[float]]) -> None:
        """Light a photograph by the shares of its cells, as the chapters' plots do."""
        for step, runs in _runs(place, shares).items():
            if step < TONES:
                dark = self._add("path", 0, 0, "vd-tone")
                dark.attrib |= {"d": self._outlines(runs), "fill": "#000"}
                dark.set("fill-opacity", number(0.85 * (1 - step / TONES)))
                dark.set("shape-rendering", "crispEdges")

    def legend(
        self,
        x: float,
        y: float,
        low: str = "little",
        high: str = "much",
        size: float = 12,
    ) -> None:
        """Draw the scale of ``heat``, with a text at each end; it ends at ``x``."""
        self.text(x, y, high, size=size, anchor="end")
        wide = width_of(high.replace("1", "0"), size)  # all digits are equally wide
        bar = Box(x - wide - 41, y - 8, 36, 8)
        self.heat(bar, [[step / 12 for step in range(13)]])
        self.box(*vars(bar).values(), ground=False, radius=0, thick=0.75)
        self.text(bar.x - 5, y, low, size=size, anchor="end")

    def covers(self, places: Iterable[Box], brightness: float) -> None:
        """Cover many places with one grey, from 0 to 1, the same in light and dark."""
        path = self._outlines(places)
        grey = self._add("path", 0, 0, "vd-cover")
        grey.attrib |= {"d": path, "fill": f"#{3 * f'{round(255 * brightness):02x}'}"}
        lines = self._add("path", 0, 0, "vd-stroke vd-line")
        lines.set("d", path)
        _stroke(lines, 0.6)

    def line(
        self,
        *points: Point,
        colour: Colour = "line",
        thick: float = 1.25,
        dashed: bool = False,
    ) -> None:
        """Draw a line through points."""
        (x, y), *others = (self._moved(*point) for point in points)
        path = f"M{number(x)} {number(y)}"
        path += "".join(f"L{number(x)} {number(y)}" for x, y in others)
        element = self._add("path", 0, 0, f"vd-stroke vd-{colour}")
        element.set("d", path)
        _stroke(element, thick, dashed)
        self._grow(max(y for _, y in points) + thick / 2)

    def arrow(
        self,
        *points: Point,
        colour: Colour = "line",
        thick: float = 1.25,
        dashed: bool = False,
    ) -> None:
        """Draw a line through points with a tip at the last."""
        (x1, y1), (x2, y2) = points[-2:]
        length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
        dx, dy = (x2 - x1) / length, (y2 - y1) / length
        x, y = x2 - 6 * dx, y2 - 6 * dy  # end of the line and base of the tip
        self.line(*points[:-1], (x, y), colour=colour, thick=thick, dashed=dashed)
        corners = [(x2, y2), (x - 3.4 * dy, y + 3.4 * dx), (x + 3.4 * dy, y - 3.4 * dx)]
        tip = "L".join(
            f"{number(px)} {number(py)}"
            for px, py in (self._moved(*c) for c in corners)
        )
        self._add("path", 0, 0, f"vd-full vd-{colour}").set("d", f"M{tip}Z")
        self._grow(max(py for _, py in corners))

    def area(self, *points: Point, colour: Colour = "line", full: bool = False) -> None:
        """Fill a polygon without a line around it, pale or in its full colour."""
        corners = "L".join(
            f"{number(x)} {number(y)}" for x, y in (self._moved(*p) for p in points)
        )
        classes = f"{'vd-full' if full else 'vd-box'} vd-{colour}"
        element = self._add("path", 0, 0, classes)
        element.set("d", f"M{corners}Z")
        element.set("stroke-width", "0")
        self._grow(max(y for _, y in points))

    def shape(
        self,
        path: str,
        colour: Colour = "line",
        thick: float = 1.25,
        full: bool = False,
    ) -> None:
        """Draw what is given as the data of an SVG path: a line, or a full shape."""
        kind = "vd-full" if full else "vd-stroke"
        element = self._add("path", 0, 0, f"{kind} vd-{colour}")
        element.set("d", path)
        if any(self._origin):
            x, y = map(number, self._origin)
            element.set("transform", f"translate({x} {y})")
        _stroke(element, thick)

    def photograph(
        self, place: Box, name: str, piece: Box | None = None, squares: bool = False
    ) -> None:
        """Draw a photograph of ``photographs/``, or a piece of it.

        The SVG holds each photograph once, however often it is drawn.

        Args:
            place: place on the sheet.
            name: name of the photograph's file.
            piece: pixels to show; None shows all 224×224.
            squares: whether the pixels are drawn as squares, and not smoothed.
        """
        seen = piece or Box(0, 0, PIXELS, PIXELS)
        box = " ".join(number(n) for n in (seen.x, seen.y, seen.width, seen.height))
        defined = self._photographs.setdefault(name, [])
        symbol = next((one for one in defined if one.get("viewBox") == box), None)
        if symbol is None:
            symbol = ElementTree.Element("symbol", {"viewBox": box})
            ElementTree.SubElement(symbol, "use", {"href": name})
            defined.append(symbol)
        x, y = map(number, self._moved(place.x, place.y))
        width, height = number(place.width), number(place.height)
        sizes = {"x": x, "y": y, "width": width, "height": height}
        sizes |= {"image-rendering": "pixelated"} if squares else {}
        href = f"{name}-{defined.index(symbol)}"
        self._parts.append(ElementTree.Element("use", sizes | {"href": href}))
        self._grow(place.bottom)

    # Output

    def svg(self, name: str) -> str:
        """Return the drawing as SVG; all its ids contain its name."""
        height = round(self.height + MARGIN)
        title, text = f"vd-{name}-title", f"vd-{name}-text"
        root = ElementTree.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "class": "vit-drawing",
                "width": number(round(self.width * self.enlarged)),
                "height": number(round(height * self.enlarged)),
                "viewBox": f"0 0 {number(self.width)} {height}",
                "role": "img",
                "aria-labelledby": title,
                "aria-describedby": text,
            },
        )
        if self.numbers:
            numbers = json.dumps(self.numbers, separators=(",", ":"))
            root.attrib |= {"data-figure": name, "data-numbers": numbers}
        for tag, attributes, content in (
            ("title", {"id": title}, self.title),
            ("desc", {"id": text}, self.about),
            ("style", {}, STYLE),
        ):
            ElementTree.SubElement(root, tag, attributes).text = content
        if self._photographs:
            root.append(self._defined(name))
        root.extend(self._parts)
        for use in root.iter("use"):
            use.set("href", f"#vd-{name}-{use.get('href')}")
        for part in root:
            part.tail = "\n"
        root.text = "\n"
        return ElementTree.tostring(root, encoding="unicode") + "\n"

    def _defined(self, name: str) -> ElementTree.Element:
        """Return the definitions of the photographs and of their drawn pieces."""
        defs = ElementTree.Element("defs")
        for photograph, symbols in self._photographs.items():
            webp = (PHOTOGRAPHS / f"{photograph}.webp").read_bytes()
            image = ElementTree.SubElement(defs, "image")
            image.attrib |= {
                "id": f"vd-{name}-{photograph}",
                "width": number(PIXELS),
                "height": number(PIXELS),
                "href": f"data:image/webp;base64,{base64.b64encode(webp).decode()}",
            }
            for index, symbol in enumerate(symbols):
                symbol.set("id", f"vd-{name}-{photograph}-{index}")
                defs.append(symbol)
        return defs

    def _moved(self, x: float, y: float) -> Point:
        return self._origin[0] + x, self._origin[1] + y

    def _outlines(self, places: Iterable[Box]) -> str:
        path = ""
        for place in places:
            x, y = map(number, self._moved(place.x, place.y))
            wide, high = number(place.width), number(place.height)
            path += f"M{x} {y}h{wide}v{high}h-{wide}z"
            self._grow(place.bottom)
        return path

    def _grow(self, y: float) -> None:
        self.height = max(self.height, self._origin[1] + y)

    def _add(self, tag: str, x: float, y: float, classes: str) -> ElementTree.Element:
        element = ElementTree.Element(tag, {"class": classes})
        if tag != "path":
            element.attrib |= {"x": number(x), "y": number(y)}
        self._parts.append(element)
        return element


def _runs(place: Box, shares: Sequence[Sequence[float]]) -> dict[int, list[Box]]:
    """Return places on a grid by their rounded shares; equal neighbours are one."""
    found: dict[int, list[Box]] = {}
    for i, row in enumerate(shares):
        steps = [round(TONES * min(share, 1)) for share in row]
        start = 0
        for step, run in itertools.groupby(steps):
            cell = place.cell(i, start, len(shares), len(row))
            count = len(list(run))
            wide = replace(cell, width=count * cell.width)
            found.setdefault(step, []).append(wide)
            start += count
    return dict(sorted(found.items()))


def _classes(word: Word) -> str:
    classes = ["vd-text", f"vd-{word.colour}"]
    for name in ("bold", "italic", "code"):
        if getattr(word, name):
            classes.append(f"vd-{name}")
    return " ".join(classes)


def _stroke(element: ElementTree.Element, thick: float, dashed: bool = False) -> None:
    if thick != 1:
        element.set("stroke-width", number(thick))
    if dashed:
        element.set("stroke-dasharray", "4 3")
