"""The files of a page: one style sheet of the theme, deferred scripts, nothing unused.

Needs _build/html from `make book`.
"""

from types import SimpleNamespace

import pytest
import tinycss2

from book._extensions.theme.deferred_scripts import AT_ONCE, defer
from book._extensions.theme.styles import joined, write_styles
from tests.site.test_pages import HTML, SOURCES, page_soup

CSS = """
p { margin: 0 }
.card, .modal > .body { color: red }
#top:not(.gone) { color: blue }
.gone.card { color: green }
@media print { .gone { color: red } .card { color: black } }
@media screen { .gone { color: red } }
.bs-tooltip-auto { color: blue }
.bs-other-auto { color: blue }
"""


def test_unused_rules_are_left_out(tmp_path):
    (tmp_path / "_static").mkdir()
    (tmp_path / "page.html").write_text('<p class="card" id="top"></p>')
    (tmp_path / "first.css").write_text(
        '/* first */ @import "second.css"; b { top: 0 }'
    )
    (tmp_path / "second.css").write_text(CSS)
    css = joined([tmp_path / "first.css"], tmp_path)
    assert "p{margin:0}" in css and ".card{color:red}" in css
    assert "#top:not(.gone)" in css
    assert ".bs-tooltip-auto" in css, "a script puts its name together"
    assert "@media print{.card{color:#000}}" in css
    for left_out in ("modal", "green", "screen", "bs-other", "first", "b{"):
        assert left_out not in css


def test_unused_variables_are_left_out(tmp_path):
    (tmp_path / "_static" / "book").mkdir(parents=True)
    (tmp_path / "theme.css").write_text(
        "p { --here: 0; --page: 0; --script: 0; --other: 0; --gone: 0;"
        " margin: var(--here) }"
    )
    (tmp_path / "page.html").write_text('<p style="color: var(--page)">')
    (tmp_path / "_static" / "book" / "a.js").write_text('style("--script")')
    (tmp_path / "_static" / "book.css").write_text("b { top: var(--other) }")
    css = joined([tmp_path / "theme.css"], tmp_path)
    assert (
        css.strip()
        == "p{--here: 0;--page: 0;--script: 0;--other: 0;margin:var(--here)}"
    )


@pytest.fixture
def small_site(tmp_path):
    static = tmp_path / "_static"
    (static / "styles").mkdir(parents=True)
    (static / "styles" / "theme.css").write_text(".card { color: red }")
    (static / "styles" / "theme.css.map").touch()
    (static / "pygments.css").write_text(".k { color: blue }")
    (static / "copybutton.css").write_text(".k { margin: 0 } .gone { color: red }")
    (static / "book.css").write_text("/*! whose */ b { top: 0 } /* why */")
    (static / "a.js").write_text('menu.classList.add("k")')
    links = "".join(
        f'<link href="../_static/{sheet}" rel="stylesheet" />\n'
        for sheet in (
            "styles/theme.css",
            "pygments.css?v=1",
            "copybutton.css",
            "book.css",
        )
    )
    page = tmp_path / "book" / "page.html"
    page.parent.mkdir()
    page.write_text(f'<head>{links}</head><p class="card">')
    return tmp_path


def test_a_page_gets_one_sheet_of_the_theme(small_site):
    build = SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=small_site)
    write_styles(build, None)
    html = (small_site / "book" / "page.html").read_text()
    assert html.count("<link") == 2 and 'href="../_static/theme.css"' in html
    css = (small_site / "_static" / "theme.css").read_text()
    assert css.split() == [".card{color:red}.k{margin:0}"]
    own = (small_site / "_static" / "book.css").read_text()
    assert own.split() == "/*! whose */ b { top: 0 }".split(), "comments stay here"
    left = [f.name for f in (small_site / "_static").rglob("*") if f.is_file()]
    assert sorted(left) == ["a.js", "book.css", "theme.css"]


def test_scripts_wait_and_unused_ones_stay_away():
    def script(name):
        return SimpleNamespace(filename=name, attributes={})

    names = ["_static/copybutton.js", "_static/design-tabs.js", None, *AT_ONCE]
    files = [script(name) for name in names]
    defer(None, "page", "", {"script_files": files, "body": "<p>"}, None)
    assert [s.filename for s in files] == [names[0], *names[2:]]
    assert [bool(s.attributes) for s in files] == [True, False, False, False]
    tabs = [script(names[1])]
    defer(None, "page", "", {"script_files": tabs, "body": 'class="sd-tab-set"'}, None)
    assert tabs


@pytest.mark.parametrize("page", SOURCES)
def test_little_holds_a_page_up(page):
    head = page_soup(page).head
    sheets = [link["href"] for link in head.select('link[rel="stylesheet"]')]
    assert len(sheets) <= 8 and sum("theme.css" in sheet for sheet in sheets) == 1
    scripts = [s for s in head.find_all("script", src=True)]
    at_once = [s["src"] for s in scripts if not s.has_attr("defer")]
    assert len(at_once) <= len(AT_ONCE), at_once


def test_the_themes_sheet_is_small_and_sound():
    css = (HTML / "_static" / "theme.css").read_text(encoding="utf-8")
    assert 50_000 < len(css) < 120_000 and "@import" not in css
    assert not [rule for rule in tinycss2.parse_stylesheet(css) if rule.type == "error"]
    for name in (".bd-sidebar-primary", ".admonition", ".fa-bars"):
        assert name in css
