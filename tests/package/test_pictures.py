import io
import json

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from PIL import Image

from vit_steps import notebook
from vit_steps.notebook.style import book_png
from vit_steps.training import Epoch, History, Metrics

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    notebook.use_book_style()
    yield
    plt.close("all")


def pixels():
    figure = plt.gcf()
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())


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


def test_patches_apart_hold_the_pixels():
    image = torch.rand(1, 4, 4) * 0.9
    ax = notebook.show_patches_apart(image, 2)
    canvas = ax.images[0].get_array()
    assert canvas.shape == (5, 5)
    np.testing.assert_allclose(canvas[3:, 3:], image[0, 2:, 2:])
    assert (canvas[2] == 1).all()


def test_patches_apart_in_lines_of_another_length():
    image = torch.rand(1, 4, 4) * 0.9
    ax = notebook.show_patches_apart(image, 2, columns=3, highlight=[3])
    canvas = ax.images[0].get_array()
    assert canvas.shape == (5, 8)
    np.testing.assert_allclose(canvas[:2, 6:], image[0, 2:, :2])  # patch 2, line 0
    np.testing.assert_allclose(canvas[3:, :2], image[0, 2:, 2:])  # patch 3, line 1
    assert (canvas[3:, 2:] == 1).all()  # nothing comes after the last patch
    assert ax.patches[-1].get_xy() == (-0.5, 2.5)


def test_heatmaps_share_a_scale_and_write_numbers():
    matrices = torch.rand(3, 4, 5)
    figure = notebook.show_heatmaps(
        matrices, ["a", "b", "c"], "key", "query", numbers=True
    )
    drawn = [ax for ax in figure.axes if ax.get_title()]
    assert [ax.get_title() for ax in drawn] == ["a", "b", "c"]
    assert {ax.images[0].get_clim() for ax in drawn} == {
        (matrices.min().item(), matrices.max().item())
    }
    assert len(drawn[0].texts) == 20
    assert drawn[0].get_ylabel() == "query" and drawn[1].get_ylabel() == ""


def test_heatmaps_can_have_their_scale_around_zero():
    matrices = torch.stack([torch.rand(2, 2), -5 * torch.rand(2, 2)])
    figure = notebook.show_heatmaps(matrices, diverging=True)
    largest = matrices.abs().max().item()
    drawn = [ax for ax in figure.axes if ax.images]
    assert {ax.images[0].get_clim() for ax in drawn} == {(-largest, largest)}


def test_attention_over_an_image_is_bright_where_it_looks():
    weights = torch.zeros(4)
    weights[3] = 1.0
    ax = notebook.show_attention_over_image(weights, torch.ones(3, 8, 8), query=0)
    drawn = ax.images[0].get_array()
    assert drawn[6, 6].min() == 1 and drawn[0, 0].max() < 0.2
    with pytest.raises(ValueError, match="weights: got 5, expected a square"):
        notebook.show_attention_over_image(torch.rand(5), torch.ones(3, 8, 8))
    with pytest.raises(ValueError, match="weights: got a grid of 3×3, expected one"):
        notebook.show_attention_over_image(torch.rand(9), torch.ones(3, 8, 8))


def test_a_map_of_zeros_is_dark_and_no_gap():
    ax = notebook.show_attention_over_image(torch.zeros(4), torch.ones(3, 8, 8))
    np.testing.assert_allclose(ax.images[0].get_array(), 0.15)


def test_attention_grid_has_a_row_a_block_and_a_column_a_head():
    attention = torch.rand(2, 3, 8)  # L, h, N
    figure = notebook.show_attention_grid(
        torch.rand(3, 12, 10), attention, (4, 2), "dog"
    )
    left, right = figure.axes
    canvas = right.images[0].get_array().filled(np.nan)
    assert left.get_title() == "dog" and canvas.shape == (4 + 1 + 4, 2 + 1 + 2 + 1 + 2)
    for block, head in np.ndindex(2, 3):
        drawn = canvas[5 * block : 5 * block + 4, 3 * head : 3 * head + 2]
        expected = attention[block, head] / attention[block, head].max()
        np.testing.assert_allclose(drawn, expected.reshape(4, 2))
    assert np.isnan(canvas[4]).all() and np.isnan(canvas[:, 2]).all()
    ticks = [right.get_yticks(), right.get_xticks()]
    assert [list(t) for t in ticks] == [[1.5, 6.5], [0.5, 3.5, 6.5]]


def test_attention_grid_on_one_scale():
    attention = torch.rand(2, 3, 8, requires_grad=True)
    figure = notebook.show_attention_grid(
        torch.rand(3, 12, 10), attention, (4, 2), shared_scale=True
    )
    drawn = figure.axes[1].images[0]
    assert drawn.get_clim() == (0.0, attention.max().item())
    np.testing.assert_allclose(drawn.get_array()[:4, :2].ravel(), attention[0, 0].data)
    assert len(figure.axes) == 3  # with a bar
    with pytest.raises(ValueError, match=r"attention: got .* expected \(L, h, 9\) for"):
        notebook.show_attention_grid(torch.rand(3, 12, 10), attention, 3)


@pytest.mark.parametrize("channels", [1, 3])
def test_filters_are_grey_where_they_are_zero(channels):
    filters = torch.randn(5, channels, 7, 4)
    filters[0, 0, 0, 0] = 0
    canvas = notebook.show_filters(filters, columns=3).images[0].get_array()
    canvas = np.atleast_3d(canvas)
    assert canvas.shape == (7 + 1 + 7, 4 + 1 + 4 + 1 + 4, channels)
    assert canvas[0, 0, 0] == 0.5
    expected = 0.5 + 0.5 * filters[4] / filters[4].abs().max()
    np.testing.assert_allclose(
        canvas[8:, 5:9], expected.permute(1, 2, 0), rtol=1e-5, atol=1e-6
    )
    assert (canvas[8:, 10:] == 1).all()  # no sixth
    with pytest.raises(
        ValueError, match=r"filters: got shape \(5, 2, 7, 4\), expected"
    ):
        notebook.show_filters(torch.randn(5, 2, 7, 4))


def test_position_similarity_has_a_picture_a_patch():
    similarity = torch.rand(4, 2, 4, 2)
    ax = notebook.show_position_similarity(similarity, title="learned")
    drawn = ax.images[0]
    canvas = drawn.get_array()
    assert canvas.shape == (4 * 4 + 3, 2 * 2 + 1) and ax.get_title() == "learned"
    np.testing.assert_allclose(canvas[10:14, 3:], similarity[2, 1])
    assert drawn.get_clim() == (similarity.min().item(), 1.0)
    ax = notebook.show_position_similarity(similarity, plt.figure().gca(), vmin=-0.5)
    assert ax.images[0].get_clim() == (-0.5, 1.0)
    with pytest.raises(ValueError, match=r"similarity: got shape \(8, 8\), expected"):
        notebook.show_position_similarity(torch.rand(8, 8))


def test_token_trace_has_a_panel_a_step():
    steps = [("patches", torch.randn(4, 100)), ("tokens", torch.randn(5, 100))]
    figure = notebook.show_token_trace(steps)
    titles = [ax.get_title() for ax in figure.axes]
    assert titles == ["patches\n(4, 100)", "tokens\n(5, 100)"]
    assert figure.axes[1].images[0].get_array().shape == (5, 64)
    assert pixels().std() > 0


def history(epochs):
    metrics = [Metrics(1 / e, 1 - 0.5 / e, 1.0) for e in range(1, epochs + 1)]
    return History([Epoch(e, 0.1, 2 / e, m, 1.0) for e, m in enumerate(metrics, 1)])


def test_a_history_is_drawn_as_it_is():
    figure = notebook.show_history(history(3))
    losses, accuracy = figure.axes
    drawn = [line.get_ydata() for line in (*losses.lines, *accuracy.lines)]
    expected = [[2, 1, 2 / 3], [1, 1 / 2, 1 / 3], [0.5, 0.75, 1 - 0.5 / 3]]
    for y, values in zip(drawn, expected, strict=True):
        assert list(y) == pytest.approx(values)


def test_the_live_curve_replaces_the_one_before(monkeypatch):
    done = []
    monkeypatch.setattr("IPython.display.clear_output", lambda wait: done.append(wait))
    monkeypatch.setattr(plt, "show", lambda: done.append(plt.get_fignums()))
    for epochs in (1, 2):
        notebook.live_history(history(epochs))
    assert [done[0], done[2]] == [True, True]
    assert len(done[1]) == len(done[3]) == 1


def test_benchmarks_have_a_dot_an_interval_and_a_floor():
    def row(name, ratio, **more):
        spread = {"low": ratio - 0.1, "high": ratio + 0.1}
        return {"name": name, "ratio": ratio, "median_ms": 9.0} | spread | more

    ours, rival = (row(n, r, same_function=True) for n, r in (("us", 1), ("it", 1.3)))
    floor = row("products", 0.9)
    jobs = [
        {"name": "inference, ViT-Ti", "rows": [ours, rival, floor]},
        {"name": "training, ViT-Ti", "rows": [ours, rival]},
        {"name": "another", "rows": [ours, rival]},
    ]
    figure = notebook.show_benchmarks({"jobs": jobs})
    drawn = [ax for ax in figure.axes if ax.get_visible()]
    assert [ax.get_title() for ax in drawn] == [
        "inference,\nViT-Ti",
        "training,\nViT-Ti",
        "another",
    ]
    line_at_one, *rows = drawn[0].lines
    assert list(line_at_one.get_xdata()) == [1, 1]
    assert [list(np.round(line.get_xdata(), 6)) for line in rows[2:4]] == [
        [1.2, 1.4],
        [1.3],
    ]
    assert rows[5].get_marker() == "D"
    labels = [label.get_text() for label in drawn[0].get_yticklabels()]
    assert labels == ["products", "it", "us"]


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
    for height, colour in enumerate(notebook.COLOURS.values()):
        plt.plot([0, 1], [height, 2 * height], color=colour)
    picture = Image.open(io.BytesIO(book_png(plt.gcf())[0])).convert("RGB")
    kept = {colour for _, colour in picture.getcolors(1 << 20)}
    assert picture.getpixel((0, 0)) == (255, 255, 255)
    for colour in notebook.COLOURS.values():
        assert tuple(bytes.fromhex(colour[1:])) in kept


def images_of(figure):
    """A figure as it is kept, and where it says that its images are."""
    picture = Image.open(io.BytesIO(book_png(figure)[0]))
    return np.asarray(picture.convert("RGB")), json.loads(picture.info["images"])


def test_notebook_picture_says_where_its_images_are():
    figure, axes = plt.subplots(1, 3, figsize=(6, 2.5))
    red = np.tile(np.array([1.0, 0, 0]), (8, 8, 1))
    axes[0].imshow(red)
    axes[0].set(title="an image", xlim=(-0.5, 3.5))  # part of it is cut away
    axes[1].plot([0, 1], color="black")
    axes[2].imshow(red)
    axes[2].set_visible(False)
    pixels, [image] = images_of(figure)
    left, top, right, bottom = image["box"]
    inside = np.zeros(pixels.shape[:2], bool)
    inside[top:bottom, left:right] = True
    is_red = (pixels == (255, 0, 0)).all(-1)
    assert not is_red[~inside].any() and is_red[inside].mean() > 0.97  # a spine
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
