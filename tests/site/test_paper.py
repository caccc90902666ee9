"""The book on paper: its PDFs, and a page that is printed from the browser.

A small book of two pages and a single chapter are tested in place of all PDFs.
"""

import re
from collections import Counter
from functools import cache

import pypdf
import pytest
from bs4 import BeautifulSoup

from book._extensions.repository import Repository
from book.paper import Paper, pages_on_paper, running_head, settings, title_of
from book.pdf import write_pdf
from book.pdf_links import FOLDER, WHOLE_BOOK, link_pdfs, pdf_of
from tests.conftest import ROOT
from tests.site.test_pages import HTML, soup

SITE = Repository.of(ROOT).pages
PAGES = ["notebooks/01_why_patches", "book/notation"]
CHAPTER = "notebooks/05_multi_head_attention"
EXERCISES = "notebooks/exercises/05_multi_head_attention"
ONCE = 34  # pages of the chapter before it had a design for paper
SHORT = 12  # lines of code that are not split


def squeezed(text):
    return re.sub(r"\s", "", text)


@cache
def texts(pdf):
    return [page.extract_text() for page in pdf.pages]


@pytest.fixture(scope="module")
def printed(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper")

    def pdf_with(pages):
        write_pdf(browser, pages, folder / "printed.pdf")
        return pypdf.PdfReader(folder / "printed.pdf")

    return pdf_with


@pytest.fixture(scope="module")
def book(printed):
    return printed(PAGES)


@pytest.fixture(scope="module")
def chapter(printed):
    return printed([CHAPTER])


@pytest.fixture(scope="module")
def from_the_browser(browser, site, tmp_path_factory):
    """The chapter's page as a reader prints it, from a screen in the dark theme."""
    file = tmp_path_factory.mktemp("browser") / "page.pdf"
    context = browser.new_context(color_scheme="dark")
    tab = context.new_page()
    tab.goto(f"{site}{CHAPTER}.html", wait_until="load")
    tab.evaluate("document.fonts.ready")
    tab.pdf(path=file, format="A4", print_background=True)
    context.close()
    return pypdf.PdfReader(file)


def outline(pdf, depth=0, entries=None):
    for entry in pdf.outline if entries is None else entries:
        if isinstance(entry, list):
            yield from outline(pdf, depth + 1, entry)
        else:
            yield depth, entry.title


def links(pdf):
    for page in pdf.pages:
        for note in page.get("/Annots", []):
            if note.get_object().get("/Subtype") == "/Link":
                yield note.get_object()


def test_the_book_has_a_title_page_contents_and_its_pages(book):
    text = texts(book)
    assert "Vision Transformer, Step by Step" in text[0] and "CC BY 4.0" in text[0]
    assert "exercises" in text[0] and SITE in squeezed(text[0])
    assert "Contents" in text[1] and "The path" in text[1] and "Look up" in text[1]
    assert all(t.strip() for t in text), "an empty page"
    assert book.pages[0].mediabox.width == pytest.approx(595, abs=1)  # A4
    for left_out in ("Show code cell", "Copy to clipboard", "\\(", "000"):
        assert left_out not in "".join(text[:2])


def test_the_numbers_in_the_contents_are_those_of_the_pages(book):
    text = [squeezed(page) for page in texts(book)]
    paper = Paper(PAGES)
    titles = {paper.anchor(page): title_of(paper.articles[page]) for page in PAGES}
    for page in PAGES:
        titles |= {name: title for title, name in paper.sections(page)}
    assert len(titles) > 15
    for name, title in titles.items():
        place = book.named_destinations[f"/{name}"]
        number = book.get_destination_page_number(place) + 1
        assert squeezed(title) in text[number - 1]
        assert f"{squeezed(title)}{number}" in text[1]


def test_the_outline_has_chapters_and_sections(book, chapter):
    entries = list(outline(book))
    assert {(0, "Contents"), (0, "Notation"), (0, "1. Why patches")} <= set(entries)
    assert (1, "The picture: one patch of 196") in entries
    assert (2, "Are pixels bad tokens?") in entries
    assert (0, "5. Multi-head attention") in list(outline(chapter))


@pytest.mark.parametrize("which", ["book", "chapter"])
def test_every_link_leads_somewhere(which, request):
    pdf = request.getfixturevalue(which)
    inside = [link["/Dest"] for link in links(pdf) if "/Dest" in link]
    outside = [link["/A"]["/URI"] for link in links(pdf) if "/A" in link]
    assert (len(inside) > 15 or which == "chapter") and len(outside) > 5
    assert set(inside) <= set(pdf.named_destinations)
    assert not [address for address in outside if not address.startswith("https://")]
    pages = [a.removeprefix(SITE) for a in outside if a.startswith(SITE) and a != SITE]
    assert pages
    for page in pages:
        file, _, fragment = page.partition("#")
        assert (HTML / file).is_file(), page
        assert not fragment or soup(HTML / file).find(id=fragment), page


@pytest.mark.parametrize("which", ["book", "chapter"])
def test_it_says_who_wrote_it_and_is_made_for_screen_readers(which, request):
    pdf = request.getfixturevalue(which)
    root = pdf.trailer["/Root"]
    assert pdf.metadata.author == settings()["author"]
    assert pdf.metadata.title.endswith(settings()["title"])
    assert which == "book" or pdf.metadata.title.startswith("5. Multi-head attention")
    assert root["/Lang"] == "en" and root["/MarkInfo"]["/Marked"]
    assert root["/ViewerPreferences"]["/DisplayDocTitle"]


def test_it_is_set_in_the_books_own_fonts(book):
    fonts = [
        font.get_object()
        for page in book.pages
        for font in page["/Resources"].get("/Font", {}).values()
    ]
    names = {font["/BaseFont"].split("+")[-1] for font in fonts if "/BaseFont" in font}
    assert {"BookTextRegular", "BookTextBold", "BookCodeRegular"} <= names
    assert not [name for name in names if not name.startswith("Book")]


def test_every_page_names_its_chapter_its_address_and_its_number(book, chapter):
    heads = ["Notation", "1. Why patches"]
    for number, text in enumerate(texts(book)[2:], 3):
        title = [t for t in heads if f"Vision Transformer, Step by Step {t}" in text]
        assert len(title) == 1, text[:200]
        page = PAGES[0] if title == ["1. Why patches"] else PAGES[1]
        address = f"{SITE.removeprefix('https://')}{page}.html"
        assert f"\n{number}{address}\n" in text, text[:300]
    for text in texts(chapter):
        assert "Step by Step 5. Multi-head attention" in text


PRINTED = pytest.mark.parametrize("which", ["chapter", "from_the_browser"])


@PRINTED
def test_a_chapter_takes_half_of_what_it_took(which, request):
    pdf = request.getfixturevalue(which)
    assert 8 <= len(pdf.pages) <= ONCE / 2
    words = "".join(texts(pdf))
    assert "5. Multi-head attention" in words
    for left_out in ("Show code cell", "Checks of what", "map of the model", "Next"):
        assert left_out not in words


@PRINTED
def test_answers_are_open(which, request):
    words = squeezed("".join(texts(request.getfixturevalue(which))))
    answers = soup(HTML / f"{CHAPTER}.html").select(
        "article details:not(.hide, .chapter-line)"
    )
    assert len(answers) == 5
    for answer in answers:
        begins = answer.summary.find_next_sibling("p").find(string=True)
        assert squeezed(begins)[:25] in words


@PRINTED
def test_short_code_is_on_one_page(which, request):
    """Code that is split between pages is hard to read, or leaves an empty frame."""
    pages = [squeezed(text) for text in texts(request.getfixturevalue(which))]
    article = Paper([CHAPTER]).articles[CHAPTER]
    cells = [pre.get_text().strip() for pre in article.select(".cell_input pre")]
    short = [code for code in cells if code.count("\n") + 1 < SHORT]
    assert len(short) >= 10
    for code in short:
        assert any(squeezed(code) in page for page in pages), code


def test_code_on_paper_has_no_two_blank_lines_together():
    article = Paper([CHAPTER]).articles[CHAPTER]
    code = [pre.get_text() for pre in article.select(".cell_input pre")]
    page = soup(HTML / f"{CHAPTER}.html").select(".cell_input pre")
    assert any("\n\n\n" in pre.get_text() for pre in page)
    assert any("\n\n" in text for text in code)
    assert not [text for text in code if "\n\n\n" in text]


def test_a_still_stands_for_the_lab(browser, site, chapter):
    assert sum("A still of the panel." in text for text in texts(chapter)) == 1
    tab = browser.new_page()
    tab.goto(f"{site}{CHAPTER}.html")
    panel, still = tab.locator(".vit-lab"), tab.locator(".lab-still")
    assert (panel.is_visible(), still.is_visible()) == (True, False)
    picture = still.locator("img")
    written = soup(HTML / f"{CHAPTER}.html").select_one(".lab-still img")["loading"]
    loading = picture.evaluate("image => image.loading")
    assert (written, loading) == ("lazy", "eager"), "it comes when all else is there"
    tab.wait_for_function("document.querySelector('.lab-still img').complete")
    tab.emulate_media(media="print")
    assert (panel.is_visible(), still.is_visible()) == (False, True)
    assert picture.evaluate("image => image.naturalWidth > 600")
    tab.close()


def test_a_head_may_hold_any_sign():
    rule = running_head('A "head" of \\ and <b>', "https://ann.github.io/course/")
    assert r"A \22 head\22  of \5c  and \3c b>" in rule
    assert '"ann.github.io/course"' in rule


# The button that links to the PDF


def test_every_page_on_paper_has_a_pdf_of_its_own():
    names = Counter(map(pdf_of, pages_on_paper()))
    assert names[WHOLE_BOOK] == 1 and max(names.values()) == 1


@pytest.fixture
def small_site(tmp_path):
    """A folder of built pages, with PDFs of the chapter and of the whole book."""
    for page in ("book/intro", CHAPTER, EXERCISES):
        copy = tmp_path / f"{page}.html"
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text((HTML / f"{page}.html").read_text("utf-8"), "utf-8")
    (tmp_path / FOLDER).mkdir()
    for name in (WHOLE_BOOK, pdf_of(CHAPTER)):
        (tmp_path / FOLDER / name).touch()
    return tmp_path


def pdf_button(folder, page):
    html = (folder / f"{page}.html").read_text(encoding="utf-8")
    (button,) = BeautifulSoup(html, "html.parser").select(".btn-download-pdf-button")
    return button


def test_the_button_prints_until_there_is_a_pdf(small_site):
    link_pdfs(small_site, pages_on_paper())
    for page in ("book/intro", CHAPTER):
        button = pdf_button(small_site, page)
        assert button.name == "a" and button.get_text(strip=True) == "PDF"
        assert (small_site / f"{page}.html").parent.joinpath(button["href"]).exists()
        assert not button.has_attr("onclick") and "as a PDF" in button["title"]
    other = pdf_button(small_site, EXERCISES)  # a page of the same name without a PDF
    assert other.name == "button" and other["onclick"] == "window.print()"
    assert other.get_text(strip=True) == "Print, or save as PDF"


def test_the_intro_links_the_pdf_once_it_is_there(small_site):
    def hrefs():
        html = (small_site / "book/intro.html").read_text(encoding="utf-8")
        return [a.get("href") for a in BeautifulSoup(html, "html.parser")("a")]

    assert not [href for href in hrefs() if href and href.endswith(".pdf")]
    link_pdfs(small_site, pages_on_paper())
    assert hrefs().count(f"../{FOLDER}/{WHOLE_BOOK}") == 2, "in the menu and the text"
