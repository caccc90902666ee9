import pytest
from bs4 import BeautifulSoup

from vit_book import Table


def three_rows():
    table = Table("model", "tokens", "error", caption="How many?")
    table.row("B/16", 197, 0.25)
    table.row("B <32>", 50, 1 / 3)
    table.row("H/14", 1_000_257, 1e-7)
    return table


def test_text_is_aligned():
    assert repr(three_rows()) == (
        "How many?\n"
        "model      tokens   error\n"
        "B/16          197    0.25\n"
        "B <32>         50  0.3333\n"
        "H/14    1,000,257    10⁻⁷"
    )


def test_a_name_stands_once_for_the_rows_below_it():
    table = Table("model", "patch")
    for name, patch in (("B", 16), ("", 32), ("H", 14)):
        table.row(name, patch)
    names = BeautifulSoup(table._repr_html_(), "html.parser").select("tbody th")
    spans = [(one.text, one.get("rowspan")) for one in names]
    assert spans == [("B", "2"), ("H", None)]


def test_html_headings_have_a_scope():
    table = BeautifulSoup(three_rows()._repr_html_(), "html.parser").table
    assert table.caption.text == "How many?"
    assert [th["scope"] for th in table.thead.find_all("th")] == ["col"] * 3
    rows = table.tbody.find_all("tr")
    assert [row.th.text for row in rows] == ["B/16", "B <32>", "H/14"]
    assert all(row.th["scope"] == "row" for row in rows)
    assert [td.text for td in rows[2].find_all("td")] == ["1,000,257", "10⁻⁷"]


@pytest.mark.parametrize(
    ("cells", "side"),
    [
        (["1", "−2.5", "≈ 3 %", "<0.1", "4e-5"], "right"),
        (["1", "two"], "left"),
        (["(1, 197, 768)"], "left"),
        (["-", "3"], "left"),
        (["15 min", "60 min"], "right"),
        (["64, the usual rate", "512, the usual rate"], "left"),
    ],
)
def test_columns_of_numbers_are_aligned_right(cells, side):
    table = Table("a")
    for cell in cells:
        table.row(cell)
    for cell in BeautifulSoup(table._repr_html_(), "html.parser").find_all("th"):
        assert cell["style"] == f"text-align: {side}"


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("3e-10", "3·10⁻¹⁰"),
        ("-1.2e+38", "−1.2·10³⁸"),
        (1e-5, "10⁻⁵"),
        ("-1e-05", "−10⁻⁵"),
        ("eps = 1e-5", "eps = 1e-5"),
        (-1234, "−1,234"),
        ("-0.5 to -.25", "−0.5 to −.25"),
        ("(-1, 2)", "(−1, 2)"),
        ("ViT-16, 3-5", "ViT-16, 3-5"),
    ],
)
def test_powers_and_signs_are_written_as_in_the_text(cell, written):
    table = Table("a")
    table.row(cell)
    assert table.rows == [[written]]


def test_truth_values_are_words():
    table = Table("what", "holds")
    table.row("a", True)
    table.row("b", False)
    assert table.rows == [["a", "yes"], ["b", "no"]]


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match=r"cells: got 1, expected one each of \('a', "):
        Table("a", "b").row(1)
