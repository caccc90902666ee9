"""The page for wrong addresses, which GitHub's host shows at any depth."""

import mimetypes
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

from book._extensions.repository import Repository
from tests.conftest import ROOT
from tests.site import axe
from tests.site.test_pages import HTML
from tests.site.visit import PHONE, WIDE, Visit, resize, too_wide

SITE = Repository.of(ROOT).pages
PATH = urlsplit(SITE).path


def target(address):
    """Return the file for an address of the site; None if there is none."""
    path = unquote(urlsplit(address).path)
    file = HTML / path.removeprefix(PATH)
    return file if path.startswith(PATH) and file.is_file() else None


def test_every_link_begins_at_the_root_and_leads_somewhere():
    page = BeautifulSoup((HTML / "404.html").read_text("utf-8"), "html.parser")
    tags = page.find_all(["a", "link", "script", "img", "form"])
    addresses = [
        tag[name] for tag in tags for name in ("href", "src", "action") if tag.get(name)
    ]
    inside = [a for a in addresses if not urlsplit(a).scheme and not a.startswith("#")]
    assert len(inside) > 60
    assert [address for address in inside if target(address) is None] == []


def answer(route):
    file = target(route.request.url)
    body = (file or HTML / "404.html").read_bytes()
    kind = mimetypes.guess_type((file or HTML / "404.html").name)[0]
    route.fulfill(status=200 if file else 404, body=body, content_type=kind)


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_lost_reader_finds_the_way(browser, size):
    visit = Visit(browser, color_scheme="light", reduced_motion="reduce")
    visit.context.route("**/*", answer)
    resize(visit.tab, size)
    visit.tab.goto(f"{SITE}notebooks/no/such/page.html", wait_until="networkidle")
    [of_the_page_itself] = visit.errors
    assert "404" in of_the_page_itself
    assert too_wide(visit.tab) == [0, []]
    assert visit.tab.locator("article h1").inner_text() == "This page does not exist"
    axe.prepare(visit.tab)
    assert axe.find(visit.tab, size, "light") == []
    assert axe.find_colours(visit.tab, "dark") == []
    field = visit.tab.locator(".not-found-search input")
    assert field.input_value() == "page", "of the address"
    field.fill("softmax")
    visit.tab.keyboard.press("Enter")
    visit.tab.wait_for_url(f"{SITE}search.html?q=softmax")
    visit.tab.go_back()
    visit.tab.locator("article a").first.click()
    visit.tab.wait_for_url(f"{SITE}book/intro.html")
    visit.context.close()


def test_opened_as_a_file_it_has_its_style_and_its_links(browser):
    visit = Visit(browser)
    visit.tab.goto((HTML / "404.html").as_uri())
    visit.tab.wait_for_load_state("load")
    visit.tab.wait_for_function("document.styleSheets.length > 3")
    links = visit.tab.locator("article a[href]")
    first = links.first.evaluate("link => link.href")
    assert first == (HTML / "book" / "intro.html").as_uri()
    button = visit.tab.locator(".theme-switch-button:visible").first
    button.click()
    visit.tab.wait_for_function("document.documentElement.dataset.mode !== 'auto'")
    visit.context.close()
