"""Read the sections of a page as plain text for the search.

Cells that are folded whole, contents lists, buttons and drawings are left out; the alt
texts of pictures are kept. A definition of the package, a term of the glossary or a
reference is a section of its own.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString, PreformattedString

from book._extensions.plain_formulas import plain

BLOCKS = {
    *("address", "article", "aside", "blockquote", "dd", "details", "div", "dl", "dt"),
    *("figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li"),
    *("ol", "p", "pre", "section", "summary", "table", "tbody", "thead", "tr", "ul"),
}
FURNITURE = (
    "script, style, template, noscript, button, form, nav, "
    "summary:not(:has(h2)), a.headerlink, "
    "details.hide, .toctree-wrapper, .vit-lab, .lab-still, .viewcode-link, "
    ".caption-number, .fn-bracket, .field-list > dt"
)
LINK = "dl.glossary > dd a.internal"
ENTRY = "dl.py > dt[id], dl.glossary > dt[id]"
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|al|vs|cf|Fig|Eq|No|pp)\.$")
LETTER = re.compile(r"[^\W\d_]")
# behind the authors, whose initials have a full stop too
TITLE = re.compile(r"[^\W\d_]{2}\. (.+?)(?=\. |(?<=[?!]) |$)")
DEFINITION = re.compile(r"(?:def|class) (\w+)")
END = re.compile(r"(?:(?<=[.?!…])|(?<=[.?!…][\"”’)]))\s+(?=[\"“‘(]?[A-Z0-9√])")


@dataclass
class Section:
    """A heading and the text, code and pictures between it and the next heading."""

    anchor: str
    title: str
    parent: "Section | None" = None
    prose: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)

    introduced: list[str] = field(default_factory=list)
    explained_at: str | None = None  # of a glossary term: the last link in its entry

    @property
    def names(self) -> list[str]:
        """Functions and classes that the section's code defines."""
        return [found[1] for line in self.code if (found := DEFINITION.match(line))]


def sentences(paragraph: str) -> Iterator[str]:
    begin = ""
    for part in END.split(paragraph):
        begin = f"{begin} {part}".strip()
        in_bracket = begin.count("(") > begin.count(")")
        if not in_bracket and not ABBREVIATION.search(begin):
            yield begin
            begin = ""
    if begin:
        yield begin


class Reader:
    """Read an article into sections; words are gathered until a block ends."""

    def __init__(self) -> None:
        self.sections: list[Section] = []
        self.here: Section | None = None
        self.words: list[str] = []

    def read(self, element: Tag) -> None:
        for child in element.children:
            if isinstance(child, PreformattedString):  # a comment
                continue
            if isinstance(child, NavigableString):
                self.words.append(str(child))
            elif isinstance(child, Tag) and not child.css.match(FURNITURE):
                self.read_element(child)

    def read_element(self, element: Tag) -> None:
        if element.name == "section" and (heading := heading_of(element)):
            outside = self.begin(str(element["id"]), text_of(heading))
            heading.extract()
            self.read_block(element)
            self.here = outside
        elif element.name == "dl" and element.css.match(":has(> dt[id])"):
            self.read_entries(element)
        elif element.name in ("img", "svg"):
            self.keep_what_it_shows(element)
        elif "math" in element.get_attribute_list("class"):
            self.words.append(formula_of(element))
        elif element.name in ("em", "strong"):
            self.keep_introduced(element)
        elif element.name == "pre" or element.css.match("div.highlight"):
            self.keep_code(element)
        elif element.name == "tr":
            self.keep_whole(" · ".join(map(text_of, element.css.select("td, th"))))
        elif element.css.match(".citation"):
            self.read_reference(element)
        elif element.name in BLOCKS:
            self.read_block(element)
        else:
            self.read(element)

    def read_block(self, element: Tag) -> None:
        self.end_block()
        self.read(element)
        self.end_block()

    def end_block(self) -> None:
        paragraph = " ".join("".join(self.words).split())
        self.words = []
        if self.here:
            self.here.prose += filter(LETTER.search, sentences(paragraph))

    def begin(self, anchor: str, title: str) -> Section | None:
        """Begin a section, and return the section around it."""
        self.end_block()
        outside = self.here
        self.here = Section(anchor, title, outside)
        self.sections.append(self.here)
        return outside

    def read_entries(self, element: Tag) -> None:
        outside = self.here
        for child in element.css.select(":scope > *"):
            if child.css.match(ENTRY):
                self.here = outside
                name = child.css.select_one(".descname")
                self.begin(str(child["id"]), text_of(name or child))
                if name and self.here:
                    self.here.code.append(text_of(child))
            else:
                if self.here and (links := child.css.select(LINK)):
                    self.here.explained_at = str(links[-1]["href"])
                self.read_block(child)
        self.here = outside

    def read_reference(self, element: Tag) -> None:
        """Make a section of a reference, under the title of what it refers to."""
        if label := element.css.select_one(".label"):
            label.extract()
        line = text_of(element)
        found = TITLE.search(line)
        outside = self.begin(str(element["id"]), found[1] if found else line)
        self.keep_whole(line)
        self.here = outside

    def keep_whole(self, line: str) -> None:
        """Keep a table's row or a reference as one sentence, in spite of full stops."""
        self.end_block()
        if self.here and LETTER.search(line):
            self.here.prose.append(line)

    def keep_code(self, element: Tag) -> None:
        self.end_block()
        for button in element.css.select("button"):
            button.extract()
        lines = (" ".join(line.split()) for line in element.get_text().split("\n"))
        if self.here:
            self.here.code += filter(None, lines)

    def keep_introduced(self, element: Tag) -> None:
        """Record words in italics or bold, at most three: a term explained here."""
        words = text_of(element)
        if (
            self.here
            and len(words.split()) <= 3
            and not words.endswith((".", "?", ":"))
        ):
            self.here.introduced.append(words)
        self.read(element)

    def keep_what_it_shows(self, element: Tag) -> None:
        description = element.get("alt") or element.get("aria-label")
        if description and self.here:
            self.here.pictures.append(" ".join(str(description).split()))


def heading_of(section: Tag) -> Tag | None:
    return section.css.select_one(":is(h1, h2, h3, h4, h5, h6)")


def formula_of(element: Tag) -> str:
    return plain(str(element["data-latex"]))


def text_of(element: Tag) -> str:
    for furniture in element.css.select(FURNITURE):
        furniture.extract()
    for formula in element.css.select(".math"):
        formula.replace_with(formula_of(formula))
    return " ".join(element.get_text().split())


def sections_of(page: str) -> list[Section]:
    """Return the sections of a page's HTML, from top to bottom."""
    article = BeautifulSoup(page, "html.parser").select_one("article.bd-article")
    if article is None:
        return []
    reader = Reader()
    reader.read(article)
    return reader.sections
