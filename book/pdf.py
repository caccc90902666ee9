"""Makes the book for paper out of the built pages: `make pdf`.

    python -m book.pdf [PAGE ...]     all chapters and what is looked up, or only these

The pages in `_build/html` become one document, links between them links inside it, and
a browser prints that: with an outline, tags for screen readers, and page numbers. It is
printed twice, as the contents name pages that are known after the first time.
"""

import sys
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml
from bs4 import BeautifulSoup, Tag
from playwright.sync_api import Browser, Error, Page, sync_playwright
from pypdf import PdfReader

from book._extensions.repository import Repository
from book.chromium import launch

ROOT = Path(__file__).resolve().parents[1]
HTML = ROOT / "_build" / "html"
TARGET = ROOT / "_build" / "vision-transformer-step-by-step.pdf"
NOT_ON_PAPER = {"book/lab", "book/teaching"}
LEFT_OUT = [
    "a.headerlink",
    "button",
    "script",
    "#pst-back-to-top",
    "details.hide",  # code that only draws
    ".viewcode-link",
    ".toctree-wrapper",
]
LINES_ON_ONE_PAGE = 24
# Words of code without a colour, of which each would be an element of the tagged PDF.
BLACK_WORDS = "pre span.n, pre span.p, pre span.w"
MATHJAX = "_static/mathjax/es5/tex-chtml.js"
STYLES = [
    "_static/fonts/fonts.css",
    "_static/styles/theme.css",
    "_static/styles/bootstrap.css",
    "_static/styles/pydata-sphinx-theme.css",
    "_static/pygments.css",
    "_static/styles/sphinx-book-theme.css",
    "_static/sphinx-design.min.css",
    "_static/book.css",
    "_static/first_page.css",
    "_static/print.css",
]


def pages_on_paper() -> list[str]:
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = [c["file"] for part in toc["parts"] for c in part["chapters"]]
    return [toc["root"], *(file for file in files if file not in NOT_ON_PAPER)]


class Paper:
    """One document made of pages; an id on a page becomes page--id in it."""

    def __init__(self, pages: list[str]) -> None:
        self.pages = pages
        self.repository = Repository.of(ROOT)

    def anchor(self, page: str, fragment: str = "") -> str:
        name = page.replace("/", "-")
        return f"{name}--{fragment}" if fragment else name

    def source_of(self, page: str) -> str | None:
        """Where to read on the web what is not on paper."""
        for suffix in (".ipynb", ".md"):
            if (ROOT / f"{page}{suffix}").exists():
                return self.repository.file(f"{page}{suffix}")
        module = page.removeprefix("_modules/")
        if (ROOT / f"{module}.py").exists():
            return self.repository.file(f"{module}.py")
        return None

    def address(self, page: str, href: str) -> str | None:
        """What a link on a page leads to from the paper; None if nothing is there."""
        parts = urlsplit(href)
        if parts.scheme or parts.netloc:
            return href
        folder = PurePosixPath(page).parent
        path = normpath(str(folder / unquote(parts.path))) if parts.path else page
        target = path.removesuffix(".html")
        if target in self.pages:
            return f"#{self.anchor(target, unquote(parts.fragment))}"
        return self.source_of(target)

    def article(self, page: str) -> Tag:
        html = (HTML / f"{page}.html").read_text(encoding="utf-8")
        article = BeautifulSoup(html, "html.parser").find("article")
        if article is None:
            raise ValueError(f"page: {page}.html has no article")
        for lines in article.select(".folded"):
            lines.decompose()
        for button in article.select("button.unfold"):
            button.name, button.attrs = "span", {"class": "unfold"}
        for part in article.select(", ".join(LEFT_OUT)):
            part.decompose()
        if page != self.pages[0]:
            for map_again in article.select(".model-map-place"):
                map_again.decompose()
        for word in article.select(BLACK_WORDS):
            word.unwrap()
        for code in article.select("div.highlight"):
            if code.get_text().count("\n") > LINES_ON_ONE_PAGE:
                code["class"] = " ".join(
                    [*code.get_attribute_list("class"), "may-break"]
                )
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
        return article

    def html(self, number_of: dict[str, int]) -> str:
        settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
        articles = [(page, self.article(page)) for page in self.pages]
        contents = "".join(
            f'<li><a href="#{self.anchor(page)}">{title_of(article)}</a>'
            f"<span>{number_of.get(title_of(article), '')}</span></li>"
            for page, article in articles
        )
        sheets = "".join(
            f'<link rel="stylesheet" href="{(HTML / sheet).as_uri()}">'
            for sheet in STYLES
        )
        title, address = settings["title"], self.repository.url
        return f"""<!DOCTYPE html>
<html lang="en" data-theme="light"><head><meta charset="utf-8"><title>{title}</title>
{sheets}
<script>window.MathJax = {{ chtml: {{ displayAlign: "left", displayIndent: "1.5em" }},
  options: {{ enableMenu: false, ignoreHtmlClass: "mathjax_ignore",
    processHtmlClass: "math" }} }};</script>
<script defer src="{(HTML / MATHJAX).as_uri()}"></script></head>
<body class="book-on-paper"><main>
<section class="title-page"><img src="{(HTML / "_static/logo.svg").as_uri()}" alt="">
<p class="book-title">{title}</p><p>{settings["author"]}</p>
<p class="licence">Text and figures: CC BY 4.0, creativecommons.org/licenses/by/4.0.
Code: MIT. Fonts, cut from Inter and Fira Code: SIL Open Font License.
Photographs: each its own licence, in vit_steps/data/photographs.py.<br>
The pages to play with, the exercises, and the code that only draws the figures are in
the notebooks: <a href="{address}">{address}</a></p></section>
<nav class="paper-contents" aria-label="Contents"><h2>Contents</h2>
<ol>{contents}</ol></nav>
{"".join(str(article) for _, article in articles)}
</main></body></html>"""


def title_of(article: Tag) -> str:
    return article.h1.get_text() if article.h1 else ""


def print_page(tab: Page, html: str, target: Path) -> None:
    document = target.with_suffix(".html")
    document.write_text(html, encoding="utf-8")
    tab.goto(document.as_uri(), wait_until="load")
    tab.evaluate("MathJax.startup.promise.then(() => document.fonts.ready)")
    tab.pdf(
        path=target,
        format="A4",
        outline=True,
        tagged=True,
        print_background=True,
    )
    document.unlink()


def page_numbers(pdf: Path) -> dict[str, int]:
    """The page on which each entry of the outline begins; of a name, the first."""
    reader, numbers = PdfReader(pdf), dict[str, int]()

    def walk(entries: list[Any]) -> None:
        for entry in entries:
            if isinstance(entry, list):
                walk(entry)
            else:
                page = reader.get_destination_page_number(entry)
                if page is not None:
                    numbers.setdefault(entry.title, page + 1)

    walk(reader.outline)
    return numbers


def write_pdf(browser: Browser, pages: list[str], target: Path) -> None:
    paper = Paper(pages)
    tab = browser.new_page()
    tab.set_default_timeout(600_000)
    print_page(tab, paper.html({}), target)
    print_page(tab, paper.html(page_numbers(target)), target)
    tab.close()


def main(pages: list[str]) -> None:
    if not (HTML / "index.html").exists():
        sys.exit("Stopped: the book is not built yet: make book")
    with sync_playwright() as playwright:
        browser = launch(playwright)
        if browser is None:
            sys.exit("Stopped: no Chromium, Chrome or Edge is installed")
        try:
            write_pdf(browser, pages or pages_on_paper(), TARGET)
        except Error as error:
            sys.exit(f"Stopped: the book was not printed: {error}")
        browser.close()
    number = len(PdfReader(TARGET).pages)
    print(
        f"{TARGET.relative_to(ROOT)}: {number} pages, {TARGET.stat().st_size:,} bytes"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
