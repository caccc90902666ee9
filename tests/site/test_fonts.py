"""The book's own fonts: they have every character it needs, and pages use no others.

Needs _build/html from `make book`; tests in a browser are skipped without one.
"""

import json
import re
from functools import cache
from itertools import chain

import matplotlib.pyplot as plt
import pytest
from matplotlib.font_manager import FontProperties, findfont
from matplotlib.ft2font import FT2Font

import vit_book
from book.fonts import ICONS
from tests.conftest import NOTEBOOKS, ROOT, read
from tests.site.conftest import in_all_fonts
from tests.site.test_pages import HTML, SOURCES

FONTS = ROOT / "book" / "_assets" / "fonts"
FIGURES = ROOT / "vit_book" / "fonts"
# Characters that pages and figures may contain although the book's fonts lack them.
ELSEWHERE = set("\n\t")


def range_of(rule):
    """Return the characters that @font-face rules list."""
    ranges = " ".join(re.findall(r"unicode-range: ([^;]+);", rule))
    spans = re.findall(r"U\+([0-9A-F]+)(?:-([0-9A-F]+))?", ranges)
    return {
        chr(code)
        for first, last in spans
        for code in range(int(first, 16), int(last or first, 16) + 1)
    }


@cache
def characters():
    """Return the characters of all the book's fonts, which complete each other."""
    return range_of((FONTS / "fonts.css").read_text(encoding="utf-8")) | ELSEWHERE


def written_in(path):
    """Return the text in a page's source, outputs included."""
    if path.suffix != ".ipynb":
        return path.read_text(encoding="utf-8")
    cells = read(path).cells
    outputs = chain.from_iterable(cell.get("outputs", []) for cell in cells)
    shown = [
        json.dumps(
            {
                kind: text
                for kind, text in {
                    "stream": one.get("text"),
                    **one.get("data", {}),
                }.items()
                if not kind.startswith("image/")
            },
            ensure_ascii=False,
        )
        for one in outputs
    ]
    return "".join([*(cell.source for cell in cells), *shown])


PAGES = [
    path
    for source in SOURCES
    for path in (ROOT / f"{source}.md", ROOT / f"{source}.ipynb")
    if path.exists()
]
SCRIPTS = [*ROOT.glob("vit_*/**/*.py")]
SCRIPTS += (ROOT / "book" / "scripts" / "lab").glob("**/*.js")


@pytest.mark.parametrize(
    "path", [*PAGES, *SCRIPTS], ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_all_that_is_written_is_in_the_fonts(path):
    missing = set(written_in(path)) - characters()
    assert not missing, {character: f"U+{ord(character):04X}" for character in missing}


def test_the_fonts_are_small_and_bring_their_licences():
    css = FONTS / "fonts.css"
    assert css.stat().st_size < 120_000, "no word is shown before it is read"
    addresses = re.findall(r'url\("([^"]{8})', css.read_text(encoding="utf-8"))
    assert set(addresses) == {"data:fon"}, "a font that comes later moves what is read"
    for name in ("Inter", "FiraCode", "NotoSansMath"):
        name = f"LICENSE-{name}.txt"
        licence = (FONTS / name).read_text(encoding="utf-8")
        assert "Copyright" in licence and "SIL OPEN FONT LICENSE" in licence
    assert (FIGURES / "LICENSE-Inter.txt").exists()


ICON = re.compile(r"\bfa-([a-z][a-z0-9-]*)")
LARGE = {"lg", "solid", "brands"}  # how an icon is shown, and not which


def test_the_icons_that_the_pages_show_are_those_in_their_font():
    """To show another, add its name in book/fonts.py and run `make fonts`."""
    shown = {
        name
        for page in HTML.rglob("*.html")
        if "_static" not in page.parts
        for name in ICON.findall(page.read_text("utf-8"))
    }
    assert shown - LARGE == set(ICONS)
    css = (FONTS / "icons.css").read_text("utf-8")
    assert css.count("::before") == len(ICONS) and css.count("@font-face") == 2


# Figures


@pytest.mark.parametrize(
    "properties, file",
    [
        ({}, "text.ttf"),
        ({"weight": "bold"}, "text-bold.ttf"),
        ({"style": "italic"}, "text-italic.ttf"),
    ],
)
def test_figures_are_set_in_the_packages_own_font(properties, file, caplog):
    with plt.rc_context():
        vit_book.use_book_style()
        assert findfont(FontProperties(**properties)) == str(FIGURES / file)
    assert caplog.text == "", "matplotlib warns in the notebook"


def test_what_figures_write_is_in_their_font():
    font = FT2Font(FIGURES / "text.ttf")
    has = {chr(code) for code in font.get_charmap()} | ELSEWHERE
    for path in NOTEBOOKS:
        drawing = "".join(
            cell.source
            for cell in read(path).cells
            if cell.cell_type == "code" and re.search(r"plt\.|ax\.|show_", cell.source)
        )
        assert not set(drawing) - has, path.name


# Pages in a browser


@pytest.fixture(scope="module")
def tab(browser):
    context = browser.new_context()
    yield context.new_page()
    context.close()


def fonts_that_drew(tab, selector):
    """Return the fonts in which Chromium drew the first matching element's words."""
    session = tab.context.new_cdp_session(tab)
    session.send("DOM.enable")
    session.send("CSS.enable")
    root = session.send("DOM.getDocument", {"depth": 0})["root"]["nodeId"]
    node = session.send("DOM.querySelector", {"nodeId": root, "selector": selector})
    fonts = session.send("CSS.getPlatformFontsForNode", {"nodeId": node["nodeId"]})
    return {(font["familyName"], font["isCustomFont"]) for font in fonts["fonts"]}


KINDS = {
    ".chapter-line + p": "Book Text",
    "article h1": "Book Text",
    "article p strong": "Book Text",
    ".bd-sidebar-primary .nav-link, .bd-sidebar-primary a.reference": "Book Text",
    ".chapter-line summary": "Book Text",
    "article table td": "Book Text",
    "div.cell_input:not(details *) pre .line": "Book Code",
    "div.cell_output pre": "Book Code",
    "article code .pre": "Book Code",
}


@in_all_fonts
def test_fonts_come_from_the_book_on_every_machine(tab):
    tab.goto((HTML / "notebooks/04_scaled_dot_product_attention.html").as_uri())
    tab.evaluate("document.fonts.ready")
    for selector, family in KINDS.items():
        assert fonts_that_drew(tab, selector) == {(family, True)}, selector


@in_all_fonts
def test_the_map_opened_alone_has_its_letters(tab):
    tab.goto((ROOT / "book" / "_assets" / "model.svg").as_uri())
    tab.evaluate("document.fonts.ready")
    for selector in (".name", ".shape"):
        assert fonts_that_drew(tab, selector) == {("Book Text", True)}


def test_no_page_carries_the_letters_of_the_map():
    html = (HTML / "book" / "intro.html").read_text(encoding="utf-8")
    assert "data:font" not in html and "svg:root" in html


WATCH_WHAT_IS_WAITED_FOR = """window.waited = [];
    const load = document.fonts.load.bind(document.fonts);
    document.fonts.load = (...asked) => {
      const faces = load(...asked);
      waited.push(faces.then((found) => found.map(({family}) => family)));
      return faces;
    };"""


def test_a_page_is_shown_when_all_its_fonts_are_there(tab):
    """A font that arrives after the text would move its lines."""
    css = (FONTS / "fonts.css").read_text(encoding="utf-8")
    faces = re.findall(r'font-family: "([^"]+)"', css)
    tab.add_init_script(WATCH_WHAT_IS_WAITED_FOR)
    tab.goto((HTML / "notebooks/08_training.html").as_uri())
    waited = tab.evaluate("Promise.all(waited)")
    names = {name.strip('"') for names in waited for name in names}
    assert faces and names == set(faces)


LINES = """(selector) => [...document.querySelectorAll(selector)].map(element => {
    const box = element.getBoundingClientRect();
    return [Math.round(box.top), Math.round(box.right), Math.round(box.height)];
})"""


def test_a_page_is_laid_out_alike_with_any_fonts(browser_with):
    """Paragraphs, cells and tables end at the same place with other system fonts."""
    places = []
    for fonts in ("dejavu", "monospaced"):
        context = browser_with(fonts).new_context(
            viewport={"width": 390, "height": 844}
        )
        tab = context.new_page()
        tab.goto(
            (HTML / "notebooks/01_why_patches.html").as_uri(), wait_until="networkidle"
        )
        tab.evaluate("document.fonts.ready")
        places.append(tab.evaluate(LINES, "article :is(p, pre, table, h2, h3, li)"))
        context.close()
    assert len(places[0]) > 100
    assert places[0] == places[1]
