"""Open a chapter's page with its question and its picture.

In the notebook the question is followed by the chapter's promises and its reading time.
On the page these come after the picture, before the first detailed section, and so do
the cells that prepare the picture. The picture comes before its words, unless they ask
for a guess. On any other page the question is only set off.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from book._extensions.model_map import chapter_of

AFTER_THE_MAP = 600  # after model_map.py has put the map below the title


def is_question(node: nodes.Node) -> bool:
    """Return whether a node is a paragraph of one question, all in bold type."""
    if not isinstance(node, nodes.paragraph):
        return False
    parts = [part for part in node.children if part.astext()]
    is_bold = len(parts) == 1 and isinstance(parts[0], nodes.strong)
    return is_bold and node.astext().endswith("?")


def picture_first(app: Sphinx, document: nodes.document) -> None:
    chapter = next(document.findall(nodes.section), nodes.section())
    question = next(filter(is_question, chapter.children), None)
    if question is not None:
        app.env.metadata[app.env.docname]["question"] = question.astext()
    if chapter_of(app.env.docname) is None:
        if question is not None:
            question["classes"].append("page-question")
        return
    picture = next((part for part in chapter if isinstance(part, nodes.section)), None)
    if question is None or picture is None:
        return
    question["classes"].append("chapter-question")
    after = chapter.index(question) + 1
    promises = [
        node
        for node in chapter.children[after : chapter.index(picture)]
        if not is_code(node)
    ]
    for promise in promises:
        chapter.remove(promise)
    detail = next((part for part in picture if isinstance(part, nodes.section)), None)
    place = len(picture) if detail is None else picture.index(detail)
    picture[place:place] = promises
    picture["classes"].append("opening")
    figure_first(picture)


def is_code(node: nodes.Node) -> bool:
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


def is_figure(cell: nodes.Node) -> bool:
    return is_code(cell) and "figure" in cell["cell_metadata"].get("mystnb", {})


def figure_first(section: nodes.section) -> None:
    """Move the first figure before its words, or behind those that ask for a guess."""
    figure = next(filter(is_figure, section.children), None)
    if figure is None:
        return
    before = section.children[1 : section.index(figure)]
    words = [part for part in before if not is_code(part)]
    cells = [part for part in before if is_code(part)]
    for part in (figure, *before):
        section.remove(part)
    asks = any("guess" in part.astext() for part in words)
    first = [*words, figure] if asks else [figure, *words]
    section[1:1] = [*first, *cells]


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", picture_first, priority=AFTER_THE_MAP)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
