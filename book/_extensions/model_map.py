"""Show the map of the model: open on some pages, behind a line on every chapter's page.

``book/_assets/model.svg`` is drawn once. It holds the fonts that it needs when it is
opened alone; a page has them already. The attribute ``data-chapter`` of a link in it
names the chapter that builds the part, and the link gets that chapter's address
relative to the page. The directive ``{model-map}`` shows the map. Under the title of a
chapter, a line says which of the chapters it is, with a small model in which the
chapter's part is lit, and opens the map.
"""

import re
from pathlib import Path
from posixpath import basename
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

DRAWING = Path(__file__).parents[1] / "_assets" / "model.svg"
SVG = "{http://www.w3.org/2000/svg}"
CHAPTER = re.compile(r"notebooks/(\d\d)_")
ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
).split()
# The small model: a digit is the chapter that builds the part, in the parts around it.
PARTS = "1 2 3 [6 [5 [4]]] 7"


class model_map(nodes.General, nodes.Element):  # type: ignore[misc] # no types there
    """The place of the map in a page."""


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
            drawn = drawing if chapter_of(page) is None else line
            place.replace_self(nodes.raw("", drawn(app, page), format="html"))
        else:
            place.parent.remove(place)


def linked_drawing(app: Sphinx, page: str) -> tuple[Element, dict[int, Element]]:
    """Return the map, and its links by chapter, with addresses relative to ``page``."""
    pages = {chapter_of(name): name for name in sorted(app.env.found_docs)}
    svg = ElementTree.parse(DRAWING).getroot()
    links = {}
    for link in svg.iterfind(f".//{SVG}a[@data-chapter]"):
        chapter = int(link.attrib["data-chapter"])
        if chapter not in pages:
            raise ExtensionError(f"{DRAWING.name}: there is no chapter {chapter}")
        address = app.builder.get_relative_uri(page, pages[chapter])
        link.set("href", address or basename(app.builder.get_target_uri(page)))
        links[chapter] = link
    return svg, links


def drawing(app: Sphinx, page: str) -> str:
    svg, links = linked_drawing(app, page)
    for style in svg.findall(f"{SVG}style[@class='alone']"):
        svg.remove(style)
    here = chapter_of(page)
    if here is not None and here not in links:
        wanted = f'expected a link with data-chapter="{here}"'
        raise ExtensionError(f"{DRAWING.name}: chapter {here} has no place, {wanted}")
    if here is not None:
        for part in svg.iterfind(f".//*[@data-chapter='{here}']"):
            part.set("class", f"{part.get('class', '')} lit")
        svg.set("class", f"{svg.get('class', '')} has-lit")
        links[here].set("aria-current", "page")
    ElementTree.register_namespace("", SVG.strip("{}"))
    return (
        '<nav class="model-map-place" aria-label="Map of the model">\n'
        f"{ElementTree.tostring(svg, encoding='unicode')}\n"
        '<p class="model-map-here">Each part is a link to the chapter that builds it.'
        "</p>\n</nav>"
    )


def small_model(here: int | None) -> str:
    """Return the parts of the model as boxes in boxes, with one lit.

    A chapter that builds none has its number beside them.
    """

    def box(part: re.Match[str]) -> str:
        lit = ' class="lit"' if int(part[2]) == here else ""
        return f"<b{lit}>{part[2]}{'' if part[1] else '</b>'}"

    boxes = re.sub(r"(\[?)(\d)", box, PARTS).replace("]", "</b>")
    if here is not None and str(here) not in PARTS:
        own = f'<b class="lit">{here}</b>'
        boxes = f"{own} · {boxes}" if here == 0 else f"{boxes} · {own}"
    return f'<span class="small-model" aria-hidden="true">{boxes}</span>'


def line(app: Sphinx, page: str) -> str:
    """Return the map behind a line that says which of the chapters this is."""
    found = map(chapter_of, app.env.found_docs)
    chapters = sorted(number for number in found if number is not None)
    at = chapters.index(chapter_of(page) or 0)
    which = "last" if at + 1 == len(chapters) else ORDINALS[at]
    said = f"Chapter {chapter_of(page)}, the {which} of {len(chapters)}"
    return (
        f'<details class="chapter-line"><summary>{said} '
        f'{small_model(chapter_of(page))} <span class="to-map">Map of the model</span>'
        f"</summary>\n{drawing(app, page)}\n</details>"
    )


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_node(model_map)
    app.add_directive("model-map", ModelMap)
    app.connect("doctree-read", put_under_the_title)
    app.connect("doctree-resolved", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
