"""Pictures of a page that has each sort of them: captions, alt texts, themes.

A small book is built for it, with the extensions and the style of the large one.
"""

import base64
import io
import subprocess
import sys

import pytest
from bs4 import BeautifulSoup
from nbformat import write
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image

from book.chromium import served
from book.drawings import kit
from tests.conftest import ROOT
from vit_steps.notebook import drawing

SETTINGS = """\
extensions = ["myst_nb", "book._extensions.drawings", "book._extensions.pictures"]
nb_execution_mode = "off"
myst_enable_extensions = ["dollarmath"]
html_theme = "sphinx_book_theme"
html_static_path = [r"{assets}"]
html_css_files = ["book.css"]
root_doc = "page"
"""
CAPTION = {"caption": "What to *look* for.", "name": "fig-a-square"}


def png():
    data = io.BytesIO()
    Image.new("RGB", (300, 200), "teal").save(data, format="png")
    return base64.b64encode(data.getvalue()).decode()


def cell(data, sizes=None, **said):
    output = new_output("display_data", data=data, metadata=sizes or {})
    return new_code_cell("show()", outputs=[output], metadata={"mystnb": said})


def shown(name, **said):
    one = drawing(name)
    return cell({"image/svg+xml": one._repr_svg_(), "text/plain": repr(one)}, **said)


@pytest.fixture(scope="module")
def small_book(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small_book")
    size = {"image/png": {"width": 150, "height": 100}}
    alt = {"alt": 'A "square" & more, for whoever does not see it'}
    other_svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"/>'
    cells = [
        new_markdown_cell("# A page\n\nIts first lines, with [a link](#fig-a-square)."),
        cell({"image/png": png()}, size, figure=CAPTION, image=alt),
        cell({"image/png": png()}, size, image=alt),
        shown("one_query", figure=CAPTION | {"name": "fig-drawn"}, image=alt),
        shown("attention_formula"),
        shown("one_query", image=alt),
        cell({"image/svg+xml": other_svg}, image=alt),
    ]
    python = {"language_info": {"name": "python"}}
    write(new_notebook(cells=cells, metadata=python), folder / "page.ipynb")
    settings = SETTINGS.format(assets=ROOT / "book" / "_assets")
    (folder / "conf.py").write_text(settings, encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", str(folder)]
    subprocess.run([*command, str(folder / "html")], cwd=ROOT, check=True)
    return folder / "html"


@pytest.fixture(scope="module")
def outputs(small_book):
    html = (small_book / "page.html").read_text(encoding="utf-8")
    return BeautifulSoup(html, "html.parser").select("article div.cell_output")


def test_a_figure_keeps_its_alt_text_its_size_and_its_caption(outputs):
    figure = outputs[0].find("figure")
    assert figure["id"] == "fig-a-square"
    image, caption = figure.find_all(["img", "figcaption"])
    assert image["alt"] == 'A "square" & more, for whoever does not see it'
    assert (image["width"], image["height"]) == ("150", "100")
    assert caption.find(class_="caption-text").get_text() == "What to look for."
    assert caption.find("em").get_text() == "look"
    assert not outputs[1].find("figure") and outputs[1].find("img")["alt"]


def test_a_drawing_stands_in_the_page_with_its_alt_text(outputs):
    figure = outputs[2].find("figure")
    svg, caption = figure.find_all(["svg", "figcaption"])
    assert svg["role"] == "img" and svg["aria-label"].startswith('A "square" & more')
    assert "What to look for." in caption.get_text()
    assert not outputs[2].find_all(["img", "title", "desc"])
    assert float(svg["width"]) > 400 and float(svg["height"]) > 400


def test_a_drawing_without_alt_text_says_what_it_is(outputs):
    label = outputs[3].find("svg")["aria-label"]
    assert label.startswith("The formula of attention. Softmax")


def test_drawings_on_one_page_share_no_id(outputs):
    assert not [tag for o in outputs for svg in o("svg") for tag in svg(id=True)]


def test_an_svg_that_is_not_of_the_book_stays_a_picture(outputs):
    assert outputs[5].find("img")["src"].endswith(".svg")
    assert not outputs[5].find("svg")


@pytest.fixture
def page(small_book, browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    with served(small_book) as address:
        tab = context.new_page()
        tab.goto(f"{address}page.html")
        yield tab
    context.close()


TWO_FRAMES = (
    "() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))"
)
INKS = """() => [...document.querySelectorAll('.vit-drawing .vd-text.vd-ink')]
    .map(text => getComputedStyle(text).fill)"""


def rgb(colour):
    return "rgb({}, {}, {})".format(*(int(colour[i : i + 2], 16) for i in (1, 3, 5)))


LIGHT, DARK = rgb(kit.LIGHT["ink"][0]), rgb(kit.DARK["ink"][0])


@pytest.mark.parametrize("machine", ["light", "dark"])
@pytest.mark.parametrize(
    "place, ink",
    [
        ("html.dataset.theme = 'dark'", DARK),
        ("html.dataset.theme = 'light'", LIGHT),
        (
            "html.removeAttribute('data-theme'), html.setAttribute('theme', 'dark')",
            DARK,
        ),
        (
            "html.removeAttribute('data-theme'), body.dataset.jpThemeLight = 'false'",
            DARK,
        ),
        (
            "html.removeAttribute('data-theme'), body.dataset.jpThemeLight = 'true'",
            LIGHT,
        ),
    ],
    ids=[
        "the book, dark",
        "the book, light",
        "Colab",
        "Jupyter, dark",
        "Jupyter, light",
    ],
)
def test_a_drawing_goes_with_the_theme_around_it(page, machine, place, ink):
    page.emulate_media(color_scheme=machine)
    page.evaluate(TWO_FRAMES)  # the page's own answer to that must not come later
    page.evaluate(
        f"() => {{ const {{documentElement: html, body}} = document; {place}; }}"
    )
    assert set(page.evaluate(INKS)) == {ink}
    page.emulate_media(media="print")
    assert set(page.evaluate(INKS)) == {LIGHT}


@pytest.mark.parametrize("machine, ink", [("light", LIGHT), ("dark", DARK)])
def test_a_drawing_alone_goes_with_the_machine(browser, tmp_path, machine, ink):
    """On a ground of its own: in JupyterLab it stands alone, whatever the theme."""
    file = tmp_path / "one_query.svg"
    file.write_text(drawing("one_query")._repr_svg_(), encoding="utf-8")
    context = browser.new_context(color_scheme=machine)
    tab = context.new_page()
    tab.goto(file.as_uri())
    assert set(tab.evaluate(INKS)) == {ink}
    ground = tab.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert ground == rgb(kit.PAPER[machine])
    context.close()


@pytest.mark.parametrize("width", [1280, 390, 320])
def test_drawings_and_captions_fit_the_column(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    boxes = page.evaluate(
        """() => [...document.querySelectorAll('svg.vit-drawing')].map(svg => {
            const box = svg.getBoundingClientRect(), view = svg.viewBox.baseVal;
            const around = svg.closest('.cell_output').getBoundingClientRect();
            return [box.left - around.left, around.right - box.right,
                box.width / box.height, view.width / view.height,
                box.width / view.width];
        })"""
    )
    assert len(boxes) == 3
    for left, right, shape, drawn, times in boxes:
        assert left >= -0.5 and right >= -0.5
        assert shape == pytest.approx(drawn, rel=0.01)
        assert times == pytest.approx(1.4, rel=0.01) if width > 700 else times > 0.7
    captions = page.evaluate(
        """() => [...document.querySelectorAll('figcaption')].map(caption => {
            const box = caption.getBoundingClientRect();
            const around = caption.closest('.cell_output').getBoundingClientRect();
            const picture = caption.parentElement.querySelector('img, svg');
            return [getComputedStyle(caption).textAlign, box.width - around.width,
                picture.getBoundingClientRect().left - around.left,
                box.top - picture.getBoundingClientRect().bottom,
                caption.innerText.trim()];
        })"""
    )
    assert len(captions) == 2
    for align, narrower, indented, below, text in captions:
        assert align == "left" and -200 < narrower < 1  # a line of prose
        assert abs(indented) < 1 and below > 0
        assert text.startswith("What to look for."), "no number before it"
