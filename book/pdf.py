"""Print the built pages as PDFs: `make pdf`.

    python -m book.pdf [PAGE ...]     the book and each of its pages, or only these

The PDFs are written to `_build/html/downloads`, and the pages' buttons link to them.
They have an outline, tags for screen readers and running heads. The book's contents
have page numbers, and the book is printed again until these are right; meanwhile a
second browser prints the single pages.
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

from playwright.sync_api import Browser, Error, Page, sync_playwright
from pypdf import PdfReader, PdfWriter
from pypdf.generic import BooleanObject, DictionaryObject, NameObject

from book.chromium import launch
from book.paper import HTML, Paper, pages_on_paper, settings
from book.pdf_links import FOLDER, FRONT, WHOLE_BOOK, link_pdfs, pdf_of

TARGET = HTML / FOLDER / WHOLE_BOOK
PRINTINGS = 4


def print_page(tab: Page, html: str, target: Path) -> None:
    document = target.with_suffix(".paper.html")
    document.write_text(html, encoding="utf-8")
    try:
        tab.goto(document.as_uri(), wait_until="load")
        tab.evaluate("document.fonts.ready")
        tab.pdf(
            path=target,
            format="A4",
            outline=True,
            tagged=True,
            print_background=True,
        )
    finally:
        document.unlink()


def page_numbers(pdf: Path) -> dict[str, int]:
    """Return the page number of each id that a link leads to."""
    reader = PdfReader(pdf)
    numbers = {}
    for name, place in reader.named_destinations.items():
        page = reader.get_destination_page_number(place)
        if page is not None:
            numbers[name.removeprefix("/")] = page + 1
    return numbers


def describe(pdf: Path, subject: str) -> None:
    """Write author and subject, and make PDF viewers show the title, not the file."""
    writer = PdfWriter(pdf, incremental=True)
    writer.add_metadata({"/Author": settings()["author"], "/Subject": subject})
    writer.root_object[NameObject("/ViewerPreferences")] = DictionaryObject(
        {NameObject("/DisplayDocTitle"): BooleanObject(True)}
    )
    writer.write(pdf)


def write_pdf(browser: Browser, pages: list[str], target: Path) -> None:
    """Print several pages as a book with contents, or a single page alone.

    Raises:
        RuntimeError: if the contents still had wrong page numbers at the last printing.
    """
    paper = Paper(pages)
    tab = browser.new_page()
    tab.set_default_timeout(600_000)
    numbers: dict[str, int] = {}
    for _ in range(PRINTINGS):
        print_page(tab, paper.html(numbers), target)
        printed = numbers
        numbers = page_numbers(target)
        if len(pages) == 1 or numbers == printed:
            break
    else:
        raise RuntimeError("the page numbers in the contents never came out right")
    tab.close()
    describe(target, paper.title)


def print_all(pages: list[str]) -> None:
    """Start a browser and print the PDFs of some pages with it.

    Raises:
        RuntimeError: if there is no browser, or it could not print.
    """
    with sync_playwright() as playwright:
        browser = launch(playwright)
        if browser is None:
            raise RuntimeError("no Chromium, Chrome or Edge is installed")
        try:
            for page in pages:
                begun = perf_counter()
                target = HTML / FOLDER / pdf_of(page)
                whole = pages_on_paper() if page == FRONT else [page]
                write_pdf(browser, whole, target)
                number = len(PdfReader(target).pages)
                print(
                    f"{target.name}: {number} pages, {target.stat().st_size:,} bytes, "
                    f"{perf_counter() - begun:.0f} s",
                    flush=True,
                )
        except Error as error:
            raise RuntimeError(f"the book was not printed: {error}") from None
        browser.close()


def main(asked: list[str]) -> None:
    if not (HTML / "index.html").exists():
        sys.exit("Stopped: the book is not built yet: make book")
    pages = pages_on_paper()
    if unknown := set(asked) - set(pages):
        sys.exit(f"Stopped: not on paper: {', '.join(sorted(unknown))}")
    wanted = asked or pages
    (HTML / FOLDER).mkdir(exist_ok=True)
    # The book takes about as long as all single pages together, so two shares suffice.
    shares = [[p for p in wanted if p == FRONT], [p for p in wanted if p != FRONT]]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as printers:
        try:
            list(printers.map(print_all, filter(None, shares)))
        except RuntimeError as error:
            sys.exit(f"Stopped: {error}")
    link_pdfs(HTML, pages)


if __name__ == "__main__":
    main(sys.argv[1:])
