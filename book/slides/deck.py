"""Write a chapter's slides as Markdown for Marp, from the chapter's own cells."""

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from book._extensions.plain_formulas import plain
from book.lessons import said
from book.slides.figures import Figure, figure_of
from vit_book import PHOTOS

KINDS = {
    "bet": "Bet",
    "picture": "Picture",
    "hand": "By hand",
    "answer": "Answer",
    "proof": "Proof",
    "breaks": "What breaks",
}
HEAD = """---
marp: true
theme: book
math: mathjax
paginate: true
title: "{title}"
lang: en
---
"""
LINES = 15  # of code and output that a slide has room for
OTHER = 3  # lines that another part of the slide takes
COLUMNS = 81
WIDE = 1.75  # a figure that is less wide has its text beside it, not below
HEADING = re.compile(r"^#+ (.*)\n*", re.MULTILINE)
SECTION = re.compile("^(The picture|By hand|The module|Proof|What breaks): ")
FOLD = re.compile("</?details>|<summary>.*?</summary>")
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
FORMULA = re.compile(r"\$\$?([^$]+)\$?\$")


class Deck:
    """The slides of a chapter, and the figures that they show."""

    def __init__(self, notebook: Path) -> None:
        self.name = notebook.stem
        self.cells = nbformat.read(notebook, as_version=4).cells
        self.places = {cell.id: place for place, cell in enumerate(self.cells)}
        self.figures: list[Figure] = []
        self.told: set[str] = set()  # the cells whose text is in the notes already
        self.shown: set[str] = set()  # the cells that a slide shows or quotes
        # The bet of the lesson, whose four options a class needs before its eyes.
        self.bet = said()["lessons"][str(int(self.name[:2]))]["bet"]

    def markdown(self, slides: list[dict[str, str]]) -> str:
        """Return the deck; ValueError if a slide names what the chapter lacks.

        Args:
            slides: for each its kind and its parts, as ``decks.yaml`` has them.
        """
        first = self.cells[0].source
        [title] = HEADING.findall(first)
        [question] = re.findall(r"^\*\*(.+)\*\*$", first, re.MULTILINE)
        pages = [
            f"<!-- _class: title -->\n\n# {title}\n\n{question}\n\n"
            "*Vision Transformer, Step by Step*\n\n" + self.notes([self.cells[0]])
        ]
        asked = [
            (kind, [part.partition(", ")[::2] for part in parts.split(" + ")])
            for slide in slides
            for kind, parts in slide.items()
        ]
        self.shown = {name for _, named in asked for name, _ in named}
        for kind, named in asked:
            if kind not in KINDS:
                raise ValueError(f"kind: got {kind!r}, expected one of {list(KINDS)}")
            pages.append(self.slide(kind, title, named))
        return HEAD.format(title=title) + "\n---\n\n".join([*pages, self.credits()])

    def slide(self, kind: str, title: str, named: list[tuple[str, str]]) -> str:
        shown, texts, layout = [], [], "plain"
        untitled = named[0][0] == "untitled"
        named = named[untitled:]
        bet = kind == "bet" and self.bet["cell"] in dict(named)
        for name, words in named:
            cell = self.cell(name)
            figure = figure_of(self.name, cell)
            if is_text(cell):
                quote = without_links(self.quoted(name, words)[0])
                texts.append(quote[0].upper() + quote[1:])
            elif figure:
                self.figures.append(figure)
                wide = figure.width > WIDE * figure.height
                layout = "figure-above" if wide else "figure-beside"
                image = f'<img src="figures/{figure.file}" alt="{escape(figure.alt)}">'
                shown.append(f'<div class="figure">{image}</div>')
                if len(named) == 1:
                    texts.append(without_links(figure.caption))
            else:
                room = LINES - OTHER * (len(named) - 1)
                shown += code_and_output(cell, room)
        layout = layout if shown else "words"
        if bet:
            layout += " options"
            texts.append("\n".join(f"1. {option}" for option in self.bet["options"]))
        top = f'<!-- _header: "{title} · {KINDS[kind]}" -->\n<!-- _class: {layout} -->'
        heading = "Make a bet" if untitled else self.heading(*named[0])
        right = f"{self.bet['right']} is right." if bet else ""
        notes = self.notes([self.cell(name) for name in dict(named)], right)
        return "\n\n".join([top, f"## {heading}", *shown, *texts, notes])

    def cell(self, name: str) -> NotebookNode:
        if name not in self.places:
            raise ValueError(f"{self.name}: there is no cell {name!r}")
        return self.cells[self.places[name]]

    def heading(self, name: str, words: str) -> str:
        """Return the last heading above a cell, or above some words in it."""
        cell = self.cell(name)
        above = [c.source for c in self.cells[: self.places[name]] if is_text(c)]
        if is_text(cell):
            quote = self.quoted(name, words)
            above.append(quote.string[: quote.start()])
        heading = SECTION.sub("", HEADING.findall("\n\n".join(above))[-1])
        return heading[0].upper() + heading[1:]

    def quoted(self, name: str, words: str) -> re.Match[str]:
        """Return a cell's text between some words, or to the paragraph's end."""
        first, _, last = words.partition(" … ")
        rest = ".*?" + re.escape(last) if last else "(?:(?!\n\n).)*"
        found = re.search(re.escape(first) + rest, self.cell(name).source, re.DOTALL)
        if not (words and found):
            raise ValueError(f"{self.name}: cell {name!r} does not say {words!r}")
        return found

    def notes(self, cells: list[NotebookNode], first: str = "") -> str:
        """Return the chapter's text about cells.

        What another slide has too is left out, unless nothing else is there.
        """
        about = cells
        if not is_text(cells[-1]):
            last = self.places[cells[-1].id]
            after = filter(is_read, self.cells[last + 1 :])
            about = [self.cells[self.places[cells[0].id] - 1], *cells, next(after)]
        about = [cell for cell in about if is_read(cell)]
        own = [c for c in about if c in cells or c.id not in self.shown]
        own = [cell for cell in own if cell.id not in self.told] or about
        self.told |= {cell.id for cell in own}
        text = [first] if first else []
        for cell in own:
            open_, _, _ = cell.source.partition("<details>")
            source = open_ or FOLD.sub("", cell.source)
            plainly = FORMULA.sub(lambda found: plain(found[1]), source)
            text.append(HEADING.sub("", without_links(plainly)).strip())
        return "<!--\n" + "\n\n".join(text).replace("--", "–") + "\n-->\n"

    def credits(self) -> str:
        code = "\n".join(c.source for c in self.cells if c.cell_type == "code")
        used = [
            f"{photo.loader} ({photo.credit}, {photo.license})"
            for name, photo in PHOTOS.items()
            if f'"{name}"' in code or "photos(" in code
        ]
        return (
            "<!-- _class: title -->\n\n## Sources\n\nText and figures: the authors of "
            "*Vision Transformer, Step by Step*, CC BY 4.0. Code: MIT.\n\n"
            + (f"Photographs: {'; '.join(used)}.\n" if used else "")
        )


def is_text(cell: NotebookNode) -> bool:
    return bool(cell.cell_type == "markdown")


def is_read(cell: NotebookNode) -> bool:
    return is_text(cell) and not cell.metadata.get("tags", [])


def without_links(text: str) -> str:
    return LINK.sub(r"\1", text)


def code_and_output(cell: NotebookNode, room: int) -> Iterator[str]:
    """Yield the code, if the chapter shows it and there is room, and its output."""
    tables = [
        o.data["text/html"] for o in cell.outputs if "text/html" in o.get("data", {})
    ]
    printed = "".join(
        o.text for o in cell.outputs if o.output_type == "stream"
    ).rstrip()
    code = cell.source.splitlines()
    rows = len(code) + sum(2 * table.count("<tr>") for table in tables)
    rows += sum(1 + len(line) // (COLUMNS - 6) for line in printed.splitlines())
    hidden = {"hide-input", "hide-cell"} & set(cell.metadata.get("tags", []))
    if not hidden and rows <= room and max(map(len, code)) <= COLUMNS:
        yield f"````python\n{cell.source}\n````"
    if printed:
        yield f"````text\n{printed}\n````"
    yield from (table.replace("\n", "") for table in tables)
