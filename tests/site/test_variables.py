"""Formulas in sentences: set as text, whole on their line, and the same everywhere.

Needs _build/html from `make book`.
"""

import re

import pytest
from docutils import nodes
from docutils.utils import new_document

from book._extensions.no_break_spaces import NoBreakSpaces
from book._extensions.variables import FormulasInSentences, one_line
from tests.conftest import ROOT, read
from tests.site.test_pages import HTML

FIRST_CHAPTERS = [
    *sorted((ROOT / "notebooks").glob("0[0-7]*.ipynb")),
    *sorted((ROOT / "notebooks" / "exercises").glob("0[0-7]*.ipynb")),
]
NOT_PROSE = re.compile(
    r"```.*?```|\$\$.*?\$\$|\$[^$\n]+\$|`[^`\n]*`|<[^>\n]*>|\]\([^)\n]*\)", re.DOTALL
)


def written(paragraph):
    document = new_document("a page")
    document += paragraph
    for transform in (NoBreakSpaces, FormulasInSentences):
        transform(document).apply()
    return paragraph


@pytest.mark.parametrize(
    "formula, text, letters",
    [
        ("T", "T", "T"),
        ("D = 768", "D = 768", "D"),
        ("(B, h, T, d)", "(B, h, T, d)", "BhTd"),
        (r"2 \cdot T^2 \cdot d", "2·T²·d", "Td"),
        (r"T / (T + 6D) = 1{,}025 / 5{,}633", "T/(T + 6D) = 1,025/5,633", "TTD"),
        (r"(\dots, T_q, d)", "(…, Tq, d)", "Tqd"),
        (r"D \times D", "D×D", "DD"),
        (r"\mathrm{softmax}(qk^{\mathsf T}/\sqrt{d})v", "softmax(qkᵀ/√d)v", "qkdv"),
        (r"-\ln(1/K) = \ln K", "−ln(1/K) = ln K", "KK"),
        (r"10^{-14}", "10⁻¹⁴", ""),
        ("(-1, x)", "(−1, x)", "x"),
        ("(3D,)", "(3D,)", "D"),
        ("D - 1", "D − 1", "D"),
    ],
)
def test_a_formula_of_one_line_is_text(formula, text, letters):
    line = one_line(formula)
    assert line.astext() == text
    in_italics = [n.astext() for n in line.findall() if n.tagname == "variable"]
    assert in_italics == list(letters)


@pytest.mark.parametrize(
    "formula", [r"\frac{1}{2}", r"\sum_i x_i", r"W_{o,0}", r"\Phi", r"\left(a\right)"]
)
def test_what_is_more_than_one_line_stays_a_formula(formula):
    assert one_line(formula) is None


def test_what_ends_a_clause_stays_with_its_formula():
    root = nodes.math("", r"\sqrt{6/a}")
    written(nodes.paragraph("", "", nodes.Text("up to "), root, nodes.Text(". Then")))
    assert root.parent["classes"] == ["unbroken"]
    assert root.parent.astext() == r"\sqrt{6/a}."
    assert root.parent.parent.astext() == r"up to \sqrt{6/a}. Then"


def test_what_ends_a_clause_is_taken_from_where_it_stands():
    parts = [nodes.literal("", "a"), nodes.Text(". "), nodes.math("", "D")]
    sentence = written(nodes.paragraph("", "", *parts, nodes.Text(". ")))
    assert [part.astext() for part in sentence] == ["a", ". ", "D.", " "]


def test_a_number_stays_with_its_unit():
    sentence = nodes.paragraph("", "", nodes.Text("4.1 % of 2 GiB, 3 more"))
    sentence += nodes.literal("", "5 % 2")
    assert written(sentence).astext() == "4.1\xa0% of 2\xa0GiB, 3 more5 % 2"


@pytest.mark.parametrize("path", FIRST_CHAPTERS, ids=lambda path: path.stem[:2])
def test_a_variable_is_a_formula_in_prose_as_well(path):
    upright = re.compile(r"(?<![\w.-])[BCDHKLMNPTdh](?:_\w)? [=×·+] \S+|\b\w_\w\b")
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            prose = NOT_PROSE.sub(" · ", cell.source)
            assert not (found := upright.search(prose)), (
                f"{path.name}, cell {cell.id}: write ${found[0]}$, not {found[0]}"
            )


def test_variables_have_a_font_of_their_own():
    css = (HTML / "_static" / "fonts" / "fonts.css").read_text(encoding="utf-8")
    assert 'font-family: "Book Variables"' in css
    book = (HTML / "_static" / "book.css").read_text(encoding="utf-8")
    assert re.search(r'^var \{ font-family: "Book Variables"', book, re.MULTILINE)
