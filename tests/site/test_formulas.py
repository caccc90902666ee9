"""Formulas are set when the book is built; no page needs a script for them.

Needs _build/html from `make book`.
"""

import re
from html import unescape
from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document

from book._extensions.formulas import STYLES, set_formulas, typeset
from tests.site.test_fonts import range_of
from tests.site.test_pages import HTML, SOURCES, page_soup

IS_A_FORMULA = re.compile('class="math[ "]')
PAGES = [
    s for s in SOURCES if IS_A_FORMULA.search((HTML / f"{s}.html").read_text("utf-8"))
]
# invisible: function application, break of a line, spaces
NOT_DRAWN = "\u2061\u200b\n "


def test_a_formula_is_what_a_screen_reader_can_read():
    [answer] = typeset([(r"\frac{q k^{\mathsf T}}{\sqrt{d_k}}", True)])
    assert 'display="block"' in answer["mathml"]
    assert (
        "<msqrt><msub><mi>d</mi><mi>k</mi></msub></msqrt></mfrac>" in answer["mathml"]
    )


@pytest.mark.parametrize(
    ("latex", "said"),
    [
        (r"x_{i", "Expected '}'"),
        (r"\nothing(x)", r"Unsupported function name: \nothing"),
    ],
)
def test_what_cannot_be_read_is_a_clear_error(latex, said):
    wrong, right = typeset([(latex, False), ("x", False)])
    assert said in wrong["error"] and "<mi>x</mi>" in right["mathml"]


def test_a_build_says_which_formula_it_is_and_goes_on(caplog):
    document = new_document("chapter.md")
    formulas = [nodes.math("", r"a < \nothing"), nodes.math_block("", r"\ln x")]
    document += formulas
    app = SimpleNamespace(builder=SimpleNamespace(format="html"))
    set_formulas(app, document, "chapter")
    assert formulas[0]["mathml"] == r"a &lt; \nothing"
    assert '<mi class="name">ln</mi>' in formulas[1]["mathml"]
    assert r"\nothing" in caplog.text


def test_the_font_of_formulas_has_their_signs_and_comes_with_the_page():
    css = (HTML / "_static" / STYLES).read_text("utf-8")
    assert len(css) < 40_000 and css.count("url(") == css.count('url("data:') == 1
    assert len(PAGES) >= 5
    shown = {
        letter
        for page in PAGES
        for formula in page_soup(page).select("math :is(mi, mo, mn)")
        for letter in unescape(formula.get_text())
    }
    assert len(shown) > 40
    assert not shown - range_of(css) - set(NOT_DRAWN)


@pytest.mark.parametrize("page", SOURCES)
def test_a_page_loads_the_styles_if_it_has_a_formula_and_never_a_script(page):
    links = [link["href"] for link in page_soup(page).select("link[rel=stylesheet]")]
    assert any(STYLES in link for link in links) == (page in PAGES)
    for formula in page_soup(page).select(".math"):
        assert formula["data-latex"] and formula.select_one("math")
        assert "\\(" not in formula.get_text()
