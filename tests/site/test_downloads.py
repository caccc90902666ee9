"""The archive of all notebooks, and the links to it and to the book's PDF."""

import zipfile

import nbformat
import pytest

from book._extensions.downloads import ARCHIVE, FOLDER, write_archive
from tests.conftest import NOTEBOOKS, ROOT
from tests.site.test_pages import HTML, page_soup


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


def test_the_intro_gives_the_archive():
    [link] = page_soup("book/intro").select(f'a[href="../{ARCHIVE}"]')
    assert link.has_attr("download")


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("notebooks/04_scaled_dot_product_attention", "Notebook, to run it"),
        ("book/notation", "Plain text"),
    ],
)
def test_a_page_is_downloaded_and_not_opened(page, words):
    [link] = page_soup(page).select(".btn-download-source-button")
    assert link.has_attr("download") and not link.has_attr("target")
    assert link.get_text(strip=True) == words
