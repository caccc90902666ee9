"""The first page: its first screen, its numbers, its cards, and the moving cover.

Needs _build/html from `make book`; tests in a browser are skipped without one.
"""

import gzip
import re
from io import BytesIO

import numpy as np
import pytest
import torch
from PIL import Image
from sphinx.errors import ExtensionError

import vit_book
from book import cover, notebook_cards, panels
from book._extensions.repository import Repository
from book.chromium import served
from book.minutes import in_fives, minutes
from tests.conftest import CHAPTERS, ROOT, SIDE_ROADS, read
from tests.site.test_pages import HTML, SOURCES, page_soup
from tests.site.visit import PHONE
from vit_steps import VisionTransformer, ViTConfig, scaled_dot_product_attention

PAGE = "book/intro"
DESK = {"width": 1280, "height": 720}


def texts(selector):
    found = page_soup(PAGE).select(selector)
    return [" ".join(tag.get_text().split()) for tag in found]


# Its words and numbers


def test_three_buttons_lead_into_the_book_the_lab_and_colab():
    links = page_soup(PAGE).select(".first-steps a")
    chapter = "notebooks/00_before_you_start"
    colab = Repository.of(ROOT).colab(f"{chapter}.ipynb")
    assert [a["href"] for a in links] == [f"../{chapter}.html", "lab.html", colab]
    assert [a.get_text() for a in links] == [
        "Start reading",
        "Play with a trained model",
        "Open in Colab",
    ]


def test_the_facts_are_what_is_counted():
    chapters, exercises, parameters, offline = texts(".facts li")
    roads = [p for p in SOURCES if p.startswith("notebooks/side_roads/")]
    sets = [p for p in SOURCES if p.startswith("notebooks/exercises/")]
    with torch.device("meta"):
        model = VisionTransformer(ViTConfig.base())
    counted = sum(parameter.numel() for parameter in model.parameters())
    models = list((ROOT / "vit_steps" / "models").glob("*.safetensors"))
    assert chapters.startswith(f"{len(CHAPTERS)} chapters and {len(roads)} side roads")
    assert exercises.startswith(f"{len(sets)} exercise sets")
    assert parameters.startswith(f"{counted:,} parameters")
    assert f"{len(vit_book.PHOTOS)} photographs" in offline
    assert f"{len(models)} trained models" in offline


def test_a_chapter_goes_in_five_beats():
    beats = ["Picture", "By hand", "Module", "Proof", "Exercise"]
    assert texts(".beats strong") == beats


def test_each_chapter_has_a_card_with_its_own_title_question_and_minutes():
    cards = page_soup(PAGE).select(".chapter-cards li")
    assert len(cards) == len(CHAPTERS)
    for card, path in zip(cards, CHAPTERS, strict=True):
        [link] = card.select("a")
        assert link["href"] == f"../notebooks/{path.stem}.html"
        _, question, said = (p.get_text() for p in card.select("p"))
        beginning = " ".join(cell.source for cell in read(path).cells[:3])
        written = beginning.replace("\n", " ").replace("'", "’")
        assert written.startswith(f"# {link.get_text()} ")
        assert f"**{question}**" in written and question.endswith("?")
        assert said == f"{in_fives(minutes(path))} minutes"


def test_each_card_has_a_picture_that_is_light_and_says_nothing():
    for picture in page_soup(PAGE).select(".chapter-cards img"):
        file = HTML / "book" / picture["src"]
        assert file.stat().st_size < 25_000
        with Image.open(file) as image:
            assert image.size == notebook_cards.SIZE
            colours = image.convert("RGB").getcolors(image.width * image.height)
            assert len(colours) > 100, f"{file.name} is empty"
        assert picture["alt"] == "" and picture["loading"] == "lazy"
        size = int(picture["width"]), int(picture["height"])
        assert size == notebook_cards.SIZE


def test_each_side_road_is_named_by_its_question():
    items = page_soup(PAGE).select(".side-roads li")
    links = [item.a["href"].removeprefix("../").removesuffix(".html") for item in items]
    assert links == [p for p in SOURCES if p.startswith("notebooks/side_roads/")]
    paths = {path.stem: path for path in SIDE_ROADS}
    for item, page in zip(items, links, strict=True):
        path = paths[page.rsplit("/", 1)[1]]
        assert item.a.get_text().endswith("?")
        assert (
            item.find_all("span")[-1]
            .get_text()
            .endswith(f", {in_fives(minutes(path))} minutes")
        )


def figure(*boxes, size=(600, 300)):
    image = Image.new("RGB", size, "white")
    for left, top, right, bottom in boxes:
        image.paste("navy", (left, top, right, bottom))
    return image


def test_the_pictures_of_a_figure_are_found_and_its_titles_are_none():
    two, below, title = (10, 40, 290, 200), (310, 40, 590, 200), (20, 10, 120, 25)
    found = panels.panels(figure(two, below, title))
    assert [picture.size for picture in found] == [(280, 160)] * 2
    grid = [(10 + 52 * i, 10, 60 + 52 * i, 200) for i in range(5)]
    assert len(panels.panels(figure(*grid))) == 1, "a grid's lines do not cut"
    assert panels.panels(figure()) == []


def test_a_card_that_names_what_is_not_there_says_so():
    notebook = read(CHAPTERS[1])
    assert notebook_cards.picture_of(notebook, "01", "picture-tokens 1").size
    for said, error in (
        ("no-cell 1", "no cell no-cell"),
        ("picture-tokens 3", "pictures 1 to 2, got .'3'"),
        ("picture-tokens", "pictures 1 to 2"),
    ):
        with pytest.raises(ExtensionError, match=error):
            notebook_cards.picture_of(notebook, "01", said)
    with pytest.raises(ExtensionError, match="no question"):
        notebook_cards.question_of({"cells": [{"source": ["# Title"]}]}, "01")


# The cover and its numbers


def test_the_cover_is_light_and_has_its_place():
    figure = page_soup(PAGE).select_one("figure.cover img")
    file = HTML / "book" / figure["src"]
    assert file.stat().st_size < 150_000
    with Image.open(file) as still:
        assert still.size == (int(figure["width"]), int(figure["height"])) == cover.SIZE
        assert still.mode == "RGBA", "the page's own ground shows through"
    assert len(figure["alt"]) > 100 and "loading" not in figure.attrs
    assert not figure.find_parent("a"), "a tap on a patch would leave the page"
    static = HTML / "_static"
    assert len(gzip.compress((static / "cover.js").read_bytes())) < 6_000
    assert (static / "cover_data.js").stat().st_size < 20_000


@pytest.fixture(scope="module")
def vectors():
    return cover.colour_vectors(vit_book.photo(cover.PHOTO, 224))[None]


@pytest.fixture(scope="module")
def attention(vectors):
    """Return the attention weights of all patches, (N, N)."""
    return scaled_dot_product_attention(vectors, vectors, vectors)[1][0]


def test_the_cover_says_what_its_numbers_say(attention):
    """The framed patch of one eye attends most to the other eye."""
    attended = attention[cover.ASKING].reshape(14, 14)
    row, column = divmod(cover.ASKING, 14)
    assert row in (5, 6) and column in (10, 11, 12)
    other_eye = attended[4:7, 3:6].sum()
    this_eye = attended[5:8, 10:13].sum()
    assert other_eye > 0.3 and other_eye + this_eye > 0.5


@pytest.fixture
def open_page(browser, site):
    contexts = []

    def tab_with(**options):
        contexts.append(browser.new_context(**{"viewport": DESK} | options))
        tab = contexts[-1].new_page()
        tab.clock.install(time=0)
        tab.clock.pause_at(3600)  # from here the clock moves only when a test moves it
        tab.goto(f"{site}{PAGE}.html")
        return tab

    yield tab_with
    for context in contexts:
        context.close()


CANVAS = "figure.cover canvas"
A_WHILE = 6_000  # milliseconds after which nothing moves any more


def pixels_on(ground, image):
    layer = Image.new("RGBA", image.size, ground)
    layer.alpha_composite(image.convert("RGBA"))
    return np.asarray(layer.convert("RGB"), float)


def shown(tab):
    png = tab.locator(CANVAS).screenshot()
    return np.asarray(Image.open(BytesIO(png)).convert("RGB"), float)


def at_rest(open_page, **options):
    tab = open_page(**options)
    tab.wait_for_selector(CANVAS)
    tab.clock.run_for(A_WHILE)
    return tab


def test_the_page_draws_with_what_python_computes(open_page, attention):
    tab = open_page(reduced_motion="reduce")
    drawn = tab.evaluate("vitCover.colours.map((_, k) => vitCover.attention(k))")
    torch.testing.assert_close(torch.tensor(drawn), attention, atol=1e-3, rtol=0)
    tokens = 99 * cover.first_tokens(vit_book.photo(cover.PHOTO, 224))
    written = torch.tensor(tab.evaluate("vitCover.tokens"), dtype=torch.float)
    torch.testing.assert_close(written, tokens, atol=1, rtol=0)
    assert tab.evaluate("vitCover.asking") == cover.ASKING


def test_the_still_is_what_the_scripts_draw(browser):
    with served(cover.ASSETS) as address:
        tab = browser.new_page()
        drawn = cover.still(tab, address)
        tab.close()
    with Image.open(cover.ASSETS / "cover.webp") as still:
        for ground in ("white", "black"):
            on_ground = (pixels_on(ground, image) for image in (drawn, still))
            assert np.abs(np.subtract(*on_ground)).mean() < 3


def test_it_moves_once_and_rests_as_the_still(open_page):
    still = at_rest(open_page, reduced_motion="reduce")
    tab = open_page()
    tab.wait_for_selector(CANVAS)
    tab.clock.run_for(1_000)
    assert np.abs(shown(tab) - shown(still)).mean() > 5
    tab.clock.run_for(A_WHILE)
    rest = shown(tab)
    assert np.abs(rest - shown(still)).mean() < 1
    tab.clock.run_for(A_WHILE)
    assert np.array_equal(shown(tab), rest)
    tab.get_by_role("button", name="Play again").click()
    tab.clock.run_for(1_000)
    assert np.abs(shown(tab) - rest).mean() > 5


def test_nothing_moves_for_those_who_want_that(open_page):
    tab = open_page(reduced_motion="reduce")
    tab.wait_for_selector(CANVAS)
    tab.clock.run_for(100)
    first = shown(tab)
    tab.clock.run_for(1_000)
    assert np.array_equal(shown(tab), first)
    assert not tab.get_by_role("button", name="Play again").is_visible()


def place(patch):
    return "row {}, column {}".format(*(n + 1 for n in divmod(int(patch), 14)))


def sentence(attention, patch):
    weights = attention[patch].clone()
    weights[patch] = 0
    best = weights.argmax()
    return (
        f"The patch in {place(patch)} gives {100 * weights[best]:.0f} % of its "
        f"attention to the one in {place(best)}, the most of all others."
    )


def said(tab):
    tab.clock.run_for(1_000)
    return tab.locator("figure.cover [role=status]").inner_text()


def test_arrow_keys_choose_a_patch_that_asks(open_page, attention):
    tab = at_rest(open_page)
    assert said(tab) == ""
    before = shown(tab)
    tab.locator(CANVAS).focus()
    for key in ("ArrowUp", "ArrowLeft", "ArrowLeft"):
        tab.keyboard.press(key)
    assert said(tab) == sentence(attention, cover.ASKING - 14 - 2)
    assert np.abs(shown(tab) - before).mean() > 1
    for _ in range(20):
        tab.keyboard.press("ArrowDown")
    assert said(tab) == sentence(attention, 13 * 14 + 8), "it stays in the picture"
    tab.keyboard.press("Tab")
    focused = tab.evaluate("document.activeElement.className")
    assert focused == "cover-again", "the keyboard gets out again"


POINTS = """([patch, drawing]) => {
    const box = document.querySelector("figure.cover canvas").getBoundingClientRect();
    const scale = box.width / 1376, row = Math.floor(patch / 14), column = patch % 14;
    const [x, y] = drawing === "right" ? [924 + 32 * column + 16, 36 + 32 * row + 16]
        : drawing === "left" ? [32 * column + 12, 36 + 32 * row + 12]
        : [700, 260 + (patch + 1 - 98.5) * 2.5];
    return [Math.ceil(box.left + x * scale), Math.ceil(box.top + y * scale)];
}"""


@pytest.mark.parametrize("drawing", ["left", "tokens", "right"])
def test_a_pointer_chooses_a_patch_in_each_of_the_drawings(
    open_page, attention, drawing
):
    tab = at_rest(open_page)
    before = shown(tab)
    tab.mouse.move(*tab.evaluate(POINTS, [5 * 14 + 3, drawing]))
    assert said(tab) == sentence(attention, 5 * 14 + 3)
    assert np.abs(shown(tab) - before).mean() > 1
    tab.mouse.move(5, 5)
    tab.clock.run_for(A_WHILE)
    assert np.abs(shown(tab) - before).mean() < 1, "back to the eye"


def test_a_finger_chooses_a_patch_and_still_scrolls_the_page(open_page, attention):
    tab = at_rest(open_page, viewport=PHONE, has_touch=True, is_mobile=True)
    tab.touchscreen.tap(*tab.evaluate(POINTS, [9 * 14 + 6, "right"]))
    assert said(tab) == sentence(attention, 9 * 14 + 6)
    style = f"getComputedStyle(document.querySelector('{CANVAS}')).touchAction"
    assert tab.evaluate(style) == "pan-y"


def test_without_scripts_the_still_is_there_and_asks_for_nothing(open_page):
    tab = open_page(java_script_enabled=False)
    assert tab.locator("figure.cover img").is_visible()
    assert tab.locator(CANVAS).count() == 0


def test_on_paper_the_still_is_shown(open_page):
    tab = at_rest(open_page)
    tab.emulate_media(media="print")
    assert not tab.locator(CANVAS).is_visible()
    opacity = "getComputedStyle(document.querySelector('figure.cover img')).opacity"
    assert tab.evaluate(opacity) == "1"


# The first screen


@pytest.mark.parametrize(
    ("size", "last"), [(DESK, ".facts"), (PHONE, "figure.cover img")]
)
def test_the_first_screen_has_what_a_visitor_looks_for(open_page, size, last):
    tab = open_page(viewport=size, reduced_motion="reduce")
    order = [".bd-article h1", ".bd-article h1 + p", ".first-steps", "figure.cover img"]
    bottoms = [tab.locator(part).bounding_box() for part in [*order, last]]
    ends = [round(box["y"] + box["height"]) for box in bottoms]
    assert ends == sorted(ends) and ends[-1] <= size["height"]
    assert tab.locator(order[1]).bounding_box()["height"] < 100, "one line, or three"


def test_its_files_are_loaded_on_no_other_page():
    own = re.compile(r"_static/(first_page\.css|cover\w*\.js)")
    assert len(set(own.findall(str(page_soup(PAGE))))) == 3
    for page in ("book/lab", f"notebooks/{CHAPTERS[4].stem}"):
        html = (HTML / f"{page}.html").read_text("utf-8")
        assert not own.search(html)
