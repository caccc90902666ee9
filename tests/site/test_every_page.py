"""Each page of the built book, opened once in a browser and checked in many ways.

Skipped where there is no Chromium, Chrome or Edge.
"""

import re

import pytest

from tests.site import axe
from tests.site.test_browser import CHAPTERS, EXTRA
from tests.site.test_fonts import FONTS, characters
from tests.site.test_pages import HTML, SOURCES
from tests.site.visit import (
    NARROWEST,
    PHONE,
    SPACING,
    WIDE,
    ZOOMED,
    Visit,
    resize,
    too_wide,
)

MEGABYTE = 1_000_000
LEAST = 100_000  # bytes of a page; the fonts alone have more

WATCH_SHIFTS = """
    window.shifts = [];
    new PerformanceObserver(list => {
        for (const entry of list.getEntries())
            if (!entry.hadRecentInput)
                window.shifts.push([entry.value,
                    entry.sources.map(s => s.node?.outerHTML?.slice(0, 80))]);
    }).observe({ type: "layout-shift", buffered: true });
"""
SCROLL_TO_THE_END = """async () => {
    for (let y = 0; y < document.documentElement.scrollHeight; y += 700) {
        window.scrollTo(0, y);
        await new Promise(requestAnimationFrame);
    }
}"""
BYTES = """() => performance.getEntries()
    .filter(entry => 'transferSize' in entry)
    .reduce((sum, entry) => sum + entry.transferSize, 0)"""
# Opens all folds, and turns off transitions, so that everything is visible at once.
UNFOLD = """() => {
    const style = document.createElement("style");
    style.textContent = "* { transition: none !important; animation: none !important }";
    document.head.append(style);
    for (const fold of document.querySelectorAll("details")) fold.open = true;
    for (const button of document.querySelectorAll(".unfold")) button.click();
}"""


@pytest.fixture(scope="module")
def without_cache(browser):
    one = Visit(browser, color_scheme="light")
    one.tab.add_init_script(WATCH_SHIFTS)
    session = one.context.new_cdp_session(one.tab)
    session.send("Network.enable")  # the cache cannot be disabled without it
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    yield one
    one.context.close()


@pytest.fixture(scope="module", params=[*SOURCES, *EXTRA])
def opened(request, without_cache, site):
    """A page below a path, loaded without a cache, scrolled to its end and unfolded."""
    one = without_cache.begin_again()
    one.page, one.site = request.param, site
    one.tab.goto(f"{site}{one.page}.html")
    one.tab.evaluate(SCROLL_TO_THE_END)
    one.tab.wait_for_load_state("networkidle")
    for place in (
        one.tab.locator(".vit-lab:not([hidden])").all()
        if one.page == "book/lab"
        else []
    ):
        place.scroll_into_view_if_needed()
        place.and_(one.tab.locator("[data-state=open]")).wait_for()
    one.shifts = one.tab.evaluate("window.shifts")
    one.weight = one.tab.evaluate(BYTES)
    one.tab.evaluate(UNFOLD)
    return one


def test_it_is_whole_quiet_and_light(opened):
    assert opened.outside(opened.site) == []
    assert opened.errors == []
    assert sum(value for value, _ in opened.shifts) < 0.1, opened.shifts
    assert LEAST < opened.weight < MEGABYTE, f"{opened.weight:,} bytes"


# Fonts

# Returns the characters set in each family, including those from scripts and styles.
# Formulas are left out: their letters come from a style sheet of their own.
OWN_FONTS = ("Book Text", "Book Code", "Book Variables")
WRITTEN = """() => {
    const written = {};
    const take = (element, text, part) => {
        const family = getComputedStyle(element, part).fontFamily;
        written[family] = [...new Set((written[family] ?? "") + text)].join("");
    };
    const skipped = ["script", "style", "title", "desc", "noscript", "math",
        "math *"].join();
    const around = ["::before", "::after"];
    const partsOf = element => element instanceof SVGElement ? []
        : getComputedStyle(element).display === "list-item" ? [...around, "::marker"]
        : around;
    for (const element of document.querySelectorAll("body, body *")) {
        if (element.matches(skipped)) continue;
        for (const node of element.childNodes)
            if (node.nodeType === Node.TEXT_NODE) take(element, node.data);
        take(element, element.placeholder ?? "");
        for (const part of partsOf(element)) {
            const content = getComputedStyle(element, part).content;
            if (content.startsWith('"')) take(element, content.split(" / ")[0], part);
        }
    }
    return written;
}"""


def icons():
    css = (FONTS / "icons.css").read_text(encoding="utf-8")
    return {chr(int(code, 16)) for code in re.findall(r'content: "\\(\w+)"', css)}


def test_it_takes_the_books_fonts_and_no_other(opened):
    written = opened.tab.evaluate(WRITTEN)
    assert len(written) >= 2
    for family, text in written.items():
        first = family.split(",")[0].strip('"')
        assert first in (*OWN_FONTS, "Icons"), (family, text)
        allowed = icons() | {'"'} if first == "Icons" else characters()
        assert not set(text) - allowed, (family, set(text) - allowed)


# Formulas

FORMULAS = """() => [...document.querySelectorAll(".math.notranslate")].map(formula => {
    const [math, ...others] = formula.querySelectorAll("math");
    return [formula.textContent.length > 0 && !others.length
        && !formula.closest("[aria-hidden=true]"),
        getComputedStyle(math).fontFamily];
})"""


def test_every_formula_is_read_out_once(opened):
    formulas = opened.tab.evaluate(FORMULAS)
    assert len(formulas) == opened.tab.locator("math").count()
    for spoken, family in formulas:
        assert spoken and family.startswith('"Book Math"')


def test_there_are_pages_with_formulas():
    sources = [(HTML / f"{page}.html").read_text(encoding="utf-8") for page in SOURCES]
    assert sum('class="math notranslate' in source for source in sources) >= 5


# The map of the model

EDGES = """() => [...document.querySelectorAll('.model-map a')].map(link => {
    const frame = `.model-map .frame[data-chapter="${link.dataset.chapter}"]`;
    const edge = document.querySelector(frame) ?? link.querySelector('.box');
    return [link.classList.contains('lit'),
        parseFloat(getComputedStyle(edge).strokeWidth),
        +getComputedStyle(link.querySelector('.name')).fontWeight];
})"""


def test_the_lit_part_is_told_apart_without_its_colour(opened):
    if opened.page not in CHAPTERS:
        return
    links = opened.tab.evaluate(EDGES)
    assert [part[1:] for part in links if part[0]] == [[3, 700]]
    assert {tuple(part[1:]) for part in links if not part[0]} == {(1, 400)}


# Tests that change the page come last


# To save a resize, dark begins with the last size of light, and axe with dark's.
SIZES = {"light": (WIDE, PHONE, NARROWEST), "dark": (NARROWEST, WIDE, PHONE)}


def test_it_does_not_scroll_sideways(opened):
    for scheme, sizes in SIZES.items():
        opened.tab.emulate_media(color_scheme=scheme)
        opened.tab.wait_for_function(
            f"document.documentElement.dataset.theme === '{scheme}'"
        )
        for size in sizes:
            resize(opened.tab, size)
            assert too_wide(opened.tab) == [0, []], f"{scheme}, {size['width']} pixels"
    assert opened.errors == []


# What can be pressed and is smaller than 24 x 24 pixels, links in sentences left out.
# Where an element is small, such a square around its middle must still lead to it.
SMALL_TARGETS = """() => {
    const pressed = "a[href], button, input, select, textarea, summary, [tabindex='0']";
    const words = one => one.innerText.trim().length;
    const inSentence = one => one.matches("a")
        && getComputedStyle(one).display === "inline"
        && words(one.closest("p, li, td, th, dt, dd, figcaption, div")) > words(one);
    const isSmall = one => {
        const all = [one, ...(one.labels ?? [])]
            .map(each => each.getBoundingClientRect());
        const across = Math.max(...all.map(box => box.right)) - all[0].left;
        const down = Math.max(...all.map(box => box.bottom)) - all[0].top;
        return all[0].width && Math.min(across, down) < 23.9;
    };
    const leadsTo = one => {
        one.scrollIntoView({ block: "center", behavior: "instant" });
        const { left, top, width, height } = one.getBoundingClientRect();
        return [-11.5, 11.5].every(x => [-11.5, 11.5].every(y => one.contains(
            document.elementFromPoint(left + width / 2 + x, top + height / 2 + y))));
    };
    return [...document.querySelectorAll(pressed)].filter(one =>
        one.checkVisibility({ visibilityProperty: true, opacityProperty: true })
        && !one.closest(".visually-hidden, .skip-link, [inert]")
        && isSmall(one) && !inSentence(one) && !leadsTo(one),
    ).map(one => one.outerHTML.slice(0, 120));
}"""


def test_a_finger_hits_what_can_be_pressed(opened):
    if opened.tab.locator("article figure, article .vit-lab").count():
        resize(opened.tab, PHONE)
        assert opened.tab.evaluate(SMALL_TARGETS) == []


SHOW_WHAT_COMES_BY_SCROLLING = """() => {
    document.querySelector("#pst-back-to-top").style.display = "inline-block";
}"""
# A page of each kind is checked in both themes at both widths; any other page in light
# when wide and in dark on a phone, as a text's colours do not depend on the width.
BOTH = {"book/intro", "book/lab", "notebooks/05_multi_head_attention", "search"}


def test_axe_finds_nothing(opened):
    axe.prepare(opened.tab)
    opened.tab.evaluate("window.scrollTo(0, 0)")  # at the top no button covers a link
    opened.tab.evaluate(SHOW_WHAT_COMES_BY_SCROLLING)
    for size, theme, other in ((PHONE, "dark", "light"), (WIDE, "light", "dark")):
        assert axe.find(opened.tab, size, theme) == []
        if opened.page in BOTH:
            assert axe.find_colours(opened.tab, other) == [], other


def test_its_text_takes_more_room(opened):
    """WCAG 1.4.12. A letter of a drawing may leave the page by its own width."""
    resize(opened.tab, ZOOMED)
    opened.tab.add_style_tag(content=SPACING)
    assert too_wide(opened.tab)[0] <= 4
