"""A trained model for images of another size or other channels than its own."""

import math
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from vit_steps.embedding import interpolate_position_embedding
from vit_steps.sizes import Size


def transfer(model: Any, image_size: Size | None, in_channels: int | None) -> Any:
    """A new ``VisionTransformer`` with a trained one's weights, in evaluation mode.

    Size and channels are the model's own if they are None. Learned positions are
    interpolated (arXiv 2010.11929, section 3.2), patch weights changed by
    ``adapt_channels``. For other channels the ``preprocessing`` is kept only if its
    mean and std were the same for all.

    Raises: ValueError as ``ViTConfig`` does.
    """
    size = model.config.image_size if image_size is None else image_size
    C = model.config.in_channels if in_channels is None else in_channels
    new = type(model)(replace(model.config, image_size=size, in_channels=C)).eval()
    weights, old_grid = model.state_dict(), model.patch_embed.grid_size
    if isinstance(model.pos_embed, nn.Parameter):
        count = weights["pos_embed"].shape[1] - math.prod(old_grid)
        first, rest = weights["pos_embed"].tensor_split([count], dim=1)
        rest = F.pad(rest, (0, 0, 1, 0))  # (1, 1 + N, D)
        grid = new.patch_embed.grid_size
        rest = interpolate_position_embedding(rest, grid, old_grid)[:, 1:]
        weights["pos_embed"] = torch.cat([first, rest], dim=1)
    else:  # computed, not learned
        weights["pos_embed"] = new.pos_embed
    proj = weights["patch_embed.proj.weight"]  # (D, C, P, P)
    weights["patch_embed.proj.weight"] = adapt_channels(proj, C)
    new.load_state_dict(weights)
    known = model.preprocessing
    if known is not None and C != len(known.mean):
        alike = len(set(known.mean)) == len(set(known.std)) == 1
        mean, std = known.mean[:1] * C, known.std[:1] * C
        known = replace(known, mean=mean, std=std) if alike else None
    new.preprocessing = known
    return new


def adapt_channels(weight: Tensor, in_channels: int) -> Tensor:
    """Patch weights for another number of channels, as timm's ``adapt_input_conv``.

    For one channel they are summed, for others repeated and scaled: from or to one
    channel, an image that is alike in all of them gives what it gave before.

    Shape: (D, C, P, P) -> (D, in_channels, P, P)
    """
    C = weight.shape[1]
    if in_channels == 1:
        return weight.sum(dim=1, keepdim=True)
    repeated = weight.repeat(1, math.ceil(in_channels / C), 1, 1)
    return repeated[:, :in_channels] * (C / in_channels)
