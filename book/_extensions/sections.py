"""The sections of a page as plain text: what a reader may look for, and no furniture.

Code that is folded whole, contents lists, buttons and drawings are left out; what a
picture is said to show is not. A definition of the package or a term of the glossary is
a section of its own.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from bs4 import BeautifulSoup, NavigableString, Tag
from bs4.element import PreformattedString

from book._extensions.plain_formulas import plain

BLOCKS = {
    *("address", "article", "aside", "blockquote", "dd", "details", "div", "dl", "dt"),
    *("figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li"),
    *("ol", "p", "pre", "section", "summary", "table", "tbody", "thead", "tr", "ul"),
}
FURNITURE = (
    "script, style, template, noscript, button, form, nav, a.headerlink, details.hide, "
    ".toctree-wrapper, .vit-lab, .viewcode-link, .caption-number, .fn-bracket"
)
ENTRY = "dl.py > dt[id], dl.glossary > dt[id]"
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|al|vs|cf|Fig|Eq|No|pp)\.$")
DEFINITION = re.compile(r"(?:def|class) (\w+)")
END = re.compile(r"(?<=[.?!…])[\"”’)]*\s+(?=[\"“‘(]?[A-Z0-9√])")


@dataclass
class Section:
    """A heading and what stands under it, down to the next heading."""

    anchor: str
    title: str
    parent: "Section | None" = None
    prose: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """Functions and classes that its code defines."""
        return [found[1] for line in self.code if (found := DEFINITION.match(line))]


def sentences(paragraph: str) -> Iterator[str]:
    begin = ""
    for part in END.split(paragraph):
        begin = f"{begin} {part}".strip()
        if not ABBREVIATION.search(begin):
            yield begin
            begin = ""
    if begin:
        yield begin


class Reader:
    def __init__(self) -> None:
        self.sections: list[Section] = []
        self.words: list[str] = []

    def flush(self) -> None:
        paragraph = " ".join("".join(self.words).split())
        self.words = []
        if self.sections and re.search(r"\w", paragraph):
            self.sections[-1].prose += sentences(paragraph)

    def begin(self, anchor: str, title: str, parent: Section | None) -> Section:
        self.flush()
        self.sections.append(Section(anchor, title, parent))
        return self.sections[-1]

    def resume(self, section: Section) -> None:
        """What follows a section inside another belongs to the one outside."""
        self.flush()
        self.sections.remove(section)
        self.sections.append(section)

    def read(self, element: Tag, inside: Section | None) -> None:
        for child in element.children:
            if isinstance(child, PreformattedString):  # a comment
                continue
            if isinstance(child, NavigableString):
                self.words.append(str(child))
            elif isinstance(child, Tag) and not child.css.match(FURNITURE):
                self.read_element(child, inside)

    def read_element(self, element: Tag, inside: Section | None) -> None:
        if element.name == "section" and (heading := heading_of(element)):
            section = self.begin(str(element["id"]), text_of(heading), inside)
            heading.extract()
            self.read(element, section)
            self.flush()
            if inside:
                self.resume(inside)
        elif element.name == "dl" and element.css.match(":has(> dt[id])"):
            self.read_entries(element, inside)
        elif element.name in ("img", "svg"):
            said = element.get("alt") or element.get("aria-label")
            if said and inside:
                inside.pictures.append(" ".join(str(said).split()))
        elif "math" in element.get_attribute_list("class"):
            self.words.append(formula_of(element))
        elif element.name == "pre" or element.css.match("div.highlight"):
            self.flush()
            if inside:
                lines = element.get_text().split("\n")
                inside.code += [s for line in lines if (s := " ".join(line.split()))]
        elif element.name in ("td", "th", "br"):
            self.read(element, inside)
            self.words.append(" · " if element.name != "br" else " ")
        elif element.name == "tr" or element.css.match(".citation"):
            self.flush()
            self.read(element, inside)
            self.keep_whole(inside)
        elif element.name in BLOCKS:
            self.flush()
            self.read(element, inside)
            self.flush()
        else:
            self.read(element, inside)

    def keep_whole(self, inside: Section | None) -> None:
        """A row or a reference is one sentence, whatever its full stops say."""
        line = " ".join("".join(self.words).split()).removesuffix(" ·")
        self.words = []
        if inside and re.search(r"\w", line):
            inside.prose.append(line)

    def read_entries(self, element: Tag, inside: Section | None) -> None:
        entry = inside
        for child in list(element.children):
            if not isinstance(child, Tag):
                continue
            if child.css.match(ENTRY):
                name = child.css.select_one(".descname") or child
                entry = self.begin(str(child["id"]), text_of(name), inside)
                if name is not child:
                    entry.code.append(text_of(child))
            else:
                self.read(child, entry)
                self.flush()
        if inside:
            self.resume(inside)


def heading_of(section: Tag) -> Tag | None:
    return section.css.select_one(":is(h1, h2, h3, h4, h5, h6)")


def formula_of(element: Tag) -> str:
    return plain(element.get_text().strip()[2:-2])  # between \\( and \\), or \\[ and \\]


def text_of(element: Tag) -> str:
    for furniture in element.css.select(FURNITURE):
        furniture.extract()
    for formula in element.css.select(".math"):
        formula.replace_with(formula_of(formula))
    return " ".join(element.get_text().split())


def sections_of(page: str) -> list[Section]:
    """The sections of a page's HTML, from its top to its end."""
    article = BeautifulSoup(page, "html.parser").select_one("article.bd-article")
    if article is None:
        return []
    reader = Reader()
    reader.read(article, None)
    order = {tag["id"]: place for place, tag in enumerate(article.select("[id]"))}
    return sorted(reader.sections, key=lambda section: order[section.anchor])
