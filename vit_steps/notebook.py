"""Pictures of patches, and of attention over them."""

import math
from collections.abc import Sequence

from vit_steps.optional import check_installed

check_installed("matplotlib")

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from vit_steps.sizes import Size, as_pair, patch_grid


def show_image(image: Tensor, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw a picture without axes.

    Shape: (3, H, W) or (1, H, W) or (H, W), values between 0 and 1
    """
    ax = ax or plt.gca()
    image = image.detach().float().cpu().clamp(0, 1)
    pixels = image.movedim(0, -1).squeeze(-1) if image.ndim == 3 else image
    ax.imshow(pixels.numpy(), cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    ax.set(xticks=[], yticks=[])
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
    """Draw a picture (C, H, W) with the lines along which it is cut into patches.

    The patches whose indices are in ``highlight`` get a frame.
    """
    ax = show_image(image, ax, title)
    height, width = as_pair(patch_size, "patch_size")
    rows, columns = patch_grid((image.shape[-2], image.shape[-1]), patch_size)
    for row in range(1, rows):
        ax.axhline(row * height - 0.5, color="white", linewidth=0.7)
    for column in range(1, columns):
        ax.axvline(column * width - 0.5, color="white", linewidth=0.7)
    _frame_patches(ax, highlight, columns, height, width)
    return ax


def show_attention_over_image(
    weights: Tensor,
    image: Tensor,
    ax: Axes | None = None,
    title: str | None = None,
    query: int | None = None,
) -> Axes:
    """Lay one token's attention over the picture: bright where it looks.

    The weights are (N,) or (rows, columns), without the class token. The 1 % of the
    patches with the most attention are shown at full brightness: scaled by the maximum,
    one patch with most of the attention would leave all others dark. The patch with the
    index ``query``, whose attention it is, gets a frame.

    Raises: ValueError if the weights do not form a grid that divides the image.
    """
    H, W = image.shape[-2:]
    side = math.isqrt(weights.numel())
    rows, columns = weights.shape if weights.ndim == 2 else (side, side)
    if weights.numel() != rows * columns or H % rows or W % columns:
        raise ValueError(
            f"weights: got shape {tuple(weights.shape)}, expected a square or (rows, "
            f"columns) of patches that divide the image of {H}×{W} pixels"
        )
    height, width = H // rows, W // columns
    light = weights.detach().float().cpu().reshape(rows, columns)
    bright = light.quantile(0.99).clamp(min=torch.finfo(light.dtype).tiny)
    light = (light / bright).clamp(max=1.0)  # all dark where nothing is attended
    light = light.repeat_interleave(height, dim=0).repeat_interleave(width, dim=1)
    ax = show_image(image.cpu() * (0.15 + 0.85 * light), ax, title)
    _frame_patches(ax, [] if query is None else [query], columns, height, width)
    return ax


def _frame_patches(
    ax: Axes, indices: Sequence[int], columns: int, height: int, width: int
) -> None:
    """Frame patches in yellow on black, which is seen on any picture."""
    for index in indices:
        row, column = divmod(index, columns)
        corner = (column * width - 0.5, row * height - 0.5)
        for colour, line in (("black", 4.0), ("#FFE800", 2.0)):
            frame = Rectangle(corner, width, height, fill=False, ec=colour, lw=line)
            ax.add_patch(frame)
