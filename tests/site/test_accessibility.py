"""What a screen reader and weak eyes meet: that axe would find it, and the listings.

All other pages are looked at by test_every_page.py. Skipped where there is no Chromium,
Chrome or Edge.
"""

import pytest

from tests.site import axe
from tests.site.test_pages import HTML
from tests.site.visit import WIDE

CODE = sorted(
    page.relative_to(HTML).with_suffix("").as_posix()
    for page in HTML.glob("_modules/vit_steps/**/*.html")
)


@pytest.fixture(scope="module")
def tab(browser):
    context = browser.new_context(color_scheme="light", viewport=WIDE)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("page", CODE)
def test_axe_finds_nothing_in_a_listing(tab, page):
    """They are alike but for their words, so at one width and in one theme."""
    tab.goto((HTML / f"{page}.html").as_uri())
    axe.prepare(tab)
    assert axe.find_shape(tab, WIDE) == []
    assert axe.find_colours(tab, "light") == []


@pytest.mark.parametrize("part", ["main p", "main a", "footer *"])
def test_axe_sees_a_colour_that_is_too_pale(tab, part):
    """Though it looks at one element of each kind."""
    tab.goto((HTML / "notebooks/05_multi_head_attention.html").as_uri())
    tab.add_style_tag(content=f"{part}:last-child {{ color: #aaa !important }}")
    axe.prepare(tab)
    assert axe.find_colours(tab, "light")
