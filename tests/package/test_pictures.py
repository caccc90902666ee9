import io
import json

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from PIL import Image

import vit_book
from vit_book.style import book_png
from vit_steps import notebook

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    plt.close("all")  # figures of other tests, which would be drawn into
    vit_book.use_book_style()
    yield
    plt.close("all")


def test_image_is_drawn_as_it_is():
    image = torch.rand(3, 8, 8)
    ax = notebook.show_image(image, title="noise")
    drawn = ax.images[0].get_array()
    np.testing.assert_allclose(drawn, image.permute(1, 2, 0).numpy())
    assert ax.get_title() == "noise"


def test_grid_has_its_lines_and_frames():
    ax = notebook.show_patch_grid(torch.rand(3, 8, 12), 4, highlight=[5])
    assert len(ax.lines) == 1 + 2
    assert ax.patches[-1].get_xy() == (7.5, 3.5)


def test_attention_over_an_image_is_bright_where_it_looks():
    weights = torch.zeros(4)
    weights[3] = 1.0
    ax = notebook.show_attention_over_image(weights, torch.ones(3, 8, 8), query=0)
    drawn = ax.images[0].get_array()
    assert drawn[6, 6].min() == 1 and drawn[0, 0].max() < 0.2
    with pytest.raises(
        ValueError, match=r"weights: got shape \(5,\), expected a square"
    ):
        notebook.show_attention_over_image(torch.rand(5), torch.ones(3, 8, 8))
    with pytest.raises(ValueError, match=r"weights: got shape \(9,\), .* 8×8 pixels"):
        notebook.show_attention_over_image(torch.rand(9), torch.ones(3, 8, 8))


def test_one_bright_patch_does_not_blacken_the_others():
    weights = torch.full((16, 16), 0.1 / 255)
    weights[8, 8] = 0.9
    weights[4, 4] = 0.05 / 255
    ax = notebook.show_attention_over_image(weights, torch.ones(3, 32, 32))
    drawn = ax.images[0].get_array()
    assert drawn[16, 16].min() == 1 and drawn[0, 0].min() == 1
    np.testing.assert_allclose(drawn[8, 8], 0.15 + 0.85 / 2, rtol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_attention_over_an_image_in_any_precision(dtype):
    weights = torch.tensor([[0.25, 0.75]], dtype=dtype, requires_grad=True)
    ax = notebook.show_attention_over_image(weights, torch.ones(1, 2, 4))
    assert ax.images[0].get_array().shape == (2, 4)


def test_a_map_of_zeros_is_dark_and_no_gap():
    ax = notebook.show_attention_over_image(torch.zeros(4), torch.ones(3, 8, 8))
    np.testing.assert_allclose(ax.images[0].get_array(), 0.15)


def test_notebook_picture_has_twice_the_pixels_and_few_colours():
    notebook.show_patch_grid(torch.rand(3, 32, 32), 8, highlight=[5])
    data, size = book_png(plt.gcf())
    picture = Image.open(io.BytesIO(data))
    assert picture.mode == "P" and len(data) < 200_000
    assert picture.size[0] // 2 == size["width"]
    assert picture.size[1] // 2 == size["height"]
    assert abs(size["width"] - 7.2 * 110) < 0.5 * 7.2 * 110


def test_notebook_picture_keeps_a_rare_colour():
    notebook.show_patch_grid(torch.rand(1, 64, 64).expand(3, -1, -1), 4, highlight=[5])
    exact = io.BytesIO()
    plt.gcf().savefig(exact, dpi=2 * plt.gcf().dpi, bbox_inches="tight")
    exact = np.asarray(Image.open(exact).convert("RGB"), dtype=int)
    data, _ = book_png(plt.gcf())
    kept = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), dtype=int)
    assert np.abs(kept - exact).max() < 32


def test_notebook_picture_keeps_white_and_the_books_colours():
    for height, colour in enumerate(vit_book.COLOURS.values()):
        plt.plot([0, 1], [height, 2 * height], color=colour)
    picture = Image.open(io.BytesIO(book_png(plt.gcf())[0])).convert("RGB")
    kept = {colour for _, colour in picture.getcolors(1 << 20)}
    assert picture.getpixel((0, 0)) == (255, 255, 255)
    for colour in vit_book.COLOURS.values():
        assert tuple(bytes.fromhex(colour[1:])) in kept


def test_a_name_beside_a_line_is_within_the_picture():
    figure, ax = plt.subplots(figsize=(3, 2), layout="constrained")
    [line] = ax.plot([0, 1], [0, 1], color=vit_book.COLOURS["orange"], label="a line")
    vit_book.name_line(line)
    figure.draw_without_rendering()
    [name] = ax.texts
    assert (
        name.get_text() == "a line" and name.get_color() == vit_book.LETTERS["orange"]
    )
    assert name.get_window_extent().x0 > ax.transData.transform((1, 1))[0]
    assert name.get_window_extent().x1 <= figure.bbox.x1


def images_of(figure):
    """Return a figure's pixels in its PNG, and the boxes of its images."""
    picture = Image.open(io.BytesIO(book_png(figure)[0]))
    return np.asarray(picture.convert("RGB")), json.loads(picture.info["images"])


def test_notebook_picture_says_where_its_images_are():
    figure, axes = plt.subplots(1, 3, figsize=(6, 2.5))
    red = np.tile(np.array([1.0, 0, 0]), (8, 8, 1))
    axes[0].imshow(red)
    axes[0].set(title="an image", xlim=(-0.5, 3.5))  # a part is cut off
    axes[1].plot([0, 1], color="black")
    axes[2].imshow(red)
    axes[2].set_visible(False)
    pixels, [image] = images_of(figure)
    left, top, right, bottom = image["box"]
    inside = np.zeros(pixels.shape[:2], bool)
    inside[top:bottom, left:right] = True
    is_red = (pixels == (255, 0, 0)).all(-1)
    assert not is_red[~inside].any() and is_red[inside].mean() > 0.97  # not spines
    assert not image["holes"]
    assert (pixels[~inside].min(-1) < 50).sum() > 500, "text and a line"


def test_notebook_picture_says_which_images_have_holes():
    figure, (one, other) = plt.subplots(2, 1)
    drawn = one.imshow([[0.0, np.nan], [1.0, 2.0]])
    other.imshow([[0.0, 1.0], [1.0, 2.0]])
    figure.colorbar(drawn, ax=one)
    _, found = images_of(figure)
    assert [image["holes"] for image in found] == [True, False, False]
    *_, (left, top, right, bottom) = (image["box"] for image in found)
    assert bottom - top > 4 * (right - left), "the colour bar"


def test_a_figure_is_as_it_was_after_it_was_kept():
    figure = plt.figure(figsize=(3, 2))
    before = figure.dpi, tuple(figure.get_size_inches())
    book_png(figure)
    assert (figure.dpi, tuple(figure.get_size_inches())) == before


def test_a_figure_of_plots_has_no_images():
    plt.plot([0, 1])
    assert images_of(plt.gcf())[1] == []
