"""Pictures: photographs and their patches, attention over them, traces of tokens."""

import math
from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor
from torch.nn import functional as F

from vit_steps.patch_embedding import patchify
from vit_steps.sizes import Size, as_pair, patch_grid


def show_image(image: Tensor, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw a picture without axes.

    Shape: (3, H, W) or (1, H, W) or (H, W), values between 0 and 1
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
    """Draw a picture (C, H, W) with the lines along which it is cut.

    The patches whose indices are in ``highlight`` get a frame.
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
    """Draw the patches of a picture (C, H, W) one after another, pulled apart.

    Args:
        columns: patches in a line; without it, as many as in the picture.
        highlight: indices of patches to frame.
    """
    height, width = as_pair(patch_size, "patch_size")
    columns = columns or image.shape[-1] // width
    patches = patchify(image[None], patch_size)[0]  # (N, C·P·P)
    patches = F.pad(patches, (0, 0, 0, -len(patches) % columns), value=1.0)
    tiles = patches.reshape(-1, columns, image.shape[0], height, width)
    gap = max(1, round(0.15 * max(height, width)))
    tiles = F.pad(tiles, (0, gap, 0, gap), value=1.0)  # white between them
    canvas = tiles.permute(2, 0, 3, 1, 4).flatten(3).flatten(1, 2)  # (C, rows, columns)
    ax = show_image(canvas[:, :-gap, :-gap], ax, title)
    for index in highlight:
        row, column = divmod(index, columns)
        _frame(ax, row * (height + gap), column * (width + gap), height, width)
    return ax


def show_attention_over_image(
    weights: Tensor,
    image: Tensor,
    ax: Axes | None = None,
    title: str | None = None,
    query: int | None = None,
) -> Axes:
    """Lay one token's attention over the picture: bright where it looks.

    The weights are (N,) or (rows, columns), without the class token. If a patch asks,
    the one with the index ``query``, it gets a frame.
    """
    if weights.ndim == 1:
        N, side = len(weights), math.isqrt(len(weights))
        if side * side != N:
            raise ValueError(f"weights: got {N}, expected a square or (rows, columns)")
        weights = weights.reshape(side, side)
    (rows, columns), (H, W) = weights.shape, image.shape[-2:]
    if H % rows or W % columns:
        raise ValueError(
            f"weights: got a grid of {rows}×{columns}, expected one that divides the "
            f"image of {H}×{W} pixels"
        )
    height, width = H // rows, W // columns
    largest = weights.max().clamp(min=torch.finfo(weights.dtype).tiny)
    light = (weights / largest).detach()  # all dark where nothing is attended
    light = light.repeat_interleave(height, 0).repeat_interleave(width, 1)
    ax = show_image(image * (0.15 + 0.85 * light), ax, title)
    if query is not None:
        row, column = divmod(query, columns)
        _frame(ax, row * height, column * width, height, width)
    return ax


def show_token_trace(steps: Sequence[tuple[str, Tensor]]) -> Figure:
    """Draw one image's tokens after each step: a row a token, a column a number.

    A step is its name and tokens (T, D), and has a colour scale of its own.
    """
    max_width = 64  # of each token no more than so many numbers are drawn
    figure, axes = plt.subplots(
        1, len(steps), figsize=(1.6 * len(steps), 3.6), squeeze=False
    )
    for ax, (name, tokens) in zip(axes.flat, steps, strict=True):
        values = tokens.detach().float().cpu().numpy()[:, :max_width]
        spread = np.quantile(np.abs(values), 0.98) or 1.0
        drawn = ax.imshow(values, "RdBu_r", aspect="auto", interpolation="nearest")
        drawn.set_clim(-spread, spread)
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


def _frame(ax: Axes, top: int, left: int, height: int, width: int) -> None:
    """Frame a patch in yellow on black, to be seen on any picture."""
    corner = (left - 0.5, top - 0.5)
    for colour, line in (("black", 4.0), ("#FFE800", 2.0)):
        frame = Rectangle(corner, width, height, fill=False, ec=colour, lw=line)
        ax.add_patch(frame)
