"""The built book in a real browser: opened from a folder, its themes, the keyboard.

Skipped where there is no Chromium, Chrome or Edge.
"""

import re
from functools import cache

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import expect

from tests.site.test_pages import HTML, SOURCES
from tests.site.visit import NARROWEST, PHONE, WHOLE, WIDE, Visit, resize, too_wide

CHAPTERS = [s for s in SOURCES if re.match(r"notebooks/\d", s)]
EXERCISE = next(s for s in SOURCES if s.startswith("notebooks/exercises/"))
EXTRA = ["search", "genindex", "_modules/index"]
FIRST = "notebooks/02_patch_embedding"


# test_every_page.py checks that no page takes other fonts than the book's.
OF_EACH_KIND = ["book/intro", "book/lab", "book/glossary", "book/package/model"]
OF_EACH_KIND += ["book/teaching", CHAPTERS[1], CHAPTERS[13], EXERCISE]


@pytest.mark.parametrize("browser", ["monospaced"], indirect=True)
@pytest.mark.parametrize("page", [*OF_EACH_KIND, *EXTRA, "index"])
def test_page_from_a_folder_and_with_other_fonts(visits, page):
    one = visits(color_scheme="dark")
    resize(one.tab, PHONE)
    one.tab.goto((HTML / f"{page}.html").as_uri(), wait_until="networkidle")
    assert one.tab.title().strip()
    one.tab.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    one.tab.evaluate("document.querySelectorAll('.unfold').forEach(b => b.click())")
    for size in (PHONE, NARROWEST, WIDE):
        resize(one.tab, size)
        assert too_wide(one.tab) == [0, []], f"{size['width']} pixels"
    assert one.outside(HTML.as_uri()) == []
    assert one.errors == []


def test_no_test_gets_a_tab_whose_clock_was_stopped(browser):
    one = Visit(browser)
    one.begin_again()
    one.tab.clock.install(time=0)
    with pytest.raises(AssertionError, match="stopped this tab's clock"):
        one.begin_again()
    one.context.close()


def test_theme_is_switched_and_remembered(visits, site):
    one = visits(alone=True, color_scheme="light")
    theme = "document.documentElement.dataset.theme"
    one.tab.goto(f"{site}{FIRST}.html")
    button = one.tab.locator(".theme-switch-button:visible")
    for _ in range(3):
        button.press("Enter")
        if one.tab.evaluate("document.documentElement.dataset.mode") == "dark":
            break
    assert one.tab.evaluate(theme) == "dark"
    one.tab.goto(f"{site}book/notation.html")
    assert one.tab.evaluate(theme) == "dark"
    ground = one.tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, re.findall(r"\d+", ground)[:3])) < 60


FOCUSED = "document.activeElement"


def test_first_stop_of_the_keyboard_leads_past_the_navigation(visits, site):
    one = visits()
    one.tab.goto(f"{site}{FIRST}.html")
    one.tab.keyboard.press("Tab")
    assert one.tab.evaluate(f"{FOCUSED}.innerText") == "Skip to main content"
    expect(one.tab.locator("#pst-skip-link a")).to_be_in_viewport(ratio=WHOLE)
    one.tab.keyboard.press("Enter")
    one.tab.keyboard.press("Tab")
    assert one.tab.evaluate(f"{FOCUSED}.closest('main') !== null")


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_every_stop_of_the_keyboard_is_seen(visits, site, size):
    """Each stop of the Tab key, from the top into the text, is visible."""
    one = visits()
    resize(one.tab, size)
    one.tab.goto(f"{site}{FIRST}.html", wait_until="networkidle")
    for _ in range(80):
        one.tab.keyboard.press("Tab")
        stop = one.tab.evaluate(
            f"""() => {{
                const e = {FOCUSED};
                const box = e.getBoundingClientRect();
                return {{
                    what: e.outerHTML.slice(0, 120), in_text: !!e.closest('article'),
                    seen: e.checkVisibility({{ visibilityProperty: true }})
                        && box.right > 0 && box.left < innerWidth,
                }};
            }}"""
        )
        assert stop["seen"], stop
        if stop["in_text"]:
            return
    pytest.fail("80 stops, and not in the text yet")


@pytest.mark.parametrize("page", ["book/lab", FIRST])
def test_no_link_of_closed_contents_takes_the_focus(visits, site, page):
    tab = visits().tab
    resize(tab, {"width": 640, "height": 360})
    tab.goto(f"{site}{page}.html", wait_until="networkidle")
    links = tab.locator(".bd-sidebar-secondary a")
    assert links.count() > 2 and not any(link.is_visible() for link in links.all())


def test_sidebar_opens_and_closes_by_keyboard_on_a_phone(visits, site):
    one = visits()
    resize(one.tab, PHONE)
    one.tab.goto(f"{site}{FIRST}.html", wait_until="networkidle")
    link = one.tab.locator(".bd-sidebar-primary a.current")
    assert not link.is_visible()
    one.tab.locator(".primary-toggle:visible").press("Enter")
    link.wait_for(state="visible")
    one.tab.wait_for_function(f"!!{FOCUSED}.closest('.bd-sidebar-primary')")
    one.tab.keyboard.press("Escape")
    link.wait_for(state="hidden")
    assert one.tab.evaluate(f"{FOCUSED}.classList.contains('primary-toggle')")


FOCUSES_AT_ONCE = """side => {
    document.getElementById(`pst-${side}-sidebar-checkbox`).checked = true;
    const link = document.querySelector(`.bd-sidebar-${side} a`);
    link.focus();
    return link === document.activeElement;
}"""


@pytest.mark.parametrize("side", ["primary", "secondary"])
def test_what_slides_in_takes_the_focus_before_its_first_frame(visits, site, side):
    """The theme gives it the focus after 100 ms, when a slow machine has drawn none."""
    one = visits()
    resize(one.tab, PHONE)
    one.tab.goto(f"{site}{FIRST}.html", wait_until="networkidle")
    assert one.tab.evaluate(FOCUSES_AT_ONCE, side)


DRAWING_CELL = ".cell:has(figure) > details.hide"


@cache
def has_fold(page):
    html = (HTML / f"{page}.html").read_text(encoding="utf-8")
    return bool(BeautifulSoup(html, "html.parser").select(DRAWING_CELL))


def test_folded_cell_opens_by_keyboard_and_says_what_it_does(visits, site):
    page = next(chapter for chapter in CHAPTERS if has_fold(chapter))
    one = visits()
    one.tab.goto(f"{site}{page}.html", wait_until="networkidle")
    fold = one.tab.locator(DRAWING_CELL).first
    summary = fold.locator("summary")
    assert re.fullmatch(r"- disclosure.*|.*Code of.*", summary.aria_snapshot(), re.S)
    summary.press("Enter")
    assert fold.evaluate("fold => fold.open")
    assert summary.inner_text() == "Code of this figure"
