"""Fixtures: a browser for each set of fonts, and the book as a static host serves it.

The sets are made of matplotlib's fonts, so that pages look the same on every machine.
Chromium needs one font at least.
"""

import inspect
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


def pytest_itemcollected(item):
    """Let ``-k bill`` find each test that opens the moving figure of that name."""
    if item.path.name == "test_moving_figures.py":
        source = inspect.getsource(item.function)
        opened = {name for name in item.module.CHAPTERS if f'"{name}"' in source}
        item.extra_keyword_matches |= opened


SETTINGS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{folder}</dir><cachedir>{folder}/cache</cachedir></fontconfig>
"""


def settings_of_fontconfig(fonts, folder):
    """Write the settings of fontconfig that offer one set of fonts; return the file."""
    for file in BROUGHT.glob(FONTS[fonts]):
        shutil.copy(file, folder)
    settings = folder / "fonts.conf"
    settings.write_text(SETTINGS.format(folder=folder), encoding="utf-8")
    return settings


@pytest.fixture(scope="package")
def browser_with(tmp_path_factory):
    """Return a function from a set of fonts to its browser, which is started once."""
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
    """The browser of most tests; ``in_all_fonts`` runs a test in one for each set."""
    return browser_with(getattr(request, "param", "dejavu"))


@pytest.fixture(scope="package")
def kept_visit(browser):
    """Return a function that gives tests a shared tab for each set of options."""
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
    """Return a function that gives a test a shared tab, or its own with ``alone``.

    A test needs its own if it changes the storage, the history or the clock, because
    the next page in that tab would find them changed.
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
