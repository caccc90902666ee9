"""Moving drawings: mouse, finger and keyboard work, and the numbers are PyTorch's.

Skipped where there is no Chromium, Chrome or Edge.
"""

import json
import math
import re
import statistics
from contextlib import contextmanager
from itertools import pairwise, permutations

import numpy as np
import pytest
import torch
from matplotlib import colormaps
from playwright.sync_api import expect

import vit_book
from book.chromium import served
from tests.conftest import ROOT, code_cells, read, tags
from tests.site.test_pages import HTML
from tests.site.visit import (
    NARROWEST,
    PHONE,
    SIZES_OF_LETTERS,
    WHOLE,
    WIDE,
    WORDS_IN_THE_WAY,
    resize,
    too_wide,
)
from vit_book import read_results
from vit_book.style import SCALE
from vit_steps.attention import scaled_dot_product_attention
from vit_steps.attention_maps import mask_patches
from vit_steps.cost import attention_cost, token_count
from vit_steps.training import learning_rate

CHAPTERS = {
    "three_windows": "notebooks/00_before_you_start",
    "temperature": "notebooks/00_before_you_start",
    "bill": "notebooks/01_why_patches",
    "split_move_join": "notebooks/02_patch_embedding",
    "shuffled_tokens": "notebooks/03_class_token_and_position",
    "position_similarity": "notebooks/03_class_token_and_position",
    "asking_patch": "notebooks/04_scaled_dot_product_attention",
    "one_query": "notebooks/04_scaled_dot_product_attention",
    "softmax_saturation": "notebooks/04_scaled_dot_product_attention",
    "split_and_merge": "notebooks/05_multi_head_attention",
    "residual_stream": "notebooks/06_encoder_block",
    "data_flow": "notebooks/07_vision_transformer",
    "valley": "notebooks/08_training",
    "where_it_looks": "notebooks/09_attention_maps",
    "deletion_curve": "notebooks/09_attention_maps",
    "resized_positions": "notebooks/10_pretrained_weights",
    "four_sizes": "notebooks/11_speed",
    "roofline": "notebooks/11_speed",
    "ring": "notebooks/12_scale",
    "swin_window": "notebooks/13_swin_and_deit",
    "made_of": "notebooks/14_bug_clinic",
    "rotary": "notebooks/15_a_vit_of_2026",
}
STILL = {"split_move_join", "split_and_merge", "position_similarity", "swin_window"}
STILL |= {"data_flow", "ring", "rotary", "three_windows"}
every_figure = pytest.mark.parametrize("name", CHAPTERS)


def figure_in(tab, address, name):
    tab.goto(address)
    figure = tab.locator(f".moving-{name}")
    figure.scroll_into_view_if_needed()
    return figure


def without_the_rest(html, name):
    """Return a chapter's page with nothing in its article but the cell of a figure."""
    begin = html.rindex('<div class="cell ', 0, html.index(f"moving-{name}"))
    depth = 0
    for tag in re.compile(r"<(/?)div\b").finditer(html, begin):
        depth += -1 if tag[1] else 1
        if depth == 0:
            break
    cell = html[begin : html.index(">", tag.end()) + 1]
    before, _, rest = html.partition('<article class="bd-article">')
    article = f'{cell}<div style="height: 3000px"></div>'  # so that it scrolls
    after = rest.partition("</article>")[2]
    return f'{before}<article class="bd-article">{article}</article>{after}'


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    """The address of pages with one figure each, which open sooner than a chapter."""
    folder = tmp_path_factory.mktemp("figures")
    for beside in HTML.iterdir():
        (folder / beside.name).symlink_to(beside)
    (folder / "notebooks").unlink()
    (folder / "notebooks").mkdir()
    for name, chapter in CHAPTERS.items():
        html = (HTML / f"{chapter}.html").read_text("utf-8")
        page = folder / "notebooks" / f"{name}.html"
        page.write_text(without_the_rest(html, name), "utf-8")
    with served(folder) as address:
        yield f"{address}notebooks/"


@pytest.fixture
def visit(visits, site, figures):
    """Return a function that opens the page of a figure; errors of its page fail."""
    opened = []

    def at(name, size=WIDE, page=None, time_stands=False, **options):
        opened.append(visits(alone=time_stands, **options))
        tab = opened[-1].tab
        resize(tab, size)
        address = f"{site}{page}.html" if page else f"{figures}{name}.html"
        figure = figure_in(tab, address, name)
        if time_stands:  # from here on it runs only as far as the test lets it
            tab.clock.install(time=0)
            tab.clock.pause_at(3600)
        return figure

    yield at
    for one in opened:
        assert one.errors == []


@pytest.fixture(scope="module")
def shared(kept_visit, site):
    """Return a function that opens a figure for tests that work in any state of it."""

    @contextmanager
    def at(name, **options):
        one = kept_visit(**options)
        yield figure_in(one.tab, f"{site}{CHAPTERS[name]}.html", name)
        assert one.errors == []

    return at


DRAWN = """figure => Object.fromEntries(
    [...figure.querySelectorAll("[data-part]")].map(part => [part.dataset.part, {
        text: part.querySelector("text")?.textContent,
        rects: [...part.querySelectorAll("rect")].map(rect =>
            ["x", "y", "width", "height"].map(name => +rect.getAttribute(name))),
        path: part.querySelector("path")?.getAttribute("d"),
    }]))"""


def drawn(figure):
    """Return the text, boxes and path of each named part of a drawing."""
    return figure.evaluate(DRAWN)


def written(figure, part):
    return figure.locator(f'[data-part="{part}"] text').first.text_content()


def value(text):
    return float(text.split()[-1].replace("−", "-"))


def number(figure, part):
    return value(written(figure, part))


def press(figure, name):
    """Press a button, even if it is aria-disabled and the press must have no effect."""
    figure.get_by_role("button", name=name, exact=True).click(force=True)


# Every figure


def is_a_still_picture(figure, name):
    expect(figure.locator(".vit-drawing")).to_be_visible()
    assert figure.locator(".vit-drawing").get_attribute("aria-label")
    assert figure.locator("button:visible, .vd-moving:visible").count() == 0
    height = figure.bounding_box()["height"]
    assert height < figure.locator(".vit-drawing").bounding_box()["height"] + 2
    if name in STILL:  # scripts replace this part
        expect(figure.locator('[data-part="still"]').first).to_be_visible()


@every_figure
def test_without_scripts_it_is_a_still_picture(visit, name):
    figure = visit(name, page=CHAPTERS[name], java_script_enabled=False)
    is_a_still_picture(figure, name)


@every_figure
def test_in_a_notebook_a_link_leads_to_where_it_moves(name):
    page = CHAPTERS[name]
    cells = read(ROOT / f"{page}.ipynb").cells
    shown = [i for i, cell in enumerate(cells) if f'drawing("{name}")' in cell.source]
    figure, below = cells[shown[0]], cells[shown[0] + 1]
    address = f"{page}.html#{figure.metadata.mystnb.figure.name})"
    assert "remove-cell" in tags(below) and address in below.source
    assert below.source.startswith("In a notebook this drawing stands still")


@pytest.fixture(scope="module", params=CHAPTERS)
def moving(request, shared):
    """A figure and its name, in the state that earlier tests have left it in."""
    with shared(request.param) as figure:
        yield figure, request.param


def test_on_paper_it_is_a_still_picture(moving):
    figure, name = moving
    figure.page.emulate_media(media="print")
    is_a_still_picture(figure, name)
    figure.page.emulate_media(media="screen")


def test_it_is_heard_once_and_politely(moving):
    figure, name = moving
    status = figure.get_by_role("status")
    expect(status).not_to_be_empty()
    before = status.text_content()
    press(figure, MOVED_BY.get(name, "Next"))
    expect(status).not_to_have_text(before)
    heard = figure.locator(".vit-drawing > :not([aria-hidden=true])")
    handles = figure.locator("[role=slider]").count()
    assert heard.count() == handles, "a screen reader meets the handles and no more"
    assert figure.locator(".vit-drawing").get_attribute("role") == "group"


MOVED_BY = {  # a button that changes the figure in any state of it but its last
    "split_and_merge": "reshape(T, h, d)",
    "position_similarity": "2-D",
    "asking_patch": "Backdrop",
    "one_query": "Back",  # it opens at its last step
    "residual_stream": "Back",  # and so does this
    "where_it_looks": "Next map",
    "resized_positions": "Back",  # it opens two steps before its last
    "made_of": "Image 0 alone",
    "rotary": "Swap places",
}


def named(figure):
    return figure.locator(".vit-drawing").get_attribute("aria-label")


@pytest.fixture(scope="module", params=CHAPTERS)
def calm(request, kept_visit, figures):
    """A figure and its name, for a reader who wants no motion."""
    one = kept_visit(reduced_motion="reduce")
    name = request.param
    yield figure_in(one.tab, f"{figures}{name}.html", name), name
    assert one.errors == []


def test_its_name_is_short_and_says_its_state(calm):
    figure, name = calm
    seen = [named(figure)]
    for handle in figure.locator("[role=slider]").all():
        handle.focus()
        for key in ("ArrowRight", "ArrowUp"):
            figure.page.keyboard.press(key)
            seen.append(named(figure))
    assert len(set(seen)) > 1 or len(seen) == 1
    stepped = {named(figure)}
    presses = 3 if MOVED_BY.get(name, "Back") == "Back" else 1
    for _ in range(presses):
        press(figure, MOVED_BY.get(name, "Next"))
        stepped.add(named(figure))
    assert len(stepped) == 1 + presses, "each step has a name of its own"
    title = figure.locator(".vit-drawing").get_attribute("data-title")
    for one in (*seen, *stepped):
        assert one.startswith(f"{title}: ")
        assert len(one) <= 180
    said = figure.get_by_role("status")
    expect(said).to_contain_text(named(figure).removeprefix(f"{title}: "))


def test_it_fits_and_its_targets_are_large_enough_for_a_finger(moving):
    figure, _ = moving
    resize(figure.page, NARROWEST)
    around = figure.bounding_box()
    for target in figure.locator("button, select, input, [role=slider]").all():
        box = target.bounding_box()
        assert min(box["width"], box["height"]) >= 40, target.get_attribute(
            "aria-label"
        )
        assert around["x"] - 1 <= box["x"]
        assert box["x"] + box["width"] <= around["x"] + around["width"] + 9
    assert min(figure.evaluate(SIZES_OF_LETTERS)) >= 11


def test_a_sliders_steps_lead_to_its_last_number(moving):
    figure, _ = moving
    for slider in figure.locator("input[type=range]").all():
        low, high, step = (
            float(slider.get_attribute(name)) for name in ("min", "max", "step")
        )
        assert (high - low) / step == round((high - low) / step), (low, high, step)


def test_a_low_window_shows_it_whole_and_legibly(moving):
    figure, _ = moving
    resize(figure.page, {"width": 1366, "height": 650})
    room = figure.bounding_box()["height"]
    assert room <= 615, "with its buttons, below the bar of the page"
    assert min(figure.evaluate(SIZES_OF_LETTERS)) >= 11.5


ITS_WORDS = """figure => {
    const place = figure.closest("figure").getBoundingClientRect();
    const boxes = [".vit-drawing", ".moving-controls", "figcaption"].map(part =>
        figure.closest("figure").querySelector(part).getBoundingClientRect());
    const apart = (one, other) => one.right <= other.left || other.right <= one.left
        || one.bottom <= other.top || other.bottom <= one.top;
    return [place.height, boxes.every((one, i) =>
        boxes.slice(i + 1).every(other => apart(one, other))),
        Math.max(...boxes.map(box => box.right)) - place.right];
}"""


@pytest.mark.parametrize("size", [(1280, 720), (1440, 900), (1920, 1080)])
def test_it_and_its_caption_are_seen_at_once_on_a_desk(calm, size):
    figure, _ = calm
    resize(figure.page, dict(zip(("width", "height"), size, strict=True)))
    height, apart, beyond = figure.evaluate(ITS_WORDS)
    assert height <= size[1] - 48, "below the bar of the page"
    assert apart and beyond <= 0.5


# A heading of these, or their main number, is larger than the other letters.
LARGER = {"bill", "shuffled_tokens", "position_similarity", "one_query", "rotary"}


def test_its_letters_are_about_as_large_as_the_text(calm):
    figure, name = calm
    for size in (WIDE | {"height": 720}, {"width": 1440, "height": 900}):
        resize(figure.page, size)
        letters = figure.evaluate(SIZES_OF_LETTERS)
        assert min(letters) >= 12
        assert max(letters) <= (20 if name in LARGER else 16)
        assert 13 <= statistics.median(letters) <= 15
        assert figure.evaluate(WORDS_IN_THE_WAY) == []
    resize(figure.page, PHONE)
    assert min(figure.evaluate(SIZES_OF_LETTERS)) >= 12
    assert figure.evaluate(WORDS_IN_THE_WAY) == []
    assert too_wide(figure.page)[0] == 0


def test_it_needs_no_more_room_once_it_moves(moving):
    figure, _ = moving
    figure.evaluate(LEAVE_IT_ALONE_IN_ITS_ARTICLE)
    for size in (WIDE, PHONE, NARROWEST):
        resize(figure.page, size)
        before = figure.evaluate(HEIGHT_WITHOUT_SCRIPTS)
        heights = figure.evaluate(HEIGHTS_AS_IT_IS_USED)
        assert len(heights) > 12
        assert heights == pytest.approx([before] * len(heights), abs=0.5), size


# Hides the rest of the page, so that a changed word does not lay out all of it again.
LEAVE_IT_ALONE_IN_ITS_ARTICLE = """figure => {
    for (let one = figure; !one.matches("article"); one = one.parentElement)
        for (const other of one.parentElement.children)
            if (other !== one) other.style.display = "none";
}"""
HEIGHT_WITHOUT_SCRIPTS = """figure => {
    const controls = figure.querySelector(".moving-controls");
    const put = [...controls.childNodes];
    controls.replaceChildren();
    const {height} = figure.getBoundingClientRect();
    controls.append(...put);
    return height;
}"""
# Runs timers and frames at once, as 0.2 seconds later: after that, sentences are
# announced, and motions are half done.
HEIGHTS_AS_IT_IS_USED = """figure => {
    const {setTimeout, clearTimeout, requestAnimationFrame, cancelAnimationFrame}
        = window;
    const waiting = new Set();
    const begin = todo => { waiting.add(todo); return todo; };
    const stop = todo => waiting.delete(todo);
    Object.assign(window, {setTimeout: begin, requestAnimationFrame: begin,
        clearTimeout: stop, cancelAnimationFrame: stop});
    const buttons = [...figure.querySelectorAll("button")].filter(button =>
        !["Play", "Play the bug", "Reset"].includes(button.textContent));
    const heights = [];
    const look = () => heights.push(figure.getBoundingClientRect().height);
    look();
    for (let time = 0; time < 6; time++) {
        for (const button of buttons) {
            button.click();
            look();
            const now = [...waiting];
            waiting.clear();
            for (const todo of now) todo(performance.now() + 200);
            look();
        }
    }
    Object.assign(window, {setTimeout, clearTimeout, requestAnimationFrame,
        cancelAnimationFrame});
    return heights;
}"""


@pytest.mark.parametrize(
    "name",
    [
        "bill",
        "softmax_saturation",
        "residual_stream",
        "shuffled_tokens",
        "data_flow",
        "roofline",
    ],
)
def test_a_finger_that_goes_up_on_a_slider_scrolls_the_page(visit, name):
    figure = visit(name, PHONE, has_touch=True, is_mobile=True)
    called = "step of the model" if name == "data_flow" else None
    slider = figure.get_by_role("slider", name=called).first
    slider.scroll_into_view_if_needed()
    before = slider.get_attribute("aria-valuetext")
    x, y = middle(slider.bounding_box())
    assert drag_by_finger(figure, (x + 30, y), (x + 25, y - 200))
    assert slider.get_attribute("aria-valuetext") == before
    slider.scroll_into_view_if_needed()
    x, y = middle(slider.bounding_box())
    aside = -90 if name == "residual_stream" else 90  # it begins at its right end
    assert not drag_by_finger(figure, (x, y), (x + aside, y - 20))
    assert slider.get_attribute("aria-valuetext") != before


def test_a_reader_who_wants_no_motion_gets_steps(calm):
    figure, _ = calm
    assert figure.get_by_role("button", name="Play").count() == 0
    moving = figure.evaluate(
        """f => [...f.querySelectorAll("[data-part]")].filter(
            part => getComputedStyle(part).transitionDuration !== "0s").length"""
    )
    assert moving == 0


SCRIPTS = ROOT / "book" / "scripts" / "figures"
STEPPED = [n for n in CHAPTERS if "figure.steps(" in (SCRIPTS / f"{n}.js").read_text()]


@pytest.mark.parametrize("name", STEPPED)
def test_wherever_it_opens_it_is_played_from_the_start(visit, name):
    figure = visit(name, time_stands=True)
    step = figure.locator(".moving-play ~ .moving-range input").first
    midway = step.input_value() != "0"
    for played in (0, 1) if midway else (1, 2):  # what is seen already is passed over
        press(figure, "Play")
        assert step.input_value() == str(played)
        press(figure, "Pause")


def test_reset_brings_back_what_is_played_from_the_start(visit):
    figure = visit("roofline", time_stands=True)
    step = figure.get_by_role("slider", name="number of tokens")
    opening = step.input_value()
    press(figure, "Next")
    press(figure, "Back")
    press(figure, "Play")
    assert step.input_value() == str(int(opening) + 1), "from where a reader went"
    press(figure, "Reset")
    press(figure, "Play")
    assert step.input_value() == "0"


# The pictures with which chapters 0, 9 and 11 open


def test_the_window_opens_to_the_whole_photograph(visit):
    from book.drawings.three_windows import MIDDLE, PHOTO, SIDES, share

    figure = visit("three_windows", reduced_motion="reduce")
    slider = figure.get_by_role("slider", name="side of the window")
    scale = PHOTO.width / SIDES[-1]
    for side in SIDES:
        sized = f"{side}×{side} pixels"
        assert written(figure, "title") == sized
        assert slider.get_attribute("aria-valuetext") == sized
        left, top, wide, high = seen_through(figure)
        assert wide == high == side
        assert left <= MIDDLE[0] <= left + side and top <= MIDDLE[1] <= top + side
        assert 0 <= left <= SIDES[-1] - side and 0 <= top <= SIDES[-1] - side
        frame = drawn(figure)["frame"]["rects"][0]
        place = [PHOTO.x + scale * left, PHOTO.y + scale * top, scale * side]
        assert frame[:3] == pytest.approx(place)
        cover = drawn(figure)["cover"]["path"]
        hole = [float(n) for n in cover.split("M")[2].split("v")[0].split()]
        assert hole == pytest.approx(place[:2])
        expect(figure.get_by_role("status")).to_contain_text(f", {share(side)} of")
        press(figure, "Next")


def seen_through(figure):
    """Return left, top, width and height of what the window shows, in pixels."""
    return figure.locator('[data-part="view"] use').evaluate(
        """use => document.querySelector(use.getAttribute("href"))
            .getAttribute("viewBox").split(" ").map(Number)"""
    )


def test_the_window_is_opened_on_the_photograph_by_mouse_finger_and_keys(visit):
    figure = visit("three_windows", PHONE, has_touch=True, is_mobile=True)
    box = grip(figure, "whole")
    x, y = middle(box)
    assert not drag_by_finger(figure, (box["x"] + 20, y), (x, y))
    assert written(figure, "title") == "51×51 pixels"
    figure.page.mouse.click(box["x"] + box["width"] - 16, y)
    assert written(figure, "title") == "224×224 pixels"
    figure.get_by_role("slider").press("Home")
    assert written(figure, "title") == "11×11 pixels"


FILLS = "all => all.map(one => one.getAttribute('fill').match(/\\d+/g).map(Number))"


def coloured_by(figure, weights, part="shades"):
    """Compare the colours of a map's squares with those of the book's plots."""
    found = figure.locator(f'[data-part="{part}"] .vd-tone').evaluate_all(FILLS)
    steps = np.linspace(0, 1, 10)  # between which figures interpolate
    stops = 255 * colormaps[SCALE](steps)[:, :3]
    shares = (weights / weights.max()).numpy()
    expected = [np.interp(shares, steps, channel) for channel in stops.T]
    assert np.abs(np.array(found).T - expected).max() < 4


def test_each_map_is_that_of_the_record(visit):
    from book.drawings.where_it_looks import HEADS, SIDE, maps

    heads = torch.tensor(
        read_results("stranger")["runs"]["ViT-S/14"]["trained"][
            list(vit_book.PHOTOS).index("coffee")
        ]
    )
    figure = visit("where_it_looks", reduced_motion="reduce")
    handle = figure.get_by_role("slider", name="map that is shown")
    for index, shares in enumerate((heads.mean(dim=0), *heads)):
        name = f"head {index - 1}" if index else "all heads together"
        assert handle.get_attribute("aria-valuetext") == name
        coloured_by(figure, shares)
        half = maps()[index].half
        assert shares[half].sum() >= shares.sum() / 2 > shares[half].sort()[0][1:].sum()
        assert shares[half].min() >= shares.sort().values[-len(half)]
        status = figure.get_by_role("status")
        expect(status).to_contain_text(f"of {name}: {len(half)} of the {SIDE**2} ")
        lines = figure.locator('[data-part="half"] path').first.get_attribute("d")
        inside = {divmod(patch, SIDE) for patch in half}
        sides = sum(
            (row + down, column + across) not in inside
            for row, column in inside
            for down, across in ((0, 1), (1, 0), (0, -1), (-1, 0))
        )
        assert lines.count("M") == sides, "around the patches, and nowhere else"
        press(figure, "Next map")
    assert index == HEADS
    assert handle.get_attribute("aria-valuetext") == "all heads together"


def test_a_map_is_chosen_by_mouse_finger_and_keys(visit):
    figure = visit("where_it_looks", PHONE, has_touch=True, is_mobile=True)
    handle = figure.get_by_role("slider")
    box = handle.bounding_box()
    title = figure.locator('[data-part="title"] text')
    for index in (3, 6, 1):
        x = box["x"] + box["width"] * (index + 0.5) / 7
        figure.page.touchscreen.tap(x, box["y"] + box["height"] / 2)
        expect(title).to_have_text(f"where head {index - 1} looks")
    for key, said in (("End", "head 5"), ("ArrowLeft", "head 4"), ("Home", "the ViT")):
        handle.press(key)
        expect(title).to_have_text(f"where {said} looks")


def test_the_times_appear_one_after_the_other(visit):
    from book.drawings.four_sizes import SIDES, milliseconds, tokens, work

    took = milliseconds()
    counts = [tokens(side) for side in SIDES]
    figure = visit("four_sizes", reduced_motion="reduce")
    slider = figure.get_by_role("slider", name="number of tokens")
    status = figure.get_by_role("status")
    for now, count in enumerate(counts):
        for index in range(len(counts)):
            point = figure.locator(f'[data-part="point-{index}"] text')
            expect(point).to_be_visible(visible=index <= now)
        for index in range(len(counts) - 1):
            for part, there in (("time", index < now), ("ask", index >= now)):
                text = figure.locator(f'[data-part="{part}-{index}"] text')
                expect(text).to_be_visible(visible=there)
        assert slider.get_attribute("aria-valuetext").startswith(f"{count:,} token")
        if now:
            more, longer = (row[now] / row[now - 1] for row in (counts, took))
            harder = work(count) / work(counts[now - 1])
            said = f"with {more:.0f} times the tokens the layer has {harder:.0f} times"
            expect(status).to_contain_text(said)
            expect(status).to_contain_text(f"takes {longer:.0f} times as long")
            assert value(written(figure, f"time-{now - 1}")) == round(longer)
            assert value(written(figure, f"work-{now - 1}")) == round(harder)
        else:
            expect(status).to_contain_text("Guess, and press Next.")
        press(figure, "Next")


def test_a_press_on_a_photograph_shows_its_time_and_paper_shows_all(visit):
    figure = visit("four_sizes", PHONE, has_touch=True, is_mobile=True)
    box = grip(figure, "chart")
    last = figure.locator('[data-part="point-3"] text')
    for share, index in ((0.66, 2), (0.02, 0), (0.34, 1)):
        x = box["x"] + 12 + share * (box["width"] - 24)
        figure.page.touchscreen.tap(x, box["y"] + 20)
        slider = figure.get_by_role("slider")
        assert int(slider.input_value()) == index
        expect(last).to_be_hidden()
    figure.page.emulate_media(media="print")
    expect(last).to_be_visible()
    expect(figure.locator('[data-part="time-2"] text')).to_be_visible()
    expect(figure.locator('[data-part="ask-2"] text')).to_be_hidden()


# The bill


QUADRATIC_AND_LINEAR = ("quadratic", "linear")


def billed(figure, model, image, patch):
    """Compare the numbers on the page with the package's for the same block."""
    from book.drawings.bill import GPU, LIMIT, MODELS, STAGE, large, macs, memory

    D, heads = MODELS[model]
    T = token_count(image, patch) + 1
    quadratic, linear = macs(T, D)
    squares = attention_cost(T, D, heads).all_heads_bytes
    share = quadratic / (quadratic + linear)
    assert share == pytest.approx(T / (T + 6 * D))
    fits = "✓ fits" if squares <= LIMIT else "✗ does not fit"
    pixels = "pixel" if patch == 1 else "pixels"
    parts = drawn(figure)
    for part, said in {
        "tokens": f"T = {T:,} tokens",
        "scores": f"{T:,} × {T:,} scores in each head",
        "squares": f"{heads} heads, float32: {memory(squares)}",
        "fits": f"{fits} into {GPU}",
        "block": f"A block of {model}, D = {D}",
        "macs": f"{large(quadratic + linear)} MACs",
        "share-quadratic": f"quadratic, 2T²D: {share:.1%}",
        "share-linear": f"linear, 12TD²: {1 - share:.1%}",
    }.items():
        assert parts[part]["text"] == said
    label = figure.locator("label").filter(has_text="image side")
    expect(label).to_have_text(f"image side: {image} pixels")
    side = figure.get_by_role("slider", name="patch side")
    assert side.get_attribute("aria-valuetext") == f"{patch} {pixels}"
    assert f" of {patch} {pixels} + the " in parts["patches"]["text"]
    square, band = (parts[f"area-{name}"]["rects"][0] for name in QUADRATIC_AND_LINEAR)
    assert square[2] == pytest.approx(square[3]), "it is a square"
    assert square[3] == pytest.approx(band[3])
    assert square[0] + square[2] == pytest.approx(band[0])
    assert band[2] / square[2] == pytest.approx(linear / quadratic, rel=1e-3)
    assert square[1] + square[3] == pytest.approx(STAGE.bottom)
    assert square[1] >= STAGE.y - 0.01 and band[0] + band[2] <= STAGE.right + 0.01
    heard = figure.get_by_role("status")
    expect(heard).to_contain_text(f"{model}/{patch} at {image}: {T:,} tokens")
    expect(heard).to_contain_text(f"{share:.1%} of them are quadratic")


def lying(figure, part):
    [rect] = drawn(figure)[part]["rects"]
    return rect


def test_the_bill_is_the_packages(visit):
    from book.drawings.bill import MODELS, PATCHES, SIDES

    figure = visit("bill", reduced_motion="reduce")
    billed(figure, "ViT-B", 224, 16)
    press(figure, "Back")
    for patch in PATCHES:
        billed(figure, "ViT-B", 224, patch)
        press(figure, "Next")
    for model in MODELS:
        press(figure, model)
        expect(figure.locator("button[aria-pressed=true]")).to_have_text(model)
        billed(figure, model, 224, 1)
    figure.get_by_role("slider", name="image").focus()
    low, high, step = SIDES
    for key, image in (("End", high), ("Home", low), ("ArrowRight", low + step)):
        figure.page.keyboard.press(key)
        billed(figure, "ViT-H", image, 1)
    figure.get_by_role("slider", name="patch").focus()
    figure.page.keyboard.press("Home")
    billed(figure, "ViT-H", low + step, 32)
    expect(figure.get_by_role("button", name="Back")).to_have_attribute(
        "aria-disabled", "true"
    )


def test_the_bill_grows_by_a_number_one_can_remember(visit):
    from book.drawings.bill import macs

    figure = visit("bill", reduced_motion="reduce")
    first, *others = (sum(macs((224 // P) ** 2 + 1, 768)) for P in (16, 8, 4, 2, 1))
    for other in others:
        times = f"{float(f'{other / first:.2g}'):,g}"
        press(figure, "Next")
        expect(figure.get_by_role("status")).to_contain_text(f", {times} times those")
    slider = figure.get_by_role("slider", name="patch")
    assert slider.get_attribute("aria-valuetext") == "1 pixel"


def test_the_bill_says_where_both_parts_are_equal(visit):
    from book.drawings.bill import MODELS, SIDES

    figure = visit("bill", reduced_motion="reduce")
    image = figure.get_by_role("slider", name="image")
    low, _, step = SIDES
    for model, side in (("ViT-S", 768), ("ViT-B", 1086), ("ViT-L", 1254)):
        press(figure, model)
        said = f"in patches of 16, at an image side of {side:,}."
        assert written(figure, "equal") == said
        linear = 6 * MODELS[model][0]
        assert (side / 16) ** 2 + 1 == pytest.approx(linear, rel=2e-3)
        near = low + round((side - low) / step) * step
        image.fill(str(near))
        square, band = (lying(figure, f"area-{n}") for n in QUADRATIC_AND_LINEAR)
        quadratic = token_count(near, 16) + 1
        assert band[2] / square[2] == pytest.approx(linear / quadratic, rel=1e-3)


def test_more_tokens_never_look_like_less(visit):
    figure = visit("bill", reduced_motion="reduce")
    press(figure, "Back")
    sizes = []
    for _ in range(6):
        square, band = (lying(figure, f"area-{n}") for n in QUADRATIC_AND_LINEAR)
        sizes.append(square[3] * (square[2] + band[2]))
        press(figure, "Next")
    assert all(after >= before - 0.01 for before, after in pairwise(sizes))


WATCH_ITS_WIDTH = """bar => {
    window.widths = [];
    (function look() {
        widths.push(+bar.getAttribute("width"));
        requestAnimationFrame(look);
    })();
}"""


def test_the_bill_grows_to_one_scale_before_it_is_zoomed_out(visit):
    figure = visit("bill", time_stands=True)
    start = figure.locator('[data-part="start"]')
    expect(start).to_be_hidden()
    *_, before, _ = lying(figure, "start")
    figure.locator('[data-part="area-quadratic"] rect').evaluate(WATCH_ITS_WIDTH)
    press(figure, "Next")
    expect(start).to_be_visible()
    figure.page.clock.run_for(650)
    assert lying(figure, "start")[2] == pytest.approx(before), "still to one scale"
    sides = figure.page.evaluate("widths")
    assert sides == sorted(sides) and len(set(sides)) > 2, "it grows bit by bit"
    figure.page.clock.run_for(1200)
    *_, width, height = lying(figure, "start")
    assert width < before, "all of it is smaller now"
    assert width / height == pytest.approx((197 + 6 * 768) / 197, rel=1e-3)
    assert lying(figure, "area-quadratic")[3] / height == pytest.approx(785 / 197)
    press(figure, "Back")
    expect(start).to_be_hidden()


def test_the_labs_page_has_the_same_bill(visit):
    figure = visit("bill", page="book/lab", time_stands=True)
    billed(figure, "ViT-B", 224, 16)
    press(figure, "Next")
    figure.page.clock.run_for(1200)
    billed(figure, "ViT-B", 224, 8)


# The residual stream


def grip(figure, part):
    """Return the place of a part that mouse and finger can drag."""
    return figure.locator(f'[data-part="{part}"] .moving-grip').bounding_box()


def shown_patches(figure, name):
    """Return the patch that is shown at each place of a cat."""
    return figure.locator(f'[data-part="cat-{name}"]').evaluate(
        """cat => { const [whole, ...pieces] = cat.children;
            if (!whole) return null;
            const at = (one, name) => Number(one.getAttribute(name));
            const side = at(whole, "width") / 14;
            const patches = [...Array(196).keys()];
            for (const piece of pieces) {
                const column = Math.round((at(piece, "x") - at(whole, "x")) / side);
                const row = Math.round((at(piece, "y") - at(whole, "y")) / side);
                const of = document.querySelector(piece.getAttribute("href"));
                const [x, y] = of.getAttribute("viewBox").split(" ").map(Number);
                patches[14 * row + column] = 14 * y / 16 + x / 16;
            }
            return patches; }"""
    )


def after(count):
    return f"after {count} block{'s' * (count != 1)}"


def test_the_cat_shows_what_each_block_leaves_of_its_tokens(visit):
    from book.drawings.residual_stream import BLOCKS, LEFT, STACKS, WIDE, stacks

    figure = visit("residual_stream", reduced_motion="reduce")
    slider = figure.get_by_role("slider")
    assert slider.get_attribute("aria-valuetext") == "12", "the end, as the text has it"
    slider.focus()
    figure.page.keyboard.press("Home")
    for block in range(BLOCKS + 1):
        parts = drawn(figure)
        assert parts["block"]["text"] == after(block)
        for name in STACKS:
            stack = stacks()[name]
            assert shown_patches(figure, name) == stack.answers[block]
            empty = figure.locator(f'[data-part="empty-{name}"]')
            count = stack.recognised[block]
            said = parts[f"count-{name}"]["text"]
            if count is None:
                assert said == "all tokens equal"
                expect(empty).to_be_visible()
            else:
                assert said == f"{count} of 196 recognised"
                expect(empty).to_be_hidden()
            lengths = stack.lengths[block * stack.steps]
            for part, length in zip(("length", "left"), lengths, strict=True):
                shown = number(figure, f"{part}-{name}")
                assert shown == pytest.approx(length, abs=0.06)
            for which, part in enumerate(("stream", "first")):
                line, floor = parts[f"{part}-{name}"]["path"][:-1].split("V")
                x, y = line.split("L")[-1].split()
                length = stack.lengths[block * stack.steps][which]
                assert float(floor) - float(y) == pytest.approx(length, abs=6e-3)
                assert float(x) == pytest.approx(LEFT + block * WIDE)
        figure.page.keyboard.press("ArrowRight")
    heard = figure.get_by_role("status")
    expect(heard).to_contain_text("pre-norm 193, post-norm 107")
    expect(heard).to_contain_text("with no residual all tokens are equal")


def test_the_stream_is_played_from_the_start_and_dragged(visit):
    figure = visit("residual_stream", time_stands=True)
    press(figure, "Play")
    for block in (0, 1, 2):
        assert written(figure, "block") == after(block)
        figure.page.clock.run_for(1250)
    box = grip(figure, "rows")
    figure.page.mouse.move(box["x"] + 20, box["y"] + 20)
    figure.page.mouse.down()
    figure.page.mouse.move(box["x"] + box["width"] / 2, box["y"] - 200)
    figure.page.mouse.up()
    assert written(figure, "block") == after(6)
    expect(figure.get_by_role("button", name="Play", exact=True)).to_be_visible()
    figure.page.clock.run_for(5000)
    assert written(figure, "block") == after(6), "dragging has stopped it"
    for y, block in ((60, 9), (box["height"] - 20, 3)):
        x = 20 + (box["width"] - 40) * block / 12
        figure.page.mouse.click(box["x"] + x, box["y"] + y)
        said = "a click on any stream jumps"
        assert written(figure, "block") == after(block), said


def test_on_paper_the_stream_has_gone_through_all_blocks(visit):
    figure = visit("residual_stream", reduced_motion="reduce")
    count = figure.locator('[data-part="count-pre-norm"] text')
    figure.get_by_role("slider").press("Home")
    for media, recognised in (("screen", 196), ("print", 193), ("screen", 196)):
        figure.page.emulate_media(media=media)
        expect(count).to_have_text(f"{recognised} of 196 recognised")


# Split, move, join


def read_in_order(figure):
    cells = figure.locator('[data-part^="read-"]').evaluate_all(
        """cells => cells.map(cell => [
            new DOMMatrix(getComputedStyle(cell).transform).e,
            Number(cell.textContent)])"""
    )
    return [number for _, number in sorted(cells)]


def rows_on_the_page(figure):
    """Return the numbers in the order of their places, row by row of every block."""
    cells = figure.locator('[data-part^="cell-"]').evaluate_all(
        """cells => cells.map(cell => {
            const {e, f} = new DOMMatrix(getComputedStyle(cell).transform);
            return [e, f, Number(cell.textContent)]; })"""
    )
    lefts = sorted({x for x, _, _ in cells})
    blocks = [[lefts[0]]]
    for before, x in pairwise(lefts):
        if x - before > 40:
            blocks.append([])
        blocks[-1].append(x)
    found = []
    for block in blocks:
        inside = sorted((y, x, n) for x, y, n in cells if x in block)
        ys = sorted({y for y, _, _ in inside})
        found.append([[n for y, _, n in inside if y == row] for row in ys])
    return found if len(found) > 1 else found[0]


def test_the_image_is_cut_as_the_package_cuts_it(visit):
    from book.drawings.split_move_join import image, joined, moved, split

    (code,) = (
        c.source
        for c in code_cells(ROOT / f"{CHAPTERS['split_move_join']}.ipynb")
        if c.id == "tiny"
    )
    figure = visit("split_move_join", reduced_motion="reduce")
    assert rows_on_the_page(figure) == image.tolist()
    assert written(figure, "holds-0") == ""
    for tensor in (split, moved, joined):
        press(figure, "Next")
        assert written(figure, "shape") == f"{tuple(tensor.shape)}"
        assert written(figure, "code") in code, "as in the cell above"
        assert read_in_order(figure) == tensor.flatten().tolist()
    assert rows_on_the_page(figure) == tensor.tolist()
    assert written(figure, "holds-0") == "patch 0"
    assert written(figure, "step") == "✓ joined"


def test_the_axes_move_as_pytorch_moves_them(visit):
    from book.drawings.split_move_join import joined, split

    figure = visit("split_move_join", reduced_motion="reduce")
    axes = figure.get_by_role("combobox", name="how the axes move")
    for order in permutations(range(4)):
        axes.select_option(", ".join(map(str, order)))
        made = split.permute(order).reshape(4, 4)
        assert rows_on_the_page(figure) == made.tolist(), "the last step is shown"
        whole = all(sorted(row) in joined.tolist() for row in made.tolist())
        verdict = "✗ joined: another order" if whole else "✗ joined: scrambled"
        if torch.equal(made, joined):
            verdict = "✓ joined"
        assert written(figure, "step") == verdict, order
    axes.select_option("0, 1, 2, 3")
    assert written(figure, "holds-0") == "patches 0 and 1"


# One query


def attended(figure):
    """Compare the numbers on the page with PyTorch's for the same query."""
    numbers = json.loads(figure.locator(".vit-drawing").get_attribute("data-numbers"))
    parts = drawn(figure)
    shown = {name: part["text"] for name, part in parts.items()}
    query = [value(shown[f"query-{j}"]) for j in range(4)]
    keys = [[value(shown[f"key-{i}-{j}"]) for j in range(4)] for i in range(3)]
    values = [[value(shown[f"value-{i}-{n}"]) for n in range(2)] for i in range(3)]
    q, k, v = (
        torch.tensor(rows, dtype=torch.float64) for rows in ([query], keys, values)
    )
    output, weights = (x[0].tolist() for x in scaled_dot_product_attention(q, k, v))
    scores = (q @ k.T)[0].tolist()
    for i in range(3):
        for j in range(4):
            assert value(shown[f"product-{i}-{j}"]) == query[j] * k[i, j]
        assert value(shown[f"score-{i}"]) == scores[i]
        assert value(shown[f"scaled-{i}"]) == scores[i] / 2
        exp = math.exp(scores[i] / 2)
        assert value(shown[f"exp-{i}"]) == pytest.approx(exp, abs=6e-4)
        x, y = values[i]
        assert shown[f"point-{i}"] == f"· ({x:g}, {y:g})"
        for part in (f"weight-{i}", f"times-{i}"):
            assert value(shown[part]) == pytest.approx(weights[i], abs=6e-4)
        full, share, *_ = (width for _, _, width, _ in parts[f"share-{i}"]["rects"])
        assert share / full == pytest.approx(weights[i], abs=1e-2)
    for n in range(2):
        assert value(shown[f"output-{n}"]) == pytest.approx(output[n], abs=6e-4)
    plane = numbers["plane"]
    [[x, y, side, _]] = parts["dot"]["rects"]
    here = (x + side / 2 - plane["x"], plane["y"] - y - side / 2)
    assert [n / plane["unit"] for n in here] == pytest.approx(output)
    return query


def test_the_query_is_that_of_the_chapter_and_its_output_pytorchs(visit):
    assert attended(visit("one_query")) == [2, 0, 1, 1]


def middle(box):
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_the_query_is_dragged_by_mouse(visit):
    figure = visit("one_query")
    x, y = middle(figure.get_by_role("slider").nth(1).bounding_box())
    mouse = figure.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 60, y - 300, steps=5)
    assert attended(figure) == [2, 3, 1, 1], "as far as it goes"
    mouse.move(x, y + 300)
    mouse.up()
    assert attended(figure) == [2, -2, 1, 1]
    mouse.move(x, y)
    assert attended(figure) == [2, -2, 1, 1], "it was let go"


def test_the_query_is_dragged_by_finger(visit):
    figure = visit("one_query", PHONE, has_touch=True)
    box = figure.get_by_role("slider").nth(3).bounding_box()
    x, _ = middle(box)
    session = figure.page.context.new_cdp_session(figure.page)
    top, bottom = box["y"] + 4, box["y"] + box["height"] - 4

    def touch(kind, *points):
        places = [{"x": x, "y": y} for y in points]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})

    scrolled = figure.page.evaluate("scrollY")
    touch("touchStart", top)
    for step in range(1, 6):
        touch("touchMove", top + (bottom - top) * step / 5)
    touch("touchEnd")
    assert attended(figure) == [2, 0, 1, -2]
    assert figure.page.evaluate("scrollY") == scrolled, "the page stays"


def test_the_query_is_moved_by_keys(visit):
    figure = visit("one_query")
    first = figure.get_by_role("slider", name="number 1 of the query")
    first.focus()
    for key, reached in (
        ("ArrowDown", 1.5),
        ("ArrowLeft", 1),
        ("ArrowUp", 1.5),
        ("Home", -2),
        ("PageUp", 0),
        ("End", 3),
        ("ArrowRight", 3),
    ):
        figure.page.keyboard.press(key)
        assert attended(figure) == [reached, 0, 1, 1]
        assert float(first.get_attribute("aria-valuenow")) == reached
    assert first.get_attribute("aria-valuetext") == "3"
    press(figure, "Reset")
    assert attended(figure) == [2, 0, 1, 1]
    assert first.get_attribute("aria-valuenow") == "2"


def keys_shown(figure):
    return [[number(figure, f"key-{i}-{j}") for j in range(4)] for i in range(3)]


def test_keys_and_values_are_dragged_and_moved_by_keys(visit):
    figure = visit("one_query")
    before = keys_shown(figure)
    box = grip(figure, "handle-key-1")
    x, y = box["x"] + 0.62 * box["width"], box["y"] + 20
    mouse = figure.page.mouse
    mouse.move(x, y)
    mouse.down()
    assert keys_shown(figure) == before, "to press is not to change"
    mouse.move(x, y - 15, steps=3)
    mouse.up()
    before[1][2] += 1
    assert keys_shown(figure) == before
    attended(figure)
    key = figure.get_by_role("slider", name="key 3")
    key.focus()
    for pressed in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown"):
        figure.page.keyboard.press(pressed)
    before[2][2] -= 1
    assert keys_shown(figure) == before
    assert key.get_attribute("aria-valuetext") == "number 3 is −1, of 0, 2, −1, 0"
    figure.page.keyboard.press("End")
    figure.page.keyboard.press("ArrowUp")
    assert keys_shown(figure)[2][2] == 2, "as far as it goes"
    attended(figure)
    point = figure.get_by_role("slider", name="value 1")
    x, y = middle(grip(figure, "handle-value-0"))
    mouse.move(x, y)
    mouse.down()
    mouse.move(x - 300, y - 50, steps=4)
    mouse.up()
    assert point.get_attribute("aria-valuetext") == "(0, 3)"
    figure.page.keyboard.press("ArrowDown")
    assert written(figure, "point-0") == "· (0, 2)"
    attended(figure)
    press(figure, "Reset")
    assert attended(figure) == [2, 0, 1, 1]
    assert keys_shown(figure) == [[1, 0, 1, 1], [0, 1, 1, 1], [0, 2, 0, 0]]


def test_a_tie_is_called_a_tie(visit):
    figure = visit("one_query")
    status = figure.get_by_role("status")
    figure.get_by_role("slider", name="step").press("End")
    expect(status).to_contain_text("Value 1 pulls hardest")
    for _ in range(4):
        figure.get_by_role("slider").nth(0).press("ArrowDown")
    expect(status).to_contain_text("Values 1 and 2 pull equally hard")
    for slider in (2, 3):
        for _ in range(2):
            figure.get_by_role("slider").nth(slider).press("ArrowDown")
    expect(status).to_contain_text("Values 1, 2 and 3 pull equally hard")
    expect(status).to_contain_text("each with a weight of 0.333")


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_softmaxs_rows_have_air_and_values_stay_on_their_ground(visit, size):
    figure = visit("one_query", size)

    def box(part, of="text"):
        found = figure.locator(f'[data-part="{part}"] {of}').first.bounding_box()
        return found["y"], found["y"] + found["height"]

    top, bottom = box("band-v", "path")
    for i in range(3):
        above, below = box(f"handle-value-{i}")
        assert top < above and below <= bottom, f"value {i + 1}"
    (_, total), (divisor, end) = box("total"), box("divisor")
    assert end + 5 <= top, "the last row is not at the values"
    weight, _ = box("weight-0")
    assert total + 2 <= weight and weight <= divisor


# What each step of attention writes, and the sentence that says so.
COMPUTED = [
    (set(), "nothing has been computed yet"),
    ({"product", "score"}, "the scores are 4, 2 and 0"),
    ({"scaled"}, "the scores are 2, 1 and 0"),
    ({"exp", "total", "weight", "divisor", "share"}, "0.665, 0.245 and 0.090"),
    ({"times", "output", "pull", "dot"}, "(7.553, 3.348)"),
]
SEEN = """figure => [...figure.querySelectorAll("[data-part]")].filter(part =>
    [...part.querySelectorAll("text, path, .vd-full, [rx='6']:only-child")].every(
        ink => getComputedStyle(ink).opacity === "1")).map(part => part.dataset.part)"""


def seen(figure):
    """Return the kinds of parts of one_query that are drawn in full."""
    return {name.split("-")[0] for name in figure.evaluate(SEEN)}


def test_a_step_writes_what_it_computes_and_back_takes_it_away(visit):
    figure = visit("one_query", reduced_motion="reduce")
    status = figure.get_by_role("status")
    computed = {kind for kinds, _ in COMPUTED for kind in kinds}
    expect(status).to_contain_text(COMPUTED[-1][1])
    assert seen(figure) >= computed, "it opens with all that is computed"
    figure.get_by_role("slider", name="step").press("Home")
    there = set()
    shown = []
    for kinds, said in COMPUTED:
        expect(status).to_contain_text(said)
        there |= kinds
        shown.append(set(there))
        assert seen(figure) & computed == there
        press(figure, "Next")
    assert {"query", "key", "value"} <= seen(figure)
    for there in reversed(shown):
        assert seen(figure) & computed == there
        press(figure, "Back")
    figure.page.emulate_media(media="print")
    assert seen(figure) >= computed, "paper shows it all"


def test_what_is_computed_arrives_one_after_the_other(visit):
    figure = visit("one_query", time_stands=True)
    figure.get_by_role("slider", name="step").press("Home")
    press(figure, "Next")
    figure.page.clock.run_for(700)
    assert {"product"} == {"product", "score", "scaled"} & seen(figure)
    figure.page.clock.run_for(700)
    assert {"product", "score"} == {"product", "score", "scaled"} & seen(figure)


def test_a_term_of_the_formula_lights_and_fills_what_it_names(visit):
    figure = visit("one_query", reduced_motion="reduce")
    status = figure.get_by_role("status")
    lit = figure.locator(".lit")
    figure.get_by_role("slider", name="step").press("Home")
    figure.locator('[data-part="term-softmax"]').hover()
    expect(lit).to_have_count(2)
    expect(status).to_contain_text("0.665, 0.245 and 0.090")
    assert "weight" in seen(figure)
    figure.locator("h1, svg").first.hover(position={"x": 5, "y": 200})
    expect(lit).to_have_count(0)
    assert "weight" not in seen(figure)
    figure.get_by_role("slider", name="step").focus()
    for _, said in COMPUTED[1:4]:
        figure.page.keyboard.press("ArrowRight")
        expect(status).to_contain_text(said)
        expect(lit).to_have_count(4 if "4, 2" in said else 2)
    for _ in range(9):
        press(figure, "Next")
    expect(status).to_contain_text("(7.553, 3.348)")
    expect(figure.get_by_role("button", name="Next")).to_be_focused()
    figure.locator('[data-part="term-q"]').hover()
    expect(status).to_contain_text("q kᵀ")
    assert "output" in seen(figure), "to point at a term takes nothing away"


def test_play_goes_on_by_itself_until_it_is_stopped(visit):
    figure = visit("one_query", time_stands=True)
    press(figure, "Play")
    status = figure.get_by_role("status")
    for said in ("nothing has been computed yet", "q kᵀ", "Divided"):
        figure.page.clock.run_for(200)
        expect(status).to_contain_text(said)
        figure.page.clock.run_for(2900)
    press(figure, "Pause")
    figure.page.clock.run_for(200)
    said = status.text_content()
    figure.page.clock.run_for(9000)
    assert status.text_content() == said


# The softmax


def test_the_softmax_has_the_numbers_of_its_drawing(visit):
    from book.drawings.softmax_saturation import DIMS, ranked

    figure = visit("softmax_saturation", reduced_motion="reduce")
    slider = figure.get_by_role("slider")
    slider.focus()
    figure.page.keyboard.press("Home")
    for d in DIMS:
        assert slider.get_attribute("aria-valuetext") == str(d)
        parts = drawn(figure)
        assert parts["d"]["text"] == f"d = {d}"
        for name, divided in (("undivided", False), ("divided", True)):
            weights = ranked(d, divided)
            best = weights[0].item()
            share = value(parts[f"share-{name}"]["text"])
            assert share == pytest.approx(best, abs=6e-3)
            [[_, _, width, _]] = parts[f"best-{name}"]["rects"]
            assert width == pytest.approx(356 * best, abs=0.1)
            cuts = parts[f"cuts-{name}"]["path"]
            ends = [float(cut.split()[0]) for cut in cuts.split("M")[1:]]
            expected = 2 + 356 * weights.cumsum(0)[:-1]
            torch.testing.assert_close(
                torch.tensor(ends, dtype=torch.float64), expected, rtol=0, atol=1.5
            )
        figure.page.keyboard.press("ArrowRight")
    heard = figure.get_by_role("status")
    expect(heard).to_contain_text("0.94 of the attention, and divided by √d 0.05")


def test_the_softmax_moves_from_one_d_to_the_other(visit):
    figure = visit("softmax_saturation", time_stands=True)
    box = grip(figure, "chart")
    bar = figure.locator('[data-part="best-undivided"] rect')
    bar.evaluate(WATCH_ITS_WIDTH)
    figure.page.mouse.click(box["x"] + 20, box["y"] + 20)
    assert written(figure, "d") == "d = 1"
    figure.page.clock.run_for(1200)
    widths = figure.page.evaluate("widths")
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] == pytest.approx(0.06 * 356, abs=2)
    assert len(set(widths)) > 3, "on its way it is somewhere between"


# Split and merge


CALLS = {
    "reshape(T, h, d)": lambda q: q.reshape(3, 2, 2),
    "transpose(0, 1)": lambda q: q.transpose(0, 1),
    "reshape(T, D)": lambda q: q.reshape(3, 4),
}
CUT, TRANSPOSE, MERGE = CALLS


@pytest.fixture(scope="module")
def split_and_merge(shared):
    with shared("split_and_merge", reduced_motion="reduce") as figure:
        yield figure


@pytest.mark.parametrize(
    "calls, verdict",
    [
        ([CUT], "cut"),
        ([CUT, TRANSPOSE], "✓ split"),
        ([CUT, TRANSPOSE, TRANSPOSE, MERGE], "✓ merged"),
        ([CUT, TRANSPOSE, MERGE], "✗ scrambled"),
        ([TRANSPOSE], "transposed"),
        ([TRANSPOSE, CUT], "✗ scrambled"),
        ([TRANSPOSE, CUT, TRANSPOSE], "✗ scrambled"),
        ([CUT, TRANSPOSE, CUT], "✗ scrambled"),
        ([CUT, MERGE], "as it was"),
        ([MERGE], "as it was"),
        ([TRANSPOSE, TRANSPOSE], "as it was"),
        ([CUT, TRANSPOSE, TRANSPOSE, MERGE, CUT, MERGE], "as it was"),
        ([CUT, TRANSPOSE, MERGE, TRANSPOSE, CUT], "✗ scrambled"),
    ],
)
def test_the_calls_do_what_pytorchs_do(split_and_merge, calls, verdict):
    figure = split_and_merge
    press(figure, "Reset")
    q = 10 * torch.arange(3)[:, None] + torch.arange(4)
    assert rows_on_the_page(figure) == q.tolist()
    for call in calls:
        press(figure, call)
        q = CALLS[call](q)
        assert rows_on_the_page(figure) == q.tolist()
        shape = ", ".join(map(str, q.shape))
        assert written(figure, "shape").endswith(f"= ({shape})")
        assert read_in_order(figure) == q.flatten().tolist()
    assert written(figure, "verdict") == verdict


def test_the_bug_is_played(visit):
    figure = visit("split_and_merge", reduced_motion="no-preference")
    press(figure, "Play the bug")
    status = figure.get_by_role("status")
    for said in ("cut into", "one head", "row 0 holds numbers of tokens 0 and 1"):
        expect(status).to_contain_text(said)
    assert written(figure, "code-0") == "q.reshape(T, h, d).transpose(0, 1)"
    assert written(figure, "code-1") == ".reshape(T, D)"


def test_what_is_played_pauses_goes_on_and_gives_way(visit):
    figure = visit("split_and_merge", time_stands=True)
    press(figure, "Play the bug")
    figure.page.clock.run_for(1900)
    assert written(figure, "verdict") == "cut"
    press(figure, "Pause")
    figure.page.clock.run_for(9000)
    assert written(figure, "verdict") == "cut"
    press(figure, "Play the bug")
    assert written(figure, "verdict") == "✓ split", "it goes on where it was"
    press(figure, "Play")
    assert written(figure, "verdict") == "", "the other begins at the start"
    assert figure.get_by_role("button", name="Pause").count() == 1
    figure.page.clock.run_for(1900)
    press(figure, "transpose(0, 1)")
    figure.page.clock.run_for(9000)
    assert written(figure, "verdict") == "✓ split", "what a reader does ends it"
    press(figure, "Play")
    assert written(figure, "verdict") == ""


# Places on a grid


SCROLLED_TO = """() => new Promise(resolve => {
    let [place, frames] = [scrollY, 0];
    (function look() {
        frames = scrollY === place ? frames + 1 : 0;
        place = scrollY;
        frames < 20 ? requestAnimationFrame(look) : resolve(place);
    })();
})"""  # resolves when scrolling has stopped


def drag_by_finger(figure, *spots):
    """Drag a finger through some spots, and return whether the page scrolled."""
    session = figure.page.context.new_cdp_session(figure.page)
    before = figure.page.evaluate(SCROLLED_TO)

    def touch(kind, *points):
        places = [{"x": x, "y": y} for x, y in points]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})

    touch("touchStart", spots[0])
    for (x, y), (right, down) in pairwise(spots):
        for step in range(1, 6):
            touch("touchMove", (x + (right - x) * step / 5, y + (down - y) * step / 5))
    touch("touchEnd")
    return figure.page.evaluate(SCROLLED_TO) != before


def spot(figure, handle, place, side):
    """Return the middle of a grid's place on the screen."""
    grip = figure.locator(f'[data-part="{handle}"] .moving-grip').first.bounding_box()
    row, column = place
    return (
        grip["x"] + (column + 0.5) * grip["width"] / side,
        grip["y"] + (row + 0.5) * grip["height"] / side,
    )


# Three tokens


def orders_shown(figure):
    cards = figure.locator("[role=slider]").evaluate_all(
        """cards => cards.map(card => {
            const {left, right} = card.getBoundingClientRect();
            return [left + right, +card.querySelector("text").textContent];
        })"""
    )
    return [number for _, number in sorted(cards)]


def collected(figure):
    """Compare the sums on the page with PyTorch's for the same order of tokens."""
    order = torch.tensor(orders_shown(figure), dtype=torch.float64)
    parts = drawn(figure)
    shown = {name: part["text"] for name, part in parts.items()}
    for name, added in (("alone", [0, 0, 0]), ("placed", [0, 0.5, 1])):
        tokens = order + torch.tensor(added, dtype=torch.float64)
        weights = tokens.softmax(dim=0)
        for place in range(3):
            weight = value(shown[f"weight-{name}-{place}"])
            assert weight == pytest.approx(weights[place].item(), abs=6e-4)
            if name == "placed":
                assert value(shown[f"sum-{place}"]) == tokens[place]
        total = (weights * tokens).sum().item()
        assert value(shown[f"total-{name}"]) == pytest.approx(total, abs=6e-4)
        bars = [p["rects"] for n, p in parts.items() if n.startswith(f"given-{name}")]
        given = sorted(width for rects in bars for _, _, width, _ in rects)
        expected = sorted((70 * weights * tokens).tolist())
        assert given == pytest.approx(expected, abs=0.05)
    return order.int().tolist()


SUMS = '[data-part^="order-"] text:not(.vd-soft):visible'


def test_tokens_change_places_by_steps_mouse_finger_and_keys(visit):
    figure = visit("shuffled_tokens", reduced_motion="reduce", has_touch=True)
    seen = [collected(figure)]
    for _ in range(5):
        press(figure, "Next")
        seen.append(collected(figure))
        assert figure.locator(SUMS).count() == 2 * len(seen), "the table fills"
    assert len({tuple(order) for order in seen}) == 6
    assert seen[0] == [3, 1, 2]
    for _ in range(5):
        press(figure, "Back")
    first = figure.get_by_role("slider", name="place of the token 3")
    x, y = middle(first.bounding_box())
    apart = middle(figure.get_by_role("slider").nth(1).bounding_box())[0] - x
    mouse = figure.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 2 * apart, y, steps=4)
    mouse.up()
    assert collected(figure) == [1, 2, 3]
    first.focus()
    figure.page.keyboard.press("ArrowLeft")
    assert collected(figure) == [1, 3, 2]
    expect(figure.get_by_role("status")).to_contain_text(
        "In the order 1, 3, 2 attention still collects 2.575 without positions, "
        "and with them 3.199 instead of 3.620."
    )
    assert first.get_attribute("aria-valuetext") == "second"
    assert not drag_by_finger(figure, (x + apart, y), (x, y))
    assert collected(figure) == [3, 1, 2]
    figure.locator('[data-part="order-4"]').click()
    assert collected(figure) == [2, 3, 1], "a column of the table is its order"


# Positions


KINDS = {"1-D": 14, "2-D": 14, "Untrained": 8, "Trained": 8}


def similarities(name):
    from book.drawings.position_similarity import similarity

    side = KINDS[name]
    kind = {"Untrained": "before", "Trained": "after"}.get(name, name)
    return similarity(kind).reshape(side, side, side, side)


@pytest.fixture(scope="module")
def position_similarity(shared):
    with shared("position_similarity", reduced_motion="reduce") as figure:
        yield figure


@pytest.mark.parametrize("name", ["1-D", "2-D"])
def test_the_hands_point_where_the_package_has_them(position_similarity, name):
    from book.drawings.position_similarity import positions

    figure = position_similarity
    press(figure, name)
    vector = positions(name)[4 * 14 + 9].double()
    if name == "1-D":  # sines, then cosines, of 384 clocks
        pairs = vector.reshape(2, 384)[:, ::48]
    else:  # sines, then cosines, of 192 for the row, then for the column
        pairs = vector.reshape(2, 2, 192)[:, :, :96:24].transpose(0, 1).flatten(1)
    parts = drawn(figure)
    for clock, (sine, cosine) in enumerate(pairs.T.tolist()):
        path = parts[f"hand-{clock}"]["path"]
        (x, y), (right, down) = (map(float, end.split()) for end in path[1:].split("L"))
        assert (right - x, y - down) == pytest.approx(
            (13 * cosine, 13 * sine), abs=0.02
        )


@pytest.mark.parametrize("name", KINDS)
def test_the_map_is_pytorchs_wherever_one_chooses(position_similarity, name):
    from book.drawings.position_similarity import POWER

    figure = position_similarity
    press(figure, name)
    side = KINDS[name]
    similar = similarities(name)
    for row, column in ((0, 0), (side // 2, 2), (side - 1, side - 2)):
        figure.page.mouse.click(*spot(figure, "handle-chosen", (row, column), side))
        assert written(figure, "chosen") == f"row {row}, column {column}"
        fill = figure.locator('[data-part="map"] g:visible rect').evaluate_all(
            "cells => cells.map(cell => Number(cell.style.fillOpacity))"
        )
        expected = similar[row, column].flatten().clamp_min(0) ** POWER
        assert fill == pytest.approx(expected.tolist(), abs=1e-2), "one scale for all"
        ring = written(figure, "compared")
        x, y = spot(figure, "handle-chosen", (1, side - 2), side)
        figure.page.mouse.move(x, y, steps=3)
        assert written(figure, "compared") == f"row 1, column {side - 2}"
        there = similar[row, column, 1, side - 2].item()
        assert number(figure, "similarity") == pytest.approx(there, abs=6e-3)
        figure.page.mouse.move(0, 0)
        assert written(figure, "compared") == ring, "it was only a look"


def test_a_place_is_chosen_by_keys_and_the_other_one_too(visit):
    figure = visit("position_similarity")
    chosen = figure.get_by_role("slider", name="the chosen place")
    other = figure.get_by_role("slider", name="the place it is compared with")
    chosen.focus()
    for key, place in (
        ("ArrowUp", "row 3, column 9"),
        ("ArrowLeft", "row 3, column 8"),
        ("ArrowDown", "row 4, column 8"),
    ):
        figure.page.keyboard.press(key)
        assert written(figure, "chosen") == place
        assert chosen.get_attribute("aria-valuetext") == place
    other.focus()
    figure.page.keyboard.press("ArrowRight")
    assert written(figure, "compared") == "row 3, column 10"
    assert chosen.get_attribute("aria-valuenow") == str(4 * 14 + 8)
    for _ in range(20):
        figure.page.keyboard.press("ArrowRight")
    assert written(figure, "compared") == "row 3, column 13", "as far as it goes"
    expect(figure.get_by_role("status")).to_contain_text("row 3, column 13")
    for key, place in (("End", "row 13, column 13"), ("Home", "row 0, column 0")):
        figure.page.keyboard.press(key)
        assert written(figure, "compared") == place


def test_the_ring_is_dragged_by_mouse_and_stays(visit):
    figure = visit("position_similarity", reduced_motion="reduce")
    mouse = figure.page.mouse
    mouse.move(*spot(figure, "handle-chosen", (3, 9), 14))
    mouse.down()
    mouse.move(*spot(figure, "handle-chosen", (8, 2), 14), steps=4)
    mouse.up()
    mouse.move(0, 0)
    assert written(figure, "compared") == "row 8, column 2"
    assert written(figure, "chosen") == "row 4, column 9"


def test_a_finger_taps_drags_and_scrolls(visit):
    figure = visit("position_similarity", PHONE, has_touch=True, is_mobile=True)

    def at(*place):
        return spot(figure, "handle-chosen", place, 14)

    figure.page.touchscreen.tap(*at(10, 2))
    assert written(figure, "chosen") == "row 10, column 2"
    assert not drag_by_finger(figure, at(10, 2), at(6, 6))
    assert written(figure, "chosen") == "row 6, column 6"
    assert not drag_by_finger(figure, at(3, 9), at(1, 11))
    assert written(figure, "compared") == "row 1, column 11", "the ring is held too"
    assert drag_by_finger(figure, at(12, 12), at(4, 12)), "elsewhere the page moves"
    assert written(figure, "chosen") == "row 6, column 6"


# The asking patch


def asked(figure, row, column):
    """Compare the drawn weights with PyTorch's for the patch in this row and column."""
    from book.drawings.asking_patch import MAP, SIDE, attention

    patch = SIDE * row + column
    weights = attention()[patch]
    coloured_by(figure, weights)
    assert written(figure, "asks") == f"patch {patch} looks"
    assert number(figure, "own") == pytest.approx(weights[patch].item(), abs=2e-4)
    assert number(figure, "most") == pytest.approx(weights.max().item(), abs=2e-4)
    framed = drawn(figure)["best"]["rects"][0][:2]
    place = MAP.cell(*divmod(weights.argmax().item(), SIDE), SIDE, SIDE)
    assert framed == pytest.approx([place.x, place.y])
    ranked = weights.sort(descending=True).values
    half = int((ranked.cumsum(dim=0) < 0.5).sum()) + 1
    status = figure.get_by_role("status")
    expect(status).to_contain_text(f"The {half} patches inside the white line")
    line = drawn(figure)["half"]["path"]
    inside = {divmod(n, SIDE) for n in weights.argsort(descending=True)[:half].tolist()}
    beside = ((-1, 0), (1, 0), (0, -1), (0, 1))
    edges = sum((r + y, c + x) not in inside for r, c in inside for y, x in beside)
    assert line.count("M") == edges


def test_any_patch_asks_by_mouse_keys_and_buttons(visit):
    figure = visit("asking_patch", reduced_motion="reduce")
    mouse = figure.page.mouse
    asks = figure.get_by_role("slider")

    def at(*place):
        return spot(figure, "handle-asks", place, 14)

    asked(figure, 12, 5)
    mouse.move(*at(3, 8))
    asked(figure, 3, 8)
    mouse.move(0, 0)
    asked(figure, 12, 5)  # pointing does not choose
    mouse.move(*at(8, 11))
    asked(figure, 8, 11)
    told = figure.get_by_role("status")
    expect(told).to_contain_text("and row 8, column 12, a trace more")  # 124, not 123
    mouse.move(*at(12, 5))
    mouse.down()
    mouse.move(*at(5, 10), steps=4)
    mouse.up()
    mouse.move(0, 0)
    asked(figure, 5, 10)
    expect(figure.get_by_role("status")).to_contain_text("no other patch more")
    asks.focus()
    figure.page.keyboard.press("ArrowUp")
    assert asks.get_attribute("aria-valuetext") == "row 4, column 10"
    asked(figure, 4, 10)
    for name, place in {"Backdrop": (0, 3), "Helmet": (12, 10)}.items():
        press(figure, name)
        asked(figure, *place)
        expect(figure.locator("button[aria-pressed=true]")).to_have_text(name)
    asks.focus()
    figure.page.keyboard.press("ArrowUp")
    expect(figure.locator("button[aria-pressed=true]")).to_have_count(0)
    figure.page.keyboard.press("ArrowDown")
    expect(figure.locator("button[aria-pressed=true]")).to_have_text("Helmet")
    assert asks.get_attribute("aria-valuenow") == str(12 * 14 + 10)


def test_a_finger_takes_the_asking_patch_along(visit):
    figure = visit("asking_patch", PHONE, has_touch=True, is_mobile=True)

    def at(*place):
        return spot(figure, "handle-asks", place, 14)

    assert not drag_by_finger(figure, at(12, 5), at(8, 12))
    asked(figure, 8, 12)
    assert drag_by_finger(figure, at(2, 2), at(0, 2)), "elsewhere the page moves"
    asked(figure, 8, 12)


# From the image to the answer


@pytest.fixture(scope="module")
def flowing(shared):
    with shared("data_flow", reduced_motion="reduce") as figure:
        yield figure


@pytest.fixture(scope="module")
def every_step():
    """The tensors that the model hands from part to part, for each picture."""
    from book.drawings.data_flow import PICTURES
    from vit_steps import VisionTransformer, data
    from vit_steps.checkpoint import read_checkpoint
    from vit_steps.data import cluttered_digits

    images, labels, _ = cluttered_digits.make(500, "test")
    _, card = read_checkpoint("cluttered-digits")
    inputs = data.normalize(images, card["mean"], card["std"])[list(PICTURES)]
    model = VisionTransformer.from_pretrained("cluttered-digits").double()
    out = {}

    def keep(name):
        def hook(module, given, result):
            out[name] = result[0] if isinstance(result, tuple) else result
            out[f"into {name}"] = given[0]

        return hook

    for name, module in model.named_modules():
        module.register_forward_hook(keep(name))
    with torch.no_grad():
        _, weights = model.encode(inputs.double(), need_weights=True)
        logits = model(inputs.double())
    return model, out, weights, logits, labels[list(PICTURES)]


def rows_opened(figure):
    """Return the label and the numbers of each visible row."""
    return figure.evaluate(
        """figure => [...Array(7).keys()].map(row => {
            const said = name => {
                const part = figure.querySelector(`[data-part="${name}"]`);
                const shown = getComputedStyle(part).display !== "none";
                return shown ? part.querySelector("text").textContent : "";
            };
            const cells = [0, 1, 2, 3].map(cell => said(`cell-${row}-${cell}`));
            return [said(`label-${row}`), cells.filter(text => text).map(
                text => parseFloat(text.replace("−", "-")))];
        })"""
    )


def opened_step(figure):
    return figure.get_by_role("slider", name="step of the model")


def goes_to(figure, step):
    opened_step(figure).fill(str(step))


def chooses(figure, name, row, column):
    grid = figure.get_by_role("slider", name=name)
    grid.press("Home")
    for _ in range(row):
        grid.press("ArrowDown")
    for _ in range(column):
        grid.press("ArrowRight")


@pytest.mark.parametrize("place", range(3))
def test_each_step_has_the_numbers_of_the_model(flowing, every_step, place):
    model, out, weights, logits, labels = every_step
    figure = flowing
    row = 3
    column = 2 + place
    head = place + 1
    patch = 8 * row + column
    if place:
        press(figure, "Another picture")
    chooses(figure, "patch that is followed", row, column)
    chooses(figure, "head of attention", 0, head)

    def shown(step):
        goes_to(figure, step)
        return rows_opened(figure)

    def same(rows, *expected):
        for (label, numbers), tensor in zip(rows, expected, strict=True):
            for number, exact in zip(numbers, tensor.tolist(), strict=True):
                off = 0.0061 if abs(exact) < 9.99 else 0.056  # by rounding
                assert number == pytest.approx(exact, abs=off), label

    tokens = out["patch_embed"][place, patch, :4]
    same(shown(2)[4:5], tokens)
    positions = model.pos_embed[0, (0, patch + 1), :4]
    rows = shown(3)
    same(
        [rows[i] for i in (0, 1, 4, 5)],
        model.cls_token[0, 0, :4],
        positions[0],
        tokens,
        positions[1],
    )
    into = [out[f"into blocks.{block}"][place] for block in range(4)]
    assert rows[2][1] == pytest.approx(into[0][0, :4].tolist(), abs=0.011)
    assert rows[6][1] == pytest.approx(into[0][patch + 1, :4].tolist(), abs=0.011)
    for block in range(4):
        name = f"blocks.{block}"
        step = 4 + 4 * block
        qkv = out[f"{name}.attn.qkv"][place].reshape(65, 3, 4, 16)[:, :, head, :3]
        rows = shown(step)
        same(
            [rows[i] for i in (0, 1, 3, 5, 6)],
            into[block][0, :4],
            out[f"{name}.norm1"][place, 0, :4],
            qkv[0, 0],
            *qkv[patch + 1, 1:],
        )
        rows = shown(step + 1)
        weight = weights[block][place, head, 0, patch + 1].item()
        said = next(label for label, _ in rows if label.startswith("weight"))
        assert value(said.removesuffix("\u00a0%").removesuffix(" %")) == pytest.approx(
            100 * weight, abs=0.6
        )
        rows = shown(step + 2)
        heads = out[f"into {name}.attn.proj"][place, 0].reshape(4, 16)
        added = out[f"into {name}.norm2"][place, 0, :4]
        same(
            [rows[i] for i in (0, 2, 4, 5, 6)],
            qkv[patch + 1, 2],
            heads[head, :3],
            out[f"{name}.attn.proj"][place, 0, :4],
            into[block][0, :4],
            added,
        )
        mlp = [
            out[f"{name}.{part}"][place, 0, :4]
            for part in ("norm2", "mlp.fc1", "mlp.act", "mlp.fc2")
        ]
        after = into[block + 1] if block < 3 else out["into norm"][place]
        same(shown(step + 3)[:6], *mlp, added, after[0, :4])
    same(shown(20)[:2], out["into norm"][place, 0, :4], out["norm"][place, 0, :4])
    rows = shown(21)
    assert [n for _, numbers in rows[4:] for n in numbers] == pytest.approx(
        logits[place].tolist(), abs=0.0051
    )
    shares = logits[place].softmax(dim=0)
    goes_to(figure, 22)
    said = [
        written(figure, f"cell-{3 + digit // 4}-{digit % 4}") for digit in range(10)
    ]
    rounded = [f"{100 * p:.0f} %" if p >= 0.005 else "<1 %" for p in shares.tolist()]
    assert said == rounded
    status = figure.get_by_role("status")
    label = int(labels[place])
    expect(status).to_contain_text(
        f"{label} with {100 * shares[label]:.0f} %, and it is"
    )


def test_nothing_is_read_from_a_class_token_that_is_not_there(visit, every_step):
    model, out, *_ = every_step
    figure = visit("data_flow", reduced_motion="reduce")
    streams = [out[f"into blocks.{block}"] for block in range(4)] + [out["into norm"]]
    with torch.no_grad():
        reads = [model.head(model.norm(x[0, 0])).softmax(dim=0) for x in streams]
    for step in range(23):
        goes_to(figure, step)
        joined = step >= 3
        finished = min(max(step - 3, 0) // 4, 4)  # blocks
        widths = [drawn(figure)[f"bar-{digit}"]["rects"][0][2] for digit in range(10)]
        shares = [width / (sum(widths) or 1) for width in widths]
        expected = reads[finished] * joined
        assert shares == pytest.approx(expected.tolist(), abs=0.002), step
        label = "answer" if step == 22 else "so far" if joined else "no answer yet"
        assert written(figure, "read") == label
        best = expected.max().item()
        said = f"{100 * best:.0f} %" if joined else ""
        assert written(figure, "share") == said


def test_a_guess_is_judged(visit):
    """After which block the answer, read from the class token, is right first."""
    from book.drawings.data_flow import flows, trained

    _, _, labels, _ = trained()
    figure = visit("data_flow", PHONE, reduced_motion="reduce")
    status = figure.get_by_role("status")
    for label, flow in zip(labels.tolist(), flows(), strict=True):
        reads = flow["reads"][1:]  # (L, K)
        answers = reads.argmax(dim=-1).tolist()
        right = answers.index(label)
        share = f"{100 * reads[right, label]:.0f} %"
        for block in range(4):
            button = figure.get_by_role("button", name=f"block {block}")
            button.click()
            assert button.get_attribute("aria-pressed") == "true"
            expect(status).to_contain_text(
                f"{label} for the first time after block {right}, with {share}."
            )
            opening = {True: "✓ You were right: ", False: "✗ It comes earlier: "}
            said = opening[block == right]
            if block < right:
                said = f"✗ After block {block} the answer is still {answers[block]}. "
            expect(status).to_contain_text(said)
            assert opened_step(figure).input_value() == str(7 + 4 * right)
        press(figure, "Another picture")
        pressed = figure.locator("button[aria-pressed=true]")
        assert pressed.count() == 0, "a new picture, a new guess"


def test_the_smallest_weight_is_not_called_zero(visit, every_step):
    _, _, weights, *_ = every_step
    figure = visit("data_flow", reduced_motion="reduce")
    goes_to(figure, 17)  # weights of block 3
    last = weights[3][0, :, 0, 1:]  # (h, N)
    head, patch = divmod(int(last.argmin()), 64)
    assert last[head, patch] < 0.0005
    chooses(figure, "patch that is followed", *divmod(patch, 8))
    chooses(figure, "head of attention", 0, head)
    assert written(figure, "label-6") == "weight: the share, under 0.1 %"
    grid = figure.get_by_role("slider", name="patch that is followed")
    said = f"patch {patch}, with under 0.1 % of the attention in head {head}"
    assert grid.get_attribute("aria-valuetext") == said
    goes_to(figure, 18)
    assert written(figure, "label-1") == "× <0.1 %"


def test_the_slider_says_each_steps_name_and_shapes(flowing):
    slider = opened_step(flowing)
    slider.press("Home")
    shapes = {"image": "(1, 32, 32)", "block 1: MLP": "(65, 64)", "head": "(10)"}
    said = [slider.get_attribute("aria-valuetext")]
    for _ in range(22):
        slider.press("ArrowRight")
        said.append(slider.get_attribute("aria-valuetext"))
        stage, shape = (written(flowing, part) for part in ("stage", "shape"))
        assert said[-1] == f"{stage[0].lower()}{stage[1:]}, {shape}"
    slider.press("ArrowRight")
    assert slider.input_value() == "22", "as far as it goes"
    assert len(set(said)) == 23
    for name, shape in shapes.items():
        assert any(name in one and one.endswith(shape) for one in said), name


def test_steps_patches_and_heads_are_chosen_by_mouse_and_finger(visit, every_step):
    from book.drawings.data_flow import ribbons

    _, _, weights, *_ = every_step
    figure = visit("data_flow", reduced_motion="reduce", has_touch=True)
    slider = opened_step(figure)
    box = figure.locator('[data-part="ribbons-2"]').bounding_box()
    x = box["x"] + 0.4 * box["width"]
    y = box["y"] + box["height"] / 2
    figure.page.mouse.move(x, y)
    pointed = figure.locator('[data-part="pointed"]')
    expect(pointed).to_be_visible()
    assert written(figure, "called") == "attention weights"
    figure.page.mouse.click(x, y)
    said = "block 2: attention weights, (h, T, T) = (4, 65, 65)"
    assert slider.get_attribute("aria-valuetext") == said
    assert slider.input_value() == "13"
    assert "Block 2, head 1: the class token gives 39 % of" in named(figure)
    figure.page.touchscreen.tap(*spot(figure, "handle-patch", (2, 5), 8))
    figure.page.mouse.click(
        *middle(figure.locator('[data-part="map-2"]').bounding_box())
    )
    expect(pointed).to_be_hidden()
    assert written(figure, "called") == "attention weights"
    shown = weights[2][0, :, 0, 1:]  # (h, N), of block 2
    for head, of_head in enumerate(shown):
        coloured_by(figure, of_head, f"map-{head}")
    assert shown[2, 21] < 0.0005
    patch = figure.get_by_role("slider", name="patch that is followed")
    said = "patch 21, with under 0.1 % of the attention in head 2"
    assert patch.get_attribute("aria-valuetext") == said
    assert "head 2: the class token gives under 0.1 % of" in named(figure)
    assert named(figure).endswith("to patch 21.")
    for block, expected in ((2, shown[2]), (3, weights[3][0, :, 0, 1:].mean(dim=0))):
        path = drawn(figure)[f"ribbons-{block}"]["path"]
        assert path.count("M") == ribbons(block, expected.tolist()).count("M")
    next_one = figure.locator('[data-part="ribbons-3"]').bounding_box()
    figure.page.touchscreen.tap(next_one["x"] + 5, y)
    assert slider.get_attribute("aria-valuetext").startswith("block 3: ")


def test_a_finger_goes_sideways_along_the_flow(visit):
    figure = visit("data_flow", PHONE, has_touch=True, is_mobile=True)
    svg = figure.locator(".vit-drawing")
    slider = opened_step(figure)
    svg.scroll_into_view_if_needed()
    x, y = middle(grip(figure, "handle-step"))
    assert drag_by_finger(figure, (x, y), (x - 5, y - 150)), "up it scrolls the page"
    assert slider.input_value() == "0"
    svg.scroll_into_view_if_needed()
    x, y = middle(grip(figure, "handle-step"))
    assert not drag_by_finger(figure, (x, y), (x + 200, y - 20))
    assert slider.input_value() == "22"


def test_the_flow_begins_with_a_question_whose_answer_it_does_not_show(visit):
    figure = visit("data_flow", {"width": 1280, "height": 720}, CHAPTERS["data_flow"])
    assert figure.bounding_box()["height"] < 600, "picture and buttons in one window"
    assert opened_step(figure).bounding_box()["width"] > 500
    figure.evaluate("figure => figure.scrollIntoView({block: 'end'})")
    heard = figure.get_by_role("status")
    expect(heard).to_be_in_viewport(ratio=WHOLE)
    bars = [f"bar-{digit}" for digit in range(10)]
    for expected in (1, 2, 0):  # the block after which the answer is right
        expect(heard).to_contain_text("After which block will the answer be ")
        assert {drawn(figure)[bar]["rects"][0][2] for bar in bars} == {0}
        for block in range(4):
            goes_to(figure, 7 + 4 * block)
            said = expect(heard)
            look = (
                said.to_contain_text if block == expected else said.not_to_contain_text
            )
            look("for the first time")
        goes_to(figure, 0)
        press(figure, "Another picture")


def test_on_paper_the_flow_is_that_of_its_still_picture(visit):
    figure = visit("data_flow", reduced_motion="reduce")
    press(figure, "Another picture")
    goes_to(figure, 9)
    still, moving = (
        figure.locator(f'[data-part="{name}"]') for name in ("still", "flow")
    )
    before = drawn(figure)
    for media, here, away in (("print", still, moving), ("screen", moving, still)):
        figure.page.emulate_media(media=media)
        expect(here).to_be_visible()
        expect(away).to_be_hidden()
        ratio = 360 / 473 if media == "print" else 784 / 428
        box = figure.locator(".vit-drawing").bounding_box()
        assert box["width"] / box["height"] == pytest.approx(ratio, rel=0.02)
    assert drawn(figure) == before


def test_the_flow_is_as_wide_as_the_page_and_nothing_in_it_is_pale(visit):
    figure = visit("data_flow", {"width": 1280, "height": 800}, CHAPTERS["data_flow"])
    assert figure.locator(".vit-drawing").bounding_box()["width"] == 784
    sizes = figure.locator('[data-part="flow"] text').evaluate_all(
        "all => all.map(text => parseFloat(text.getAttribute('font-size')))"
    )
    assert min(sizes) >= 12, "a unit is a pixel here"
    faded = """figure => [...figure.querySelectorAll(".vd-moving, .vd-moving *")]
        .filter(part => part.checkVisibility() && getComputedStyle(part).opacity < 1)
        .length"""
    for step in (0, 13, 22):
        goes_to(figure, step)
        assert figure.evaluate(faded) == 0
    resize(figure.page, PHONE)
    box = figure.locator(".vit-drawing").bounding_box()
    assert box["height"] > box["width"], "it is drawn for a phone"
    words = figure.page.locator("section.opening > p").first.bounding_box()
    assert words["y"] > box["y"] + box["height"], "the figure first, then the words"
    goes_to(figure, 13)
    resize(figure.page, WIDE)
    assert written(figure, "stage") == "Block 2: attention weights"


# Where each tile is: its middle, in the drawing's units.
TILES = """figure => [...figure.querySelectorAll('[data-part="tiles"] rect')]
    .map(one => {
        const {x, y, width, height} = one.getBBox();
        return [one.getAttribute("visibility"), x + width / 2, y + height / 2];
    })"""


def test_patches_travel_along_their_strands_and_only_the_class_token_goes_on(visit):
    figure = visit("data_flow", reduced_motion="reduce")
    goes_to(figure, 0)
    seen = {state for state, *_ in figure.evaluate(TILES)}
    assert seen == {"hidden"}, "they are still in the image"
    before = 0
    for step in range(1, 20):
        goes_to(figure, step)
        tiles = figure.evaluate(TILES)
        assert {state for state, *_ in tiles} == {"visible"}
        [x] = {round(x, 1) for _, x, _ in tiles}
        assert x > before or step == 19
        before = x
        heights = [y for *_, y in tiles]
        assert heights == sorted(heights) and len(set(heights)) == 64
    ends = []
    for step in (20, 22):
        goes_to(figure, step)
        [end] = {round(x, 1) for _, x, _ in figure.evaluate(TILES)}
        circle = figure.locator('[data-part="class"] circle')
        ends.append((end, float(circle.get_attribute("cx"))))
    assert ends[0][0] == ends[1][0] < ends[1][1], "64 patches stay behind"


# The valley


def rates(peak, warms):
    """Return the learning rates: the chapter's warm-up without the cosine after it."""
    from book.drawings.valley import MOST, WARMUP

    warmup = WARMUP if warms else 0
    return [learning_rate(step, 10**9, warmup, peak) for step in range(MOST)]


def step(figure):
    return figure.get_by_role("slider", name="step", exact=True)


def stepped(figure):
    return int(step(figure).get_attribute("aria-valuetext").split()[0])


def walked(figure, name):
    """Return the points of an optimiser's path on the page, in the valley's units."""
    from book.drawings.valley import FROM, HALF, LEFT, PANELS, UNIT

    path = figure.locator(f'[data-part="path-{name}"] path').get_attribute("d")
    spots = [[float(n) for n in spot.split()] for spot in path[1:].split("L")]
    return [
        ((x - LEFT) / UNIT + FROM, HALF - (y - PANELS[name]) / UNIT) for x, y in spots
    ]


@pytest.mark.parametrize("warms", [False, True], ids=["constant", "warm-up"])
@pytest.mark.parametrize("key", ["first", "Home", "End"])
def test_both_walk_as_pytorchs_do(visit, warms, key):
    from book.drawings.valley import LR, MOST, STOPS, path

    figure = visit("valley", reduced_motion="reduce")
    if warms:
        press(figure, "Warm-up")
    step(figure).focus()
    figure.page.keyboard.press("End")
    for name, lr in LR.items():
        slider = figure.get_by_role("slider", name=f"learning rate of {name}")
        apart, stops = STOPS[name]
        if key != "first":
            slider.focus()
            figure.page.keyboard.press(key)
            lr = apart * (stops if key == "End" else 1)
        assert float(slider.get_attribute("aria-valuetext")) == pytest.approx(lr)
        expected = path(name, rates(lr, warms))
        found = walked(figure, name)
        assert len(found) == MOST + 1
        for (x, y), (right, up) in zip(found, expected, strict=True):
            assert (x, y) == pytest.approx((right, up), rel=1e-6, abs=3e-4)
        away = math.hypot(*expected[-1])
        said = written(figure, f"line-{name}")
        assert said == f"After {MOST} steps: {away:.1f} of 9.1 units away."


def test_the_valley_is_walked_step_by_step(visit):
    from book.drawings.valley import MOST, STEPS

    figure = visit("valley", time_stands=True)
    assert stepped(figure) == STEPS
    press(figure, "Play")
    for count in range(3):
        assert stepped(figure) == count
        assert len(walked(figure, "AdamW")) == count + 1
        figure.page.clock.run_for(400)
    press(figure, "Warm-up")
    assert stepped(figure) == 3, "a choice changes no step"
    step(figure).focus()
    for key, count in (("Home", 0), ("ArrowRight", 1), ("End", MOST)):
        figure.page.keyboard.press(key)
        assert stepped(figure) == count
    expect(figure.locator("button[aria-pressed=true]")).to_have_text("Warm-up")


def test_adamws_first_step_is_its_learning_rate_in_both_directions(visit):
    figure = visit("valley", reduced_motion="reduce")
    step(figure).focus()
    figure.page.keyboard.press("Home")
    figure.page.keyboard.press("ArrowRight")
    for warms, far in ((False, 0.4), (True, 0.4 / 11)):
        (x, y), (right, up) = walked(figure, "AdamW")
        assert (right - x, up - y) == pytest.approx((far, -far), abs=1e-3)
        if not warms:
            press(figure, "Warm-up")


def test_another_start_and_momentum_are_pytorchs(visit):
    from book.drawings.valley import LR, MOMENTUM, MOST, path

    figure = visit("valley", reduced_motion="reduce")
    step(figure).press("End")
    press(figure, "Momentum")
    dot = figure.locator('[data-part="handle-start-AdamW"] rect').last
    x, y = middle(dot.bounding_box())
    scale = figure.locator(".vit-drawing").bounding_box()["width"] / 360
    mouse = figure.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 56 * scale, y + 70 * scale, steps=4)
    mouse.up()
    figure.page.keyboard.press("ArrowUp")
    start = (-7.0, -0.9)
    for handle in ("start of SGD", "start of AdamW"):
        slider = figure.get_by_role("slider", name=handle)
        assert slider.get_attribute("aria-valuetext") == "−7 along, −0.9 across"
    for name, lr in LR.items():
        momentum = MOMENTUM if name == "SGD" else 0
        expected = path(name, lr, MOST, start, momentum)
        found = walked(figure, name)
        for one, other in zip(found, expected, strict=True):
            assert one == pytest.approx(other, rel=1e-6, abs=3e-4)
    assert written(figure, "title-SGD") == "SGD with momentum 0.9, learning rate 0.036"
    expect(figure.get_by_role("status")).to_contain_text("Dashed: without momentum")


def test_it_is_said_while_adamw_is_carried_past_the_lowest_point(visit):
    from book.drawings.valley import LR, MOST, path

    figure = visit("valley", reduced_motion="reduce")
    status = figure.get_by_role("status")
    places = path("AdamW", LR["AdamW"], MOST)
    beyond = [n for n in range(MOST + 1) if places[n][0] > max(0, places[n - 1][0])]
    assert beyond == list(range(28, MOST + 1))
    step(figure).press("End")
    expect(status).to_contain_text("AdamW 1.0: its average of gradients carried it")
    for _ in range(MOST - 27):
        press(figure, "Back")
    expect(status).to_contain_text("After 27 steps")
    expect(status).not_to_contain_text("carried")
    press(figure, "Next")
    expect(status).to_contain_text("carried it past")


def test_names_in_the_valley_are_read_on_top_of_a_path(visit):
    figure = visit("valley", reduced_motion="reduce")
    styles = figure.locator("svg text", has_text=re.compile("^(start|lowest)$"))
    assert styles.count() == 4
    for name in styles.all():
        style = name.evaluate("""name => [getComputedStyle(name).paintOrder,
            parseFloat(getComputedStyle(name).strokeWidth),
            [...name.closest("svg").querySelectorAll("[data-part^=last-]")].every(
                path => path.compareDocumentPosition(name) & 4 || path
                .getBoundingClientRect().top > name.getBoundingClientRect().bottom)]""")
        assert style == ["stroke", 4, True]


# Patches covered one by one


@pytest.fixture(scope="module")
def chapter_nine():
    """Chapter 9's model, pictures and orders of the patches, in float64."""
    from vit_steps import VisionTransformer, data
    from vit_steps.attention_maps import (
        class_token_attention,
        mass_inside,
        patch_brightness,
    )
    from vit_steps.checkpoint import read_checkpoint
    from vit_steps.data import cluttered_digits

    images, labels, boxes = cluttered_digits.make(500, "test")
    trained = VisionTransformer.from_pretrained("cluttered-digits").double()
    _, card = read_checkpoint("cluttered-digits")
    inputs = data.normalize(images, card["mean"], card["std"]).double()
    torch.manual_seed(0)
    random = torch.rand(500, 64)
    images, labels, boxes, inputs, random = (
        part[:40] for part in (images, labels, boxes, inputs, random)
    )
    with torch.no_grad():
        _, weights = trained.encode(inputs, need_weights=True)
    attention = class_token_attention(weights).mean(dim=(1, 2))
    brightness = patch_brightness(images.double(), 4)
    in_box = mass_inside(torch.eye(64).double().expand(40, 64, 64), boxes, 32, 4)
    orders = {
        "Random": random,
        "Most attended first": attention,
        "Ink in the box first": brightness * in_box,
        "Brightest first": brightness,
        "Least attended first": -attention,
    }
    return trained, inputs, labels, orders


def beside(figure, order):
    figure.get_by_role("combobox", name="order at the right").select_option(order)


def covered_patches(figure, half):
    from book.drawings.deletion_curve import PHOTO, SECOND

    path = figure.locator(f'[data-part="covers-{half}"] path').first.get_attribute("d")
    corners = [[float(n) for n in d.split("h")[0].split()] for d in path.split("M")[1:]]
    side = PHOTO.width / 8
    return {
        8 * round((y - PHOTO.y) / side) + round((x - PHOTO.x - half * SECOND) / side)
        for x, y in corners
    }


@pytest.mark.parametrize("place", range(3))
def test_what_is_covered_costs_what_it_costs_in_the_chapter(visit, chapter_nine, place):
    trained, inputs, labels, orders = chapter_nine
    index = (17, 32, 0)[place]
    label = int(labels[index])
    figure = visit("deletion_curve", reduced_motion="reduce")
    for _ in range(place):
        press(figure, "Another picture")
    slider = figure.get_by_role("slider")
    for other in orders.keys() - {"Most attended first"}:
        beside(figure, other)
        for count in range(0, 65, 8):
            slider.fill(str(count))
            for half, name in enumerate(("Most attended first", other)):
                order = orders[name][[index]].argsort(descending=True, stable=True)
                chosen = order[:, :count]
                assert covered_patches(figure, half) == set(chosen[0].tolist())
                image = mask_patches(inputs[[index]], 4, chosen)
                with torch.no_grad():
                    shares = trained(image).softmax(dim=1)[0]
                share, answer = shares[label].item(), int(shares.argmax())
                assert number(figure, f"share-{half}") == pytest.approx(share, abs=6e-3)
                mark = "✓" if answer == label else "✗"
                assert written(figure, f"answer-{half}") == f"answer: {answer} {mark}"
                curve = figure.locator(f'[data-part="curve-{half}"] path')
                points = curve.first.get_attribute("d").count("L")
                assert points == count, "what is ahead is not given away"
                bar = figure.locator(f'[data-part="bar-{half}"] rect')
                height = float(bar.get_attribute("height"))
                assert height / 144 == pytest.approx(share, abs=6e-3)
            assert written(figure, "covered") == f"{count} of 64 patches covered"
    visible = figure.locator('[data-part^="digit-"]:visible')
    names = visible.evaluate_all("parts => parts.map(part => part.dataset.part)")
    assert names == [f"digit-0-{place}", f"digit-1-{place}"]


def test_patches_are_covered_by_mouse_and_finger(visit):
    figure = visit("deletion_curve", PHONE, has_touch=True, is_mobile=True)
    box = grip(figure, "chart")
    _, y = middle(box)
    left, right = box["x"] + 20, box["x"] + box["width"] - 30
    assert not drag_by_finger(figure, (left, y), (right, y))
    assert int(written(figure, "covered").split()[0]) > 55
    beside(figure, "Ink in the box first")
    press(figure, "Another picture")
    assert int(written(figure, "covered").split()[0]) > 55, "a choice is kept"
    assert written(figure, "title-1") == "Ink in the box first"
    status = figure.get_by_role("status")
    words = r"the (\d+) in the box and (\d+) more"
    expect(status).to_contain_text(re.compile(words))
    said = re.search(words, status.text_content())
    assert 16 <= int(said[1]) <= 25
    assert int(said[1]) + int(said[2]) == int(written(figure, "covered").split()[0])


def test_no_line_crosses_the_name_of_the_random_curve(visit):
    figure = visit("deletion_curve", PHONE, reduced_motion="reduce")
    name = figure.locator('[data-part="name-beside"] text')
    lines = figure.locator('[data-part^="curve-"] path, [data-part="now"] path')
    slider = figure.get_by_role("slider")
    for count in range(0, 65, 2):
        slider.fill(str(count))
        expect(name).to_be_visible()
        bottom = name.bounding_box()["y"] + name.bounding_box()["height"]
        assert all(line.bounding_box()["y"] > bottom - 3 for line in lines.all())
    beside(figure, "Random")
    expect(name).to_be_hidden()  # its curve has a title of its own now


def test_the_controls_of_the_covered_patches_are_two_rows_on_a_phone(visit):
    figure = visit("deletion_curve", PHONE)
    controls = figure.locator("button, select, input").all()
    middles = [middle(one.bounding_box())[1] for one in controls]
    assert len({round(y / 10) for y in middles}) == 2


# Positions on another grid


def map_shown(figure, name, side):
    """Return the similarities that a map shows, as (side², )."""
    cells = figure.locator(f'[data-part="map-{name}"] .vd-full').evaluate_all(
        "cells => cells.map(cell => +cell.getAttribute('fill-opacity'))"
    )
    assert len(cells) == side * side
    return torch.tensor(cells, dtype=torch.float64)


@pytest.mark.parametrize("kind", ["Bicubic", "Bilinear", "Cut off"])
def test_the_resized_positions_are_the_packages(visit, kind):
    from vit_steps import VisionTransformer
    from vit_steps.embedding import interpolate_position_embedding

    trained = VisionTransformer.from_pretrained("cluttered-digits").double()
    table = trained.pos_embed.detach()  # (1, T, D)
    figure = visit("resized_positions", reduced_motion="reduce")
    press(figure, kind)
    slider = figure.get_by_role("slider", name="rows and columns of the new grid")
    grid = figure.get_by_role("slider", name="place in the new grid")
    slider.press("Home")
    for side in range(4, 8 if kind == "Cut off" else 15):
        if kind == "Cut off" or side == 8:
            positions = table[0, 1 : 1 + side * side]
        elif kind == "Bicubic":
            positions = interpolate_position_embedding(table, side)[0, 1:]
        else:
            image = table[0, 1:].T.reshape(1, -1, 8, 8)
            image = torch.nn.functional.interpolate(
                image, (side, side), mode="bilinear", antialias=True
            )
            positions = image[0].flatten(1).T
        unit = torch.nn.functional.normalize(positions, dim=1)
        cosines = unit @ unit.T
        grid.press("Home")
        grid.press("ArrowDown")
        grid.press("ArrowRight")
        grid.press("ArrowRight")
        shown = map_shown(figure, "new", side)
        expected = cosines[side + 2].clamp_min(0)
        torch.testing.assert_close(
            shown, expected, atol=0.01, rtol=0, check_dtype=False
        )
        pairs = cosines.reshape(4 * (side,))
        at = torch.arange(side - 1)
        near = [pairs[at, :, at + 1, :], pairs[:, at, :, at + 1]]
        mean = torch.cat([part.diagonal(dim1=1, dim2=2) for part in near]).mean()
        said = number(figure, "alike-new")
        assert said == pytest.approx(mean.item(), abs=0.0071), side
        slider.press("ArrowRight")


def test_what_is_cut_off_is_played_at_six_by_six(visit):
    figure = visit("resized_positions", reduced_motion="reduce")
    press(figure, "Cut off")
    assert written(figure, "size") == "6×6, for 24×24 pixels"
    heard = figure.get_by_role("status")
    expect(heard).to_contain_text("The first 36 of 64 positions")
    expect(heard).to_contain_text("seen from row 2, column 2.")
    assert divmod(2 * 6 + 2, 8) == (1, 6)
    expect(heard).to_contain_text("this place has that of row 1, column 6.")
    for _ in range(3):
        press(figure, "Next")
    assert written(figure, "kind") == "bicubic", "64 positions are not enough for 81"


# Under the roof


def test_the_roof_is_the_packages(visit):
    from book.drawings.roofline import (
        BANDWIDTH,
        IMAGES,
        PEAK,
        SIDES,
        across,
        tokens,
        up,
        works,
    )

    figure = visit("roofline", reduced_motion="reduce")
    first = figure.get_by_role("slider", name="number of tokens")
    second = figure.get_by_role("slider", name="images")
    heard = figure.get_by_role("status")
    for count, images in enumerate(IMAGES):
        second.press("Home")
        for _ in range(count):
            second.press("ArrowRight")
        first.press("Home")
        for side in SIDES:
            T = tokens(side)
            counted = works(T, images)
            parts = drawn(figure)
            sizes = f"{T:,} tokens, {images} {'image' if images == 1 else 'images'}"
            assert parts["sizes"]["text"] == sizes
            assert first.get_attribute("aria-valuetext") == f"{T:,} tokens"
            assert second.get_attribute("aria-valuetext") == f"{images}"
            for index, work in enumerate(counted):
                share = work.most / PEAK
                said = value(parts[f"intensity-{index}"]["text"].replace(",", ""))
                assert said == pytest.approx(work.intensity, abs=0.51)
                said = parts[f"share-{index}"]["text"].removesuffix(" %")
                assert value(said) == pytest.approx(100 * share, abs=0.51)
                x, y, width, height = parts[f"point-{index}"]["rects"][0]
                middle_of = pytest.approx((across(work.intensity), up(work.most)))
                assert (x + width / 2, y + height / 2) == middle_of
            first.press("ArrowRight")
    explicit, fused, _ = works(tokens(SIDES[-1]), 1)
    assert fused.intensity > PEAK / BANDWIDTH > explicit.intensity
    said = f"the flat part. The roof allows it {fused.most / explicit.most:.1f} times"
    expect(heard).to_contain_text(said)
    press(figure, "Reset")
    assert written(figure, "sizes") == "197 tokens, 8 images"
    assert second.get_attribute("aria-valuetext") == "8"
    for slider, chosen in ((first, 2), (second, 3)):
        assert slider.input_value() == f"{chosen}"


def test_fused_attention_is_dragged_along_the_roof(visit):
    figure = visit("roofline", reduced_motion="reduce")
    box = figure.locator('[data-part="chart"] .moving-grip').bounding_box()
    fused = figure.locator('[data-part="point-1"] rect')
    x, y = middle(fused.bounding_box())
    mouse = figure.page.mouse
    mouse.move(x, y)
    mouse.down()
    assert written(figure, "sizes") == "197 tokens, 8 images", "it is taken where it is"
    for share, tokens in ((0.5, "785"), (1, "12,545"), (0, "50")):
        x = box["x"] + 20 + share * (box["width"] - 40)
        mouse.move(x, y, steps=3)
        assert written(figure, "sizes") == f"{tokens} tokens, 8 images"
        assert middle(fused.bounding_box())[0] == pytest.approx(x, abs=25)
    mouse.up()
    slider = figure.get_by_role("slider", name="number of tokens")
    assert slider.get_attribute("aria-valuetext") == "50 tokens"


# The ring


def held(figure):
    """Return the number of each piece of each process, and which have just arrived."""
    pieces = figure.locator('[data-part^="piece-"]').evaluate_all(
        """parts => parts.map(part => [part.querySelector("text").textContent,
            part.classList.contains("ring-fresh")])"""
    )
    numbers = [int(value(text)) for text, _ in pieces]
    fresh = {divmod(place, 4) for place, (_, new) in enumerate(pieces) if new}
    for text, _ in pieces:
        terms, _, total = text.partition(" = ")
        assert not total or sum(map(int, terms.split(" + "))) == int(total)
    return [numbers[4 * rank : 4 * rank + 4] for rank in range(4)], fresh


@pytest.mark.parametrize("bug", [False, True], ids=["right", "with the bug"])
def test_the_ring_turns_as_that_of_the_chapter(visit, bug):
    from book.drawings.ring import states

    figure = visit("ring", reduced_motion="reduce")
    if bug:
        press(figure, "With a bug")
        expect(figure.locator("button[aria-pressed=true]")).to_have_text("With a bug")
    slider = figure.get_by_role("slider", name="turn of the ring")
    status = figure.get_by_role("status")
    for turn, expected in enumerate(states(own_first=bug)):
        assert held(figure) == expected
        assert written(figure, "sent") == f"each sent: {turn} of 6 pieces"
        assert slider.get_attribute("aria-valuetext") == written(figure, "trip")
        if turn:
            bugged = ", with the bug" if bug else ""
            expect(status).to_contain_text(f"Turn {turn} of 6{bugged}: ")
        if turn == 3:
            pieces, _ = expected
            one = next(rank for rank in range(4) if pieces[rank][0] == 1111)
            other = next(rank for rank in range(4) if pieces[rank][1] == 2222)
            said = f"Piece 0 is whole there, piece 1 in process {other}, and so on."
            expect(status).to_contain_text(f": process {one} adds ")
            expect(status).to_contain_text(said)
        press(figure, "Next")
    last = expected[0]
    assert last[0] == ([1, 20, 300, 4000] if bug else [1111, 2222, 3333, 4444])
    assert last == [last[0]] * 4, "all four hold the same"
    said = "1, 20, 300 and 4000, the same and wrong" if bug else "the same four sums"
    expect(status).to_contain_text(f"all four hold {said}")
    press(figure, "With a bug")
    assert held(figure) == states()[0], "both begin at the start"


def test_a_piece_travels_and_can_be_followed(visit):
    figure = visit("ring", time_stands=True)
    on_its_way = figure.locator('[data-part^="sent-"] rect:visible')
    followed = figure.get_by_role("combobox", name="piece that is followed")
    followed.select_option("Follow piece 0")
    press(figure, "Next")
    figure.page.clock.run_for(300)
    assert on_its_way.count() == 1
    assert held(figure)[0][2][0] == 100, "it has not arrived yet"
    figure.page.clock.run_for(1200)
    assert held(figure)[0][2][0] == 110
    assert on_its_way.count() == 0
    press(figure, "Next")
    figure.page.clock.run_for(300)
    followed.select_option("Show all pieces")
    assert held(figure)[0][3][0] == 1000, "to look is not to arrive"
    figure.page.clock.run_for(50)
    assert on_its_way.count() == 4


def test_what_travels_covers_no_number(visit):
    figure = visit("ring", time_stands=True)
    texts = figure.locator('[data-part^="piece-"] text').all()
    numbers = [text.bounding_box() for text in texts]
    for _ in range(6):
        press(figure, "Next")
        for _ in range(4):
            figure.page.clock.run_for(250)
            for badge in figure.locator('[data-part^="sent-"] rect:visible').all():
                assert not any(overlap(badge.bounding_box(), box) for box in numbers)
        figure.page.clock.run_for(500)


def overlap(one, other):
    return all(
        one[at] < other[at] + other[size] and other[at] < one[at] + one[size]
        for at, size in (("x", "width"), ("y", "height"))
    )


def test_the_ring_leaves_room_for_its_caption_and_is_higher_on_paper(visit):
    from book.drawings.ring import HIGH_ON_THE_PAGE

    figure = visit("ring", {"width": 1280, "height": 800})
    drawing = figure.locator(".vit-drawing")
    assert drawing.bounding_box()["width"] == 520
    here = f"0 0 360 {HIGH_ON_THE_PAGE}"
    expect(drawing).to_have_attribute("viewBox", here)
    figure.page.emulate_media(media="print")
    expect(drawing).not_to_have_attribute("viewBox", here)
    figure.page.emulate_media(media="screen")
    expect(drawing).to_have_attribute("viewBox", here)


def test_a_hurried_reader_misses_no_turn_of_the_ring(visit):
    from book.drawings.ring import states

    figure = visit("ring", time_stands=True)
    press(figure, "Next")
    figure.page.clock.run_for(300)
    press(figure, "Next")
    assert held(figure) == states()[1], "the turn before has arrived"
    figure.page.clock.run_for(300)
    press(figure, "Back")
    figure.page.clock.run_for(1500)
    assert held(figure) == states()[1], "and nothing that was on its way does"


# Swin's window


BLOCK = ["windows", "roll", "cut", "mask", "roll back"]


def names_of(places):
    return {10 * row + column for row, column in places}


def lit(figure):
    """Return the names of the tokens that are not darkened."""
    tokens = figure.locator(".swin-sheet > g").evaluate_all(
        """tokens => tokens.map(token => {
            const {e, f} = token.transform.baseVal.consolidate().matrix;
            const dark = token.querySelector(".swin-dark").style.opacity;
            return [f / 30, e / 30, Number(dark)];
        })"""
    )
    return names_of((row % 8, column % 8) for row, column, dark in tokens if not dark)


def test_a_token_sees_whom_the_mask_of_the_package_lets_it_see(visit):
    from book.drawings.swin_window import sees, windows

    figure = visit("swin_window", reduced_motion="reduce")

    def point_at(name, rolled):
        by = 1 if rolled else 0
        place = [(index - by) % 8 for index in divmod(name, 10)]
        figure.page.mouse.move(*spot(figure, "handle-map", place, 8))

    assert written(figure, "step") == "Block 1: cut", "at the corner of four windows"
    assert lit(figure) == {33, 34, 43, 44}
    for _ in range(2):
        press(figure, "Back")
    for index, step in enumerate(BLOCK):
        assert written(figure, "step").endswith(step)
        for name in (33, 0, 7, 70, 24, 4) if step != "roll" else ():
            point_at(name, step in BLOCK[1:4])
            inside = next(set(w) for w in windows.tolist() if name in w)
            expected = {
                "windows": sees(name, shifted=False),
                "cut": inside,
            }.get(step, sees(name, shifted=True))
            assert lit(figure) == expected
            assert written(figure, "count") == f"sees {len(expected)} of 64"
            table = figure.locator('[data-part="pairs"] [data-pair]').evaluate_all(
                "pairs => pairs.map(pair => pair.dataset.pair)"
            )
            allowed = [
                key in sees(query, index > 0)
                for query in sorted(inside, key=windows.flatten().tolist().index)
                for key in sorted(inside, key=windows.flatten().tolist().index)
            ]
            if step in BLOCK[3:]:
                assert [pair == "seen" for pair in table] == allowed
            else:
                assert set(table) == {"seen"}
        figure.page.mouse.move(0, 0)
        press(figure, "Next")


def test_the_first_token_is_reached_by_more_with_each_block(visit):
    figure = visit("swin_window", reduced_motion="reduce")
    figure.get_by_role("slider", name="step").press("End")
    counts = [number(figure, f"reached-{block}") for block in range(4)]
    assert counts == [4, 16, 36, 64], "as the still picture says"


@pytest.mark.parametrize("name", [33, 0, 16])
def test_the_reach_is_that_of_the_blocks_of_the_package(visit, name):
    from vit_steps.variants.swin import SwinBlock

    torch.manual_seed(0)
    blocks = [SwinBlock(4, (8, 8), 1, 2, shifted=k % 2 == 1).double() for k in range(4)]
    figure = visit("swin_window", reduced_motion="reduce")
    for _ in range(2):
        press(figure, "Back")
    figure.page.mouse.click(*spot(figure, "handle-map", divmod(name, 10), 8))
    for _ in BLOCK:
        press(figure, "Next")
    for count in (1, 2, 3, 4):
        assert written(figure, "step") == f"After {count} block{'s' * (count > 1)}"
        x = torch.randn(1, 8, 8, 4, dtype=torch.float64, requires_grad=True)
        y = x
        for block in blocks[:count]:
            y = block(y)
        row, column = divmod(name, 10)
        (y[0, row, column] * torch.randn(4).double()).sum().backward()
        reached = names_of(x.grad[0].abs().sum(dim=-1).nonzero().tolist())
        assert lit(figure) == reached
        assert number(figure, f"reached-{count - 1}") == len(reached)
        press(figure, "Next")


def test_a_token_is_looked_at_in_passing_and_kept_by_a_click(visit):
    figure = visit("swin_window", reduced_motion="reduce")
    status = figure.get_by_role("status")
    frame = figure.locator(".swin-preview")
    for _ in range(2):
        press(figure, "Back")
    figure.page.mouse.move(*spot(figure, "handle-map", (6, 1), 8))
    expect(status).to_contain_text("row 6, column 1")
    expect(status).to_contain_text("Click to choose it")
    expect(frame).to_have_count(1)
    press(figure, "Next")
    press(figure, "Back")
    expect(status).to_contain_text("row 3, column 3")
    figure.page.mouse.click(*spot(figure, "handle-map", (6, 1), 8))
    expect(frame).to_have_count(0)
    for _ in BLOCK:
        press(figure, "Next")
    expect(status).to_contain_text("can have reached row 6, column 1")


def test_the_map_rolls_and_the_chosen_token_rolls_with_it(visit):
    figure = visit("swin_window", reduced_motion="reduce")
    for _ in range(2):
        press(figure, "Back")
    handle = figure.get_by_role("slider", name="the token that looks")
    handle.focus()
    for key in ("ArrowLeft", *4 * ["ArrowUp"]):
        figure.page.keyboard.press(key)
    assert handle.get_attribute("aria-valuetext") == "row 0, column 2"

    def framed():
        frame = figure.locator('[data-part="frame"] rect').bounding_box()
        grip = figure.locator('[data-part="handle-map"] .moving-grip').bounding_box()
        (x, y) = middle(frame)
        side = grip["width"] / 8
        return int((y - grip["y"]) / side), int((x - grip["x"]) / side)

    assert framed() == (0, 2)
    press(figure, "Next")
    assert framed() == (7, 1), "it came in again at the bottom"
    figure.page.keyboard.press("Tab")
    handle.focus()
    figure.page.keyboard.press("ArrowUp")
    assert handle.get_attribute("aria-valuetext") == "row 7, column 2"
    images = figure.locator(".swin-sheet image")
    assert images.count() == 64 + 15
    loaded = images.first.evaluate("async i => (await fetch(i.href.baseVal)).status")
    assert loaded == 200, "the cat is there"


# What an output is made of


def made(figure, first, place, alone=False):
    """Compare both layers' outputs, and what these are made of, with PyTorch's."""
    from book.drawings.made_of import CELL, RIGHT, STRENGTH, TOPS

    tokens = torch.tensor([[1, 2, 3], [first, 20, 30]]).double()[: 1 if alone else 2]
    said = []
    for name in TOPS:
        layer = torch.nn.MultiheadAttention(1, 1, batch_first=name == "given").double()
        with torch.no_grad():
            layer.in_proj_weight.copy_(torch.tensor([[0], [0], [1]]))
            layer.out_proj.weight.fill_(1)
        x = tokens[..., None].requires_grad_()
        y, _ = layer(x, x, x)
        (slopes,) = torch.autograd.grad(y[place].sum(), x)
        parts = drawn(figure)
        for index in (f"{i}-{t}" for i in range(len(tokens)) for t in range(3)):
            image, token = map(int, index.split("-"))
            assert parts[f"in-{name}-{index}"]["text"] == f"{tokens[image, token]:g}"
            shown = value(parts[f"out-{name}-{index}"]["text"])
            assert shown == pytest.approx(y[image, token].item())
            field = figure.locator(f'[data-part="share-{name}-{index}"] rect')
            shade = float(field.get_attribute("fill-opacity"))
            assert shade == pytest.approx(STRENGTH * slopes[image, token].item())
        assert not alone or not parts[f"out-{name}-1-0"]["text"]
        said.append(f"{y[place].item():g}")
        assert re.match(rf"{re.escape(said[-1])}\b", parts[f"sum-{name}"]["text"])
        x, y, *_ = parts[f"chosen-{name}"]["rects"][0]
        corner = RIGHT + place[1] * CELL[0] + 1, TOPS[name] + place[0] * CELL[1] + 1
        assert (x, y) == corner
    expect(figure.get_by_role("status")).to_contain_text(
        f"token {place[1]} of image {place[0]} becomes {said[0]} if batch_first is "
        f"left out, and {said[1]} if it is True."
    )


def test_an_output_is_made_of_the_same_tokens_as_pytorchs(visit):
    figure = visit("made_of", reduced_motion="reduce")
    output = figure.get_by_role("slider", name="output, batch_first left out")
    first = figure.get_by_role("slider", name="token 0 of image 1")
    for number_in in (10, 4, 40):
        first.fill(str(number_in))
        output.press("Home")
        for image, token in [(0, 0), (0, 1), (0, 2), (1, 2), (1, 1), (1, 0)]:
            made(figure, number_in, (image, token))
            key = "ArrowRight" if image == 0 else "ArrowLeft"
            output.press("ArrowDown" if (image, token) == (0, 2) else key)
    press(figure, "Image 0 alone")
    expect(figure.get_by_role("status")).to_contain_text("In the batch they were 20.5")
    for token in range(3):
        made(figure, 40, (0, token), alone=True)
        output.press("ArrowRight")
    output.press("ArrowDown")
    made(figure, 40, (0, 2), alone=True)


def test_an_output_is_chosen_by_mouse_and_finger(visit):
    figure = visit("made_of", PHONE, has_touch=True)
    left, top, width, height = grip(figure, "handle-given").values()
    figure.page.mouse.click(left + 0.8 * width, top + 0.7 * height)
    made(figure, 10, (1, 2))
    figure.page.touchscreen.tap(left + 0.5 * width, top + 0.2 * height)
    made(figure, 10, (0, 1))


# Scores, temperature and shares


BANDS = """figure => [0, 1, 2, 3].map(index =>
    figure.querySelector(`[data-part="edge-${index}"] path`).getAttribute("d"))"""


def softened(figure, scores, tau, added=0):
    """Compare the shares, and the bands for every temperature, with PyTorch's."""
    from book.drawings.temperature import BAR, CHART, TAUS

    scores = torch.tensor(scores).double()
    shares = (scores / tau).softmax(dim=0)
    parts = drawn(figure)
    assert parts["tau"]["text"] == f"τ = {tau:g}"
    for index, (score, share) in enumerate(zip(scores, shares, strict=True)):
        assert value(parts[f"knob-{index}"]["text"]) == score + added
        assert value(parts[f"share-{index}"]["text"]) == pytest.approx(
            share.item(), abs=0.0051
        )
        full = figure.locator(f'[data-part="bar-{index}"] .vd-full')
        width = float(full.get_attribute("width"))
        assert width == pytest.approx(BAR.width * share.item(), abs=0.01)
    edges = torch.stack([(scores / one).softmax(dim=0) for one in TAUS]).cumsum(dim=1)
    for index, path in enumerate(figure.evaluate(BANDS)):
        heights = torch.tensor([float(y) for y in re.findall(r" ([\d.]+)", path)])
        found = (heights.double() - CHART.y) / CHART.height
        torch.testing.assert_close(found, edges[:, index], atol=1e-4, rtol=0)
    said = figure.get_by_role("status")
    rounded = ", rounded," if shares.min() < 0.005 else ""
    state = f"At τ = {tau:g} the shares are{rounded} {shares[0]:.2f}"
    expect(said).to_contain_text(state)
    if added:
        expect(said).to_contain_text("Adding 10 to each score changes none of them")
    else:
        expect(said).to_contain_text("times the share")
        ratio = re.search(r"has ([\d,.]+) times the share", said.text_content())[1]
        higher = torch.tensor([1.0, 0.0]).double().div(tau).softmax(dim=0)
        times = (higher[0] / higher[1]).item()
        assert float(ratio.replace(",", "")) == pytest.approx(times, rel=5e-3)


def test_the_shares_are_those_of_pytorchs_softmax(visit):
    from book.drawings.temperature import SCORES, TAUS

    figure = visit("temperature", reduced_motion="reduce")
    slider = figure.get_by_role("slider", name="temperature")
    scores = list(SCORES)
    for place, tau in enumerate(TAUS):
        slider.fill(str(place))
        softened(figure, scores, tau)
    press(figure, "Add 10 to each score")
    softened(figure, scores, TAUS[-1], added=10)
    slider.fill(str(TAUS.index(0.5)))
    for index, (name, key, score) in enumerate(
        [("astronaut", "Home", -3), ("temple", "ArrowLeft", 1.5), ("cat", "End", 5)]
    ):
        figure.get_by_role("slider", name=f"score of {name}").press(key)
        scores[index] = score
        softened(figure, scores, 0.5, added=10)
    press(figure, "Add 10 to each score")
    softened(figure, scores, 0.5)


def test_scores_and_temperature_are_dragged_by_mouse_and_finger(visit):
    from book.drawings.temperature import TAUS

    figure = visit("temperature", PHONE, has_touch=True, is_mobile=True)
    x, y = middle(figure.locator('[data-part="knob-3"]').bounding_box())
    assert not drag_by_finger(figure, (x, y), (x + 140, y + 10))
    softened(figure, [3, 2, 0.5, 5], 1)
    x, y = middle(figure.locator('[data-part="knob-0"]').bounding_box())
    mouse = figure.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x - 200, y + 40, steps=4)
    mouse.up()
    softened(figure, [-3, 2, 0.5, 5], 1)
    box = grip(figure, "chart")
    _, y = middle(box)
    drag_by_finger(figure, (box["x"] + 60, y), (box["x"] + box["width"] - 1, y + 5))
    softened(figure, [-3, 2, 0.5, 5], TAUS[-1])


# Rotary positions


def rotated(figure, query, key):
    """Compare what the page shows with the package, for a query and a key somewhere."""
    from book.drawings.rotary import KEY, PAIRS, QUERY, SIDE, vector
    from vit_steps.variants.rotary import apply_rope, rope_angles

    angles = rope_angles((SIDE, SIDE), 2 * PAIRS).double()  # (N, d/2)
    q, k = (
        apply_rope(vector(pair).expand(SIDE**2, -1), angles)  # (N, d)
        for pair in (QUERY, KEY)
    )
    asks, asked = (SIDE * row + column for row, column in (query, key))
    each = (q[asks] * k[asked]).reshape(2, PAIRS).sum(dim=0)
    for pair, product in enumerate(each.tolist()):
        assert number(figure, f"product-{pair}") == pytest.approx(product, abs=0.0051)
    score = (q[asks] @ k[asked]).item()
    assert number(figure, "turned") == pytest.approx(score, abs=0.0051)
    hands = torch.cat([angles.cos(), angles.sin()], dim=1)  # (N, d)
    other = (vector(QUERY) + hands[asks]) @ (vector(KEY) + hands[asked])
    assert number(figure, "added") == pytest.approx(other.item(), abs=0.0051)
    shades = figure.locator('[data-part="map"] rect.vd-full').evaluate_all(
        "cells => cells.map(cell => +cell.style.fillOpacity)"
    )
    scores = (k @ q[asks]).clamp(min=0)
    largest = vector(QUERY).norm() * vector(KEY).norm()
    assert shades == pytest.approx((0.6 * scores / largest).tolist(), abs=0.001)
    for name, (row, column) in (("query", query), ("key", key)):
        handle = figure.get_by_role("slider", name=f"place of the {name}")
        said = f"row {row}, column {column}"
        assert handle.get_attribute("aria-valuetext") == said
        assert handle.get_attribute("aria-valuenow") == str(SIDE * row + column)
    return number(figure, "turned"), number(figure, "added")


def test_the_score_is_that_of_the_packages_rope(visit):
    figure = visit("rotary", reduced_motion="reduce")
    query, key = (
        figure.get_by_role("slider", name=f"place of the {n}") for n in ("query", "key")
    )
    begin, _ = rotated(figure, (1, 1), (3, 2))
    key.press("ArrowRight")
    assert rotated(figure, (1, 1), (3, 3))[0] != begin
    query.press("End")
    rotated(figure, (7, 7), (3, 3))
    key.press("Home")
    score, _ = rotated(figure, (7, 7), (0, 0))
    press(figure, "Swap places")
    assert rotated(figure, (0, 0), (7, 7))[0] != score, "direction matters"
    query.press("ArrowUp")
    rotated(figure, (0, 0), (7, 7))


def test_moved_together_the_score_stands_still(visit):
    figure = visit("rotary", reduced_motion="reduce")
    query = figure.get_by_role("slider", name="place of the query")
    begin, added = rotated(figure, (1, 1), (3, 2))
    press(figure, "Drag both together")
    query.press("ArrowDown")
    query.press("ArrowRight")
    score, other = rotated(figure, (2, 2), (4, 3))
    assert score == begin and other != added
    expect(figure.get_by_role("status")).to_contain_text("so it stands still")
    assert written(figure, "turned-says") == "stands still"
    query.press("End")
    assert rotated(figure, (5, 6), (7, 7))[0] == begin, "neither leaves the grid"
    query.press("ArrowDown")
    assert rotated(figure, (5, 6), (7, 7))[0] == begin
    press(figure, "Drag both together")
    query.press("ArrowUp")
    assert rotated(figure, (4, 6), (7, 7))[0] != begin
    assert written(figure, "turned-says") == ""


def test_query_and_key_are_dragged_by_mouse_and_finger(visit):
    figure = visit("rotary", has_touch=True, reduced_motion="reduce")

    def at(row, column):
        box = figure.locator('[data-part="map"]').bounding_box()
        cell = box["width"] / 8
        return box["x"] + (column + 0.5) * cell, box["y"] + (row + 0.5) * cell

    mouse = figure.page.mouse
    mouse.move(*at(1, 1))
    mouse.down()
    mouse.move(*at(4, 3))
    mouse.up()
    rotated(figure, (4, 3), (3, 2))
    press(figure, "Drag both together")
    assert not drag_by_finger(figure, at(3, 2), at(5, 5))
    rotated(figure, (6, 6), (5, 5))
    drag_by_finger(figure, at(0, 0), at(0, 3))
    rotated(figure, (6, 6), (5, 5))


def test_query_and_key_walk_together_to_the_last_places(visit):
    figure = visit("rotary", time_stands=True)
    begin, _ = rotated(figure, (1, 1), (3, 2))
    press(figure, "Play")
    figure.page.clock.run_for(1100)
    assert rotated(figure, (1, 2), (3, 3))[0] == begin
    figure.page.clock.run_for(60_000)
    assert rotated(figure, (5, 6), (7, 7))[0] == begin
    press(figure, "Play")
    figure.page.clock.run_for(1000)
    assert rotated(figure, (0, 0), (2, 1))[0] == begin, "from the first again"
