"""Formulas are set when the book is built; no page needs a script for them.

Needs _build/html from `make book`.
"""

import re
from types import SimpleNamespace

import pytest

from book._extensions import formulas as extension
from book._extensions.formulas import (
    NAME,
    NODE_IN,
    STYLES,
    Formulas,
    Typesetter,
    lines_of,
    styles_for,
)
from tests.site.test_pages import HTML, SOURCES, page_soup

IS_A_FORMULA = re.compile('class="math[ "]')
PAGES = [
    s for s in SOURCES if IS_A_FORMULA.search((HTML / f"{s}.html").read_text("utf-8"))
]


@pytest.fixture(scope="module")
def mathjax():
    typesetter = Typesetter()
    yield typesetter
    typesetter.close()


def test_a_formula_is_drawn_and_can_be_read_out(mathjax):
    html = mathjax.typeset(r"\frac{q k^{\mathsf T}}{\sqrt{d_k}}", display=True)
    assert 'jax="CHTML"' in html and 'display="true"' in html
    assert "<msqrt><msub><mi>d</mi><mi>k</mi></msub></msqrt></mfrac></math>" in html


def test_a_node_that_cannot_run_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(extension, "NODE_IN", [str(tmp_path)])
    with pytest.raises(FileNotFoundError, match=re.escape(str(tmp_path))):
        Typesetter()
    monkeypatch.setattr(extension, "NODE_IN", NODE_IN)
    monkeypatch.setattr(extension, "MATHJAX", tmp_path)  # has no script
    typesetter = Typesetter()
    with pytest.raises(RuntimeError, match="what it says stands above"):
        typesetter.styles()


@pytest.mark.parametrize(
    ("latex", "said"),
    [
        (r"x_{i", "missing close brace"),
        (r"\softmax(x)", r"Undefined control sequence \softmax"),
    ],
)
def test_what_mathjax_cannot_read_is_a_clear_error(mathjax, latex, said):
    with pytest.raises(ValueError) as error:
        mathjax.typeset(latex)
    assert repr(latex) in str(error.value) and said in str(error.value)
    assert "<mi>x</mi>" in mathjax.typeset("x"), "and the next one is set"


def test_a_build_says_which_formula_it_is_and_goes_on(caplog):
    formulas = Formulas()
    place = SimpleNamespace(source="chapter.md", line=7)
    assert formulas.html(place, r"a < \nothing", display=False) == r"a &lt; \nothing"
    formulas.typesetter.close()
    assert r"\nothing" in caplog.text


def test_lines_are_aligned():
    assert lines_of(r"a &= b \\ &= c") == r"\begin{split}a &= b \\ &= c\end{split}"
    assert r"\begin{aligned}a\\b\end{aligned}" in lines_of("a\n\nb")


def test_the_styles_are_those_of_the_formulas_that_there_are(mathjax):
    html = mathjax.typeset("x + 1")
    css = styles_for(mathjax.styles(), set(NAME.findall(html)))
    assert set(re.findall(r'content: "(.)"', css)) == {"x", "+", "1"}
    assert css.count("@font-face") == 3, "one without letters, the upright, the italic"
    assert "mjx-mfrac" not in css and len(css) < 15_000


def test_there_are_pages_with_formulas_and_their_style_sheet():
    assert len(PAGES) >= 5
    css = (HTML / "_static" / STYLES).read_text("utf-8")
    assert len(css) < 80_000 and css.count("url(") == css.count('url("data:')
    written = {
        name
        for page in PAGES
        for drawing in page_soup(page).select("mjx-math")
        for name in NAME.findall(str(drawing))
    }
    characters = {name for name in written if re.match("mjx-c[0-9A-F]+$", name)}
    assert len(characters) > 40
    assert not {name for name in characters if f".{name}" not in css}


@pytest.mark.parametrize("page", SOURCES)
def test_a_page_loads_the_styles_if_it_has_a_formula_and_never_a_script(page):
    links = [link["href"] for link in page_soup(page).select("link[rel=stylesheet]")]
    assert any(STYLES in link for link in links) == (page in PAGES)
    scripts = [s.get("src", "") + s.get_text() for s in page_soup(page)("script")]
    assert not [script for script in scripts if "mathjax" in script.lower()]
    for formula in page_soup(page).select(".math"):
        assert formula["data-latex"] and formula.select_one("mjx-math")
        assert "\\(" not in formula.get_text()


def test_the_licence_is_named():
    assert "Apache License" in (HTML / "_static" / STYLES).read_text("utf-8")[:80]
