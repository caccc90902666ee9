"""The figures of notebooks, with their alternative texts."""

import base64
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from nbformat import NotebookNode

FONTS = Path("book/_assets/fonts/fonts.css")


@dataclass(frozen=True)
class Figure:
    """A figure as a notebook's cell shows it.

    Attributes:
        file: its name; the kind of file, PNG or SVG, is its end.
        width, height: in CSS pixels.
    """

    file: str
    data: bytes
    width: float
    height: float
    alt: str
    caption: str


def figure_of(notebook: str, cell: NotebookNode, kind: str = "") -> Figure | None:
    """Return the figure that a cell shows; None if it shows none of the kind.

    Args:
        kind: "image/svg+xml" or "image/png"; empty for the first of them that it has.
    """
    about = cell.metadata.get("mystnb", {})
    texts = {
        "alt": about.get("image", {}).get("alt", ""),
        "caption": about.get("figure", {}).get("caption", ""),
    }
    for output in cell.get("outputs", []):
        for found in [kind] if kind else ["image/svg+xml", "image/png"]:
            data = output.get("data", {}).get(found)
            if data and found == "image/png":
                png = base64.b64decode(data)
                size = output.metadata[found]
                return Figure(f"{notebook}-{cell.id}.png", png, **size, **texts)
            if data:
                [box] = re.findall(r"""viewBox=["']\S+ \S+ (\S+) (\S+)["']""", data)[:1]
                width, height = map(float, box)
                svg = with_fonts(data).encode()
                name = f"{notebook}-{cell.id}.svg"
                return Figure(name, svg, width, height, **texts)
    return None


def with_fonts(svg: str) -> str:
    """Put the book's fonts into a drawing, which looks the same everywhere then."""
    return (
        svg.replace("<style>", f"<style>\n{fonts()}", 1) if "Book Text" in svg else svg
    )


@cache
def fonts() -> str:
    return FONTS.read_text("utf-8")
