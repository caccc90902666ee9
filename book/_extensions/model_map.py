"""The drawing of the model, on every chapter's page with that chapter's part lit.

``book/_assets/model.svg`` is drawn once, with the fonts that it needs where it stands
alone; a page has them already. Each of its links says in ``data-chapter``
which chapter builds the part; here it learns where that chapter is, seen from the page.
A page that is not a chapter shows it with the directive ``{model-map}``, nothing lit.
"""

import re
from pathlib import Path
from posixpath import basename
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

DRAWING = Path(__file__).parents[1] / "_assets" / "model.svg"
SVG = "{http://www.w3.org/2000/svg}"
CHAPTER = re.compile(r"notebooks/(\d\d)_")


class model_map(nodes.General, nodes.Element):  # type: ignore[misc] # no types there
    """Where the drawing stands in a page."""


class ModelMap(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(DRAWING))
        return [model_map()]


def chapter_of(page: str) -> int | None:
    found = CHAPTER.match(page)
    return int(found.group(1)) if found else None


def put_under_the_title(app: Sphinx, document: nodes.document) -> None:
    if chapter_of(app.env.docname) is not None:
        app.env.note_dependency(str(DRAWING))
        title = next(document.findall(nodes.title))
        title.parent.insert(title.parent.index(title) + 1, model_map())


def draw(app: Sphinx, document: nodes.document, page: str) -> None:
    for place in list(document.findall(model_map)):
        if app.builder.format == "html":
            place.replace_self(nodes.raw("", drawing(app, page), format="html"))
        else:
            place.parent.remove(place)


def drawing(app: Sphinx, page: str) -> str:
    """The drawing as HTML, its links relative to ``page``."""
    pages = {chapter_of(name): name for name in sorted(app.env.found_docs)}
    here = chapter_of(page)
    svg = ElementTree.parse(DRAWING).getroot()
    for style in svg.findall(f"{SVG}style[@class='alone']"):
        svg.remove(style)
    caption = "Each part is a link to the chapter that builds it."
    for part in svg.iterfind(".//*[@data-chapter]"):
        chapter = int(part.attrib["data-chapter"])
        if chapter == here:
            part.set("class", f"{part.get('class', '')} lit".strip())
        if part.tag != f"{SVG}a":
            continue
        if chapter not in pages:
            raise ExtensionError(f"{DRAWING.name}: there is no chapter {chapter}")
        address = app.builder.get_relative_uri(page, pages[chapter])
        part.set("href", address or basename(app.builder.get_target_uri(page)))
        if chapter == here:
            part.set("aria-current", "page")
            caption = f"You are here. {part.attrib['aria-label']}."
    if here is not None:
        svg.set("class", f"{svg.attrib['class']} has-lit")
    ElementTree.register_namespace("", SVG.strip("{}"))
    return (
        '<nav class="model-map-place" aria-label="Map of the model">\n'
        f"{ElementTree.tostring(svg, encoding='unicode')}\n"
        f'<p class="model-map-here">{caption}</p>\n</nav>'
    )


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_node(model_map)
    app.add_directive("model-map", ModelMap)
    app.connect("doctree-read", put_under_the_title)
    app.connect("doctree-resolved", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
