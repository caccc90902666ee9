"""The figures of notebooks, with their alternative texts."""

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from nbformat import NotebookNode

FONTS = Path("book/_assets/fonts/fonts.css")
DARK = re.compile(r"@media \(prefers-color-scheme: dark\).*\n")
KINDS = {"image/svg+xml": ".svg", "image/png": ".png"}


@dataclass(frozen=True)
class Figure:
    """A figure as a notebook's cell shows it; width and height are CSS pixels."""

    file: str
    data: bytes
    width: float
    height: float
    alt: str
    caption: str


def figure_of(
    notebook: str, cell: NotebookNode, kinds: Sequence[str] = tuple(KINDS)
) -> Figure | None:
    """Return a cell's figure, in the first of ``kinds`` that an output has."""
    about = cell.metadata.get("mystnb", {})
    alt = about.get("image", {}).get("alt", "")
    caption = about.get("figure", {}).get("caption", "")
    for output in cell.get("outputs", []):
        for kind in kinds:
            text = output.get("data", {}).get(kind)
            if text is None:
                continue
            if kind == "image/png":
                data = base64.b64decode(text)
                width, height = (output.metadata[kind][s] for s in ("width", "height"))
            else:
                data = by_itself(text).encode()
                box = re.search(r"""viewBox=["']\S+ \S+ (\S+) (\S+)["']""", text)
                assert box, "both matplotlib and book/drawings write one"
                width, height = map(float, box.groups())
            file = f"{notebook}-{cell.id}{KINDS[kind]}"
            return Figure(file, data, width, height, alt, caption)
    return None


def by_itself(svg: str) -> str:
    """Give a drawing the book's fonts, and its light colours also in dark mode."""
    if "Book Text" in svg:
        svg = DARK.sub("", svg).replace("<style>", f"<style>\n{fonts()}", 1)
    return svg


@cache
def fonts() -> str:
    return FONTS.read_text("utf-8")
