"""Cut the single pictures out of a figure, and join a few into a small picture.

A figure is white between its pictures. A part smaller than a sixth of the figure's
width is a title or a number on an axis, not a picture.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

NEARLY_WHITE = 250
GAP = 5  # least number of white lines between two pictures; a grid has thinner ones
SMALLEST = 1 / 6  # smallest side of a picture, as a share of the figure's width

Mask = NDArray[np.bool_]
Box = tuple[int, int, int, int]  # left, top, right, bottom


def runs(inked: Mask) -> Iterator[tuple[int, int]]:
    """Yield start and stop of each run of ink; gaps up to GAP lines do not end one."""
    places = np.flatnonzero(inked)
    if len(places):
        ends = np.flatnonzero(np.diff(places) > GAP)
        starts = [places[0], *places[ends + 1]]
        stops = [*places[ends], places[-1]]
        yield from ((int(a), int(b) + 1) for a, b in zip(starts, stops, strict=True))


def parts(ink: Mask, box: Box) -> Iterator[Box]:
    """Cut a box along white lines, again and again, and yield the parts by rows."""
    left, top, right, bottom = box
    inside = ink[top:bottom, left:right]
    rows = [(left, top + a, right, top + b) for a, b in runs(inside.max(1))]
    cut = [
        (x + a, y, x + b, z)
        for x, y, r, z in rows
        for a, b in runs(ink[y:z, x:r].max(0))
    ]
    if cut == [box]:
        yield box
    else:
        for part in cut:
            yield from parts(ink, part)


def panels(figure: Image.Image) -> list[Image.Image]:
    """Return the pictures of a figure, row by row."""
    layer = figure.convert("RGBA")
    flat = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer)
    shown = flat.convert("RGB")
    ink = np.asarray(shown).min(2) < NEARLY_WHITE
    smallest = SMALLEST * shown.width
    return [
        shown.crop((left, top, right, bottom))
        for left, top, right, bottom in parts(ink, (0, 0, *shown.size))
        if right - left >= smallest and bottom - top >= smallest
    ]


def side_by_side(
    pictures: Sequence[Image.Image], size: tuple[int, int], gap: int
) -> Image.Image:
    """Join pictures side by side, all of one width; the gaps are transparent."""
    canvas = Image.new("RGBA", size)
    width = (size[0] - gap * (len(pictures) - 1)) / len(pictures)
    for number, picture in enumerate(pictures):
        left, right = (round(number * (width + gap) + w) for w in (0, width))
        canvas.paste(ImageOps.fit(picture, (right - left, size[1])), (left, 0))
    return canvas
