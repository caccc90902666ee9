"""The colours of code: few, calm, and readable on the page's ground."""

import re

import pytest
from pygments import highlight
from pygments.lexers import PythonLexer
from pygments.token import STANDARD_TYPES

from book._extensions import code_colours
from book._extensions.code_lines import PLAIN, LineFormatter
from book._extensions.dark_figures import contrast, rgb
from tests.site.test_browser import CHAPTERS
from tests.site.test_looks import in_both_themes
from tests.site.visit import Visit

in_each_theme = pytest.mark.parametrize("theme", code_colours.INKS)


@in_each_theme
def test_every_ink_is_readable_and_a_note_the_quietest(theme):
    inks = code_colours.INKS[theme]
    [ground] = rgb([inks["ground"]])
    loud = {
        name: contrast(rgb([colour])[0], ground)
        for name, colour in inks.items()
        if name != "ground"
    }
    assert len(loud) == 5
    assert min(loud, key=loud.get) == "note" and loud["note"] >= 4.5
    assert max(loud, key=loud.get) == "text"


@in_each_theme
def test_a_style_has_no_other_ink(theme):
    inks = code_colours.INKS[theme]
    used = {f"#{said['color']}" for _, said in code_colours.style(theme)}
    assert used == set(inks.values()) - {inks["ground"]}


def test_what_needs_no_span_has_the_colour_of_text():
    names = set(re.search(r"\(\?:([\w|]+)\)", PLAIN.pattern)[1].split("|"))
    for theme, inks in code_colours.INKS.items():
        for kind, said in code_colours.style(theme):
            if STANDARD_TYPES.get(kind) in names:
                assert (f"#{said['color']}", said["bold"]) == (inks["text"], False)
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
        inks = code_colours.INKS[theme]
        colours, grounds, words = visit.tab.evaluate(COLOURS)
        assert words > 500
        assert set(colours) - {css(inks["text"])} == {
            css(inks[name]) for name in ("note", "keyword", "string", "number")
        }
        assert grounds == [css(inks["ground"])]
    visit.tab.emulate_media(media="print")
    assert css(code_colours.INKS["light"]["note"]) in visit.tab.evaluate(COLOURS)[0]
    visit.context.close()
