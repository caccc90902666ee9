"""Add the lab's loader, style sheet and stills to the pages that show the lab.

A still takes the place of a panel on paper and where scripts are off. On the lab's own
page, where the element has ``data-whole``, the stage is as wide as the window, and each
part below it can be folded.
"""

import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from PIL import Image
from sphinx.application import Sphinx

PLACE = re.compile(r'<div class="vit-lab"([^>]*)>.*?</div>', re.DOTALL)
DATA = re.compile(r'data-(\w+)="([^"]*)"')
FOLDER = Path(__file__).parents[1] / "_assets" / "lab" / "stills"
PIXELS_A_POINT = 1.5  # pixels of a still for each CSS pixel: on paper, 210 to an inch
DIGIT = "A handwritten 5 on grass, with scraps around it"
MAPS = "most of their light is inside the box around the digit"
STILLS = {
    "attention-heads": f"{DIGIT}; bars, of which that of the 5 is by far the longest; "
    f"and the maps of four blocks with four heads each: {MAPS}.",
    "attention": f"{DIGIT}; bars, of which that of the 5 is by far the longest; and "
    f"the maps of four blocks with four heads each, and of the rollout: {MAPS}.",
    "photograph": "A cat; what the model makes of it, as four small pictures: its "
    "tokens’ three main directions in colour, the patches like its eye, norms, "
    "and saliency; and the maps of twelve blocks with six heads each.",
    "walk-embed": f"{DIGIT}; and the last step of the walk, the tokens with their "
    "positions, as a table of colours with a row for each token.",
    "walk": f"{DIGIT}; and the last step of the walk, the probabilities of the ten "
    "digits.",
}
FIGURE = """{place}
<figure class="lab-still"><img src="{source}" alt="{alt}" width="{width}"
height="{height}" decoding="async" loading="lazy" fetchpriority="low">
<figcaption><p>A still of the panel. To play with it, open {page} in a browser with
JavaScript.</p></figcaption></figure>"""
WHOLE = "data-whole"
PART = re.compile(r"(<h2>.*?</h2>)(.*?)(?=</section>)", re.DOTALL)
FOLDED = r'<details class="lab-part" open><summary>\1</summary>\2</details>'


def still_of(data: Mapping[str, str]) -> str:
    """Return the name of a still, made of the place's ``data-`` attributes."""
    parts = [data["panel"], data.get("show"), data.get("until")]
    return "-".join(part for part in parts if part)


def with_still(place: re.Match[str], static: str, page: str) -> str:
    name = still_of(dict(DATA.findall(place[1])))
    if name not in STILLS:
        return place[0]
    with Image.open(FOLDER / f"{name}.avif") as image:
        width, height = (round(side / PIXELS_A_POINT) for side in image.size)
    return FIGURE.format(
        place=place[0],
        source=f"{static}/lab/stills/{name}.avif",
        alt=escape(STILLS[name]),
        width=width,
        height=height,
        page=escape(page),
    )


def add_the_lab(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    body = context.get("body", "")
    if not PLACE.search(body):
        return
    static = context["pathto"]("_static", 1)
    address = f"{app.config.html_baseurl}{app.builder.get_target_uri(page)}"
    address = address.removeprefix("https://")
    context["body"] = PLACE.sub(lambda place: with_still(place, static, address), body)
    app.add_css_file("lab/lab.css")
    if WHOLE in body:
        context["body"] = PART.sub(FOLDED, context["body"])
        app.add_css_file("lab/stage.css")
        app.add_js_file("book/lab/stages.js", loading_method="defer")
    app.add_js_file("book/lab/load.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", add_the_lab)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
