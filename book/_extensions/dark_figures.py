"""The book's figures in the dark: the same picture, in the inks of the dark theme.

A figure is drawn once, on white. Here each of its colours is taken for an ink, more or
less of it on the white; the dark picture has as much of that ink's dark counterpart on
nothing, so that the page shows through. Photographs and heat maps stay as they are;
where they are, the picture says itself (``book_png`` of ``vit_steps.notebook.style``).
A picture that does not say it is not one of the book's figures, and has no dark one.
``pictures.py`` puts them into the pages.
"""

import json
import re
from pathlib import Path
from urllib.parse import unquote

import numpy as np
from bs4 import BeautifulSoup
from numpy.typing import NDArray
from PIL import Image

from vit_steps.notebook import COLOURS

PAGE = "#121212"  # the ground of the dark theme
INK = "#ced6dd"  # and what it writes in
IN_THE_DARK = {
    "blue": "#4aa3e0",
    "orange": "#f2b445",
    "green": "#4fd3a8",
    "vermilion": "#f27a3f",
    "sky": "#8fd0f7",
    "purple": "#eaa6cc",
}
READABLE = 4.5  # the contrast of letters on the page
ANOTHER = 24  # a colour so far from all inks is none of them
RARE = 5e-4  # this share of a picture is an edge, and not an ink
PICTURE = re.compile(r"""<img\b(?:[^>"']|"[^"]*"|'[^']*')*>""")


def rgb(colours: list[str]) -> NDArray[np.float64]:
    return np.array([list(bytes.fromhex(colour[1:])) for colour in colours], float)


def contrast(colour: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """As WCAG counts it, from 1 to 21."""
    linear = ((np.stack([colour, other]) / 255 + 0.055) / 1.055) ** 2.4
    light = linear @ (0.2126, 0.7152, 0.0722) + 0.05
    return float(light.max() / light.min())


def readable(colour: NDArray[np.float64]) -> NDArray[np.float64]:
    """A colour with as much of the theme's ink as makes it readable on the page."""
    [ink, page] = rgb([INK, PAGE])
    mixed = (colour + share * (ink - colour) for share in np.linspace(0, 1, 41))
    return next(found for found in mixed if contrast(found, page) >= READABLE)


def recoloured(
    colours: NDArray[np.float64], counts: NDArray[np.int64]
) -> NDArray[np.uint8]:
    """The colours (n, 3) of a drawing on white, as inks (n, 4) with their opacity.

    Besides the book's inks, a colour is one that much of the drawing is in.
    """
    light = rgb(["#000000", *(COLOURS[name] for name in IN_THE_DARK)])
    dark = rgb([INK, *IN_THE_DARK.values()])
    while True:
        away, inks = 255 - colours, 255 - light
        amounts = np.clip(away @ inks.T / (inks**2).sum(1), 0, 1)  # (n, inks)
        off = np.linalg.norm(away[:, None] - amounts[..., None] * inks, axis=2)
        best = off.argmin(1)
        other = counts * (off.min(1) > ANOTHER)
        if other.max() <= RARE * counts.sum():
            break
        light = np.vstack([light, colours[other.argmax()]])
        dark = np.vstack([dark, readable(colours[other.argmax()])])
    opacity = 255 * np.take_along_axis(amounts, best[:, None], 1)
    return np.hstack([dark[best], opacity]).round().astype(np.uint8)


def in_the_dark(figure: Image.Image) -> Image.Image:
    palette = np.array(figure.getpalette(), np.uint8).reshape(-1, 3)
    pixels = np.asarray(figure)
    white = (palette == 255).all(1)[pixels]
    drawn = np.ones(pixels.shape, bool)
    for image in json.loads(figure.info["images"]):
        left, top, right, bottom = (max(edge, 0) for edge in image["box"])
        box = np.s_[top:bottom, left:right]
        drawn[box] = white[box]  # white on its outermost line is of the page
        if not image["holes"]:
            drawn[top + 1 : bottom - 1, left + 1 : right - 1] = False
    counts = np.bincount(pixels[drawn], minlength=len(palette))
    inks = recoloured(palette.astype(float), counts)
    kept = np.insert(palette, 3, 255, axis=1)
    return Image.fromarray(np.where(drawn[..., None], inks[pixels], kept[pixels]))


def dark_file(file: Path) -> Path | None:
    """The dark picture of a figure, written beside it; None of what is no figure."""
    if file.suffix != ".png":
        return None
    with Image.open(file) as figure:
        if "images" not in figure.info:
            return None
        dark = file.with_suffix(".dark.webp")
        in_the_dark(figure).save(dark, lossless=True, method=2)
    return dark


def with_dark_figures(html: str, page: Path) -> str:
    """Each figure of a page twice: the theme shows the one that is right."""

    def twice(match: re.Match[str]) -> str:
        [image] = BeautifulSoup(match.group(), "html.parser").find_all("img")
        address = str(image["src"])
        dark = dark_file(page.parent / unquote(address)) if ":" not in address else None
        if dark is None or "only-light" in image.get_attribute_list("class"):
            return match.group()
        classes = [name for name in image.get_attribute_list("class") if name]
        image["class"] = " ".join([*classes, "only-light"])
        light = str(image)
        image["class"] = " ".join([*classes, "only-dark"])
        image["src"] = address.removesuffix(".png") + ".dark.webp"
        return f"{light}{image}"

    return PICTURE.sub(twice, html)
