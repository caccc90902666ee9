"""Each kind of picture on one page: captions, alt texts, themes.

The page is built as a small book with the extensions and the style of the large one.
"""

import base64
import io
import json
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup
from nbformat import write
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image
from playwright.sync_api import expect

from book._extensions import dark_figures
from book.chromium import served
from book.drawings import kit
from tests.conftest import ROOT
from tests.site.visit import resize
from vit_book import COLOURS, LETTERS, drawing, use_book_style
from vit_book.style import book_png
from vit_steps.notebook import show_image

SETTINGS = """\
extensions = ["myst_nb"]
extensions += ["book._extensions." + name for name in {names}]
nb_execution_mode = "off"
myst_enable_extensions = ["dollarmath"]
html_theme = "sphinx_book_theme"
html_static_path = [r"{assets}"]
html_css_files = ["book.css"]
root_doc = "page"
"""
EXTENSIONS = ["drawings", "pictures", "enlarging", "scripts"]
CAPTION = {"caption": "What to *look* for.", "name": "fig-a-square"}


def png():
    data = io.BytesIO()
    Image.new("RGB", (300, 200), "teal").save(data, format="png")
    return base64.b64encode(data.getvalue()).decode()


def cell(data, sizes=None, **said):
    output = new_output("display_data", data=data, metadata=sizes or {})
    return new_code_cell("show()", outputs=[output], metadata={"mystnb": said})


RED = (255, 0, 0)


def kept_figure(**said):
    """Make a figure in the book's style: a red photograph, one pixel white; a curve."""
    use_book_style()
    figure, (left, right) = plt.subplots(1, 2, figsize=(6, 3))
    photograph = torch.tensor(RED).view(3, 1, 1).repeat(1, 4, 4) / 255
    photograph[:, 1, 1] = 1
    show_image(photograph, left, "red")
    right.plot([0, 1, 0], color=COLOURS["blue"], linewidth=9)
    data, size = book_png(figure)
    plt.close(figure)
    png = {"image/png": base64.b64encode(data).decode()}
    return cell(png, {"image/png": size}, **said)


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
        new_markdown_cell("A line.\n\n" * 60),
        kept_figure(image=alt),
    ]
    python = {"language_info": {"name": "python"}}
    write(new_notebook(cells=cells, metadata=python), folder / "page.ipynb")
    settings = SETTINGS.format(assets=ROOT / "book" / "_assets", names=EXTENSIONS)
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


def test_a_drawing_is_in_the_page_with_its_alt_text(outputs):
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


@pytest.fixture(scope="module")
def address(small_book):
    with served(small_book) as folder:
        yield f"{folder}page.html"


@pytest.fixture
def page(address, visits):
    tab = visits().tab
    tab.goto(address)
    return tab


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
    page.evaluate(TWO_FRAMES)  # until the page has reacted to the change
    page.evaluate(
        f"() => {{ const {{documentElement: html, body}} = document; {place}; }}"
    )
    assert set(page.evaluate(INKS)) == {ink}
    page.emulate_media(media="print")
    assert set(page.evaluate(INKS)) == {LIGHT}


@pytest.mark.parametrize("machine, ink", [("light", LIGHT), ("dark", DARK)])
def test_a_drawing_alone_goes_with_the_machine(visits, tmp_path, machine, ink):
    """A drawing opened alone, as in JupyterLab, has its own ground in either theme."""
    file = tmp_path / "one_query.svg"
    file.write_text(drawing("one_query")._repr_svg_(), encoding="utf-8")
    tab = visits(color_scheme=machine).tab
    tab.goto(file.as_uri())
    assert set(tab.evaluate(INKS)) == {ink}
    ground = tab.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert ground == rgb(kit.PAPER[machine])


@pytest.mark.parametrize("width", [1280, 390, 320])
def test_drawings_and_captions_fit_the_column(page, width):
    resize(page, {"width": width, "height": 900})
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
        assert 1.4 * 0.99 <= times <= 1.8 if width > 700 else times > 0.7
    captions = page.evaluate(
        """() => [...document.querySelectorAll('figcaption')].map(caption => {
            const box = caption.getBoundingClientRect();
            const around = caption.closest('.cell_output').getBoundingClientRect();
            const picture = caption.parentElement.querySelector('img, svg')
                .getBoundingClientRect();
            return [getComputedStyle(caption).textAlign, around.right - box.right,
                picture.left - around.left,
                Math.max(box.top - picture.bottom, box.left - picture.right),
                caption.innerText.trim()];
        })"""
    )
    assert len(captions) == 2
    for align, inside, indented, apart, text in captions:
        assert align == "left" and inside > -1
        assert abs(indented) < 1 and apart > 0, "below its picture, or beside it"
        assert text.startswith("What to look for."), "no number before it"


# Figures in the dark

PAGE, INK = dark_figures.rgb([dark_figures.PAGE, dark_figures.INK])


def test_every_ink_is_readable_in_the_dark():
    assert set(dark_figures.IN_THE_DARK) == set(COLOURS) - {"grey"}, "a share of black"
    for ink in dark_figures.rgb([dark_figures.INK, *dark_figures.IN_THE_DARK.values()]):
        assert dark_figures.contrast(ink, PAGE) >= 4.5
    grey = dark_figures.rgb([COLOURS["grey"]])
    [[*ink, opacity]] = dark_figures.recoloured(grey, np.array([1])).astype(float)
    seen = PAGE + opacity / 255 * (ink - PAGE)
    assert dark_figures.contrast(seen, PAGE) >= 4.5


@pytest.mark.parametrize("name", LETTERS)
def test_letters_of_a_line_are_readable_in_light_and_have_its_ink_in_the_dark(name):
    [letters, white] = dark_figures.rgb([LETTERS[name], "#ffffff"])
    assert dark_figures.contrast(letters, white) >= 4.5
    line, letters = dark_figures.recoloured(
        dark_figures.rgb([COLOURS[name], LETTERS[name]]), np.array([9, 9])
    )
    assert line.tolist() == letters.tolist()


def test_inks_stay_apart_in_the_dark():
    inks = dark_figures.rgb([dark_figures.INK, *dark_figures.IN_THE_DARK.values()])
    apart = np.linalg.norm(inks[:, None] - inks, axis=-1) + 1e3 * np.eye(len(inks))
    assert apart.min() > 50


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("name", dark_figures.IN_THE_DARK)
def test_an_ink_more_or_less_of_it_becomes_its_counterpart(name, share):
    [light, dark] = dark_figures.rgb([COLOURS[name], dark_figures.IN_THE_DARK[name]])
    colour = (255 + share * (light - 255)).round()
    [found] = dark_figures.recoloured(colour[None], np.array([9])).astype(float)
    assert found[3] == pytest.approx(255 * share, abs=2)
    if share == 1:
        assert found[:3].tolist() == dark.tolist()


def test_another_colour_is_an_ink_where_there_is_much_of_it():
    colours = np.array([[255, 255, 255], [68, 1, 84], [200, 0, 200]], float)
    found = dark_figures.recoloured(colours, np.array([90_000, 5_000, 1]))
    assert found[0][3] == 0 and found[1][3] == 255
    assert dark_figures.contrast(found[1][:3].astype(float), PAGE) >= 4.5
    assert found[2][:3].tolist() != [200, 0, 200], "an edge takes the nearest ink"


def test_a_dark_figure_keeps_photographs_and_lets_the_page_through(small_book, outputs):
    light, dark = outputs[-1].find_all("img")
    assert "only-light" in light["class"] and "only-dark" in dark["class"]
    for attribute in ("alt", "width", "height"):
        assert light[attribute] == dark[attribute]
    assert dark["loading"] == "lazy", "one of the two is fetched"
    seen, picture = (Image.open(small_book / image["src"]) for image in (light, dark))
    on_white = Image.open((small_book / light["src"]).with_suffix(".png"))
    assert (np.array(seen) == np.array(on_white.convert("RGB"))).all()
    assert picture.size == on_white.size and picture.mode == "RGBA"
    pixels, before = np.array(picture), np.array(on_white.convert("RGB"))
    assert pixels[0, 0, 3] == 0
    red = (before == RED).all(-1)
    assert red.sum() > 50_000 and (pixels[red] == (*RED, 255)).all()
    [photograph] = json.loads(on_white.info["images"])
    x, y, right, bottom = photograph["box"]
    at = pixels[y + (bottom - y) * 3 // 8, x + (right - x) * 3 // 8]
    assert at.tolist() == [255, 255, 255, 255], "white in a photograph stays"
    blue = (before == dark_figures.rgb([COLOURS["blue"]])[0]).all(-1)
    counterpart = dark_figures.rgb([dark_figures.IN_THE_DARK["blue"]])[0]
    assert blue.sum() > 5_000 and (pixels[blue][:, :3] == counterpart).all()
    black = (before == 0).all(-1)
    assert black.any() and (pixels[black] == (*INK, 255)).all()


def test_a_hole_of_a_heat_map_shows_the_page():
    figure = plt.figure(figsize=(2, 2), layout="none")
    ax = figure.add_axes((0, 0, 1, 1), frameon=False)
    ax.imshow([[0.0, np.nan], [np.nan, 1.0]])
    data, _ = book_png(figure)
    plt.close(figure)
    dark = np.array(dark_figures.in_the_dark(Image.open(io.BytesIO(data))))
    height, width = dark.shape[:2]
    seen = dark[height // 4 :: height // 2, width // 4 :: width // 2, 3]
    assert seen.tolist() == [[255, 0], [0, 255]]


def test_a_dark_figure_has_colours_for_a_palette():
    greys = np.arange(300).reshape(-1, 1)
    colours = np.hstack([np.repeat(greys % 256, 3, 1), 255 - greys // 256])
    colours = colours.astype(np.uint8)
    counts = np.where(greys[:, 0] < 256, 1000, 1)
    found = dark_figures.few(colours, counts)
    assert len(np.unique(found, axis=0)) == 256
    assert (found[:256] == colours[:256]).all(), "what there is much of stays"
    assert np.abs(found[256:].astype(int) - colours[256:]).max() <= 2
    assert (dark_figures.few(colours[:9], counts[:9]) == colours[:9]).all()


def test_a_picture_from_elsewhere_has_no_dark_one(outputs):
    assert len(outputs[0].find_all("img")) == len(outputs[1].find_all("img")) == 1


FIGURES = """() => [...document.querySelectorAll('.only-light, .only-dark')]
    .filter(image => image.getClientRects().length)
    .map(image => [image.className, getComputedStyle(image).backgroundColor])"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_page_shows_the_figure_of_its_theme(page, theme):
    page.emulate_media(color_scheme=theme)
    page.wait_for_function(f"document.documentElement.dataset.theme === '{theme}'")
    [[classes, ground]] = page.evaluate(FIGURES)
    assert f"only-{theme}" in classes
    assert ground == "rgba(0, 0, 0, 0)", "no slab"
    body = page.evaluate("getComputedStyle(document.body).backgroundColor")
    if theme == "dark":
        assert body == rgb(dark_figures.PAGE), "the ground that inks are measured on"
    page.emulate_media(media="print")
    [[classes, _]] = page.evaluate(FIGURES)
    assert "only-light" in classes


# An opened figure

FIGURE_LINK = "a.image-reference:has(.only-light)"


def open_figure(page, how):
    link = page.locator(FIGURE_LINK)
    link.hover()  # scrolls to the figure, as a click would
    before = page.evaluate("scrollY")
    if how == "keyboard":
        link.focus()
        page.keyboard.press("Enter")
    else:
        link.click()
    dialog = page.get_by_role("dialog", name="Figure, enlarged")
    expect(dialog).to_be_visible()
    return dialog, before


def close_with_escape(page):
    page.keyboard.press("Escape")


def close_with_the_cross(page):
    page.get_by_role("button", name="Close").click()


def close_with_the_back_button(page):
    page.go_back()


def close_beside_it(page):
    page.mouse.click(5, 450)


@pytest.mark.parametrize("how", ["keyboard", "mouse"])
@pytest.mark.parametrize(
    "close",
    [
        close_with_escape,
        close_with_the_cross,
        close_with_the_back_button,
        close_beside_it,
    ],
)
def test_a_figure_opens_over_the_page_and_the_page_stays(page, how, close):
    address = page.url
    dialog, before = open_figure(page, how)
    image = dialog.get_by_role("img")
    assert image.get_attribute("alt").startswith('A "square" & more')
    close(page)
    expect(dialog).to_be_hidden()
    page.wait_for_function("!history.state?.enlarged")
    page.evaluate(TWO_FRAMES)
    assert page.url == address and before > 500
    assert page.evaluate("scrollY") == pytest.approx(before, abs=1)
    assert page.evaluate(f"document.activeElement.matches('{FIGURE_LINK}')")
    dialog, _ = open_figure(page, how)  # it can be opened again


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width, height", [(1280, 900), (390, 844), (844, 390)])
def test_an_opened_figure_is_large_and_can_be_seen_whole(page, width, height, theme):
    resize(page, {"width": width, "height": height})
    page.emulate_media(color_scheme=theme)
    page.wait_for_function(f"document.documentElement.dataset.theme === '{theme}'")
    dialog, _ = open_figure(page, "mouse")
    image = dialog.get_by_role("img")
    assert image.get_attribute("src").endswith(".dark.webp") == (theme == "dark")
    own = int(page.locator(FIGURE_LINK).locator("img").first.get_attribute("width"))
    box = image.bounding_box()
    assert own - 1 <= box["width"] <= 2 * own + 1
    assert box["x"] >= 0 and box["y"] >= 0, "nothing is out of reach to the left"
    if width > own:
        assert box["x"] + box["width"] <= width
    seen = page.evaluate(
        """() => { const d = document.querySelector('dialog.enlarged');
            d.scrollTo(9999, 9999);
            const {right, bottom} = d.querySelector('img').getBoundingClientRect();
            return [right - innerWidth, bottom - innerHeight]; }"""
    )
    assert max(seen) <= 0.5
    page.mouse.click(width / 2, height / 2)
    expect(dialog).to_be_visible()


def test_an_opened_figure_has_its_room_before_it_is_there(address, visits):
    tab = visits().tab
    tab.route("**/*.{png,webp}", lambda route: route.abort())
    tab.goto(address)
    dialog, _ = open_figure(tab, "mouse")
    box = dialog.locator("img").bounding_box()
    width, height = (
        float(tab.locator(FIGURE_LINK).locator("img").first.get_attribute(side))
        for side in ("width", "height")
    )
    assert box["height"] == pytest.approx(box["width"] * height / width, abs=1)
    tab.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] - 5)
    expect(dialog).to_be_visible()


def test_without_scripts_a_figure_leads_to_its_file(address, visits):
    tab = visits(java_script_enabled=False).tab
    tab.goto(address)
    tab.locator(FIGURE_LINK).click()
    tab.wait_for_url("**/*.png")
