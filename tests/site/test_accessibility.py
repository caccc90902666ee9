"""Accessibility: axe on the listings of code, and criteria that axe cannot check.

test_every_page.py runs axe on all other pages. Skipped where there is no Chromium,
Chrome or Edge.
"""

import re

import pytest

from tests.conftest import ROOT
from tests.site import axe
from tests.site.test_looks import contrast
from tests.site.test_pages import HTML
from tests.site.visit import PHONE, SPACING, WIDE, ZOOMED, resize, rest, too_wide

CODE = sorted(
    page.relative_to(HTML).with_suffix("").as_posix()
    for package in ("vit_steps", "vit_doctor")
    for page in HTML.glob(f"_modules/{package}/**/*.html")
)


@pytest.fixture(scope="module")
def tab(browser):
    context = browser.new_context(color_scheme="light", viewport=WIDE)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("page", CODE)
def test_axe_finds_nothing_in_a_listing(tab, page):
    """One width and one theme suffice, because listings differ only in their words."""
    tab.goto((HTML / f"{page}.html").as_uri())
    axe.prepare(tab)
    assert axe.find(tab, WIDE, "light") == []


@pytest.mark.parametrize("part", ["main p", "main a", "footer *"])
def test_axe_sees_a_colour_that_is_too_pale(tab, part):
    """This holds although axe checks only one element of each kind."""
    tab.goto((HTML / "notebooks/05_multi_head_attention.html").as_uri())
    tab.add_style_tag(content=f"{part}:last-child {{ color: #aaa !important }}")
    axe.prepare(tab)
    assert axe.find_colours(tab, "light")


def test_axe_finds_more_than_colours(tab):
    tab.goto((HTML / "book/notation.html").as_uri())
    nameless = "document.createElement('button')"
    tab.evaluate(f"document.querySelector('article').prepend({nameless})")
    axe.prepare(tab)
    assert "button-name" in {rule for rule, *_ in axe.find(tab, PHONE, "dark")}


# Criteria that axe does not check

KINDS = ["book/intro", "book/lab", "book/teaching", "book/glossary", "book/package"]
KINDS += ["book/package/model", "book/claims", "search", "genindex"]
KINDS += ["notebooks/04_scaled_dot_product_attention"]
KINDS += ["notebooks/exercises/04_scaled_dot_product_attention"]
CUT_OFF = """() => [...document.querySelectorAll("body *")].filter(element => {
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
        || element.closest("svg, .math, .visually-hidden") || element.clientWidth < 2
        || !element.innerText?.trim()) return false;
    const style = getComputedStyle(element);
    const hides = way => ["hidden", "clip"].includes(style[way]);
    return hides("overflowX") && element.scrollWidth > element.clientWidth + 2
        || hides("overflowY") && element.scrollHeight > element.clientHeight + 3;
}).map(element => [element.className, element.innerText.slice(0, 60)])"""


@pytest.fixture(scope="module", params=KINDS)
def still_page(request, kept_visit, site):
    tab = kept_visit(reduced_motion="reduce").tab
    tab.goto(f"{site}{request.param}.html", wait_until="networkidle")
    return tab


MOVES = """() => [...document.querySelectorAll("*")].flatMap(element =>
    [null, "::before", "::after"].map(part => getComputedStyle(element, part))
        .filter(({ animationName, transitionDuration: long, scrollBehavior }) =>
            animationName !== "none" || /[1-9]/.test(long) || scrollBehavior !== "auto")
        .map(style => [element.className, style.animation, style.transition]))"""


def test_nothing_moves_for_a_reader_who_wants_it_still(still_page):
    for size in (WIDE, PHONE):
        resize(still_page, size)
        assert still_page.evaluate(MOVES) == []


# What has the focus: its ring, and how much of that is cut off; its own size.
STOP = """() => {
    const one = document.activeElement, box = one.getBoundingClientRect();
    const whole = one.closest(".bd-search:has(input:focus), .chapter-cards li") ?? one;
    const part = one.matches(".sd-stretched-link") ? "::after" : null;
    const { outlineStyle, outlineWidth, outlineColor, outlineOffset } =
        getComputedStyle(whole, part);
    const reach = parseFloat(outlineOffset) + parseFloat(outlineWidth);
    const ring = whole.getBoundingClientRect();
    const cuts = [], grounds = [];
    for (let at = whole; (at = at.parentElement) && at !== document.body;) {
        const style = getComputedStyle(at), edge = at.getBoundingClientRect();
        grounds.push(style.backgroundColor);
        if (style.overflowX === "visible" || style.display === "contents") continue;
        cuts.push(edge.left - ring.left + reach, ring.right + reach - edge.right,
            edge.top - ring.top + reach, ring.bottom + reach - edge.bottom);
    }
    grounds.push(getComputedStyle(document.body).backgroundColor);
    const again = one === document.body || "stop" in one.dataset;
    one.dataset.stop = "";
    const pressed = one.matches("button, summary, select, .bd-links a, .toc-entry a");
    return { what: one.outerHTML.slice(0, 200), again, style: outlineStyle,
        width: parseFloat(outlineWidth), colour: outlineColor,
        ground: grounds.find(ground => !/, 0\\)$|transparent/.test(ground)),
        cut: Math.max(0, ...cuts),
        size: pressed ? Math.min(box.width, box.height) : 28 };
}"""


# What stays in sight while the page is scrolled, and scrolls it when it is focused.
SCROLLS = """() => {
    const sticks = one => /sticky|fixed/.test(getComputedStyle(one).position);
    const stays = one => one && (sticks(one) || stays(one.parentElement));
    const seen = one => {
        const { left, top, width, height } = one.getBoundingClientRect();
        const [x, y] = [left + width / 2, top + height / 2];
        return one.contains(document.elementFromPoint(x, y));
    };
    const before = scrollY;
    return [before, [...document.querySelectorAll("a, button, input, label, select")]
        .filter(one => stays(one) && seen(one)).filter(one => {
            one.focus();
            const after = scrollY;
            scrollTo({ top: before, behavior: "instant" });
            return Math.abs(after - before) > 1;
        }).map(one => one.outerHTML.slice(0, 200))];
}"""


@pytest.mark.parametrize(
    "page", ["book/lab", "book/glossary", "notebooks/07_vision_transformer"]
)
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_focus_on_what_stays_in_sight_scrolls_nothing(visits, site, page, size):
    tab = visits().tab
    resize(tab, size)
    tab.goto(f"{site}{page}.html", wait_until="networkidle")
    tab.evaluate("scrollTo({ top: 2000, behavior: 'instant' })")
    before, found = tab.evaluate(SCROLLS)
    assert before > 1000 and found == []


@pytest.mark.parametrize(
    "page", [*KINDS[2:], KINDS[0], "notebooks/07_vision_transformer"]
)
@pytest.mark.parametrize(
    "size, theme, forced",
    [(WIDE, "light", "none"), (PHONE, "dark", "none"), (ZOOMED, "light", "active")],
    ids=["wide", "phone", "forced"],
)
def test_each_stop_of_the_keyboard_has_a_ring(visits, site, page, size, theme, forced):
    """WCAG 2.4.7, 2.4.11 and 2.4.13; and what is pressed is large enough."""
    tab = visits(color_scheme=theme, forced_colors=forced, reduced_motion="reduce").tab
    resize(tab, size)
    tab.goto(f"{site}{page}.html", wait_until="networkidle")
    tab.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    stops = 0
    while stops < 150:
        tab.keyboard.press("Tab")
        stop = tab.evaluate(STOP)
        if stop["again"]:
            break
        seen = forced == "active" or contrast(stop["colour"], stop["ground"]) >= 3
        assert seen and stop["style"] == "solid" and stop["width"] >= 2, stop
        assert stop["cut"] <= 1 and stop["size"] >= 27.9, stop
        stops += 1
    assert stops > 2


def test_a_page_reflows_and_its_text_takes_more_room(still_page):
    """WCAG 1.4.10, enlarged four times, and 1.4.12, with more space between letters."""
    tab = still_page
    resize(tab, ZOOMED)
    tab.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert too_wide(tab)[0] == 0
    tab.add_style_tag(content=SPACING)
    for size in (ZOOMED, WIDE):
        resize(tab, size)
        assert tab.evaluate(CUT_OFF) == []
        assert too_wide(tab)[0] == 0


def test_a_label_goes_with_escape_and_stays_under_the_pointer(visits, site):
    """WCAG 1.4.13: what appears under the pointer or on focus can be dismissed."""
    tab = visits().tab
    tab.goto(f"{site}notebooks/02_patch_embedding.html", wait_until="networkidle")
    button, label = tab.locator(".btn-fullscreen-button"), tab.locator(".tooltip")
    button.focus()
    label.wait_for()
    tab.keyboard.press("Escape")
    label.wait_for(state="detached")
    button.blur()
    button.hover()
    label.wait_for()
    label.hover()
    rest(tab, 500)  # longer than the theme waits before it hides one
    assert label.is_visible()
    tab.mouse.move(400, 600)
    label.wait_for(state="detached")


def test_a_links_card_goes_with_escape_and_comes_with_the_focus(visits, site):
    tab = visits(color_scheme="light").tab
    tab.goto(f"{site}notebooks/07_vision_transformer.html", wait_until="networkidle")
    link, card = tab.locator("article a[data-bs-title]").first, tab.locator(".about")
    link.focus()
    card.wait_for()
    assert link.get_attribute("aria-describedby") == card.get_attribute("id")
    assert "minutes" in card.inner_text() and "?" in card.inner_text()
    axe.prepare(tab)
    assert axe.find(tab, WIDE, "light") == []
    tab.keyboard.press("Escape")
    card.wait_for(state="detached")
    link.blur()
    link.hover()
    card.wait_for()
    box = card.bounding_box()
    assert box["x"] >= 0 and box["width"] <= 360


def test_a_finger_gets_no_card(visits, site):
    tab = visits(has_touch=True, is_mobile=True).tab
    resize(tab, PHONE)
    tab.goto(f"{site}notebooks/07_vision_transformer.html", wait_until="networkidle")
    tab.locator("article a[data-bs-title]").first.focus()
    rest(tab, 800)
    assert tab.locator(".about").count() == 0


def test_a_finger_gets_no_label(visits, site):
    """It could not leave the button to hide it, and the label would cover a dialog."""
    tab = visits(has_touch=True, is_mobile=True).tab
    resize(tab, PHONE)
    tab.goto(f"{site}notebooks/02_patch_embedding.html", wait_until="networkidle")
    tab.locator(".search-button:visible").tap()
    tab.locator(".search-button__search-container").wait_for()
    rest(tab, 400)
    assert tab.locator(".tooltip").count() == 0


def test_what_a_click_opens_is_not_covered_by_a_label(visits, site):
    tab = visits().tab
    resize(tab, {"width": 900, "height": 800})
    tab.goto(f"{site}notebooks/02_patch_embedding.html", wait_until="networkidle")
    button = tab.locator(".search-button:visible")
    button.hover()
    tab.locator(".tooltip").wait_for()
    button.click()
    tab.locator(".tooltip").wait_for(state="detached")


def test_behind_more_a_phone_has_the_buttons_with_their_names(visits, site):
    tab = visits(has_touch=True, is_mobile=True).tab
    resize(tab, PHONE)
    tab.goto(f"{site}notebooks/02_patch_embedding.html", wait_until="networkidle")
    header = tab.locator(".bd-header-article .btn:visible")
    assert header.count() == 4, "chapters, search, contents, more"
    tab.get_by_role("button", name="More", exact=True).tap()
    inside = tab.locator("#more-buttons .btn:visible")
    assert inside.count() >= 8
    for button in inside.all():
        box = button.bounding_box()
        assert box["height"] >= 44 and box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
        words = button.inner_text() + button.evaluate(
            "one => getComputedStyle(one, '::after').content"
        )
        assert re.search("[A-Za-z]{4}", words)
    tab.keyboard.press("Escape")
    assert not tab.locator("#more-buttons").is_visible()


CONTRAST = """() => {
    const part = document.querySelector('h2 .headerlink');
    const probe = document.createElement('canvas').getContext('2d');
    const light = colour => {
        probe.fillStyle = colour;
        probe.fillRect(0, 0, 1, 1);
        const [r, g, b] = [...probe.getImageData(0, 0, 1, 1).data].map(value =>
            ((value / 255 + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
    };
    const { color, opacity } = getComputedStyle(part);
    const shades = [color, getComputedStyle(document.body).backgroundColor].map(light);
    return [Math.max(...shades) / Math.min(...shades), +opacity];
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_sign_of_a_headings_address_can_be_read(visits, site, theme):
    """axe does not see it, because it is there only under the pointer."""
    tab = visits(color_scheme=theme).tab
    tab.goto(f"{site}notebooks/02_patch_embedding.html", wait_until="networkidle")
    contrast, opacity = tab.evaluate(CONTRAST)
    assert contrast >= 4.5 and opacity == 1


def test_a_menu_goes_with_escape_though_the_pointer_is_on_it(visits, site):
    """WCAG 1.4.13: what appears can be dismissed without moving the pointer."""
    tab = visits().tab
    tab.goto(f"{site}notebooks/02_patch_embedding.html", wait_until="networkidle")
    place = tab.locator(".dropdown-download-buttons").first
    menu = place.locator(".dropdown-menu")
    place.locator(".btn").first.hover()
    assert not menu.is_visible(), "it covers what is below it when the pointer passes"
    place.locator(".btn").first.click()
    menu.wait_for()
    tab.keyboard.press("Escape")
    menu.wait_for(state="hidden")


def test_no_key_by_itself_is_a_short_cut(visits, site):
    """WCAG 2.1.4: speech input can produce single letters by mistake."""
    tab = visits().tab
    tab.goto(f"{site}book/notation.html", wait_until="networkidle")
    for key in "/skn?":
        tab.keyboard.press(key)
    assert tab.evaluate("document.activeElement === document.body")
    assert tab.url == f"{site}book/notation.html"


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_the_labs_board_is_at_most_ten_stops_away(visits, site, size):
    tab = visits().tab
    resize(tab, size)
    tab.goto(f"{site}book/lab.html", wait_until="networkidle")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Tab")
    assert tab.locator(":focus").inner_text() == "Skip to the board"
    tab.keyboard.press("Enter")
    tab.locator("#board [data-state=open]").wait_for()
    on_the_board = tab.locator(".vl-board-place :focus")
    stops = 2
    while stops < 10 and not on_the_board.count():  # what stands above comes first
        tab.keyboard.press("Tab")
        stops += 1
    assert on_the_board.count()


def test_the_switch_of_colours_says_its_state(browser, site):
    tab = browser.new_page(viewport=WIDE, color_scheme="light")
    tab.goto(f"{site}book/notation.html", wait_until="networkidle")
    button = tab.locator(".theme-switch-button:visible")
    names = []
    for _ in range(3):
        names.append(button.inner_text().strip())
        button.press("Enter")
    assert sorted(names) == [
        "Colours: as your system has it",
        "Colours: dark",
        "Colours: light",
    ]
    tab.close()


def test_the_statement_is_about_the_last_version():
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    version = re.search(r"^## \[([\d.]+)\]", changes, re.MULTILINE)[1]
    said = f"the pages of version {version};"
    assert said in (ROOT / "book/accessibility.md").read_text("utf-8")
