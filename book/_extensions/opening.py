"""Open a chapter's page with its question and its picture.

In the notebook the question is followed by the chapter's promises and its reading time.
On the page these come after the picture, before the first detailed section, and so do
the cells that prepare the picture. The words that lead to the picture are put together,
so that they can stand beside it, and so are as many paragraphs after it as fill the
rest of its height; a figure with the tag ``across-the-page`` stands by itself. On any
other page the question is only set off.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from book._extensions.model_map import chapter_of
from book._extensions.pictures import natural_size

AFTER_THE_MAP = 600  # after model_map.py has put the map below the title
# The two columns at 1280 pixels, as book.css sets them, in pixels and letters.
FIGURE, CAPTION_LINE, CAPTION_LETTERS = 480, 21.6, 60
HEADING, LINE, LETTERS, BETWEEN = 54, 27.2, 37, 18


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
    detail = next((part for part in picture if isinstance(part, nodes.section)), None)
    place = len(picture) if detail is None else picture.index(detail)
    picture[place:place] = promises
    preparing = figure_before_what_prepares_it(picture)
    words_beside_the_figure(picture, preparing, Path(app.srcdir))


def is_code(node: nodes.Node) -> bool:
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


def is_figure(cell: nodes.Node) -> bool:
    return is_code(cell) and "figure" in cell["cell_metadata"].get("mystnb", {})


def words_beside_the_figure(
    section: nodes.section, preparing: list[nodes.Node], folder: Path
) -> None:
    figure = next(filter(is_figure, section.children), None)
    if figure is None or "tag_across-the-page" in figure["classes"]:
        return
    section["classes"].append("opening")
    figure["classes"].append("opening-figure")
    before = section.children[1 : section.index(figure)]
    after = []
    if not any("guess" in one.astext() for one in before):  # its answer comes later
        whole = height_of(figure, folder)
        after = fitting(height_of_words(before), whole, words_after(figure, preparing))
    for paragraph in (*before, *after):
        section.remove(paragraph)
    section.insert(1, nodes.container("", *before, classes=["opening-text"]))
    if after:
        rest = nodes.container("", *after, classes=["opening-text"])
        section.insert(section.index(figure) + 1, rest)


def words_after(
    figure: nodes.Node, preparing: list[nodes.Node]
) -> Iterator[nodes.Node]:
    """Yield the paragraphs after a figure, up to the first cell that is not for it."""
    for part in figure.parent.children[figure.parent.index(figure) + 1 :]:
        if isinstance(part, nodes.paragraph):
            yield part
        elif part not in preparing:
            return


def height_of_words(paragraphs: list[nodes.Node]) -> float:
    """Return about how high paragraphs are in the narrow column, with the heading."""
    lines = (math.ceil(len(one.astext()) / LETTERS) for one in paragraphs)
    return HEADING + sum(LINE * count + BETWEEN for count in lines)


def height_of(figure: nodes.Node, folder: Path) -> float:
    """Return about how high a figure's picture and its caption are."""
    image = next(figure.findall(nodes.image))
    width, height = natural_size(folder / image["uri"])
    caption = next((one.astext() for one in figure.findall(nodes.caption)), "")
    lines = math.ceil(len(caption) / CAPTION_LETTERS)
    return FIGURE * height / width + CAPTION_LINE * lines


def fitting(
    height: float, whole: float, paragraphs: Iterator[nodes.Node]
) -> list[nodes.Node]:
    """Return the first paragraphs, as many as bring a height nearest to the whole."""
    taken: list[nodes.Node] = []
    for paragraph in paragraphs:
        more = height_of_words([paragraph]) - HEADING
        if height + more / 2 > whole:
            break
        taken.append(paragraph)
        height += more
    return taken


def figure_before_what_prepares_it(section: nodes.section) -> list[nodes.Node]:
    """Move the cells before the first figure behind it, and return them."""
    cells = [part for part in section if is_code(part)]
    number = next((n for n, cell in enumerate(cells) if is_figure(cell)), 0)
    before = cells[:number]
    for other in before:
        section.remove(other)
    if before:
        place = section.index(cells[number]) + 1
        section[place:place] = before
    return before


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", picture_first, priority=AFTER_THE_MAP)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
