"""The built book: every page exists, needs no other server, and has no broken link.

Needs _build/html from `make book`.
"""

import gc
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from bs4 import BeautifulSoup

from book._extensions.repository import Repository
from tests.conftest import ROOT, code_cells

HTML = ROOT / "_build" / "html"
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))


def files_in(entry):
    """Return every file that the table of contents names, in order."""
    if isinstance(entry, list):
        return [file for part in entry for file in files_in(part)]
    own = [entry["file"]] if "file" in entry else []
    return own + files_in([*entry.get("chapters", []), *entry.get("sections", [])])


SOURCES = [TOC["root"], *files_in(TOC["parts"])]
every_page = pytest.mark.parametrize("page", SOURCES)


@pytest.fixture(autouse=True, scope="module")
def built():
    assert (HTML / "index.html").exists(), "build the book first: make book"


@cache
def soup(path):
    """Parse a page, once; garbage collection would be slow and find nothing."""
    gc.disable()
    try:
        return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    finally:
        gc.freeze()
        gc.enable()


@cache
def ids(path):
    return {tag["id"] for tag in soup(path).find_all(id=True)}


def page_soup(page):
    return soup(HTML / f"{page}.html")


@every_page
def test_page_is_there_with_its_title(page):
    headings = page_soup(page).find_all("h1")
    assert len([h for h in headings if h.get_text(strip=True)]) >= 1


def test_every_source_page_is_in_the_book():
    files = [*(ROOT / "notebooks").rglob("*.ipynb"), *(ROOT / "book").glob("*.ipynb")]
    files += [*(ROOT / "book").glob("*.md"), *(ROOT / "book/package").glob("*.md")]
    names = {f.relative_to(ROOT).with_suffix("").as_posix() for f in files}
    assert names == set(SOURCES)


def loaded(document):
    """Yield the addresses that a browser fetches to show the page."""
    for tag in document.find_all(["script", "img", "iframe", "source", "video"]):
        if tag.get("src"):
            yield tag["src"]
    for tag in document.find_all("link"):
        if {"stylesheet", "preload", "icon", "modulepreload"} & set(tag.get("rel", [])):
            yield tag["href"]


@every_page
def test_nothing_comes_from_another_server(page):
    for address in loaded(page_soup(page)):
        parts = urlsplit(address)
        assert parts.scheme in ("", "data") and not parts.netloc, address


def test_no_stylesheet_loads_from_another_server():
    for sheet in HTML.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8", errors="replace")
        addresses = re.findall(r"url\(\s*['\"]?(.*?)['\"]?\s*\)", text)
        addresses += re.findall(r"@import\s+['\"](.*?)['\"]", text)
        for address in addresses:
            assert not address.startswith(("http:", "https:", "//")), (sheet, address)


@every_page
def test_what_a_page_loads_is_there(page):
    folder = (HTML / f"{page}.html").parent
    for address in loaded(page_soup(page)):
        if not address.startswith("data:"):
            path = unquote(urlsplit(address).path)
            assert (folder / path).exists(), address


def inside(here):
    """Yield a page's links inside the book: as written, file and fragment."""
    document = soup(here)
    neighbours = document.find_all("link", rel=["next", "prev"])
    for link in document.find_all("a", href=True) + neighbours:
        parts = urlsplit(link["href"])
        if not parts.scheme and not parts.netloc:
            path = (here.parent / unquote(parts.path)).resolve() if parts.path else here
            yield link["href"], path, unquote(parts.fragment)


def follow(here):
    for link, target, fragment in inside(here):
        assert target.exists(), link
        if fragment and target.suffix == ".html":
            assert fragment in ids(target), link


@every_page
def test_no_internal_link_is_broken(page):
    follow(HTML / f"{page}.html")


def test_no_link_of_the_packages_source_is_broken():
    pages = {path for _, path, _ in inside(HTML / "_modules" / "index.html")}
    modules = [page for page in pages if page.parent.is_relative_to(HTML / "_modules")]
    assert len(modules) > 20
    for page in modules:
        follow(page)


@every_page
def test_every_figure_is_there_for_the_dark_as_well(page):
    article = page_soup(page).find("article")
    figures = article.select("div.cell_output img.only-light")
    assert not article.select("div.cell_output img[src$='.png']"), "all have copies"
    for figure in figures:
        dark = figure.find_next_sibling("img")
        assert "only-dark" in dark["class"] and dark["alt"] == figure["alt"]
        file = HTML / Path(page).parent / unquote(dark["src"])
        assert 1_000 < file.stat().st_size < 400_000
    shown = code_cells(ROOT / f"{page}.ipynb") if is_read_with_figures(page) else []
    drawn = [c for c in shown for o in c.outputs if "image/png" in o.get("data", {})]
    assert len(figures) == len(drawn)


def is_read_with_figures(page):
    return (ROOT / f"{page}.ipynb").exists() and "/exercises/" not in page


@every_page
def test_every_picture_has_alt_text(page):
    for image in page_soup(page).find("main").find_all("img"):
        if image.find_parent(class_="chapter-cards"):
            continue  # decorative: the card has a title
        assert image.get("alt", "").strip(), image.get("src", "")[:80]
        assert not image["alt"].endswith(".png"), "a file's name is no alt text"


every_notebook = pytest.mark.parametrize(
    "page", [s for s in SOURCES if (ROOT / f"{s}.ipynb").exists()]
)


@every_notebook
def test_a_notebook_can_be_opened_on_three_sites(page):
    repository = Repository.of(ROOT)
    menu = page_soup(page).find(class_="dropdown-launch-buttons")
    assert menu.find("button")["aria-label"]
    links = {a.get_text(strip=True): a["href"] for a in menu.find_all("a")}
    assert links == {
        "Colab": repository.colab(f"{page}.ipynb"),
        "Kaggle": repository.kaggle(f"{page}.ipynb"),
        "Binder": repository.binder(f"{page}.ipynb"),
    }


@every_page
def test_the_footer_leads_to_the_licences(page):
    footer = page_soup(page).find("footer", class_="bd-footer-content")
    links = {a["href"] for a in footer.find_all("a", href=True)}
    assert Repository.of(ROOT).file("vit_book/photographs.py") in links
    assert not any(link.startswith("repository:") for link in links)


@every_notebook
def test_chapter_has_neighbours_and_no_first_cell(page):
    document = page_soup(page)
    assert document.find("link", rel=["prev", "next"])
    first = code_cells(ROOT / f"{page}.ipynb")[0].source
    assert first.splitlines()[0] not in document.find("main").get_text()


def links_of(page):
    """Return where a page's head leads back and on; its footer must lead on, too."""
    here = page_soup(page)
    back, on = here.find("link", rel="prev"), here.find("a", class_="right-next")
    head = here.find("link", rel="next")
    assert (on and on["href"]) == (head and head["href"])
    if on:
        title = on.find(class_="prev-next-title").get_text()
        assert title == page_soup(target_of(page, on)).h1.find(string=True)
    return tuple(link and target_of(page, link) for link in (back, on))


def target_of(page, link):
    file = (HTML / page).parent.joinpath(link["href"]).resolve()
    return file.relative_to(HTML).with_suffix("").as_posix()


def test_the_path_leads_through_chapters_and_exercises():
    """A link back skips the exercises; a side road leads back to the path."""
    chapters = [s for s in SOURCES if re.fullmatch(r"notebooks/\d\d_\w+", s)]
    assert links_of(TOC["root"])[1] == chapters[0]
    for before, here, after in zip(
        [TOC["root"], *chapters], chapters, [*chapters[1:], None], strict=False
    ):
        exercises = here.replace("notebooks/", "notebooks/exercises/")
        back, on = links_of(here)
        assert back == before
        if exercises in SOURCES:
            assert on == exercises
            back, on = links_of(exercises)
            assert back == here
        assert on == after or after is None


def test_a_side_road_leads_back_to_the_path():
    masks = links_of("notebooks/side_roads/masks")
    four, five = "04_scaled_dot_product_attention", "05_multi_head_attention"
    assert masks == (f"notebooks/{four}", f"notebooks/{five}")


FOUR = "notebooks/04_scaled_dot_product_attention"
EXERCISES = "notebooks/exercises/04_scaled_dot_product_attention"
MASKS = "notebooks/side_roads/masks"
BESIDE_THE_PATH = {
    FOUR: [MASKS],
    EXERCISES: [MASKS],
    MASKS: [EXERCISES],
    "notebooks/15_a_vit_of_2026": ["notebooks/side_roads/three_small_changes"],
    "book/notation": [],
}


@pytest.mark.parametrize("page", BESIDE_THE_PATH)
def test_a_page_ends_with_the_other_ways_on(page):
    links = page_soup(page).select(".prev-next-footer .ways-on a")
    assert [target_of(page, link) for link in links] == BESIDE_THE_PATH[page]


@every_page
def test_a_side_road_at_a_pages_end_has_its_question_and_minutes(page):
    """Those that the first page tells, from which they come."""
    told = {}
    for road in page_soup("book/intro").select("ul.side-roads > li"):
        minutes = road.select_one(".minutes").get_text().split(", ")[-1]
        told[target_of("book/intro", road.a)] = minutes, road.p.get_text()
    for way in page_soup(page).select(".prev-next-footer .ways-on > li"):
        other = target_of(page, way.a)
        if other.startswith("notebooks/side_roads/"):
            minutes, question = told[other]
            assert way.select_one(".minutes").get_text() == f"Side road, {minutes}"
            assert way.select_one(".question").get_text() == question


def test_links_to_chapters_and_side_roads_tell_what_they_lead_to():
    for page in SOURCES:
        links = page_soup(page).select("article a[data-bs-title]")
        if re.match(r"notebooks/\d\d_(?!00|12)", page):
            assert links, page
        for link in links:
            other = target_of(page, link)
            about = BeautifulSoup(link["data-bs-title"], "html.parser")
            there = page_soup(other).find("article")
            place = there.find(id=link["href"].partition("#")[2] or None)
            heading = place and place.find(["h1", "h2", "h3", "h4"])
            if place is None or place.name != "section" or heading.name == "h1":
                heading = there.h1
            title = heading.get_text().removesuffix("#")
            assert other != page and about.b.get_text() == title
            assert re.fullmatch(r"\d+ minutes", about.i.get_text())
            assert about.get_text().count("?") >= 1, (page, other)


OF_NO_CHAPTER = "notebooks/side_roads/when_it_does_not_work"


def test_exercises_and_side_roads_lead_up_to_their_chapter():
    for page in SOURCES:
        links = page_soup(page).select(".bd-header-article .page-up")
        below = re.match(r"notebooks/(exercises|side_roads)/", page)
        if below and page != OF_NO_CHAPTER:
            [link] = links
            chapter = target_of(page, link)
            number = int(re.fullmatch(r"notebooks/(\d\d)_\w+", chapter)[1])
            assert link.get_text(strip=True) == f"Chapter {number}"
        else:
            assert links == []


def test_the_sidebar_has_five_groups_and_few_links():
    """Exercises and side roads are folded under their chapter."""
    sidebar = page_soup("book/intro").select_one(".bd-sidebar-primary")
    captions = [c.get_text(strip=True) for c in sidebar.select(".caption")]
    assert captions == ["Play", "The path", "Look up", "The package", "Teach"]
    links = sidebar.select(".bd-links a.internal")
    seen = [a for a in links if not a.find_parent("details")]
    assert len(links) == len(SOURCES) - 1 and len(seen) <= 25
    document = page_soup("notebooks/05_multi_head_attention")
    links = [a["href"] for a in document.select(".bd-sidebar-primary a.internal")]
    assert "../book/lab.html" in links[:3]


@every_page
def test_the_foot_names_the_authors_and_the_last_change(page):
    footer = page_soup(page).find("footer", class_="bd-footer-content")
    text = " ".join(footer.get_text().split())
    assert "By the authors of Vision Transformer" in text
    link = footer.find("a", string="Accessibility")["href"]
    assert link.endswith("accessibility.html") or link == "#"
    known = page_soup(page).find("meta", property="article:modified_time")
    assert ("Last updated on" in text) == (known is not None)


def test_the_list_of_pages_for_search_engines():
    listed = (HTML / "sitemap.xml").read_text(encoding="utf-8")
    addresses = re.findall("<loc>(.*?)</loc>", listed)
    site = Repository.of(ROOT).pages
    assert sorted(addresses) == sorted(f"{site}{page}.html" for page in SOURCES)


@every_page
def test_page_can_be_searched_and_its_theme_switched(page):
    assert page_soup(page).find("form", class_="bd-search")
    html = (HTML / f"{page}.html").read_text(encoding="utf-8")
    assert "theme-switch-button" in html  # a script inserts the button


@every_page
def test_no_notebook_syntax_is_left_in_the_text(page):
    text = page_soup(page).find("article").get_text()
    for leftover in (":::", "{cite", "{note", "<details", "```"):
        assert leftover not in text
