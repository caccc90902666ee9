"""What the book gives to take away: the notebooks in one archive, and the PDF."""

import re
import zipfile

import nbformat
import pypdf
import pytest

from book._extensions.downloads import ARCHIVE, FOLDER, write_archive
from book.pdf import write_pdf
from tests.conftest import NOTEBOOKS, ROOT
from tests.site.test_pages import HTML, page_soup

PDF = "vision-transformer-step-by-step.pdf"


def test_archive_holds_every_notebook_its_licences_and_how_to_run_them():
    with zipfile.ZipFile(HTML / ARCHIVE) as archive:
        names = {name.removeprefix(f"{FOLDER}/") for name in archive.namelist()}
        exercises = (ROOT / "notebooks" / "exercises").glob("*.ipynb")
        for path in [*NOTEBOOKS, *exercises]:
            name = path.relative_to(ROOT).as_posix()
            packed = archive.read(f"{FOLDER}/{name}").decode("utf-8")
            assert nbformat.reads(packed, as_version=4).cells
        readme = archive.read(f"{FOLDER}/README.txt").decode("utf-8")
    assert {"LICENSE", "LICENSE-TEXT"} <= names
    assert "jupyter lab notebooks/00_before_you_start.ipynb" in readme


def test_archive_is_the_same_bytes_each_time(tmp_path):
    for name in ("one.zip", "two.zip"):
        write_archive(ROOT, tmp_path / name)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_intro_links_both():
    links = [link["href"] for link in page_soup("book/intro").find_all("a", href=True)]
    assert f"../{ARCHIVE}" in links
    assert any(re.search(rf"github\.io/.+/downloads/{PDF}$", link) for link in links)


@pytest.fixture(scope="module")
def paper(browser, tmp_path_factory):
    """Two pages of the book, printed as all of it is."""
    target = tmp_path_factory.mktemp("paper") / PDF
    write_pdf(browser, ["book/notation", "notebooks/01_why_patches"], target)
    return pypdf.PdfReader(target)


def test_pdf_has_title_contents_and_chapters_with_their_text(paper):
    numbers, text = zip(
        *(page.extract_text().split("\n", 1) for page in paper.pages), strict=True
    )
    assert [int(number) for number in numbers] == [*range(1, len(text) + 1)]
    assert 5 <= len(text) <= 60
    assert "Vision Transformer, Step by Step" in text[0] and "CC BY 4.0" in text[0]
    assert "Contents" in text[1] and "1. Why patches" in text[1]
    begins = next(i for i, t in enumerate(text[2:], 3) if t.startswith("1. Why pat"))
    line = next(line for line in text[1].splitlines() if "1. Why patches" in line)
    assert str(begins) in text[1], (line, begins)
    assert all(t.strip() for t in text), "an empty page"
    assert paper.pages[0].mediabox.width == pytest.approx(595, abs=1)  # A4
    for left_out in ("Show code cell", "Copy to clipboard", "\\("):
        assert left_out not in "".join(text)


def test_pdf_is_set_in_the_books_own_fonts(paper):
    fonts = [
        font.get_object()
        for page in paper.pages
        for font in page["/Resources"].get("/Font", {}).values()
    ]
    names = {font["/BaseFont"].split("+")[-1] for font in fonts if "/BaseFont" in font}
    assert {"BookTextRegular", "BookTextBold", "BookCodeRegular"} <= names
    assert not [name for name in names if not name.startswith(("Book", "MJX"))]


def test_pdf_has_an_outline_links_and_tags(paper):
    def titles(entries):
        for entry in entries:
            if isinstance(entry, list):
                yield from titles(entry)
            else:
                yield entry.title

    found = list(titles(paper.outline))
    assert {"Contents", "Notation", "1. Why patches"} <= set(found)
    assert paper.trailer["/Root"]["/MarkInfo"]["/Marked"]
    links = [
        note.get_object()
        for page in paper.pages
        for note in page.get("/Annots", [])
        if note.get_object().get("/Subtype") == "/Link"
    ]
    inside = [link for link in links if "/Dest" in link]
    assert len(inside) >= 2
    for link in links:
        assert not link.get("/A", {}).get("/URI", "").startswith("file:"), link
