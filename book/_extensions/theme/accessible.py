"""Add the names and roles that the theme's pages lack for a screen reader.

Changes that a template can make are in ``_templates``; the others are made here, when a
page is built.
"""

from posixpath import dirname, normpath
from typing import Any

from bs4 import BeautifulSoup
from sphinx.application import Sphinx

from book._extensions.reading_order import minutes_of_page

AFTER_THE_THEME = 502


def complete_the_sidebar(page: str, context: dict[str, Any]) -> None:
    """Give each fold, which shows only an arrow, a name, and each chapter its minutes.

    book/scripts/where.js tells from the minutes how much is left to read.
    """
    generate_as_the_theme = context["generate_toctree_html"]

    def generate(*args: Any, **options: Any) -> Any:
        tree = generate_as_the_theme(*args, **options)
        for summary in tree.select("details > summary") if tree else []:
            title = summary.parent.find_previous_sibling("a").get_text(strip=True)
            summary["aria-label"] = f"Pages under {title}"
        for link in tree.select("a.internal") if tree else []:
            linked = normpath(f"{dirname(page)}/{link['href']}").removesuffix(".html")
            there = page if link["href"] in ("", "#") else linked
            if takes := minutes_of_page(there):
                link["data-minutes"] = takes
        return tree

    context["generate_toctree_html"] = generate


def with_named_rows(body: str) -> str:
    """Turn the first column of a table into row headers where its corner is empty."""
    text = BeautifulSoup(body, "html.parser")
    for table in text.select("table"):
        for corner in table.select("thead th:first-child"):
            if corner.get_text(strip=True):
                continue
            corner.name = "td"
            del corner["scope"]
            for cell in table.select("tbody td:first-child"):
                cell.name, cell["scope"] = "th", "row"
    return str(text)


def mend_the_text(app: Sphinx, context: dict[str, Any]) -> None:
    body = context["body"]
    # docutils still writes doc-biblioentry, a role that ARIA has deprecated
    body = body.replace('role="doc-biblioentry"', 'role="listitem"')
    # without this label a screen reader reads the words that the fold shows
    body = body.replace('<summary aria-label="Toggle hidden content">', "<summary>")
    if '<th class="head"><p></p></th>' in body:
        body = with_named_rows(body)
    if 'class="math' in body or "<table" in body:
        app.add_js_file("book/scrolling.js", loading_method="defer")
    context["body"] = body


def complete(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    if "generate_toctree_html" in context:
        complete_the_sidebar(pagename, context)
    if doctree:
        mend_the_text(app, context)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", complete, priority=AFTER_THE_THEME)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
