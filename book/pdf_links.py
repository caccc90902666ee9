"""Link the built pages to their PDFs, which are printed from them.

Until ``make pdf`` has run, a page's button prints it, and the first page does not
mention a PDF. A new build removes the old PDFs (Makefile), so that none is older than
its page.
"""

import re
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from bs4 import BeautifulSoup

FOLDER = "downloads"
WHOLE_BOOK = "vision-transformer-step-by-step.pdf"
FRONT = "book/intro"
BUTTON = re.compile(
    r'<button type="button" onclick="window\.print\(\)".*?</button>', re.DOTALL
)
OF_THE_BOOK = re.compile(r'<span class="book-pdf" hidden>(.*?)</span>')


def pdf_of(page: str) -> str:
    """Return the name of a page's PDF; the first page's PDF is the whole book."""
    return WHOLE_BOOK if page == FRONT else f"{PurePosixPath(page).name}.pdf"


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
