"""The look of the book's figures: colours, sizes, and PNGs that are crisp and small."""

import io
import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from IPython.core.getipython import get_ipython
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox
from PIL import Image
from PIL.PngImagePlugin import PngInfo

# The book's font, which book/fonts.py makes from Inter (SIL Open Font License, in the
# same folder).
FONTS = Path(__file__).parent / "fonts"

# Okabe and Ito's colours, which differ for every kind of colour vision.
COLOURS = {
    "blue": "#0072B2",
    "orange": "#E69F00",
    "green": "#009E73",
    "vermilion": "#D55E00",
    "sky": "#56B4E9",
    "purple": "#CC79A7",
    "grey": "#666666",
}

# The same for letters on white, darker where a line's colour is too pale to be read.
LETTERS = COLOURS | {
    "orange": "#9A6B00",
    "green": "#008561",
    "vermilion": "#C05500",
    "sky": "#3A7A9E",
    "purple": "#A16084",
}

# The scale of attention weights, and of all numbers from 0 up that a map shows: in
# plots, drawings, moving figures and the lab (book/scripts/shared/scale.js). It reads
# in grey and for every kind of colour vision, as lightness rises with the number.
SCALE = "viridis"


def use_book_style() -> None:
    """Set matplotlib to the look of the book's figures, the same on every machine."""
    for file in sorted(FONTS.glob("*.ttf")):
        fontManager.addfont(file)
    plt.rcParams.update(
        {
            "figure.figsize": (7.2, 3.6),
            "figure.dpi": 110,
            "figure.facecolor": "white",
            "figure.constrained_layout.use": True,
            "font.family": ["Book Text", "DejaVu Sans"],  # the second is matplotlib's
            "font.size": 10,
            "axes.titlesize": 10,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.prop_cycle": cycler(color=COLOURS.values()),
            "axes.grid": False,
            "legend.frameon": False,
            "image.cmap": SCALE,
            "lines.linewidth": 2,
        }
    )
    shell = get_ipython()
    if shell is not None and shell.display_formatter is not None:
        # A backend sets a formatter of its own when it is loaded, so load it first.
        plt.switch_backend(plt.get_backend())
        shell.display_formatter.formatters["image/png"].for_type(Figure, book_png)


def name_line(
    line: Line2D, at: int = -1, away: tuple[float, float] = (6, 0), **how: Any
) -> None:
    """Write a line's label beside its last point, or another one, in its colour.

    Text that begins ``away`` from the point, in 1/72 of an inch, needs no legend. With
    ``ha="right"`` it ends there.
    """
    letters = {COLOURS[name]: LETTERS[name] for name in COLOURS}
    style = {"color": letters[str(line.get_color())], "va": "center"} | how
    x, y = np.asarray(line.get_xydata())[at]
    assert isinstance(line.axes, Axes), "the line is in a plot"
    line.axes.annotate(
        str(line.get_label()), (x, y), away, textcoords="offset points", **style
    )


def book_png(figure: Figure) -> tuple[bytes, dict[str, int]]:
    """Return a figure as PNG, and the width and height that a page shows it at.

    It has twice the pixels, so that it is crisp on a dense screen, in 256 colours, so
    that it is small all the same. The PNG's text field ``images`` lists the places of
    photographs and heat maps, whose colours stay when a page is shown in dark colours.
    """
    dpi = figure.dpi
    figure.dpi = 2 * dpi  # _images measures the figure in pixels of the PNG
    try:
        drawn = io.BytesIO()
        figure.savefig(drawn, format="png", dpi=figure.dpi, bbox_inches="tight")
        picture = Image.open(drawn).convert("RGB")
        cut = figure.get_tightbbox().padded(plt.rcParams["savefig.pad_inches"])
        fields = PngInfo()
        fields.add_text("images", json.dumps(_images(figure, cut, picture.height)))
    finally:
        figure.dpi = dpi
    width, height = picture.size
    pixels = np.asarray(picture.convert("RGBA")).view(">u4")  # a number for each colour
    codes, index, counts = np.unique(pixels, return_inverse=True, return_counts=True)
    colours = codes.view(np.uint8).reshape(-1, 4)[:, :3]  # (n, 3)
    frequent = colours[counts.argsort()[::-1][:32]]
    large = _palette(picture, 144, Image.Quantize.MEDIANCUT)  # colours of large areas
    far_apart = _palette(picture, 80, Image.Quantize.MAXCOVERAGE)  # colours of lines
    palette = np.concatenate([frequent, large, far_apart])
    nearest = _nearest(palette, colours)
    small = Image.fromarray(nearest[index].reshape(height, width).astype(np.uint8))
    small.putpalette(palette.tobytes())
    data = io.BytesIO()
    small.save(data, format="png", optimize=True, pnginfo=fields)
    return data.getvalue(), {"width": width // 2, "height": height // 2}


def _nearest(palette: np.ndarray, colours: np.ndarray) -> np.ndarray:
    """Return the number of the nearest colour of the palette for each colour."""
    targets = palette.astype(np.float32)
    found = [np.empty(0, dtype=int)]
    for start in range(0, len(colours), 2**15):  # 32 MB at a time
        part = colours[start : start + 2**15].astype(np.float32)
        found.append((np.square(targets).sum(1) - 2 * part @ targets.T).argmin(1))
    return np.concatenate(found)


def _images(figure: Figure, cut: Bbox, height: int) -> list[dict[str, Any]]:
    """Return the places of images and colour bars, in pixels of the cut-out PNG.

    Each has a ``box`` of left, top, right, bottom, and ``holes``, which is true if
    the white background shows through, as in a heat map with masked numbers.
    """
    left = cut.x0 * figure.dpi
    bottom = cut.y0 * figure.dpi
    found = []
    for image in [*figure.findobj(AxesImage), *figure.findobj(QuadMesh)]:
        if image.axes is None or not (image.axes.get_visible() and image.get_visible()):
            continue
        seen = Bbox.intersection(image.get_window_extent(), image.axes.bbox)
        if seen is not None and seen.width and seen.height:
            top = height + bottom  # the PNG's upper edge; y counts upwards in seen
            edges = (seen.x0 - left, top - seen.y1, seen.x1 - left, top - seen.y0)
            box = [round(edge) for edge in edges]
            holes = bool(np.ma.is_masked(image.get_array()))
            found.append({"box": box, "holes": holes})
    return found


def _palette(picture: Image.Image, count: int, method: Image.Quantize) -> np.ndarray:
    """Return colours of a picture, (count, 3) at most, by a method of Pillow."""
    found = picture.quantize(count, method).getpalette() or []
    return np.array(found[: 3 * count], np.uint8).reshape(-1, 3)
