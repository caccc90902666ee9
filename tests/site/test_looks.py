"""The looks of the book: its map, its cards, its pictures, its tables.

Needs _build/html from `make book`; tests in a browser are skipped without one.
"""

import itertools
import re
from collections import Counter
from types import SimpleNamespace

import pytest
from PIL import Image
from sphinx.errors import ExtensionError

from book._extensions import no_break_spaces, pictures
from book._extensions.model_map import drawing
from book._extensions.repository import Repository
from tests.conftest import ROOT, read
from tests.site.conftest import in_all_fonts
from tests.site.test_pages import HTML, SOURCES, page_soup, soup
from tests.site.visit import WIDE, resize

SITE = Repository.of(ROOT).pages
CHAPTERS = sorted(s for s in SOURCES if re.match(r"notebooks/\d", s))
every_chapter = pytest.mark.parametrize("chapter", CHAPTERS)
every_page = pytest.mark.parametrize("page", SOURCES)


# The map of the model


def links_of(page):
    [drawing] = page_soup(page).select("nav.model-map-place")
    return drawing.select("a[data-chapter]")


@every_chapter
def test_the_map_is_under_the_title_with_one_part_lit(chapter):
    links = links_of(chapter)
    numbers = [int(link["data-chapter"]) for link in links]
    assert sorted(numbers) == list(range(len(CHAPTERS)))
    here = CHAPTERS.index(chapter)
    lit = [link for link in links if "lit" in link.get("class", [])]
    assert [int(link["data-chapter"]) for link in lit] == [here]
    assert [link for link in links if link.get("aria-current") == "page"] == lit
    title = page_soup(chapter).find("article").find("h1")
    assert "chapter-line" in title.find_next_sibling()["class"]


def test_the_map_on_the_first_page_lights_nothing():
    assert len(links_of("book/intro")) == len(CHAPTERS)
    assert not page_soup("book/intro").select(".model-map .lit, .has-lit")


def test_a_chapter_without_a_place_on_the_map_is_named():
    new = f"notebooks/{len(CHAPTERS)}_talking_heads"
    app = SimpleNamespace(
        env=SimpleNamespace(found_docs={*CHAPTERS, new}),
        builder=SimpleNamespace(get_relative_uri=lambda page, other: other),
    )
    wanted = f'no place, expected a link with data-chapter="{len(CHAPTERS)}"'
    with pytest.raises(ExtensionError, match=wanted):
        drawing(app, new)


def test_an_exercise_has_no_map():
    page = HTML / "notebooks/exercises/04_scaled_dot_product_attention.html"
    assert not soup(page).select("nav.model-map-place")


@pytest.mark.parametrize("page", ["book/intro", *CHAPTERS])
def test_each_part_leads_to_the_chapter_it_names(page):
    for link in links_of(page):
        chapter = CHAPTERS[int(link["data-chapter"])]
        target = (HTML / f"{page}.html").parent / link["href"]
        assert target.resolve() == (HTML / f"{chapter}.html").resolve()
        name = link.get("aria-label") or link.get_text(" ", strip=True)
        assert link["data-chapter"] in re.findall(r"\d+", name), name
        title = page_soup(chapter).find("article").find("h1").get_text().lower()
        told = set(re.findall(r"[a-z]{4,}|vit", name.lower()))
        assert told & set(re.findall(r"[a-z]{4,}|vit", title)), (name, title)


def test_the_map_is_described():
    drawing = page_soup("book/intro").select_one("svg.model-map")
    ids = {tag["id"]: tag for tag in drawing.find_all(id=True)}
    assert ids[drawing["aria-labelledby"]].name == "title"
    assert len(ids[drawing["aria-describedby"]].get_text()) > 100


@pytest.mark.parametrize("page", ["book/intro", *CHAPTERS])
def test_no_id_occurs_twice(page):
    document = page_soup(page)
    counted = Counter(tag["id"] for tag in document.find("article").find_all(id=True))
    assert [name for name, times in counted.items() if times > 1] == []


@pytest.fixture
def open_page(visits, site):
    def tab_with(page, size=WIDE, **options):
        tab = visits(**options).tab
        resize(tab, size)
        tab.goto(f"{site}{page}.html")
        return tab

    return tab_with


TEXTS = """() => [...document.querySelectorAll('.model-map text')]
    .filter(text => text.getClientRects().length)
    .map(text => {
        const chapter = text.closest('[data-chapter]')?.dataset.chapter;
        const inside = (outer, inner) => outer.left <= inner.left
            && inner.right <= outer.right && outer.top <= inner.top
            && inner.bottom <= outer.bottom;
        const box = text.getBoundingClientRect();
        const shapes = [...document.querySelectorAll('.model-map :is(rect, .frame)')]
            .filter(s => s.closest('[data-chapter]')?.dataset.chapter === chapter)
            .filter(s => !s.closest('.icon') && s.getClientRects().length);
        const around = shapes.filter(s => inside(s.getBoundingClientRect(), box));
        const ground = around.filter(s => getComputedStyle(s).fill !== 'none').at(-1);
        const number = text.matches('.number') && text.previousElementSibling;
        const zoom = +getComputedStyle(text.ownerSVGElement).zoom || 1;
        return {
            text: text.textContent, chapter, framed: around.length > 0,
            box: [box.left, box.top, box.right, box.bottom],
            size: parseFloat(getComputedStyle(text).fontSize) * zoom,
            ink: getComputedStyle(text).fill,
            ground: getComputedStyle(number || ground || text.ownerSVGElement).fill,
        };
    })"""


@in_all_fonts
def test_what_is_written_on_the_map_fits_its_box(open_page):
    tab = open_page("book/intro")
    for width in (1440, 1280, 768, 390, 360, 320):
        resize(tab, {"width": width, "height": 900})
        check_that_the_map_is_legible(tab, width)


def check_that_the_map_is_legible(tab, width):
    texts = tab.evaluate(TEXTS)
    assert len(texts) > 30
    assert [t["text"] for t in texts if not t["framed"]] == [], width
    for one, other in itertools.combinations(texts, 2):
        (a, b, c, d), (e, f, g, h) = one["box"], other["box"]
        # Boxes are as high as lines, so they may overlap a little where letters do not.
        apart = c <= e or g <= a or d <= f + 3 or h <= b + 3
        assert apart, (width, one["text"], other["text"])
    smallest = min(t["size"] for t in texts)
    assert smallest >= (12 if width >= 360 else 10)
    drawing = tab.locator("svg.model-map").bounding_box()
    assert drawing["x"] >= 0 and drawing["x"] + drawing["width"] <= width


def luminance(colour):
    parts = [int(p) / 255 for p in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (
        p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def in_both_themes(tab):
    """Switch the page to each theme, and yield the theme's name."""
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        tab.wait_for_function(f"document.documentElement.dataset.theme === '{scheme}'")
        yield scheme


def test_the_map_reads_in_both_themes(open_page):
    tab = open_page("book/intro", reduced_motion="reduce")  # colours change at once
    for scheme in in_both_themes(tab):
        for text in tab.evaluate(TEXTS):
            assert contrast(text["ink"], text["ground"]) >= 4.5, (scheme, text)


def test_the_map_by_keyboard(open_page):
    tab = open_page("book/intro")
    tab.locator(".model-map a").first.focus()
    order, outlines = [], []
    for _ in CHAPTERS:
        chapter, outline = tab.evaluate(
            "() => [document.activeElement.dataset.chapter,"
            " getComputedStyle(document.activeElement).outlineStyle]"
        )
        order.append(int(chapter))
        outlines.append(outline)
        tab.keyboard.press("Tab")
    assert order == [1, 2, 3, 4, 5, 6, 7, 0, *range(8, len(CHAPTERS))]
    assert set(outlines[1:]) == {"solid"}
    tab.locator(".model-map a[data-chapter='5']").focus()
    tab.keyboard.press("Enter")
    tab.wait_for_url(f"**/{CHAPTERS[5]}.html")


def test_the_map_on_paper_is_dark_on_white(open_page):
    tab = open_page("book/intro", reduced_motion="reduce")
    for scheme in in_both_themes(tab):
        tab.emulate_media(media="print")
        for text in tab.evaluate(TEXTS):
            if text["ground"] != text["ink"]:
                assert text["ground"] == "rgb(255, 255, 255)", (scheme, text)
                assert contrast(text["ink"], text["ground"]) >= 4.5
        tab.emulate_media(media="screen")


def test_nothing_moves_on_the_map(open_page):
    tab = open_page("book/intro", reduced_motion="reduce")
    moves = tab.evaluate(
        "() => [...document.querySelectorAll('.model-map *')].filter(e =>"
        " getComputedStyle(e).transitionDuration !== '0s' || e.getAnimations().length)"
        ".length"
    )
    assert moves == 0


# The map behind a line, on a chapter's page


@pytest.mark.parametrize("width", [1280, 390, 320])
def test_a_line_says_which_chapter_it_is_and_opens_the_map(open_page, width):
    tab = open_page(CHAPTERS[4])
    resize(tab, {"width": width, "height": 900})
    line = tab.locator(".chapter-line > summary")
    said = f"Chapter 4, the fifth of {len(CHAPTERS)}"
    assert line.inner_text().startswith(said)
    assert "Map of the model" in line.text_content()
    parts = line.locator(".small-model")
    assert parts.is_visible() == (width > 380)
    assert parts.locator(".lit").text_content() == "4"
    assert tab.locator(".chapter-line").bounding_box()["height"] <= 30
    assert not tab.locator(".model-map").is_visible()
    line.focus()
    tab.keyboard.press("Enter")
    check_that_the_map_is_legible(tab, width)


@every_chapter
def test_a_chapter_says_which_it_is_and_where_in_the_model(chapter):
    line = page_soup(chapter).select_one(".chapter-line > summary")
    number = int(chapter.split("/")[1][:2])
    last = number + 1 == len(CHAPTERS)
    said = r"last" if last else r"\w+(st|nd|rd|th)"
    text = " ".join(line.get_text().split())
    assert re.match(rf"Chapter {number}, the {said} of {len(CHAPTERS)} ", text), text
    [lit] = line.select(".small-model .lit")
    assert lit.find(string=True).strip() == str(number)
    assert line.select_one(".small-model")["aria-hidden"] == "true"


def test_the_first_pages_map_is_wide(open_page):
    for width in (1280, 1200):
        tab = open_page("book/intro", {"width": width, "height": 720})
        cover = tab.locator("figure.cover img").bounding_box()
        drawing = tab.locator("svg.model-map").bounding_box()
        assert drawing["width"] > 0.7 * cover["width"]
        assert drawing["x"] + drawing["width"] <= cover["x"] + cover["width"] + 1


def test_every_button_above_a_page_has_its_word(open_page):
    tab = open_page(CHAPTERS[4], {"width": 1280, "height": 720})
    words = tab.evaluate(
        """() => [...document.querySelectorAll('.bd-header-article .btn')]
            .filter(one => one.checkVisibility() && one.offsetWidth)
            .map(one => [getComputedStyle(one, '::after').content.split('"')[1]
                ?? one.innerText.trim(), one.offsetHeight])"""
    )
    said = "Chapters Code Run GitHub Download Full screen Colours"
    assert " ".join(word for word, _ in words) == said
    assert max(height for _, height in words) < 40, "in one line"


def test_the_map_with_a_lit_part_reads_in_both_themes(open_page):
    for chapter in (CHAPTERS[4], CHAPTERS[7], CHAPTERS[14]):
        tab = open_page(chapter, reduced_motion="reduce")
        tab.locator(".chapter-line > summary").click()
        for scheme in in_both_themes(tab):
            for text in tab.evaluate(TEXTS):
                assert contrast(text["ink"], text["ground"]) >= 4.5, (scheme, text)


# A page's metadata


def said(page):
    document = soup(HTML / f"{page}.html")
    return {
        tag.get("property") or tag.get("name"): tag["content"]
        for tag in document.find_all("meta", content=True)
        if tag.get("property") or tag.get("name")
    }


@every_page
def test_a_page_describes_itself(page):
    about = said(page)
    assert 80 <= len(about["description"]) <= 200
    assert about["og:description"] == about["description"]
    assert not re.search(r"[<>$\\`]|\{cite", about["description"])
    assert about["og:title"] in soup(HTML / f"{page}.html").title.get_text()
    [canonical] = soup(HTML / f"{page}.html").find_all("link", rel="canonical")
    assert canonical["href"] == about["og:url"] == f"{SITE}{page}.html"


def test_no_two_pages_say_the_same():
    for of_a_page in (
        lambda page: said(page)["description"],
        lambda page: soup(HTML / f"{page}.html").title.get_text(),
    ):
        counted = Counter(map(of_a_page, SOURCES))
        assert [text for text, times in counted.items() if times > 1] == []


@pytest.mark.parametrize("page", ["genindex", "search", "_modules/index"])
def test_pages_without_text_have_a_description(page):
    assert len(said(page)["description"]) > 20


def test_the_first_page_does_not_say_its_title_twice():
    for page in ("book/intro", "index"):
        title = soup(HTML / f"{page}.html").title.get_text(strip=True)
        assert title == "Vision Transformer, Step by Step"


def test_the_sites_own_address_has_a_card_and_leads_to_the_first_page():
    document = soup(HTML / "index.html")
    refresh = document.find("meta", attrs={"http-equiv": "refresh"})["content"]
    assert refresh == "0; url=book/intro.html" == f"0; url={document.find('a')['href']}"
    assert said("index")["og:image"] == said("book/intro")["og:image"]


@every_page
def test_a_page_has_a_card_and_does_not_load_it(page):
    about = said(page)
    assert about["twitter:card"] == "summary_large_image"
    assert about["og:image"].startswith(SITE)
    file = HTML / about["og:image"].removeprefix(SITE)
    size = (int(about["og:image:width"]), int(about["og:image:height"]))
    with Image.open(file) as card:
        assert card.size == size == (1200, 630)
        colours = card.convert("RGB").getcolors(size[0] * size[1])
        assert len(colours) > 100, "nothing is drawn on it"
    assert file.stat().st_size < 200_000
    body = str(soup(HTML / f"{page}.html").body)
    assert file.name not in body


@pytest.mark.parametrize(
    "url, site",
    [
        ("https://github.com/Ann/book", "https://ann.github.io/book/"),
        ("https://github.com/ann/ann.github.io", "https://ann.github.io/"),
    ],
)
def test_the_site_is_where_the_repository_says(url, site):
    assert Repository(url, "main").pages == site


# Pictures


@every_page
def test_every_picture_has_its_place_before_it_comes(page):
    path = HTML / f"{page}.html"
    for image in soup(path).find_all("img"):
        assert image["decoding"] == "async"
        width, height = pictures.natural_size(path.parent / image["src"])
        assert int(image["width"]) / int(image["height"]) == pytest.approx(
            width / height, rel=0.02
        )
    # a still is for paper, and printing does not wait for lazy pictures
    shown = soup(path).select("article img:not(.lab-still img)")
    assert not any("loading" in image.attrs for image in shown[:1])
    assert all(image["fetchpriority"] == "low" for image in shown[:1])  # text first
    assert all(image["loading"] == "lazy" for image in shown[1:])


@every_chapter
def test_a_figure_is_as_large_as_its_output_says(chapter):
    wanted = [
        (size["width"], size["height"])
        for cell in read(ROOT / f"{chapter}.ipynb").cells
        if cell.cell_type == "code"
        for output in cell.outputs
        for kind, size in output.get("metadata", {}).items()
        if kind.startswith("image/")
    ]
    shown = [
        (int(image["width"]), int(image["height"]))
        for image in page_soup(chapter).select("div.cell_output img.only-light")
    ]
    assert wanted and shown == wanted


def test_a_picture_of_each_sort(tmp_path):
    Image.new("RGB", (300, 200)).save(tmp_path / "a.png")
    (tmp_path / "b.svg").write_text('<svg viewBox="0 0 40 30"/>')
    sources = [
        '<img src="logo.png" class="x logo__image" alt="logo"/>',
        '<img src="a.png" alt="1 &gt; 0"/>',
        '<img src="a.png" alt="a > b" style="width: 150px; height: 100px;"/>',
        '<img src="a.png" alt="" style="width: 100%;"/>',
        '<img src="b.svg" alt="" width="20"/>',
    ]
    Image.new("RGB", (8, 8)).save(tmp_path / "logo.png")
    html = f"{sources[0]}<article>{''.join(sources[1:])}</article>"
    once = pictures.complete_pictures(html, tmp_path / "page.html")
    logo, natural, halved, percent, drawn = pictures.BeautifulSoup(
        once, "html.parser"
    ).find_all("img")
    sizes = [(tag["width"], tag["height"]) for tag in (natural, halved, percent, drawn)]
    assert sizes == [("300", "200"), ("150", "100"), ("300", "200"), ("20", "15")]
    assert "style" not in halved.attrs and percent["style"] == "width: 100%;"
    assert natural["alt"] == "1 > 0" and halved["alt"] == "a > b"
    assert "loading" not in logo.attrs and "loading" not in natural.attrs
    assert "fetchpriority" not in logo.attrs and natural["fetchpriority"] == "low"
    assert all(tag["loading"] == "lazy" for tag in (halved, percent, drawn))
    assert pictures.complete_pictures(once, tmp_path / "page.html") == once


def test_a_picture_keeps_its_shape_on_a_phone(open_page):
    tab = open_page(CHAPTERS[2])
    resize(tab, {"width": 390, "height": 844})
    ratios = tab.evaluate(
        """() => [...document.querySelectorAll('img.only-light')].map(image => {
            const style = getComputedStyle(image);
            const inner = side => parseFloat(style[side]);
            return [inner('width') / inner('height'),
                image.getAttribute('width') / image.getAttribute('height'),
                image.getBoundingClientRect().right];
        })"""
    )
    assert ratios
    for shown, wanted, right in ratios:
        assert shown == pytest.approx(wanted, rel=0.02) and right <= 390


# Tables


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_tables_of_cells_look_like_those_of_the_text(open_page, scheme):
    tab = open_page(CHAPTERS[1], color_scheme=scheme)
    resize(tab, {"width": 390, "height": 844})
    of_text, of_cells = tab.evaluate(
        """() => ['table:not(.vit-table)', 'table.vit-table'].map(kind => {
            const cell = document.querySelector(`article ${kind} td`);
            const style = getComputedStyle(cell);
            return ['fontVariantNumeric', 'color', 'borderBottom', 'paddingLeft']
                .map(name => style[name]);
        })"""
    )
    assert of_text == of_cells
    assert "tabular-nums" in of_text[0]


# Words that stay together

PROSE = "article.bd-article :is(p, li, td, figcaption)"
NOT_PROSE = ["code", "pre", "svg", "script", "summary", "h1", "h2", "h3", "h4"]


@every_page
def test_a_number_stays_on_the_line_of_its_word_and_its_unit(page):
    document = page_soup(page)
    divided = [
        str(text)
        for element in document.select(PROSE)
        for text in element.find_all(string=no_break_spaces.DIVIDED)
        if not text.find_parent(NOT_PROSE) and not text.find_parent(class_="vit-table")
    ]
    assert divided == []


@pytest.mark.parametrize("page", CHAPTERS[1:])
def test_a_beat_has_a_short_address(page):
    ids = {place["id"] for place in page_soup(page).select("article [id]")}
    assert {"the-picture", "by-hand", "the-module", "proof", "what-breaks"} <= ids


@pytest.mark.parametrize("page", CHAPTERS)
def test_a_name_stays_on_its_line(page):
    divided = [
        str(text)
        for element in page_soup(page).select(PROSE)
        for text in element.find_all(string=no_break_spaces.NAME)
        if not text.find_parent([*NOT_PROSE, "math"])
        and not text.find_parent(class_=["vit-table", "unbroken"])
    ]
    assert divided == []


def test_there_are_names_and_words_with_numbers():
    names = page_soup("notebooks/00_before_you_start").select("p .unbroken")
    assert "ViT-B/16" in {name.get_text() for name in names}
    document = page_soup("notebooks/exercises/08_training")
    assert "chapter\N{NO-BREAK SPACE}8" in document.get_text()
    assert "difficulty\N{NO-BREAK SPACE}●" in document.get_text()


WITHIN_A_WORD = """() => [...document.querySelectorAll('.names a')].filter(link => {
    const range = document.createRange();
    return [...link.childNodes].some(node => {
        range.selectNodeContents(node);
        return !/\\s/.test(node.textContent) && range.getClientRects().length > 1;
    });
}).map(link => link.textContent)"""


@pytest.mark.parametrize("width", [1280, 360])
def test_names_in_the_index_break_behind_dots_and_underscores(open_page, width):
    tab = open_page("genindex", {"width": width, "height": 800})
    assert tab.locator(".names").count() > 20
    assert tab.evaluate(WITHIN_A_WORD) == []


SIDE_ROADS = sorted(s for s in SOURCES if s.startswith("notebooks/side_roads/"))


@pytest.mark.parametrize("page", SIDE_ROADS)
def test_a_side_roads_imports_are_folded_and_its_question_stands_out(page):
    article = page_soup(page).select_one("article.bd-article > section")
    first = article.select_one("div.cell:not(.tag_remove-cell)")
    assert first.select_one("summary .collapsed").get_text(strip=True) == "Imports"
    for bold in article.select(":scope > p > strong:only-child"):
        if bold.get_text().endswith("?"):
            assert "page-question" in bold.parent["class"]


@pytest.mark.parametrize("width", [1024, 1280, 1440, 1600, 1920])
@pytest.mark.parametrize(
    "page", ["book/lab", "notebooks/04_scaled_dot_product_attention"]
)
def test_a_hidden_sidebar_leaves_the_page_inside_the_window(visits, site, page, width):
    tab = visits(alone=True).tab
    resize(tab, {"width": width, "height": 900})
    tab.goto(f"{site}{page}.html", wait_until="networkidle")
    if page != "book/lab":  # which hides it from the beginning
        tab.locator(".primary-toggle:visible").first.click()
    resize(tab, {"width": width, "height": 900})
    left = "document.querySelector('article').getBoundingClientRect().left"
    assert tab.evaluate(left) >= 0
    assert not tab.locator(".bd-sidebar-primary").is_visible()
