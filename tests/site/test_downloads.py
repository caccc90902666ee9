"""The archive of all notebooks, and the links to it and to the book's PDF."""

import re
import zipfile

import nbformat

from book._extensions.downloads import ARCHIVE, FOLDER, write_archive
from book._extensions.pdf_button import WHOLE_BOOK
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


def test_intro_links_both():
    links = [link["href"] for link in page_soup("book/intro").find_all("a", href=True)]
    assert f"../{ARCHIVE}" in links
    assert any(
        re.search(rf"github\.io/.+/downloads/{WHOLE_BOOK}$", link) for link in links
    )
