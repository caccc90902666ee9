"""Open a chapter's page with its question and its picture.

In the notebook the question is followed by the chapter's promises and its reading time.
On the page these come after the picture, before the first detailed section, and so do
the cells that prepare the picture. The words that lead to the picture are put together,
so that they can stand beside it. On any other page the question is only set off.
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
    figure_before_what_prepares_it(picture)
    words_beside_the_figure(picture)
    detail = next((part for part in picture if isinstance(part, nodes.section)), None)
    place = len(picture) if detail is None else picture.index(detail)
    picture[place:place] = promises


def is_code(node: nodes.Node) -> bool:
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


def is_figure(cell: nodes.Node) -> bool:
    return is_code(cell) and "figure" in cell["cell_metadata"].get("mystnb", {})


def words_beside_the_figure(section: nodes.section) -> None:
    figure = next(filter(is_figure, section.children), None)
    if figure is None:
        return
    section["classes"].append("opening")
    figure["classes"].append("opening-figure")
    words = section.children[1 : section.index(figure)]
    for paragraph in words:
        section.remove(paragraph)
    section.insert(1, nodes.container("", *words, classes=["opening-text"]))


def figure_before_what_prepares_it(section: nodes.section) -> None:
    cells = [part for part in section if is_code(part)]
    for number, cell in enumerate(cells):
        if is_figure(cell):
            before = cells[:number]
            for other in before:
                section.remove(other)
            place = section.index(cell) + 1
            section[place:place] = before
            return


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", picture_first, priority=AFTER_THE_MAP)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
