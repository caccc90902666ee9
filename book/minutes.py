"""Write how long each chapter takes, wherever the book states it: `make minutes`.

    python -m book.minutes              count, and write the files that change
    python -m book.minutes --check      list these files, change nothing

A minute is 130 words of running text or 12 lines of code, and a figure takes a minute
and a half: this fits the times that eight first readers took. Folded and hidden parts,
headings, tables and displayed formulas are not counted; a name in code and a formula in
a sentence count as one word each. The time is rounded up to the next five minutes. It
is written into the first cell of a chapter or a side road ("It takes about 45
minutes."), and into each table with a column "minutes" whose row links to the notebook.
A row that links to sections of notebooks has the minutes of these sections, rounded up,
and the row "all of it" has the sum of the rows above it. The cards of the first page
(book/notebook_cards.py) are counted when the book is built.
"""

import json
import math
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from mdit_py_plugins.anchors.index import slugify
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

from book._extensions.folding import FOLDED_WHOLE, visible_lines
from book._extensions.reading_order import STATED

ROOT = Path(__file__).resolve().parents[1]
PAGES = ["book/intro.md", "book/teaching.md"]
WORDS, LINES = 130, 12  # read in a minute
FIGURE = 1.5  # minutes
HIDDEN_WHOLE = {"hide-cell", "remove-cell", "remove-output"}  # no outputs

SYNTAX = {"amsmath", "colon_fence", "deflist", "dollarmath"}
ONE_WORD = {"code_inline", "math_inline", "myst_role"}
NOT_READ = {"heading_open": "heading_close", "table_open": "table_close"}
WORD = re.compile(r"[\w'’]+")

HEADING = re.compile(r"^(#{1,3}) (.+)$", re.MULTILINE)
LINK_TO_NOTEBOOK = re.compile(r"\]\(([^)#]+\.ipynb)(?:#([^)]+))?\)")


@cache
def parser() -> MarkdownIt:
    return create_md_parser(MdParserConfig(enable_extensions=SYNTAX), RendererHTML)


def running_text(markdown: str) -> Iterator[Token]:
    """Yield the running text as tokens, without headings, tables and folds."""
    until = ""
    folds = 0
    for token in parser().parse(markdown):
        if token.type == "html_block":
            folds += token.content.count("<details")
            folds -= token.content.count("</details>")
        elif until:
            until = "" if token.type == until else until
        elif token.type in NOT_READ:
            until = NOT_READ[token.type]
        elif token.type == "colon_fence" and "dropdown" not in token.info and not folds:
            yield from running_text(token.content)
        elif token.type == "inline" and not folds:
            yield from token.children or []


def words(markdown: str) -> int:
    return sum(
        1 if token.type in ONE_WORD else len(WORD.findall(token.content))
        for token in running_text(markdown)
        if token.type in ONE_WORD or token.type == "text"
    )


def figures(cell: dict[str, Any]) -> int:
    """Count the pictures that a cell shows."""
    shown = [output.get("data", {}) for output in cell.get("outputs", [])]
    return sum(any(kind.startswith("image/") for kind in data) for data in shown)


def pieces(notebook: dict[str, Any]) -> Iterator[tuple[int, str, float]]:
    """Yield, in order, a heading's level, its text, and the minutes to the next one.

    Text and code that follow no heading in their own cell have level 0.
    """
    for cell in notebook["cells"]:
        tags = set(cell["metadata"].get("tags", []))
        if not HIDDEN_WHOLE & tags:
            yield 0, "", figures(cell) * FIGURE
        if FOLDED_WHOLE & tags:
            continue
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            before, *rest = HEADING.split(source)
            yield 0, "", words(before) / WORDS
            for level, heading, text in zip(*[iter(rest)] * 3, strict=True):
                yield len(level), heading, words(text) / WORDS
        elif cell["cell_type"] == "code":
            named = cell["metadata"].get("fold", [])
            yield 0, "", visible_lines(source, named) / LINES


def minutes_of(notebook: dict[str, Any]) -> int:
    return math.ceil(sum(minutes for _, _, minutes in pieces(notebook)))


def minutes(path: Path) -> int:
    """Return the minutes that a notebook takes to read and follow, rounded up."""
    return minutes_of(json.loads(path.read_text("utf-8")))


def section_minutes(notebook: dict[str, Any], anchor: str) -> float:
    """Return the minutes that a section takes, with the sections below it.

    Raises:
        KeyError: if no heading has that anchor.
    """
    total = 0.0
    depth = None
    for level, heading, minutes in pieces(notebook):
        if level and depth is None and slugify(heading) == anchor:
            depth = level
        elif level and depth is not None and level <= depth:
            break
        if depth is not None:
            total += minutes
    if depth is None:
        raise KeyError(anchor)
    return total


def linked_minutes(row: str, folder: Path) -> int | None:
    """Return the minutes for a table's row: of its linked sections, or its notebook."""
    links = LINK_TO_NOTEBOOK.findall(row)
    sections = [(folder / path, anchor) for path, anchor in links if anchor]
    if sections:
        notebooks = {path: json.loads(path.read_text("utf-8")) for path, _ in sections}
        return math.ceil(sum(section_minutes(notebooks[p], a) for p, a in sections))
    return in_fives(minutes((folder / links[0][0]).resolve())) if links else None


def in_fives(number: int) -> int:
    return 5 * math.ceil(number / 5)


def with_time(markdown: str, number: int) -> str:
    """Write the minutes into a chapter's first cell; the words after them stay."""
    return STATED.sub(f"It takes about {number} minutes", markdown, count=1)


def with_times_in_tables(markdown: str, folder: Path) -> str:
    """Write the minutes of linked notebooks into the columns "minutes" of a text."""
    lines = markdown.split("\n")
    column = None
    total = 0
    for number, line in enumerate(lines):
        cells = line.split("|")
        names = [cell.strip() for cell in cells]
        if not line.startswith("|"):
            column = None
            total = 0
        elif column is None:
            column = names.index("minutes") if "minutes" in names else -1
        elif column > 0 and names[column].isdecimal():  # "0–10" stays
            stated = linked_minutes(line, folder)
            if names[1] == "all of it":
                stated = total
            if stated is not None:
                total += stated
                cells[column] = f" {stated} "
                lines[number] = "|".join(cells)
    return "\n".join(lines)


def notebooks() -> list[Path]:
    chapters = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
    return [*chapters, *sorted((ROOT / "notebooks" / "side_roads").glob("*.ipynb"))]


def notebook_with_times(path: Path) -> str:
    notebook = json.loads(path.read_text("utf-8"))
    texts = [cell for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    if not STATED.search("".join(texts[0]["source"])):
        raise SystemExit(
            f'{path.name}: the first cell lacks "It takes about 45 minutes."'
        )
    stated = in_fives(minutes_of(notebook))
    for cell in texts:
        before = "".join(cell["source"])
        after = with_times_in_tables(before, path.parent)
        if cell is texts[0]:
            after = with_time(after, stated)
        if after != before:
            cell["source"] = after.splitlines(keepends=True)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def rewritten() -> dict[Path, str]:
    """Return the new text of each file whose times have changed."""
    texts = {path: notebook_with_times(path) for path in notebooks()}
    for path in (ROOT / page for page in PAGES):
        texts[path] = with_times_in_tables(path.read_text("utf-8"), path.parent)
    return {p: text for p, text in texts.items() if text != p.read_text("utf-8")}


def main(arguments: list[str]) -> None:
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    for path, text in rewritten().items():
        print(path.relative_to(ROOT).as_posix())
        if not arguments:
            path.write_text(text, "utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
