"""Make the dark copy of each figure of the book, in the inks of the dark theme.

A figure is drawn once, on white. Each of its colours is read as an amount of one ink on
white; the dark copy has the same amount of that ink's dark counterpart on a transparent
ground, so that the page shows through. Photographs and heat maps stay as they are; the
file of a figure holds their boxes (``book_png`` of ``vit_book.style``). A
picture without these data is not one of the book's figures and gets no dark copy.
The page shows both as WebP, which takes a fifth less than PNG, pixel by pixel the same;
the PNG is what opens without scripts. ``pictures.py`` puts the copies into the pages.
"""

import json
import re
from pathlib import Path
from urllib.parse import unquote

import numpy as np
from bs4 import BeautifulSoup
from numpy.typing import NDArray
from PIL import Image

from vit_book import COLOURS, LETTERS

PAGE = "#121212"  # background of the dark theme
INK = "#ced6dd"  # its text colour
IN_THE_DARK = {
    "blue": "#30a3f0",
    "orange": "#fec13c",
    "green": "#4fd3a8",
    "vermilion": "#f07a40",
    "sky": "#a5dafb",
    "purple": "#df9bc0",
}
READABLE = 4.5  # least contrast of letters with the page
ANOTHER = 24  # RGB distance from all inks beyond which a colour is an ink of its own
MOST = 256  # colours of a WebP with a palette; with more, a file can be thrice as large
RARE = 5e-4  # a colour in less than this share of a picture comes from smoothed edges
PICTURE = re.compile(r"""<img\b(?:[^>"']|"[^"]*"|'[^']*')*>""")


def rgb(colours: list[str]) -> NDArray[np.float64]:
    return np.array([list(bytes.fromhex(colour[1:])) for colour in colours], float)


def contrast(colour: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return the contrast of two colours as WCAG defines it, from 1 to 21."""
    linear = ((np.stack([colour, other]) / 255 + 0.055) / 1.055) ** 2.4
    light = linear @ (0.2126, 0.7152, 0.0722) + 0.05
    return float(light.max() / light.min())


def readable(colour: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mix a colour with the theme's ink until it is readable on the page."""
    [ink, page] = rgb([INK, PAGE])
    mixed = (colour + share * (ink - colour) for share in np.linspace(0, 1, 41))
    return next(found for found in mixed if contrast(found, page) >= READABLE)


def recoloured(
    colours: NDArray[np.float64], counts: NDArray[np.int64]
) -> NDArray[np.uint8]:
    """Turn the colours (n, 3) of a drawing on white into dark inks (n, 4) with opacity.

    A colour that is far from the book's inks and fills much of the drawing counts as
    one more ink.
    """
    inks_of = [named[name] for named in (COLOURS, LETTERS) for name in IN_THE_DARK]
    light = rgb(["#000000", *inks_of])
    dark = rgb([INK, *IN_THE_DARK.values(), *IN_THE_DARK.values()])
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


def few(colours: NDArray[np.uint8], counts: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Replace the rarest of more than ``MOST`` colours (n, 4) by the nearest others."""
    found, places = np.unique(colours, axis=0, return_inverse=True)
    pixels = np.bincount(places.ravel(), weights=counts)
    often = found[np.argsort(-pixels, kind="stable")[:MOST]]
    [page] = rgb([PAGE])
    seen, near = (page + c[:, 3:] / 255 * (c[:, :3] - page) for c in (found, often))
    nearest = np.linalg.norm(seen[:, None] - near, axis=2).argmin(1)
    kept = (found[:, None] == often).all(2)
    nearest = np.where(kept.any(1), kept.argmax(1), nearest)
    return often[nearest][places.ravel()]


def in_the_dark(figure: Image.Image) -> Image.Image:
    palette = np.array(figure.getpalette(), np.uint8).reshape(-1, 3)
    pixels = np.asarray(figure)
    white = (palette == 255).all(1)[pixels]
    drawn = np.ones(pixels.shape, bool)
    for image in json.loads(figure.info["images"]):
        left, top, right, bottom = (max(edge, 0) for edge in image["box"])
        box = np.s_[top:bottom, left:right]
        drawn[box] = white[box]  # white at the box's edge belongs to the page
        if not image["holes"]:
            drawn[top + 1 : bottom - 1, left + 1 : right - 1] = False
    counts = np.bincount(pixels[drawn], minlength=len(palette))
    inks = recoloured(palette.astype(float), counts)
    kept = np.insert(palette, 3, 255, axis=1)
    shown = pixels + len(palette) * drawn
    colours = np.vstack([kept, inks])
    counts = np.bincount(shown.ravel(), minlength=len(colours))
    return Image.fromarray(few(colours, counts)[shown])


def write_copies(file: Path) -> bool:
    """Write a figure's two copies beside it; return False for other pictures."""
    if file.suffix != ".png":
        return False
    with Image.open(file) as figure:
        if "images" not in figure.info:
            return False
        copies = {".webp": figure.convert("RGB"), ".dark.webp": in_the_dark(figure)}
        for suffix, copy in copies.items():
            copy.save(file.with_suffix(suffix), lossless=True, method=2)
    return True


def with_dark_figures(html: str, page: Path) -> str:
    """Put two copies in each figure's place, of which the theme shows one."""

    def twice(match: re.Match[str]) -> str:
        [image] = BeautifulSoup(match.group(), "html.parser").find_all("img")
        address = str(image["src"])
        if ":" in address or not write_copies(page.parent / unquote(address)):
            return match.group()
        classes = [name for name in image.get_attribute_list("class") if name]
        image["class"] = " ".join([*classes, "only-light"])
        image["src"] = address.removesuffix(".png") + ".webp"
        light = str(image)
        image["class"] = " ".join([*classes, "only-dark"])
        image["src"] = address.removesuffix(".png") + ".dark.webp"
        return f"{light}{image}"

    return PICTURE.sub(twice, html)
