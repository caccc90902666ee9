"""The built pages in a real browser: whole in themselves, not too wide, no error.

Skipped where no Chromium or Chrome is installed.
"""

import functools
import http.server
import shutil
import threading

import pytest

from tests.test_pages import HTML, SOURCES

sync_api = pytest.importorskip("playwright.sync_api")
BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "google-chrome", "chromium-browser"))),
    None,
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def address():
    handler = functools.partial(Quiet, directory=str(HTML))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield browser
        browser.close()


@pytest.mark.parametrize("page", SOURCES)
def test_page_in_a_browser(browser, address, page):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    tab, errors, requests = context.new_page(), [], []
    tab.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto(f"{address}/{page}.html", wait_until="networkidle")

    outside = [u for u in requests if not u.startswith((address, "data:", "blob:"))]
    assert outside == []
    assert errors == []
    assert tab.locator(".theme-switch-button:visible").count() > 0
    tab.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    for width in (1280, 390):
        tab.set_viewport_size({"width": width, "height": 900})
        overflow = tab.evaluate(
            "() => { const d = document.documentElement;"
            " return d.scrollWidth - d.clientWidth; }"
        )
        assert overflow <= 0, f"{overflow} pixels too wide at {width}"
        sideways = tab.evaluate(
            "() => [...document.querySelectorAll('div.highlight pre')]"
            ".filter(p => p.scrollWidth > p.clientWidth).map(p => p.innerText)"
        )
        assert sideways == [], f"a cell that scrolls sideways at {width}"
    failed = tab.evaluate("document.querySelectorAll('mjx-merror').length")
    assert failed == 0, "a formula that MathJax cannot read"
    context.close()


def test_pages_open_from_a_folder_without_a_server(browser):
    tab, requests = browser.new_page(), []
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto((HTML / "index.html").as_uri(), wait_until="networkidle")
    assert "Vision Transformer" in tab.title()
    assert all(u.startswith(("file:", "data:", "blob:")) for u in requests)
    tab.close()
