"""Swin: attention in windows, which shift from block to block (arXiv 2103.14030)."""

from collections import OrderedDict
from dataclasses import dataclass

import torch
import torch.fx
from torch import Tensor, nn
from torch.nn import functional as F

from vit_steps.encoder import MLP, DropPath
from vit_steps.patch_embedding import check_images
from vit_steps.sizes import (
    Size,
    as_pair,
    as_size,
    check_count,
    check_each,
    check_fields,
    check_heads,
    check_number,
    check_rate,
    patch_grid,
)
from vit_steps.transfer import start_anew

for _name in ("check_images", "window_partition", "window_reverse"):
    torch.fx.wrap(_name)  # a tracer keeps these calls, which look at sizes


def window_partition(x: Tensor, window_size: int) -> Tensor:
    """Cut a map of tokens into windows, row by row.

    Shape: (B, rows, columns, D) -> (B·windows, w², D), with w = ``window_size``
    Raises: ValueError if the windows do not fill the map.
    """
    B, rows, columns, D = x.shape
    w = window_size
    if rows % w or columns % w:
        raise ValueError(
            f"x: got a map of {rows}×{columns} tokens, expected multiples of "
            f"{window_size = }"
        )
    x = x.reshape(B, rows // w, w, columns // w, w, D)
    return x.transpose(2, 3).reshape(-1, w * w, D)  # (B·windows, w², D)


def window_reverse(windows: Tensor, height: int, width: int) -> Tensor:
    """Join windows to a map again: the inverse of ``window_partition``.

    Shape: (B·windows, w², D) -> (B, height, width, D), in tokens
    """
    w, D = int(windows.shape[1] ** 0.5), windows.shape[2]
    x = windows.reshape(-1, height // w, width // w, w, w, D)
    return x.transpose(2, 3).reshape(-1, height, width, D)  # (B, rows, columns, D)


def relative_position_index(window_size: int) -> Tensor:
    """Return the row of the bias table for each pair of a window's tokens.

    Pairs with the same difference in rows and columns share a row.

    Shape: -> (w², w²), int64 from 0 to (2·w - 1)² - 1
    """
    places = torch.arange(window_size)
    rows, columns = torch.meshgrid(places, places, indexing="ij")
    place = torch.stack([rows.flatten(), columns.flatten()])  # (2, w²)
    difference = place[:, :, None] - place[:, None, :]  # (2, w², w²), from 1-w to w-1
    down, across = difference + window_size - 1
    return down * (2 * window_size - 1) + across


def shifted_window_mask(
    height: int, width: int, window_size: int, shift: int
) -> Tensor:
    """Return which tokens may attend to which in a map that was rolled by ``shift``.

    Rolling brings tokens of opposite edges into one window. Only tokens of the same
    region of the original map may attend to each other.

    Shape: -> (windows, w², w²), boolean, True may attend
    """
    region = torch.zeros(1, height, width, 1, dtype=torch.int64)
    parts = (slice(-window_size), slice(-window_size, -shift), slice(-shift, None))
    number = 0
    for rows in parts:
        for columns in parts:
            region[:, rows, columns] = number
            number += 1
    region = window_partition(region, window_size).squeeze(-1)  # (windows, w²)
    return region[:, :, None] == region[:, None, :]


class WindowAttention(nn.Module):
    """Multi-head self-attention inside each window, with a relative position bias.

    softmax(q kᵀ / √d + bias) v: equation 4 in arXiv 2103.14030. The bias is learned,
    and depends on the head and on the difference of the two places.

    Shape: (B·windows, w², D) -> (B·windows, w², D)
    """

    relative_position_index: Tensor

    def __init__(self, embed_dim: int, window_size: int, num_heads: int) -> None:
        super().__init__()
        check_heads(embed_dim, num_heads)
        self.num_heads = num_heads
        self.qkv = nn.Linear(embed_dim, 3 * embed_dim)
        self.proj = nn.Linear(embed_dim, embed_dim)
        table = torch.empty((2 * window_size - 1) ** 2, num_heads)
        self.relative_position_bias_table = nn.Parameter(table)
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)
        index = relative_position_index(window_size)
        self.register_buffer("relative_position_index", index, persistent=False)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Attend within windows; ``mask`` (windows, w², w²), True may attend."""
        windows, n, D = x.shape
        h = self.num_heads
        qkv = self.qkv(x).reshape(windows, n, 3, h, D // h)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)  # (B·windows, h, w², d) each
        bias = self.relative_position_bias_table[self.relative_position_index]
        bias = bias.permute(2, 0, 1)[None]  # (1, h, w², w²)
        if mask is not None:
            mask = mask.repeat(windows // len(mask), 1, 1)[:, None]
            bias = bias.masked_fill(~mask, -torch.inf)  # (B·windows, h, w², w²)
        output = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.to(q.dtype))
        return self.proj(output.transpose(1, 2).reshape(windows, n, D))


class SwinBlock(nn.Module):
    """Pre-norm encoder block with window attention: equation 3 in arXiv 2103.14030.

    Shape: (B, rows, columns, D) -> (B, rows, columns, D)
    """

    mask: Tensor | None

    def __init__(
        self,
        embed_dim: int,
        resolution: tuple[int, int],
        num_heads: int,
        window_size: int,
        shifted: bool,
        mlp_ratio: float = 4.0,
        drop_path_rate: float = 0.0,
    ) -> None:
        super().__init__()
        if min(resolution) <= window_size:  # one window is the whole map
            window_size, shifted = min(resolution), False
        self.window_size = window_size
        self.shift = window_size // 2 if shifted else 0
        self.norm1 = nn.LayerNorm(embed_dim)
        self.attn = WindowAttention(
            embed_dim=embed_dim, window_size=window_size, num_heads=num_heads
        )
        self.norm2 = nn.LayerNorm(embed_dim)
        self.mlp = MLP(embed_dim=embed_dim, hidden_dim=int(embed_dim * mlp_ratio))
        self.drop_path = DropPath(drop_path_rate)
        self.register_buffer("mask", None, persistent=False)
        if shifted:
            self.mask = shifted_window_mask(*resolution, window_size, self.shift)

    def forward(self, x: Tensor) -> Tensor:
        rows, columns = x.shape[1:3]
        y = self.norm1(x).roll((-self.shift, -self.shift), dims=(1, 2))
        windows = window_partition(y, self.window_size)  # (B·windows, w², D)
        y = window_reverse(self.attn(windows, self.mask), rows, columns)
        x = x + self.drop_path(y.roll((self.shift, self.shift), dims=(1, 2)))
        return x + self.drop_path(self.mlp(self.norm2(x)))


class PatchMerging(nn.Module):
    """Four neighbouring tokens become one of twice the width (section 3.1).

    Shape: (B, rows, columns, D) -> (B, rows/2, columns/2, 2·D)
    """

    def __init__(self, embed_dim: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(4 * embed_dim)
        self.reduction = nn.Linear(4 * embed_dim, 2 * embed_dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        B, rows, columns, D = x.shape
        windows = window_partition(x, 2)[:, [0, 2, 1, 3]]  # column by column
        x = windows.reshape(B, rows // 2, columns // 2, 4 * D)
        return self.reduction(self.norm(x))  # (B, rows/2, columns/2, 2·D)


@dataclass(frozen=True)
class SwinConfig:
    """All sizes and rates of a Swin; the defaults are Swin-T (table 7).

    Raises: ValueError if a field is out of range, or two do not fit each other.
    """

    image_size: Size = 224  # pixels, an int for a square or a (height, width)
    patch_size: int = 4
    in_channels: int = 3
    num_classes: int = 1000  # K; 0 for no head
    embed_dim: int = 96  # of the first stage; it doubles from stage to stage
    depths: tuple[int, ...] = (2, 2, 6, 2)  # blocks in each stage
    num_heads: tuple[int, ...] = (3, 6, 12, 24)
    window_size: int = 7  # tokens of a side
    mlp_ratio: float = 4.0
    drop_path_rate: float = 0.0  # stochastic depth, from 0 to this in the last block

    def __post_init__(self) -> None:
        check_fields(self, as_size, "image_size")
        check_fields(self, check_count, "patch_size", "in_channels", "embed_dim")
        check_fields(self, check_count, "window_size")
        check_fields(self, check_count, "num_classes", least=0)
        check_fields(self, check_each, "depths", "num_heads", each=check_count)
        check_fields(self, check_number, "mlp_ratio", least=1 / self.embed_dim)
        check_fields(self, check_rate, "drop_path_rate")
        if len(self.num_heads) != len(self.depths):
            raise ValueError(
                f"num_heads: got {self.num_heads}, expected one for each of the depths "
                f"{self.depths}"
            )
        for stage, num_heads in enumerate(self.num_heads):
            check_heads(self.embed_dim * 2**stage, num_heads)
            rows, columns = self.grid_size(stage)
            window = min(self.window_size, rows, columns)
            if rows % window or columns % window:
                raise ValueError(
                    f"window_size: got {self.window_size}, expected a divisor of the "
                    f"{rows}×{columns} tokens of stage {stage}"
                )

    def grid_size(self, stage: int) -> tuple[int, int]:
        """Return the rows and columns of tokens in a stage, counted from 0."""
        return patch_grid(self.image_size, self.patch_size * 2**stage)


def swin_stage(
    config: SwinConfig, stage: int, drop_path_rates: list[float]
) -> nn.Module:
    """Return one stage's blocks; from the second stage on, a merging comes first."""
    embed_dim = config.embed_dim * 2**stage
    down = PatchMerging(embed_dim // 2) if stage else nn.Identity()
    blocks = (
        SwinBlock(
            embed_dim=embed_dim,
            resolution=config.grid_size(stage),
            num_heads=config.num_heads[stage],
            window_size=config.window_size,
            shifted=index % 2 == 1,
            mlp_ratio=config.mlp_ratio,
            drop_path_rate=rate,
        )
        for index, rate in enumerate(drop_path_rates)
    )
    parts = OrderedDict[str, nn.Module](downsample=down, blocks=nn.Sequential(*blocks))
    return nn.Sequential(parts)


class SwinPatches(nn.Module):
    """Patches of 4×4 pixels, embedded and normed, left in their grid.

    Shape: (B, C, H, W) -> (B, H/P, W/P, D)
    """

    def __init__(self, config: SwinConfig) -> None:
        super().__init__()
        P, D = config.patch_size, config.embed_dim
        self.proj = nn.Conv2d(config.in_channels, D, P, stride=P)
        self.norm = nn.LayerNorm(D)

    def forward(self, images: Tensor) -> Tensor:
        return self.norm(self.proj(images).permute(0, 2, 3, 1))


class SwinTransformer(nn.Module):
    """The Swin Transformer (arXiv 2103.14030, figure 3): no class token, four stages.

    Shape: (B, C, H, W) -> (B, K)
    """

    def __init__(self, config: SwinConfig) -> None:
        super().__init__()
        self.config = config
        self.patch_embed = SwinPatches(config)
        depth = sum(config.depths)
        rates = torch.linspace(0.0, config.drop_path_rate, depth, device="cpu")
        by_stage = torch.split(rates, list(config.depths))
        stages = [swin_stage(config, k, r.tolist()) for k, r in enumerate(by_stage)]
        self.layers = nn.Sequential(*stages)
        features = config.embed_dim * 2 ** (len(config.depths) - 1)
        self.norm = nn.LayerNorm(features)
        self.head: nn.Module = nn.Identity()
        if config.num_classes > 0:
            self.head = nn.Linear(features, config.num_classes)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.trunc_normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def reset_parameters(self) -> None:
        """Initialise parameters and tables as in a new model, after ``to_empty``."""
        start_anew(self)

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits of the mean token: (B, C, H, W) -> (B, K)."""
        size = as_pair(self.config.image_size, "image_size")
        weight = self.patch_embed.proj.weight
        check_images(images, self.config.in_channels, size, weight)
        x = self.norm(self.layers(self.patch_embed(images)))  # (B, H/32, W/32, 8·D)
        return self.head(x.mean(dim=(1, 2)))  # (B, K)
