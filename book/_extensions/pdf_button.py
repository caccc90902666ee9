"""Say in plain words what the menu for downloads gives, and link a page to its PDF.

PDFs are printed from the built pages, so ``link_pdfs`` adds the links afterwards; until
``make pdf`` has run, the button prints the page, and the first page does not speak of a
PDF. A new build removes the old PDFs, so that none is older than its page.
"""

import re
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from typing import Any

from bs4 import BeautifulSoup
from sphinx.application import Sphinx

FOLDER = "downloads"
WHOLE_BOOK = "vision-transformer-step-by-step.pdf"
FRONT = "book/intro"
AFTER_THE_THEME = 502
BUTTON = re.compile(
    r'<button type="button" onclick="window\.print\(\)".*?</button>', re.DOTALL
)
OF_THE_BOOK = re.compile(r'<span class="book-pdf" hidden>(.*?)</span>')
RUN = "Download this page as a notebook, which Jupyter, VS Code and Colab can run"
READ = "Download this page as plain text, in Markdown"


def pdf_of(page: str) -> str:
    """Return the name of a page's PDF; the first page's PDF is the whole book."""
    return WHOLE_BOOK if page == FRONT else f"{PurePosixPath(page).name}.pdf"


def say_what_it_gives(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    notebook = context.get("page_source_suffix") == ".ipynb"
    words = {
        "download-source-button": {
            "text": "Notebook, to run it" if notebook else "Plain text",
            "tooltip": RUN if notebook else READ,
            "download": True,
        },
        "download-pdf-button": {
            "text": "Print, or save as PDF",
            "tooltip": "Open the browser's window for printing, which saves PDFs too",
        },
    }
    for group in context.get("header_buttons", []):
        for button in group.get("buttons", []):
            button.update(words.get(button.get("label"), {}))


def remove_old_pdfs(app: Sphinx) -> None:
    for file in Path(app.outdir, FOLDER).glob("*.pdf"):
        file.unlink()


def as_link(button: str, address: str, words: str) -> str:
    link = BeautifulSoup(button, "html.parser").button
    assert link is not None, "BUTTON finds buttons"
    link.name = "a"
    del link["onclick"], link["type"]
    link["href"], link["title"] = address, words
    for text in link.select(".btn__text-container"):
        text.string = "PDF"
    return str(link)


def link_pdfs(html: Path, on_paper: Collection[str]) -> None:
    """Link the built pages to the PDFs in their folder.

    Args:
        html: the folder of the built pages.
        on_paper: the pages that have PDFs. The list is needed because a page in another
            folder can have the same name, as a chapter's exercises do.
    """
    names = {file.name for file in (html / FOLDER).glob("*.pdf")}
    for file in html.rglob("*.html"):
        page = file.relative_to(html).with_suffix("").as_posix()
        folder = "../" * page.count("/") + FOLDER
        before = text = file.read_text(encoding="utf-8")
        if page in on_paper and pdf_of(page) in names:
            what = "the book" if page == FRONT else "this page"
            address = f"{folder}/{pdf_of(page)}"
            for button in BUTTON.findall(text):
                link = as_link(button, address, f"Download {what} as a PDF")
                text = text.replace(button, link)
        if WHOLE_BOOK in names:
            shown = rf'<a class="book-pdf" href="{folder}/{WHOLE_BOOK}">\1</a>'
            text = OF_THE_BOOK.sub(shown, text)
        if text != before:
            file.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", remove_old_pdfs)
    app.connect("html-page-context", say_what_it_gives, priority=AFTER_THE_THEME)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
