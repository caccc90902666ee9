"""Complete the pictures of the built pages: dark copies, sizes and loading order.

Every picture gets its width and height, so that no page jumps while it loads. A
figure's output gives its width in CSS pixels, half of the pixels that the file has, so
that it is crisp on a dense screen; a picture without a width is shown pixel by pixel.
All but the first picture of a page load when the reader comes near. The first has a low
priority, because no word can be read without the style sheets and fonts.
"""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

from bs4 import BeautifulSoup, Tag
from PIL import Image
from sphinx.application import Sphinx

from book._extensions.dark_figures import PICTURE, with_dark_figures

SIDES = ("width", "height")
PLOT = {"only-light", "only-dark"}  # of the book's own figures (dark_figures.py)
NARROW = 520  # pixels; book.css has as many, and the caption has 240 beside them
IN_STYLE = re.compile(r"\b(width|height):\s*([\d.]+)px;?\s*")


def natural_size(file: Path) -> tuple[float, float]:
    """Return the width and height in a picture's file, in pixels."""
    if file.suffix != ".svg":
        with Image.open(file) as image:
            return image.size
    svg = ElementTree.parse(file).getroot()
    box = [float(number) for number in svg.get("viewBox", "0 0 0 0").split()]
    width, height = (svg.get(side, "").removesuffix("px") for side in SIDES)
    return float(width or box[2]), float(height or box[3])


def sizes_for_styles(width: float, ratio: float) -> str:
    """Return the CSS properties by which ``book.css`` sizes a figure."""
    return f"--own: {width:.0f}; --ratio: {ratio:.3f}"


def is_narrow(width: float, ratio: float) -> bool:
    """Return whether a figure leaves room for its caption at its side.

    That is one that is higher than wide, which fills a screen, or a plot of the usual
    width.
    """
    return ratio < 1 or width <= NARROW


def reserve_its_place(image: Tag, page: Path) -> None:
    """Write an image's size, from its style or its file, into its attributes."""
    style = str(image.get("style", ""))
    sizes = dict(IN_STYLE.findall(style)) | {s: image[s] for s in SIDES if image.get(s)}
    address = urlsplit(str(image["src"]))
    if not address.scheme and not address.path.startswith("/"):  # as on 404.html
        width, height = natural_size(page.parent / unquote(address.path))
        wide, high = (float(sizes[side]) if side in sizes else None for side in SIDES)
        scale = wide / width if wide else high / height if high else 1
        image["width"] = str(round(wide or width * scale))
        image["height"] = str(round(high or height * scale))
    style = IN_STYLE.sub("", style)
    classes = [name for name in image.get_attribute_list("class") if name]
    if "_images/" in address.path and PLOT & set(classes):
        width, height = (float(str(image[side])) for side in SIDES)
        style += sizes_for_styles(width, width / height)
        if is_narrow(width, width / height):
            image["class"] = " ".join([*classes, "narrow"])
    if style:
        image["style"] = style
    else:
        del image["style"]


def complete_pictures(html: str, page: Path) -> str:
    start = html.find("<article")
    first = PICTURE.search(html, start) if start >= 0 else None

    def completed(match: re.Match[str]) -> str:
        [image] = BeautifulSoup(match.group(), "html.parser").find_all("img")
        if image.get("decoding"):
            return match.group()  # written by an earlier build
        reserve_its_place(image, page)
        image["decoding"] = "async"
        at_once = first and match.start() == first.start()
        if at_once:
            image["fetchpriority"] = "low"
        elif "logo__image" not in image.get_attribute_list("class"):
            image["loading"] = "lazy"
        return str(image)

    return PICTURE.sub(completed, html)


def write_pages(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        html = complete_pictures(with_dark_figures(html, page), page)
        page.write_text(html, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
