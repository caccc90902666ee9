"""Write the sections of all pages, and their index, for ``book/scripts/search``.

This search finds sections, misspelt words and pasted errors; Sphinx's, which it
replaces, finds pages. A page opened from a folder cannot read data files but can run
scripts, so what is searched is written as two scripts, and compressed, because it is
large: headings, terms and names, which give a first answer, and ten times as much text.
It is read from the built pages.
"""

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urljoin

from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

from book._extensions.sections import Section, sections_of
from book.node import answer_of

FOLDER = "_static/book"
NAMED, WRITTEN = "sections", "texts"
TEXTS = ("prose", "pictures", "code")
MAKES_THE_INDEX = Path(__file__).with_name("search_index.mjs")
CHAPTER = re.compile(r"notebooks/\d\d_\w+")
EXERCISES = "notebooks/exercises/"
AFTER_THE_CHAPTERS = tuple(
    f"book/{page}" for page in ("intro", "package", "glossary", "references")
)
NAME = re.compile(r"[^\W\d]\w{2,}")


class Page(NamedTuple):
    """A page of the book, with its rank in the results of a search."""

    name: str
    address: str
    sections: list[Section]

    @property
    def weight(self) -> float:
        if CHAPTER.fullmatch(self.name):
            return 1.0
        if self.name == "book/references":
            return 0.3  # its titles have many words of the field and explain none
        return 0.75 if self.name.startswith("notebooks/side_roads/") else 0.6

    def comes_after(self, other: "Page") -> bool:
        if self.name.startswith(EXERCISES):
            return other.name == f"notebooks/{self.name.removeprefix(EXERCISES)}"
        if self.name.startswith(AFTER_THE_CHAPTERS):
            return other.name.startswith("notebooks/") and EXERCISES not in other.name
        return False

    def code_of(self, section: Section) -> list[str]:
        """Return the lines of code that have new names; none for an exercise.

        The words of an exercise already name what it asks for.
        """
        if self.name.startswith(EXERCISES):
            return []
        seen: set[str] = set()
        kept = []
        for line in section.code:
            names = set(NAME.findall(line))
            if names - seen and not line.startswith(("import ", "from ")):
                kept.append(line)
            seen |= names
        return kept


def content(pages: list[Page]) -> dict[str, Any]:
    """Return the pages, and the sections column by column, which compresses better."""
    tops = {id(page.sections[0]) for page in pages}
    rows = [(place, s) for place, page in enumerate(pages) for s in page.sections]
    number = {id(s): row for row, (_, s) in enumerate(rows) if id(s) not in tops}
    at = {f"{pages[n].address}#{s.anchor}": row for row, (n, s) in enumerate(rows)}

    def row_of(term: Section, address: str) -> int:
        if address not in at:
            raise ValueError(
                f"glossary: {term.title!r} leads to {address}, expected a section"
            )
        return at[address]

    return {
        "pages": [
            {
                "address": page.address,
                "title": page.sections[0].title,
                "weight": page.weight,
                "after": [n for n, one in enumerate(pages) if page.comes_after(one)],
            }
            for page in pages
        ],
        "sections": {
            "page": [place for place, _ in rows],
            "anchor": [s.anchor for _, s in rows],
            "title": [s.title for _, s in rows],
            "parent": [number.get(id(s.parent)) for _, s in rows],
            "explained_at": [
                s.explained_at
                and row_of(s, urljoin(pages[place].address, s.explained_at))
                for place, s in rows
            ],
            "names": [s.names for _, s in rows],
            "introduced": [s.introduced for _, s in rows],
            "prose": [s.prose for _, s in rows],
            "pictures": [s.pictures for _, s in rows],
            "code": [pages[place].code_of(s) for place, s in rows],
        },
    }


def in_two(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what each of the two scripts holds, the second with the whole index.

    The search's own modules make the index.
    """
    columns = found["sections"]
    named = {name: columns[name] for name in columns if name not in TEXTS}
    written = {name: columns[name] for name in TEXTS}
    index = json.loads(answer_of(MAKES_THE_INDEX, found))
    first = {"pages": found["pages"], "sections": named}
    return {NAMED: first, WRITTEN: {"sections": written, "index": index}}


def packed(name: str, held: dict[str, Any]) -> str:
    text = json.dumps(held, ensure_ascii=False, separators=(",", ":"))
    code = base64.b64encode(zlib.compress(text.encode(), level=9)).decode()
    return f'bookSearch.receive("{name}", "{code}");\n'


def leave_out_that_of_sphinx(app: Sphinx) -> None:
    if isinstance(app.builder, StandaloneHTMLBuilder):
        app.builder.search = False


def exchange_scripts(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    app.add_js_file("book/search.js", loading_method="defer")
    for script in list(context["script_files"]):
        if "sphinx_highlight.js" in str(script.filename):
            context["script_files"].remove(script)


def write_sections(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    pages = []
    for name in sorted(app.env.found_docs):
        address = app.builder.get_target_uri(name)
        sections = sections_of((folder / address).read_text("utf-8"))
        if sections:
            pages.append(Page(name, address, sections))
    for name, held in in_two(content(pages)).items():
        (folder / FOLDER / f"{name}.js").write_text(packed(name, held), "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", leave_out_that_of_sphinx)
    app.connect("html-page-context", exchange_scripts)
    app.connect("build-finished", write_sections)
    app.config.html_additional_pages = {"search": "search.html"}
    return {"parallel_read_safe": True, "parallel_write_safe": True}
