import einops
import torch
from einops import rearrange
from einops.layers.torch import Rearrange
from torch import nn
from torch.nn import functional as F

import vit_steps
from tests.checks.answers import right, wrong
from tests.checks.answers.patch_embedding.shared import (
    cut_as_vit_pytorch,
    cut_one_too_few,
    cut_with_einops,
    cut_with_loops,
)

right("patch_embedding")(vit_steps.PatchEmbedding)


class Convolved(nn.Module):
    """The code of most libraries; the wrong answers below change a line of it."""

    def __init__(self, img_size=224, patch_size=16, in_chans=3, embed_dim=768):
        super().__init__()
        self.n_patches = (img_size // patch_size) ** 2
        self.proj = self.layer(patch_size, in_chans, embed_dim)

    def layer(self, P, C, D):
        return nn.Conv2d(C, D, kernel_size=P, stride=P)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


right("patch_embedding")(Convolved)


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


right("patch_embedding")(Cut)


@wrong("patch_embedding", "built in")
class OfThreeChannels(Convolved):
    def layer(self, P, C, D):
        return nn.Conv2d(3, D, P, P)


@wrong("patch_embedding", "window")
class OfFourPixels(Convolved):
    def layer(self, P, C, D):
        return nn.Conv2d(C, D, 4, 4)


@wrong("patch_embedding", "built in")
class OfTenNumbers(Convolved):
    def layer(self, P, C, D):
        return nn.Conv2d(C, 10, P, P)


@right("patch_embedding")
class CutColumnByColumn(Cut):
    pattern = "b c (h p1) (w p2) -> b (h w) (p2 p1 c)"


@right("patch_embedding")
class Multiplied(nn.Module):
    """A matrix as a parameter, without a bias, as in the paper's equation 1."""

    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.P = patch_size
        numbers = in_channels * patch_size**2
        self.E = nn.Parameter(torch.randn(numbers, embed_dim) * numbers**-0.5)

    def forward(self, images):
        return cut_with_loops(images, self.P) @ self.E


@right("patch_embedding")
class Unshuffled(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.down = nn.PixelUnshuffle(patch_size)
        self.mix = nn.Conv2d(in_channels * patch_size**2, embed_dim, 1)

    def forward(self, images):
        return rearrange(self.mix(self.down(images)), "b d h w -> b (h w) d")


@right("patch_embedding")
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


@right("patch_embedding")
class Unfolded(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.cut = nn.Unfold(patch_size, stride=patch_size)
        self.embed = nn.Conv1d(in_channels * patch_size**2, embed_dim, 1)

    def forward(self, images):
        return self.embed(self.cut(images)).permute(0, 2, 1)


@right("patch_embedding")
def embedded_by_convolution(images, weight, bias, patch_size):
    return F.conv2d(images, weight, bias, stride=patch_size).flatten(2).mT


@right("patch_embedding")
def embedded_by_matrix(images, weight, bias, patch_size):
    return cut_with_einops(images, patch_size) @ weight.flatten(1).T + bias


@right("patch_embedding")
def embedded_by_sum(x, w, b, p):
    x = rearrange(x, "b c (h p) (w q) -> b (h w) c p q", p=p, q=p)
    return einops.einsum(x, w, "b n c p q, d c p q -> b n d") + b


@wrong("patch_embedding", "stride left out")
class WithoutStride(Convolved):
    def layer(self, P, C, D):
        return nn.Conv2d(C, D, kernel_size=P)


@wrong("patch_embedding", "overlapping stride")
class HalfStride(Convolved):
    def layer(self, P, C, D):
        return nn.Conv2d(C, D, kernel_size=P, stride=P // 2)


@wrong("patch_embedding", "padding")
class Padded(Convolved):
    def layer(self, P, C, D):
        return nn.Conv2d(C, D, kernel_size=P, stride=P, padding=P // 2)


@wrong("patch_embedding", "padding by one")
class PaddedByOne(Convolved):
    def layer(self, P, C, D):
        return nn.Conv2d(C, D, kernel_size=P, stride=P, padding=1)


@wrong("patch_embedding", "tokens last")
class NotTransposed(Convolved):
    def forward(self, x):
        return self.proj(x).flatten(2)


@wrong("patch_embedding", "reshaped instead of transposed")
class Reshaped(Convolved):
    def forward(self, x):
        x = self.proj(x)
        return x.reshape(x.shape[0], -1, x.shape[1])


@wrong("patch_embedding", "grid not flattened")
class LeftAsGrid(Convolved):
    def forward(self, x):
        return self.proj(x)


@wrong("patch_embedding", "everything flattened")
class FlattenedByDefault(Convolved):
    def forward(self, x):
        return nn.Flatten()(self.proj(x))


@wrong("patch_embedding", "rows and columns swapped")
class ColumnsFirst(Convolved):
    def forward(self, x):
        return rearrange(self.proj(x), "b d h w -> b (w h) d")


@wrong("patch_embedding", "rows and columns swapped")
class ColumnsFirstCut(Cut):
    pattern = "b c (h p1) (w p2) -> b (w h) (p1 p2 c)"


@wrong("patch_embedding", "every n-th pixel")
class WrongBrackets(Cut):
    pattern = "b c (p1 h) (p2 w) -> b (h w) (p1 p2 c)"


@wrong("patch_embedding", "view instead of cutting")
class Viewed(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.N = (image_size // patch_size) ** 2
        self.linear = nn.Linear(in_channels * patch_size**2, embed_dim)

    def forward(self, images):
        return self.linear(images.view(images.shape[0], self.N, -1))


@wrong("patch_embedding", "channels left in front")
class UnfoldedAndReshaped(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.P = patch_size
        self.numbers = in_channels * patch_size**2
        self.linear = nn.Linear(self.numbers, embed_dim)

    def forward(self, x):
        x = x.unfold(2, self.P, self.P).unfold(3, self.P, self.P)
        return self.linear(x.reshape(x.shape[0], -1, self.numbers))


@wrong("patch_embedding", "bias unused")
class BiasForgotten(Convolved):
    def forward(self, x):
        P = self.proj.weight.shape[-1]
        return F.conv2d(x, self.proj.weight, stride=P).flatten(2).transpose(1, 2)


@wrong("patch_embedding", "activation")
class Activated(Convolved):
    def forward(self, x):
        return F.relu(super().forward(x))


@wrong("patch_embedding", "normalised")
class Normalised(Convolved):
    def forward(self, x):
        x = super().forward(x)
        return F.layer_norm(x, x.shape[-1:])


@wrong("patch_embedding", "grid not flattened, D last")
class LeftAsGridOfVectors(Convolved):
    def forward(self, x):
        return rearrange(self.proj(x), "b d h w -> b h w d")


@wrong("patch_embedding", "batch joined")
class OneList(Convolved):
    def forward(self, x):
        return rearrange(self.proj(x), "b d h w -> (b h w) d")


@wrong("patch_embedding", "image transposed")
class WidthFirst(Convolved):
    def forward(self, x):
        return super().forward(x.permute(0, 1, 3, 2))


@wrong("patch_embedding", "averaged over patches")
class Averaged(Convolved):
    def forward(self, x):
        return F.adaptive_avg_pool2d(self.proj(x), 1).flatten(1)


@wrong("patch_embedding", "first patch alone")
class FirstPatch(Convolved):
    def forward(self, x):
        return super().forward(x)[:, 0:1]


@wrong("patch_embedding", "gelu")
class SmoothlyActivated(Convolved):
    def forward(self, x):
        return nn.GELU()(super().forward(x))


@wrong("patch_embedding", "divided by 255")
class DividesBytes(Convolved):
    def forward(self, x):
        return super().forward(x / 255.0)


@wrong("patch_embedding", "scaled by √D")
class ScaledAsWords(Cut):
    def forward(self, images):
        x = super().forward(images)
        return x * x.shape[-1] ** 0.5


@wrong("patch_embedding", "norm")
class WithNorms(Cut):
    def __init__(self, image_size, patch_size, channels, dim):
        super().__init__(image_size, patch_size, channels, dim)
        self.to_patch_embedding.append(nn.LayerNorm(dim))


@wrong("patch_embedding", "class token or positions inside")
class WithEverything(Convolved):
    def __init__(self, img_size, patch_size, in_chans, embed_dim):
        super().__init__(img_size, patch_size, in_chans, embed_dim)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, self.n_patches + 1, embed_dim))

    def forward(self, x):
        x = super().forward(x)
        x = torch.cat([self.cls_token.expand(len(x), -1, -1), x], dim=1)
        return x + self.pos_embed


@wrong("patch_embedding", "one matrix per patch")
class OnePerPatch(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.P = patch_size
        numbers = in_channels * patch_size**2
        self.layers = nn.ModuleList(
            [nn.Linear(numbers, embed_dim) for _ in range((image_size // self.P) ** 2)]
        )

    def forward(self, images):
        patches = cut_with_einops(images, self.P).unbind(1)
        pairs = zip(self.layers, patches, strict=True)
        return torch.stack([layer(patch) for layer, patch in pairs], dim=1)


@wrong("patch_embedding", "one matrix per patch")
class OneTensorOfMatrices(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.P = patch_size
        N, numbers = (image_size // patch_size) ** 2, in_channels * patch_size**2
        self.E = nn.Parameter(torch.randn(N, numbers, embed_dim) * 0.1)

    def forward(self, images):
        patches = cut_with_einops(images, self.P)
        return torch.einsum("bni,nid->bnd", patches, self.E)


@wrong("patch_embedding", "pooled")
class Pooled(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.pool = nn.AvgPool2d(patch_size)
        self.linear = nn.Linear(in_channels, embed_dim)

    def forward(self, images):
        return self.linear(self.pool(images).flatten(2).mT)


@wrong("patch_embedding", "window")
class SmallWindow(Convolved):
    def layer(self, P, C, D):
        return nn.Conv2d(C, D, kernel_size=3, stride=P, padding=1)


@wrong("patch_embedding", "channels apart")
class OneChannel(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.P = patch_size
        self.linear = nn.Linear(patch_size**2, embed_dim)

    def forward(self, images):
        return self.linear(cut_with_einops(images.mean(1, keepdim=True), self.P))


@wrong("patch_embedding", "width")
class WidthOfThePatch(Convolved):
    def layer(self, P, C, D):
        return nn.Conv2d(C, C * P * P, kernel_size=P, stride=P)


@wrong("patch_embedding", "several layers")
class Stem(Convolved):
    def layer(self, P, C, D):
        return nn.Sequential(
            nn.Conv2d(C, D, P, stride=P), nn.ReLU(), nn.Conv2d(D, D, 1)
        )


@wrong("patch_embedding", "inputs")
class WholeImage(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.N = (image_size // patch_size) ** 2
        self.linear = nn.Linear(in_channels * image_size**2, self.N * embed_dim)

    def forward(self, images):
        return self.linear(images.flatten(1)).unflatten(1, (self.N, -1))


@wrong("patch_embedding", "no weight")
class CutOnly(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.P = patch_size

    def forward(self, images):
        return cut_with_einops(images, self.P)


@wrong("patch_embedding", "starts too wide")
class StartsWide(Multiplied):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__(image_size, patch_size, in_channels, embed_dim)
        self.E = nn.Parameter(torch.randn(self.E.shape))


@wrong("patch_embedding", "not repeatable")
class DropoutWithoutEval(Convolved):
    def forward(self, x):
        return F.dropout(super().forward(x), 0.1)


@wrong("patch_embedding", "last ones left out")
class StopsEarly(Multiplied):
    def forward(self, images):
        return cut_one_too_few(images, self.P) @ self.E


@wrong("patch_embedding", "no super")
class ForgetsSuper(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        self.proj = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)

    def forward(self, images):
        return self.proj(images).flatten(2).transpose(1, 2)


@wrong("patch_embedding", "flatten order")
def embedded_in_another_order(images, weight, bias, patch_size):
    patches = cut_as_vit_pytorch(images, patch_size)
    return F.linear(patches, weight.flatten(1), bias)


@wrong("patch_embedding", "weight reshaped")
def embedded_by_a_reshaped_weight(images, weight, bias, patch_size):
    return cut_with_einops(images, patch_size) @ weight.reshape(-1, len(weight)) + bias


@wrong("patch_embedding", "bias unused")
def embedded_without_bias(images, weight, bias, patch_size):
    return F.conv2d(images, weight, stride=patch_size).flatten(2).mT


@wrong("patch_embedding", "stride left out")
def embedded_without_stride(images, weight, bias, patch_size):
    return F.conv2d(images, weight, bias).flatten(2).transpose(1, 2)


@wrong("patch_embedding", "reshaped instead of transposed")
def embedded_and_reshaped(images, weight, bias, patch_size):
    x = F.conv2d(images, weight, bias, stride=patch_size)
    return x.reshape(x.shape[0], -1, x.shape[1])


@wrong("patch_embedding", "view instead of cutting")
def embedded_by_view(images, weight, bias, patch_size):
    numbers = weight[0].numel()
    return F.linear(images.reshape(len(images), -1, numbers), weight.flatten(1), bias)


@wrong("patch_embedding", "weight turned round")
def embedded_by_weight_t(images, weight, bias, patch_size):
    turned = weight.permute(3, 2, 1, 0).reshape(-1, len(bias))
    return cut_with_einops(images, patch_size) @ turned + bias


@wrong("patch_embedding", "weight reshaped")
def embedded_without_transposing(images, weight, bias, patch_size):
    return cut_with_einops(images, patch_size) @ weight.flatten(1) + bias


@right("patch_embedding")
class InSpaceAndChannels(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        window = (in_channels, patch_size, patch_size)
        self.conv = nn.Conv3d(1, embed_dim, window, window)

    def forward(self, images):
        return self.conv(images[:, None]).flatten(2).permute(0, 2, 1)


@right("patch_embedding")
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


@wrong("patch_embedding", "unused")
class FirstChannelAlone(OneLayerAChannel):
    def forward(self, images):
        return self.layers[0](vit_steps.patchify(images[:, :1], self.patch_size))
