"""What a page says of its pictures, once all are there: the dark ones, and their sizes.

Every picture has its width, height and time of loading, so that no page jumps.
A figure's output says how many CSS pixels it is wide, half of the pixels that it has,
so that it is crisp on a dense screen; what says nothing is shown pixel by pixel. All
but the first picture of a page wait until the reader comes near, and the first lets
the style sheets and fonts go ahead, without which no word can be read.
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
IN_STYLE = re.compile(r"\b(width|height):\s*([\d.]+)px;?\s*")


def natural_size(file: Path) -> tuple[float, float]:
    """The width and height that a file says it has, in pixels."""
    if file.suffix != ".svg":
        with Image.open(file) as image:
            return image.size
    svg = ElementTree.parse(file).getroot()
    box = [float(number) for number in svg.get("viewBox", "0 0 0 0").split()]
    width, height = (svg.get(side, "").removesuffix("px") for side in SIDES)
    return float(width or box[2]), float(height or box[3])


def reserve_its_place(image: Tag, page: Path) -> None:
    """Move the size that its style says into attributes; without one, ask the file."""
    style = str(image.get("style", ""))
    said = dict(IN_STYLE.findall(style)) | {s: image[s] for s in SIDES if image.get(s)}
    address = urlsplit(str(image["src"]))
    if not address.scheme and not address.path.startswith("/"):  # 404.html's do
        width, height = natural_size(page.parent / unquote(address.path))
        wide, high = (float(said[side]) if side in said else None for side in SIDES)
        scale = wide / width if wide else high / height if high else 1
        image["width"] = str(round(wide or width * scale))
        image["height"] = str(round(high or height * scale))
    image["style"] = IN_STYLE.sub("", style)
    if not image["style"]:
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
