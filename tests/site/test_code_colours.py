"""The colours of code: few, calm, and readable on the page's ground."""

import re

import pytest
from pygments import highlight
from pygments.lexers import PythonLexer

from book._extensions.code_lines import PLAIN, LineFormatter
from book._extensions.dark_figures import contrast, rgb
from tests.conftest import ROOT
from tests.site.test_browser import CHAPTERS
from tests.site.test_looks import in_both_themes
from tests.site.visit import Visit

CSS = (ROOT / "book" / "_assets" / "book.css").read_text("utf-8")
LIGHT, DARK = re.findall(r"\{ (--code-ground: .*?) \}", CSS)
INKS = {
    theme: dict(re.findall(r"--code-(\w+): (#\w+)", inks))
    for theme, inks in {"light": LIGHT, "dark": DARK}.items()
}


@pytest.mark.parametrize("theme", INKS)
def test_every_ink_is_readable_and_a_note_the_quietest(theme):
    inks = INKS[theme]
    [ground] = rgb([inks["ground"]])
    loud = {
        name: contrast(rgb([colour])[0], ground)
        for name, colour in inks.items()
        if name != "ground"
    }
    assert len(loud) == 5
    assert min(loud, key=loud.get) == "note" and loud["note"] >= 4.5
    assert max(loud, key=loud.get) == "text"


def test_what_needs_no_span_has_no_ink():
    names = set(re.search(r"\(\?:([\w|]+)\)", PLAIN.pattern)[1].split("|"))
    with_ink = set(
        re.findall(r"\.(\w+)", " ".join(re.findall(r"\.highlight :is.*", CSS)))
    )
    assert len(with_ink) > 30 and not names & with_ink
    html = highlight("x = f(1)", PythonLexer(), LineFormatter())
    assert '<span class="line">x = f(<span class="mi">1</span>)</span>' in html


COLOURS = """() => {
    const lines = [...document.querySelectorAll("div.cell_input .highlight")];
    const words = lines.flatMap(line => [...line.querySelectorAll("pre span")]);
    const of = (all, what) => [...new Set(all.map(e => getComputedStyle(e)[what]))];
    const grounds = lines.map(line => line.querySelector("pre"));
    return [of(words, "color"), of(grounds, "backgroundColor"), words.length];
}"""


def css(colour):
    return "rgb({:.0f}, {:.0f}, {:.0f})".format(*rgb([colour])[0])


def test_a_page_takes_them(browser, site):
    visit = Visit(browser)
    visit.tab.goto(f"{site}{CHAPTERS[4]}.html")
    for theme in in_both_themes(visit.tab):
        inks = INKS[theme]
        colours, grounds, words = visit.tab.evaluate(COLOURS)
        assert words > 500
        assert set(colours) - {css(inks["text"])} == {
            css(inks[name]) for name in ("note", "keyword", "string", "number")
        }
        assert grounds == [css(inks["ground"])]
    visit.tab.emulate_media(media="print")
    assert css(INKS["light"]["note"]) in visit.tab.evaluate(COLOURS)[0]
    visit.context.close()
