"""Link a page's button to its PDF; until ``make pdf`` has run, it prints the page.

PDFs are printed from the built pages, so ``link_pdfs`` adds the links afterwards. A new
build removes the old PDFs, so that none is older than its page.
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
BUTTON = re.compile(r'<button onclick="window\.print\(\)".*?</button>', re.DOTALL)


def pdf_of(page: str) -> str:
    """Return the name of a page's PDF; the first page's PDF is the whole book."""
    return WHOLE_BOOK if page == FRONT else f"{PurePosixPath(page).name}.pdf"


def rename_to_print(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    for group in context.get("header_buttons", []):
        for button in group.get("buttons", []):
            if button.get("label") == "download-pdf-button":
                button["text"] = "Print"
                button["tooltip"] = "Print this page, or save it as a PDF"


def remove_old_pdfs(app: Sphinx) -> None:
    for file in Path(app.outdir, FOLDER).glob("*.pdf"):
        file.unlink()


def as_link(button: str, address: str, words: str) -> str:
    link = BeautifulSoup(button, "html.parser").button
    assert link is not None, "BUTTON finds buttons"
    link.name = "a"
    del link["onclick"]
    link["href"], link["title"] = address, words
    for text in link.select(".btn__text-container"):
        text.string = ".pdf"
    return str(link)


def link_pdfs(html: Path, published: str, on_paper: Collection[str]) -> None:
    """Link the built pages to the PDFs in their folder.

    Args:
        html: the folder of the built pages.
        published: the address of the site. A link to a PDF there is replaced by a link
            to the PDF in the folder, if there is one.
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
        for name in names:
            text = text.replace(
                f'href="{published}{FOLDER}/{name}"', f'href="{folder}/{name}"'
            )
        if text != before:
            file.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", remove_old_pdfs)
    app.connect("html-page-context", rename_to_print, priority=AFTER_THE_THEME)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
