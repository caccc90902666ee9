"""Pictures: photographs and their patches, heat maps, attention, traces of tokens."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle
from torch import Tensor
from torch.nn import functional as F

from vit_steps.patch_embedding import patchify
from vit_steps.sizes import Size, as_pair, patch_grid


def show_image(image: Tensor, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw a picture without axes.

    Shape:
        (3, H, W) or (1, H, W) or (H, W), values between 0 and 1
    """
    ax = ax or plt.gca()
    ax.imshow(_pixels(image), cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    if title is not None:
        ax.set_title(title)
    return ax


def show_patch_grid(
    image: Tensor,
    patch_size: Size,
    ax: Axes | None = None,
    title: str | None = None,
    highlight: Sequence[int] = (),
) -> Axes:
    """Draw a picture with the lines along which it is cut.

    Args:
        image: (C, H, W), values between 0 and 1.
        patch_size: pixels.
        highlight: indices of patches to frame.
    """
    ax = show_image(image, ax, title)
    height, width = as_pair(patch_size, "patch_size")
    rows, columns = patch_grid((image.shape[-2], image.shape[-1]), patch_size)
    for row in range(1, rows):
        ax.axhline(row * height - 0.5, color="white", linewidth=0.7)
    for column in range(1, columns):
        ax.axvline(column * width - 0.5, color="white", linewidth=0.7)
    for index in highlight:
        row, column = divmod(index, columns)
        _frame(ax, row * height, column * width, height, width)
    return ax


def show_patches_apart(
    image: Tensor,
    patch_size: Size,
    ax: Axes | None = None,
    title: str | None = None,
    columns: int | None = None,
    highlight: Sequence[int] = (),
) -> Axes:
    """Draw the patches of a picture one after another, pulled apart.

    Args:
        image: (C, H, W), values between 0 and 1.
        patch_size: pixels.
        columns: patches in a line; without it, as many as in the picture.
        highlight: indices of patches to frame.
    """
    height, width = as_pair(patch_size, "patch_size")
    columns = columns or image.shape[-1] // width
    patches = patchify(image[None], patch_size)[0]  # (N, C·P·P)
    patches = F.pad(patches, (0, 0, 0, -len(patches) % columns), value=1.0)
    tiles = patches.reshape(-1, columns, image.shape[0], height, width)
    ax, gap = show_image(_apart(tiles), ax, title), _gap(tiles)
    for index in highlight:
        row, column = divmod(index, columns)
        _frame(ax, row * (height + gap), column * (width + gap), height, width)
    return ax


def show_heatmaps(
    matrices: Tensor | Sequence[Tensor],
    titles: Sequence[str] | None = None,
    xlabel: str | None = None,
    ylabel: str | None = None,
    columns: int = 4,
    size: float = 2.2,
    diverging: bool = False,
    numbers: bool = False,
) -> Figure:
    """Draw matrices side by side, each number a colour, on one scale for all.

    Args:
        matrices: (n, rows, columns), or a sequence of (rows, columns).
        titles: one for each matrix.
        xlabel, ylabel: what columns and rows are.
        columns: matrices in a line.
        size: inches of one matrix.
        diverging: centre the colours on zero.
        numbers: write the numbers into small matrices, with two decimals.
    """
    arrays = [matrix.detach().float().cpu().numpy() for matrix in matrices]
    across = min(columns, len(arrays))
    down = -(-len(arrays) // across)
    figure, axes = plt.subplots(
        down, across, figsize=(size * across + 0.8, size * down + 0.5), squeeze=False
    )
    low, high = min(a.min() for a in arrays), max(a.max() for a in arrays)
    colours = "viridis"
    if diverging:
        colours, high = "RdBu_r", max(abs(low), abs(high))
        low = -high
    for ax in axes.flat[len(arrays) :]:
        ax.set_visible(False)
    for index, (ax, array) in enumerate(zip(axes.flat, arrays, strict=False)):
        drawn = ax.imshow(array, cmap=colours, vmin=low, vmax=high, aspect="auto")
        ax.spines[:].set_visible(False)
        if titles is not None:
            ax.set_title(titles[index])
        if index // across == (len(arrays) - 1) // across:
            ax.set_xlabel(xlabel or "")
        if index % across == 0:
            ax.set_ylabel(ylabel or "")
        if max(array.shape) <= 12:
            ax.set_xticks(range(array.shape[1]))
            ax.set_yticks(range(array.shape[0]))
        if numbers:
            _write_numbers(ax, array, low, high, diverging)
    figure.colorbar(drawn, ax=axes, shrink=0.8)
    return figure


def show_attention_over_image(
    weights: Tensor,
    image: Tensor,
    ax: Axes | None = None,
    title: str | None = None,
    query: int | None = None,
) -> Axes:
    """Lay one token's attention over the picture: bright where it looks.

    Args:
        weights: (N,) or (rows, columns), the attention paid to each patch, without the
            class token.
        image: (C, H, W), values between 0 and 1.
        query: index of the patch that asks, to be framed.
    """
    if weights.ndim == 1:
        side = int(weights.numel() ** 0.5)
        if side * side != weights.numel():
            raise ValueError(
                f"weights: got {weights.numel()}, expected a square or (rows, columns)"
            )
        weights = weights.reshape(side, side)
    rows, columns = weights.shape
    if image.shape[-2] % rows or image.shape[-1] % columns:
        raise ValueError(
            f"weights: got a grid of {rows}×{columns}, expected one that divides the "
            f"image of {image.shape[-2]}×{image.shape[-1]} pixels"
        )
    height, width = image.shape[-2] // rows, image.shape[-1] // columns
    largest = weights.max().clamp(min=torch.finfo(weights.dtype).tiny)
    light = (weights / largest).detach()  # all dark where nothing is attended
    light = light.repeat_interleave(height, 0).repeat_interleave(width, 1)
    ax = show_image(image * (0.15 + 0.85 * light), ax, title)
    if query is not None:
        row, column = divmod(query, columns)
        _frame(ax, row * height, column * width, height, width)
    return ax


def show_attention_grid(
    image: Tensor,
    attention: Tensor,
    grid_size: Size,
    title: str | None = None,
    shared_scale: bool = False,
    size: float = 0.9,
) -> Figure:
    """Draw a picture, and beside it what each block and head attends: a row a block.

    Args:
        image: (C, H, W), values between 0 and 1.
        attention: (L, h, N), paid to each patch.
        grid_size: rows and columns of patches; an int for a square.
        title: of the picture.
        shared_scale: one colour scale, with a bar, for all; else each map's largest
            weight is its brightest.
        size: inches of one map.
    """
    rows, columns = as_pair(grid_size, "grid_size")
    if attention.ndim != 3 or attention.shape[-1] != rows * columns:
        raise ValueError(
            f"attention: got shape {tuple(attention.shape)}, expected "
            f"(L, h, {rows * columns}) for {rows}×{columns} patches"
        )
    L, h, _ = attention.shape
    maps = attention.detach().float().cpu()
    if not shared_scale:
        maps = maps / maps.amax(dim=-1, keepdim=True).clamp_min(1e-12)
    beside = min(max(L, 2), 4)  # maps as wide as the picture
    inches = (size * (h + beside) + 0.8, size * max(L, 2) + 0.5)
    figure, (left, right) = plt.subplots(1, 2, figsize=inches, width_ratios=(beside, h))
    show_image(image, left, title)
    drawn = _show_tiles(right, maps.reshape(L, h, rows, columns), 0.0, maps.max())
    right.set(xlabel="head", ylabel="block")
    if shared_scale:
        figure.colorbar(drawn, ax=right, shrink=0.8)
    return figure


def show_filters(
    filters: Tensor, columns: int = 8, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw filters as pictures: grey is zero, each as strong as its largest number.

    Shape:
        (n, 3, P, P) or (n, 1, P, P)
    """
    if filters.ndim != 4 or filters.shape[1] not in (1, 3):
        raise ValueError(
            f"filters: got shape {tuple(filters.shape)}, expected (n, 3, P, P) or "
            "(n, 1, P, P)"
        )
    filters = filters.detach().float().cpu()
    largest = filters.abs().amax(dim=(1, 2, 3), keepdim=True).clamp_min(1e-12)
    pictures = 0.5 + 0.5 * filters / largest  # (n, C, P, P)
    across = min(columns, len(pictures))
    missing = -len(pictures) % across  # of the last row
    white = pictures.new_ones(missing, *pictures.shape[1:])
    tiles = torch.cat([pictures, white]).unflatten(0, (-1, across))
    return show_image(_apart(tiles), ax, title)


def show_position_similarity(
    similarity: Tensor,
    ax: Axes | None = None,
    title: str | None = None,
    vmin: float | None = None,
) -> Axes:
    """Draw for each patch how alike the other positions are to its own.

    Args:
        vmin: the similarity that is darkest, to compare pictures; None for the lowest.

    Shape:
        (rows, columns, rows, columns), as ``position_similarity`` gives it
    """
    if similarity.ndim != 4 or similarity.shape[:2] != similarity.shape[2:]:
        raise ValueError(
            f"similarity: got shape {tuple(similarity.shape)}, expected "
            "(rows, columns, rows, columns)"
        )
    ax = ax or plt.gca()
    similarity = similarity.detach().float().cpu()
    low = float(similarity.min()) if vmin is None else vmin
    drawn = _show_tiles(ax, similarity, low, 1.0)
    ax.set(xlabel="column of the patch", ylabel="row of the patch")
    if title is not None:
        ax.set_title(title)
    ax.figure.colorbar(drawn, ax=ax, shrink=0.8, label="cosine similarity")
    return ax


def show_token_trace(steps: Sequence[tuple[str, Tensor]]) -> Figure:
    """Draw one image's tokens after each step: a row a token, a column a number.

    Args:
        steps: (name, tokens) pairs, tokens (T, D); every step has its own colour scale.
    """
    max_width = 64  # of each token no more than so many numbers are drawn
    figure, axes = plt.subplots(
        1, len(steps), figsize=(1.6 * len(steps), 3.6), squeeze=False
    )
    for ax, (name, tokens) in zip(axes.flat, steps, strict=True):
        values = tokens.detach().float().cpu().numpy()[:, :max_width]
        spread = np.quantile(np.abs(values), 0.98) or 1.0
        ax.imshow(
            values,
            cmap="RdBu_r",
            vmin=-spread,
            vmax=spread,
            aspect="auto",
            interpolation="nearest",
        )
        ax.set_title(f"{name}\n({tokens.shape[0]}, {tokens.shape[1]})", fontsize=10)
        ax.set_xticks([])
        ax.set_yticks([])
    axes[0, 0].set_yticks([0, len(steps[0][1]) - 1])
    axes[0, 0].set_ylabel("token", labelpad=-8)
    figure.supxlabel(f"the first {max_width} numbers of each token", fontsize=10)
    return figure


def _pixels(image: Tensor) -> np.ndarray:
    image = image.detach().float().cpu().clamp(0, 1)
    if image.ndim == 3:
        image = image[0] if image.shape[0] == 1 else image.permute(1, 2, 0)
    return image.numpy()


def _apart(tiles: Tensor) -> Tensor:
    """Tiles with white between them: (rows, columns, C, P, P) -> (C, height, width)."""
    return _tiled(tiles, _gap(tiles), 1.0)


def _gap(tiles: Tensor) -> int:
    return max(1, round(0.15 * max(tiles.shape[-2:])))


def _tiled(tiles: Tensor, gap_pixels: int, fill: float) -> Tensor:
    """Tiles beside each other: (rows, columns, C, P, P) -> (C, height, width)."""
    with_gaps = F.pad(tiles, (0, gap_pixels, 0, gap_pixels), value=fill)
    canvas = with_gaps.permute(2, 0, 3, 1, 4)  # (C, rows, P + gap, columns, P + gap)
    canvas = canvas.flatten(3).flatten(1, 2)  # (C, height + gap, width + gap)
    return canvas[:, :-gap_pixels, :-gap_pixels]


def _show_tiles(
    ax: Axes, tiles: Tensor, low: float | Tensor, high: float | Tensor
) -> AxesImage:
    """Draw heat maps (down, across, rows, columns) beside each other, numbered."""
    down, across, rows, columns = tiles.shape
    canvas = _tiled(tiles.unsqueeze(2), 1, float("nan"))[0]  # the gaps stay white
    drawn = ax.imshow(canvas.numpy(), vmin=float(low), vmax=float(high))
    xs = [i * (columns + 1) + (columns - 1) / 2 for i in range(across)]
    ys = [i * (rows + 1) + (rows - 1) / 2 for i in range(down)]
    ax.set_xticks(xs, [str(i) for i in range(across)])
    ax.set_yticks(ys, [str(i) for i in range(down)])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return drawn


def _frame(ax: Axes, top: int, left: int, height: int, width: int) -> None:
    """Frame a patch in yellow on black, to be seen on any picture."""
    corner = (left - 0.5, top - 0.5)
    for colour, line in (("black", 4.0), ("#FFE800", 2.0)):
        frame = Rectangle(corner, width, height, fill=False, ec=colour, lw=line)
        ax.add_patch(frame)


def _write_numbers(
    ax: Axes, array: np.ndarray, low: float, high: float, diverging: bool
) -> None:
    for (row, column), value in np.ndenumerate(array):
        share = (value - low) / ((high - low) or 1.0)
        light = 0.2 < share < 0.8 if diverging else share > 0.6
        ax.text(
            column,
            row,
            f"{value:.2f}",
            ha="center",
            va="center",
            fontsize=8,
            color="black" if light else "white",
        )
