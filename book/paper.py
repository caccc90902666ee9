"""Join built pages into one document for a browser to print.

Parts that only work on a screen are left out. A link to another page of the document
becomes a link inside it; a link to any other page leads to the site on the web.
"""

import re
from html import escape
from pathlib import Path, PurePosixPath
from posixpath import normpath
from urllib.parse import unquote, urlsplit

import yaml
from bs4 import BeautifulSoup, Tag

from book._extensions.repository import Repository
from book.pdf_links import FRONT

ROOT = Path(__file__).resolve().parents[1]
HTML = ROOT / "_build" / "html"
FOR_TEACHERS = tuple(
    f"book/{name}"
    for name in (
        "teaching",
        "lessons",
        "classroom",
        "assessment",
        "assistants",
        "project",
    )
)
NOT_ON_PAPER = ("book/lab", "book/package/", "notebooks/exercises/", *FOR_TEACHERS)
LEFT_OUT = [
    "a.headerlink",
    "button",
    "script",
    "img.only-dark",
    "#pst-back-to-top",
    "details.hide",  # code of figures, and checks of the text
    "details.chapter-line",  # the map on each chapter's page is only navigation
    ".viewcode-link",
    ".toctree-wrapper",
    ".folded",
]
LONGEST_WHOLE = 14  # lines of code; longer code may be divided between pages
STYLES = [
    "_static/fonts/fonts.css",
    "_static/theme.css",
    "_static/fonts/math.css",
    "_static/book.css",
    "_static/first_page.css",
    "_static/lab/lab.css",
    "_static/print.css",
]
NUMBER_TO_COME = "000"
NOT_IN_A_STRING = re.compile(r'["\\<\n]')
HEAD = """<!DOCTYPE html>
<html lang="en" data-theme="light"><head><meta charset="utf-8"><title>{title}</title>
{sheets}
<style>{heads}</style>
</head>
<body class="book-on-paper"><main>
"""
TITLE_PAGE = """
<section class="title-page"><img src="{logo}" alt="">
<p class="book-title">{title}</p><p>{author}</p>
<p class="licence">Text and figures: CC BY 4.0, creativecommons.org/licenses/by/4.0.
Code: MIT. Fonts, cut from Inter and Fira Code: SIL Open Font License.
Photographs: each its own licence, in vit_book/photographs.py.<br>
On the web are the pages to play with and the exercises, which a check corrects while
you solve them: <a href="{pages}">{pages}</a>. The notebooks have all of the code, also
that which only draws the figures: <a href="{repository}">{repository}</a></p></section>
"""
COLOPHON = """
<p class="colophon">From <i>{title}</i>. The exercises of a chapter, which a check
corrects while you solve them, are on the web, <a href="{pages}">{pages}</a>. The
notebooks have all of the code, also that which only draws the figures:
<a href="{repository}">{repository}</a>. Text and figures: CC BY 4.0. Code: MIT.</p>
"""


def quoted(text: str) -> str:
    """Quote a text as a CSS string that is also safe inside an element of HTML."""
    safe = NOT_IN_A_STRING.sub(lambda sign: f"\\{ord(sign[0]):x} ", text)
    return f'"{safe}"'


def running_head(title: str, address: str, named: str = "") -> str:
    """Return a CSS rule for the margins of all pages of paper, or of the named pages.

    The position and type of the words are set in ``print.css``.
    """
    address = address.removeprefix("https://").rstrip("/")
    return (
        f"@page {named} {{ @top-right {{ content: {quoted(title)} }} "
        f"@bottom-left {{ content: {quoted(address)} }} }}"
    )


def settings() -> dict[str, str]:
    text = (ROOT / "_config.yml").read_text(encoding="utf-8")
    return {key: yaml.safe_load(text)[key] for key in ("title", "author")}


def parts_on_paper() -> list[tuple[str, list[str]]]:
    """Return the names of the book's parts, each with its pages on paper."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    parts = [("", [toc["root"]])]
    for part in toc["parts"]:
        entries = [e for c in part["chapters"] for e in (c, *c.get("sections", []))]
        files = [entry["file"] for entry in entries]
        on_paper = [file for file in files if not file.startswith(NOT_ON_PAPER)]
        if on_paper:
            parts.append((part["caption"], on_paper))
    return parts


def pages_on_paper() -> list[str]:
    return [page for _, pages in parts_on_paper() for page in pages]


def name_of(page: str) -> str:
    return page.replace("/", "-")


def title_of(article: Tag) -> str:
    return article.h1.get_text() if article.h1 else ""


def leave_one_blank_line(code: Tag) -> None:
    """Reduce two blank lines in code, as between functions or around folds, to one."""
    newlines = 0
    for text in code.find_all(string=True):
        kept = ""
        for sign in text:
            newlines = newlines + 1 if sign == "\n" else 0
            kept += sign if newlines <= 2 else ""
        text.replace_with(kept)


class Paper:
    """A document made of pages; an id on a page becomes page--id in it."""

    def __init__(self, pages: list[str]) -> None:
        self.pages = pages
        self.repository = Repository.of(ROOT)
        self.articles = {page: self.article(page) for page in pages}

    def anchor(self, page: str, fragment: str = "") -> str:
        return f"{name_of(page)}--{fragment}" if fragment else name_of(page)

    def address(self, page: str, href: str) -> str | None:
        """Return the address of a page's link in the document; None if it is broken."""
        parts = urlsplit(href)
        if parts.scheme or parts.netloc:
            return href
        folder = PurePosixPath(page).parent
        path = normpath(str(folder / unquote(parts.path))) if parts.path else page
        target = path.removesuffix(".html")
        if target in self.pages:
            return f"#{self.anchor(target, unquote(parts.fragment))}"
        if not (HTML / path).is_file():
            return None
        return f"{self.repository.pages}{path}{href.removeprefix(parts.path)}"

    def article(self, page: str) -> Tag:
        html = (HTML / f"{page}.html").read_text(encoding="utf-8")
        article = BeautifulSoup(html, "html.parser").find("article")
        if article is None:
            raise ValueError(f"page: {page}.html has no article")
        for button in article.select("button.unfold"):
            button.name = "span"
            button.attrs = {"class": "unfold"}
        for part in article.select(", ".join(LEFT_OUT)):
            part.decompose()
        for code in article.select(".cell_input pre"):
            leave_one_blank_line(code)
        for code in article.select("div[class*=highlight-]"):
            if code.get_text().strip().count("\n") < LONGEST_WHOLE:
                around = (
                    code.find_parent("div", class_=["cell_input", "output"]) or code
                )
                names = around.get_attribute_list("class")
                around["class"] = " ".join([*map(str, names), "whole"])
        for fold in article.find_all("details"):
            fold["open"] = ""
        for link in article.find_all("a", href=True):
            address = self.address(page, str(link["href"]))
            if address is None or link.find("img"):
                link.unwrap()
            else:
                link["href"] = address
        for image in article.find_all("img", src=True):
            image["loading"] = "eager"
            source = str(image["src"])
            if not urlsplit(source).scheme:
                image["src"] = (HTML / page).parent.joinpath(source).as_uri()
        for tag in article.find_all(id=True):
            if not tag.find_parent("svg") and tag.name != "svg":
                tag["id"] = self.anchor(page, str(tag["id"]))
        article["id"] = self.anchor(page)
        article["style"] = f"page: {name_of(page)}"
        return article

    def sections(self, page: str) -> list[tuple[str, str]]:
        """Return the titles of a page's sections, and their ids."""
        return [
            (heading.get_text(), str(section["id"]))
            for section in self.articles[page].select("section[id]")
            if (heading := section.find(["h2", "h3"], recursive=False))
        ]

    def contents(self, numbers: dict[str, int]) -> str:
        """Return the contents: parts, pages and sections, with their page numbers."""

        def number(anchor: str) -> str:
            return str(numbers.get(anchor, NUMBER_TO_COME))

        def entry(page: str) -> str:
            sections = " · ".join(
                f'<a href="#{id}">{escape(title)} {number(id)}</a>'
                for title, id in self.sections(page)
            )
            return (
                f'<li><a class="chapter" href="#{self.anchor(page)}">'
                f"<span>{escape(title_of(self.articles[page]))}</span>"
                f"<span>{number(self.anchor(page))}</span></a>"
                f'<p class="sections">{sections}</p></li>'
            )

        lists = []
        for caption, pages in parts_on_paper():
            entries = "".join(entry(page) for page in pages if page in self.pages)
            if entries:
                lists.append(f'<p class="part">{caption}</p><ol>{entries}</ol>')
        return (
            '<nav class="paper-contents" aria-label="Contents"><h2>Contents</h2>'
            f"{''.join(lists)}</nav>"
        )

    @property
    def title(self) -> str:
        book = settings()["title"]
        if len(self.pages) > 1 or self.pages == [FRONT]:
            return book
        return f"{title_of(self.articles[self.pages[0]])} · {book}"

    def html(self, numbers: dict[str, int]) -> str:
        """Return the whole document.

        Args:
            numbers: the page number of each id, for the contents.
        """
        words = settings() | {
            "pages": self.repository.pages,
            "repository": self.repository.url,
            "logo": (HTML / "_static/logo.svg").as_uri(),
        }
        heads = [running_head("", self.repository.pages)]
        for page, article in self.articles.items():
            address = f"{self.repository.pages}{page}.html"
            heads.append(running_head(title_of(article), address, name_of(page)))
        head = HEAD.format(
            title=escape(self.title),
            sheets="".join(
                f'<link rel="stylesheet" href="{(HTML / sheet).as_uri()}">'
                for sheet in STYLES
            ),
            heads="\n".join(heads),
        )
        body = "".join(map(str, self.articles.values()))
        if len(self.pages) > 1:
            body = TITLE_PAGE.format(**words) + self.contents(numbers) + body
        else:
            colophon = COLOPHON.format(**words)
            body = f"{body.removesuffix('</article>')}{colophon}</article>"
        return f"{head}{body}</main></body></html>"
