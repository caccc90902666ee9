"""Patches become tokens: a class token in front, and a position added to each."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from vit_steps.patch_embedding import PatchEmbedding
from vit_steps.sizes import Size, as_pair
from vit_steps.tensors import check_tensor


def sincos_position_embedding(
    embed_dim: int, grid_size: Size, cls_token: bool = True
) -> Tensor:
    """Return fixed positions in two dimensions: sines and cosines of row and column.

    Half of the D numbers encode the row, half the column; each half is D/4 sines and
    D/4 cosines with wavelengths from 2π to nearly 2π·10000 (arXiv 1706.03762, section
    3.5, once per axis). The class token has no place in the grid and gets zeros.

    Shape: -> (1, 1 + N, D), or (1, N, D) without the class token
    Raises: ValueError if ``embed_dim`` is not a positive multiple of 4, or the grid is
        not a size.
    """
    if embed_dim < 4 or embed_dim % 4:
        raise ValueError(
            f"embed_dim: got {embed_dim}, expected a positive multiple of 4"
        )
    rows, columns = as_pair(grid_size, "grid_size")
    steps = torch.arange(embed_dim // 4, dtype=torch.float64) / (embed_dim // 4)
    frequencies = 10000.0**-steps  # (D/4,)

    def code(length: int) -> Tensor:
        angles = torch.arange(length)[:, None] * frequencies  # (length, D/4)
        return torch.cat([angles.sin(), angles.cos()], dim=1)  # (length, D/2)

    row_code = code(rows)[:, None].expand(-1, columns, -1)  # (rows, columns, D/2)
    column_code = code(columns)[None].expand(rows, -1, -1)  # (rows, columns, D/2)
    positions = torch.cat([row_code, column_code], dim=2)  # (rows, columns, D)
    positions = positions.reshape(1, rows * columns, embed_dim)  # (1, N, D)
    if cls_token:
        positions = F.pad(positions, (0, 0, 1, 0))  # (1, 1 + N, D)
    return positions.to(torch.get_default_dtype())


def interpolate_position_embedding(
    pos_embed: Tensor,
    grid_size: Size,
    old_grid_size: Size | None = None,
    num_prefix_tokens: int = 1,
) -> Tensor:
    """Resize learned positions to another grid, for images of another size.

    The positions are treated as an image of D channels and resized bicubically, as in
    timm; arXiv 2010.11929, section 3.2, leaves the kind open. The rows of the k tokens
    before the patches, such as the class token, come through untouched. Without
    ``old_grid_size`` the present grid is taken to be a square.

    Shape: (1, k + old rows·columns, D) -> (1, k + rows·columns, D)
    Raises: ValueError if the shape is different, or the old grid does not have that
        many places.
    """
    check_tensor(pos_embed, "pos_embed", 1, "T", "D")
    places = pos_embed.shape[1] - num_prefix_tokens
    if old_grid_size is None:
        old_grid_size = math.isqrt(places)
    old_rows, old_columns = as_pair(old_grid_size, "old_grid_size")
    if old_rows * old_columns != places:
        raise ValueError(
            f"old_grid_size: got {old_rows}×{old_columns} (a square if not said), "
            f"expected a grid of {places}, the positions of the patches"
        )
    rows, columns = as_pair(grid_size, "grid_size")
    if (rows, columns) == (old_rows, old_columns):
        return pos_embed
    first, patch_positions = pos_embed.tensor_split([num_prefix_tokens], dim=1)
    as_image = patch_positions.reshape(1, old_rows, old_columns, -1).permute(0, 3, 1, 2)
    # (1, D, old_rows, old_columns) -> (1, D, rows, columns), in float32 or better
    as_image = as_image.to(torch.promote_types(pos_embed.dtype, torch.float32))
    as_image = F.interpolate(as_image, (rows, columns), mode="bicubic", antialias=True)
    patch_positions = as_image.flatten(2).transpose(1, 2)  # (1, rows·columns, D)
    return torch.cat([first, patch_positions.to(pos_embed.dtype)], dim=1)


def learned_position_embedding(num_tokens: int, embed_dim: int) -> nn.Parameter:
    """Return positions to learn, normal with std 0.02 as in the paper's code.

    Shape: -> (1, T, D)
    """
    positions = torch.empty(1, num_tokens, embed_dim)
    return nn.Parameter(nn.init.trunc_normal_(positions, std=0.02))


def prepend_tokens(patches: Tensor, *tokens: Tensor) -> Tensor:
    """Put tokens in front of the patches, the same for every image of the batch.

    Shape: patches (B, N, D), k tokens of (1, 1, D) -> (B, k + N, D)
    """
    in_front = [token.expand(patches.shape[0], -1, -1) for token in tokens]  # (B, 1, D)
    return torch.cat([*in_front, patches], dim=1)  # (B, k + N, D)


class ViTEmbedding(nn.Module):
    """Images to tokens: z_0 of equation 1 in arXiv 2010.11929.

    The class token comes first, at index 0, and is zero before training, as in the
    paper's code. Positions are learned and added.

    Shape: (B, C, H, W) -> (B, T, D)
    """

    def __init__(
        self,
        image_size: Size,
        patch_size: Size,
        in_channels: int,
        embed_dim: int,
        drop_rate: float = 0.0,
    ) -> None:
        super().__init__()
        self.patch_embed = PatchEmbedding(
            image_size=image_size,
            patch_size=patch_size,
            in_channels=in_channels,
            embed_dim=embed_dim,
        )
        rows, columns = self.patch_embed.grid_size
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.pos_embed = learned_position_embedding(1 + rows * columns, embed_dim)
        self.pos_drop = nn.Dropout(drop_rate)

    def reset_parameters(self) -> None:
        """Initialise anew, as the constructor does."""
        self.patch_embed.reset_parameters()
        nn.init.zeros_(self.cls_token)
        nn.init.trunc_normal_(self.pos_embed, std=0.02)

    def forward(self, images: Tensor) -> Tensor:
        """Embed the images; raises as ``PatchEmbedding`` does."""
        patches = self.patch_embed(images)  # (B, N, D)
        tokens = prepend_tokens(patches, self.cls_token)  # (B, T, D)
        return self.pos_drop(tokens + self.pos_embed)
