import einops
import torch
from einops import rearrange
from einops.layers.torch import Rearrange
from torch import nn
from torch.nn import functional as F

import vit_steps
from tests.checks.answers import right, wrong, wrong_edits
from tests.checks.answers.patch_embedding.patchify import (
    cut_with_einops,
    cut_with_loops,
)

right(vit_steps.PatchEmbedding)


@wrong_edits("""
built in: nn.Conv2d(in_chans -> nn.Conv2d(3
built in: embed_dim, patch_size -> 10, patch_size
stride left out: , stride=patch_size -> nothing
no super: super().__init__() -> pass
reshaped instead of transposed: return self.proj(x) -> x = self.proj(x)
  .flatten(2).transpose(1, 2) -> ; return x.reshape(x.shape[0], -1, x.shape[1])
rows and columns swapped: self.proj(x).flatten(2).transpose(1, 2)
  -> rearrange(self.proj(x), "b d h w -> b (w h) d")
activation: transpose(1, 2) -> transpose(1, 2).relu()
not repeatable: self.proj(x) -> F.dropout(self.proj(x), 0.1)
    dropout without eval
""")
class Convolved(nn.Module):
    """The code of most libraries."""

    def __init__(self, img_size=224, patch_size=16, in_chans=3, embed_dim=768):
        super().__init__()
        self.n_patches = (img_size // patch_size) ** 2
        self.proj = nn.Conv2d(in_chans, embed_dim, patch_size, stride=patch_size)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


@wrong_edits("""
rows and columns swapped: b (h w) -> b (w h)
parameters: Rearrange(self.pattern, p1=patch_size, p2=patch_size)
  -> nn.AvgPool2d(patch_size), Rearrange("b c h w -> b (h w) c")
  channels * patch_size**2, dim -> channels, dim
    the mean of each patch
parameters: Rearrange(self.pattern, p1=patch_size, p2=patch_size) -> nn.Flatten()
  nn.Linear(channels * patch_size**2, dim)
  -> nn.Linear(channels * image_size**2, N * dim), nn.Unflatten(1, (N, dim))
  super().__init__() -> super().__init__(); N = (image_size // patch_size) ** 2
    the whole image in one layer
""")
class Cut(nn.Module):
    """Patches by einops, flattened with the pixels first, and a linear layer."""

    pattern = "b c (h p1) (w p2) -> b (h w) (p1 p2 c)"

    def __init__(self, image_size, patch_size, channels, dim):
        super().__init__()
        self.to_patch_embedding = nn.Sequential(
            Rearrange(self.pattern, p1=patch_size, p2=patch_size),
            nn.Linear(channels * patch_size**2, dim),
        )

    def forward(self, img):
        return self.to_patch_embedding(img)


class CutColumnByColumn(Cut):
    pattern = "b c (h p1) (w p2) -> b (h w) (p2 p1 c)"


@wrong_edits("""
view instead of cutting
  cut_with_loops(images, self.P) -> images.view(len(images), -1, len(self.E))
not a parameter
  self.E = nn.Parameter(torch.randn(numbers, embed_dim) * numbers**-0.5) -> pass
  @ self.E -> nothing
""")
class Multiplied(nn.Module):
    """A matrix as a parameter, without a bias, as in the paper's equation 1."""

    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.P = patch_size
        numbers = in_channels * patch_size**2
        self.E = nn.Parameter(torch.randn(numbers, embed_dim) * numbers**-0.5)

    def forward(self, images):
        return cut_with_loops(images, self.P) @ self.E


class Unshuffled(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.down = nn.PixelUnshuffle(patch_size)
        self.mix = nn.Conv2d(in_channels * patch_size**2, embed_dim, 1)

    def forward(self, images):
        return rearrange(self.mix(self.down(images)), "b d h w -> b (h w) d")


class Summed(nn.Module):
    """A filter for each output, with its axes in another order."""

    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.P = patch_size
        self.filters = nn.Parameter(
            torch.randn(patch_size, patch_size, in_channels, embed_dim) * 0.02
        )
        self.offset = nn.Parameter(torch.zeros(1, 1, embed_dim))

    def forward(self, images):
        x = rearrange(images, "b c (h p) (w q) -> b (h w) c p q", p=self.P, q=self.P)
        return torch.einsum("bncpq,pqcd->bnd", x, self.filters) + self.offset


class Unfolded(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.cut = nn.Unfold(patch_size, stride=patch_size)
        self.embed = nn.Conv1d(in_channels * patch_size**2, embed_dim, 1)

    def forward(self, images):
        return self.embed(self.cut(images)).permute(0, 2, 1)


@wrong("forbidden")
@wrong_edits("""
stride left out: , stride=patch_size -> nothing
reshaped instead of transposed: return F.conv2d -> x = F.conv2d
  .flatten(2).mT -> ; return x.reshape(x.shape[0], -1, x.shape[1])
""")
def embedded_by_convolution(images, weight, bias, patch_size):
    return F.conv2d(images, weight, bias, stride=patch_size).flatten(2).mT


@wrong_edits("""
flatten order: cut_with_einops(images, patch_size)
  -> rearrange(images, "b c (h p) (w q) -> b (h w) (p q c)", p=patch_size, q=patch_size)
weight reshaped: weight.flatten(1).T -> weight.reshape(-1, len(weight))
view instead of cutting: cut_with_einops(images, patch_size)
  -> images.reshape(len(images), -1, weight[0].numel())
""")
def embedded_by_matrix(images, weight, bias, patch_size):
    return cut_with_einops(images, patch_size) @ weight.flatten(1).T + bias


def embedded_by_sum(x, w, b, p):
    x = rearrange(x, "b c (h p) (w q) -> b (h w) c p q", p=p, q=p)
    return einops.einsum(x, w, "b n c p q, d c p q -> b n d") + b


class InSpaceAndChannels(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        window = (in_channels, patch_size, patch_size)
        self.conv = nn.Conv3d(1, embed_dim, window, window)

    def forward(self, images):
        return self.conv(images[:, None]).flatten(2).permute(0, 2, 1)


@wrong_edits("unused: in pairs -> in list(pairs)[:1]")
class OneLayerAChannel(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.patch_size = patch_size
        self.layers = nn.ModuleList(
            nn.Linear(patch_size**2, embed_dim, bias=c == 0) for c in range(in_channels)
        )

    def forward(self, images):
        channels = images.split(1, dim=1)
        pairs = zip(self.layers, channels, strict=True)
        return sum(layer(vit_steps.patchify(x, self.patch_size)) for layer, x in pairs)
