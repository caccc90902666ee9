"""The directives that show chapters as cards, and side roads as a folded list.

    ```{chapter-cards}
    01_why_patches: picture-tokens 1 2
    ```

A line names a chapter, one of its cells, and the pictures of that cell's figure that
are shown side by side on the card; or, if the word ``drawn`` is in the cell's place,
photographs of ``book/drawings/photographs``. Title, question and minutes are read from
the notebook. A line of ``{side-roads}`` names a side road and holds the question that
it answers. Each directive must name all notebooks of its kind, in the order of the
contents.
"""

import base64
import json
import re
from io import BytesIO
from pathlib import Path
from typing import Any

from docutils import nodes
from PIL import Image
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from book._extensions.model_map import chapter_of
from book._extensions.reading_order import chapter_above, html_of, minutes_of_page
from book.drawings.kit import PHOTOGRAPHS
from book.panels import panels, side_by_side

QUESTION = re.compile(r"\*\*([^*]+\?)\*\*")
SIZE = (500, 240)  # of a card's picture, in pixels
GAP = 6  # pixels between its parts
CHAPTER = "notebooks/[0-9][0-9]_*"
SIDE_ROAD = "notebooks/side_roads/*"


class notebook_cards(nodes.General, nodes.Element):  # type: ignore[misc] # no types there
    """The place of the cards in a page."""


class Cards(SphinxDirective):
    has_content = True

    def run(self) -> list[nodes.Node]:
        lines = [line.partition(": ") for line in self.content if line.strip()]
        place = notebook_cards(kind=self.name, lines=[(a, b) for a, _, b in lines])
        self.env.metadata[self.env.docname][self.name] = {a: b for a, _, b in lines}
        for name, _, _ in lines:
            self.env.note_dependency(f"{folder_of(self.name)}/{name}.ipynb")
        return [place]


def folder_of(kind: str) -> str:
    return str(Path(CHAPTER if kind == "chapter-cards" else SIDE_ROAD).parent)


def question_of(notebook: dict[str, Any], name: str) -> str:
    """Return the question in bold with which a chapter begins."""
    for cell in notebook["cells"][:3]:
        found = QUESTION.search("".join(cell["source"]))
        if found:
            return found[1].replace("\n", " ")
    raise ExtensionError(f"{name}: no question in bold stands in its first cells")


def figure_of(notebook: dict[str, Any], name: str, cell_id: str) -> Image.Image:
    for cell in notebook["cells"]:
        if cell["id"] == cell_id:
            for output in cell.get("outputs", []):
                if "image/png" in output.get("data", {}):
                    data = "".join(output["data"]["image/png"])
                    return Image.open(BytesIO(base64.b64decode(data)))
    raise ExtensionError(f"{name}: no cell {cell_id} that shows a PNG")


def picture_of(notebook: dict[str, Any], name: str, picture: str) -> Image.Image:
    cell_id, *numbers = picture.split()
    if cell_id == "drawn":
        photographs = [Image.open(PHOTOGRAPHS / f"{one}.webp") for one in numbers]
        return side_by_side(photographs, SIZE, GAP)
    found = panels(figure_of(notebook, name, cell_id))
    wanted = [int(number) for number in numbers]
    if not wanted or not 1 <= min(wanted) <= max(wanted) <= len(found):
        raise ExtensionError(
            f"{name}: {cell_id} has the pictures 1 to {len(found)}, got {numbers}"
        )
    return side_by_side([found[number - 1] for number in wanted], SIZE, GAP)


def check_names(app: Sphinx, kind: str, names: list[str]) -> None:
    folder = folder_of(kind)
    pattern = re.compile(r"\d\d_\w+" if kind == "chapter-cards" else r"\w+")
    pages = [p.removeprefix(f"{folder}/") for p in contents(app)]
    expected = [page for page in pages if pattern.fullmatch(page)]
    if names != expected:
        raise ExtensionError(f"{kind}: got {names}, the contents say {expected}")


def contents(app: Sphinx) -> list[str]:
    """Return the pages in the order of the contents."""
    order, waiting = [], [app.config.root_doc]
    while waiting:
        page = waiting.pop(0)
        order.append(page)
        waiting = [*app.env.toctree_includes.get(page, []), *waiting]
    return order


def chapter_card(app: Sphinx, page: str, name: str, picture: str) -> str:
    target = f"{folder_of('chapter-cards')}/{name}"
    path = Path(app.srcdir, f"{target}.ipynb")
    notebook = json.loads(path.read_text(encoding="utf-8"))
    file = Path(app.outdir, "_images", "chapters", f"{name}.webp")
    file.parent.mkdir(parents=True, exist_ok=True)
    picture_of(notebook, name, picture).save(file, quality=68, method=6)
    above = "../" * page.count("/")
    return (
        f'<li><img src="{above}_images/chapters/{file.name}" alt="" class="dark-light" '
        f'width="{SIZE[0]}" height="{SIZE[1]}">'
        f'<p class="card-title"><a href="{app.builder.get_relative_uri(page, target)}">'
        f"{html_of(app.env.titles[target].astext())}</a></p>"
        f"<p>{html_of(question_of(notebook, name))}</p>"
        f'<p class="minutes">{minutes_of_page(target)} minutes</p></li>'
    )


def side_road(app: Sphinx, page: str, name: str, question: str) -> str:
    target = f"{folder_of('side-roads')}/{name}"
    said = [f"{minutes_of_page(target)} minutes"]
    if chapter := chapter_above(app, target):
        said.insert(0, f"from chapter\N{NO-BREAK SPACE}{chapter_of(chapter)}")
    return (
        f'<li><a href="{app.builder.get_relative_uri(page, target)}">'
        f"{html_of(app.env.titles[target].astext())}</a> "
        f'<span class="minutes">{", ".join(said)}</span> '
        f"<p>{html_of(question)}</p></li>"
    )


def draw(app: Sphinx, document: nodes.document, page: str) -> None:
    for place in list(document.findall(notebook_cards)):
        if app.builder.format != "html":
            place.parent.remove(place)
            continue
        kind, lines = place["kind"], place["lines"]
        check_names(app, kind, [name for name, _ in lines])
        card = chapter_card if kind == "chapter-cards" else side_road
        items = "\n".join(card(app, page, *line) for line in lines)
        shown = f'<ul class="{kind}">\n{items}\n</ul>'
        if kind == "side-roads":
            words = f"All {len(lines)}, each with its question"
            shown = f"<details><summary>{words}</summary>\n{shown}\n</details>"
        place.replace_self(nodes.raw("", shown, format="html"))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_node(notebook_cards)
    app.add_directive("chapter-cards", Cards)
    app.add_directive("side-roads", Cards)
    app.connect("doctree-resolved", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
