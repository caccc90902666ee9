"""Fixtures: a browser for each set of fonts, and the book as a static host serves it.

The sets are made of fonts that come with matplotlib, so that the browser has the same
fonts on every machine, and none of the machine's own. Chromium needs at least one.
"""

import shutil
from pathlib import Path

import matplotlib
import pytest

from tests.conftest import REQUIRED, ROOT
from tests.patience import MILLISECONDS, PatientBrowser
from tests.site.visit import Visit

BROUGHT = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
FONTS = {"dejavu": "DejaVuSans*.ttf", "monospaced": "DejaVuSansMono.ttf"}
in_all_fonts = pytest.mark.parametrize("browser", FONTS, indirect=True)

SETTINGS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{folder}</dir><cachedir>{folder}/cache</cachedir></fontconfig>
"""


def settings_of_fontconfig(fonts, folder):
    """Write a settings file of fontconfig that offers only one set of fonts."""
    for file in BROUGHT.glob(FONTS[fonts]):
        shutil.copy(file, folder)
    settings = folder / "fonts.conf"
    settings.write_text(SETTINGS.format(folder=folder), encoding="utf-8")
    return settings


@pytest.fixture(scope="package")
def browser_with(tmp_path_factory):
    """Gives the browser that knows a set of fonts; each is started once."""
    from playwright.sync_api import expect, sync_playwright

    from book.chromium import launch

    expect.set_options(timeout=MILLISECONDS)
    started = {}

    def browser_with_fonts(fonts):
        if fonts not in started:
            folder = tmp_path_factory.mktemp(fonts)
            settings = settings_of_fontconfig(fonts, folder)
            launched = launch(playwright, fonts=settings)
            started[fonts] = launched and PatientBrowser(launched)
        if started[fonts] is None:
            say = pytest.fail if "browser" in REQUIRED else pytest.skip
            say("no Chromium, Chrome or Edge is installed")
        return started[fonts]

    with sync_playwright() as playwright:
        yield browser_with_fonts
        for browser in filter(None, started.values()):
            browser.close()


@pytest.fixture(scope="package")
def browser(request, browser_with):
    """The browser of all tests; with ``in_all_fonts`` a test runs in each of them."""
    return browser_with(getattr(request, "param", "dejavu"))


@pytest.fixture(scope="package")
def kept_visit(browser):
    """Return a function that gives a reused tab whose context has some options."""
    kept = {}

    def visit_with(**options):
        key = repr(sorted(options.items()))
        if key not in kept:
            kept[key] = Visit(browser, **options)
        return kept[key].begin_again()

    yield visit_with
    for one in kept.values():
        one.context.close()


@pytest.fixture
def visits(browser, kept_visit):
    """Return a function that gives a reused tab, or with ``alone`` a new one.

    A test that writes to a store, the history or a clock needs a new tab, because the
    next page in the same tab would see its changes.
    """
    own, given = [], []

    def visit_with(alone=False, **options):
        if alone or options in given:  # a second tab in the same test
            own.append(Visit(browser, **options))
            return own[-1]
        given.append(options)
        return kept_visit(**options)

    yield visit_with
    for one in own:
        one.context.close()


@pytest.fixture(scope="package")
def site():
    """The address at which the built book is served."""
    from book.chromium import served

    html = ROOT / "_build" / "html"
    assert (html / "index.html").exists(), "build the book first: make book"
    with served(html) as address:
        yield address
