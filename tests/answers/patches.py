import einops
import numpy as np
import torch
from einops import rearrange
from einops.layers.torch import Rearrange
from torch import nn
from torch.nn import functional as F

import vit_steps
from tests.answers import right, wrong

right("patchify")(vit_steps.patchify)


@right("patchify")
def cut_with_einops(images, patch_size):
    return rearrange(
        images,
        "b c (h p1) (w p2) -> b (h w) (c p1 p2)",
        p1=patch_size,
        p2=patch_size,
    )


@right("patchify")
def cut_with_view(imgs, p):
    B, C, H, W = imgs.size()
    x = imgs.view(B, C, H // p, p, W // p, p)
    x = torch.einsum("bchpwq->bhwcpq", x)
    return x.reshape(B, (H // p) * (W // p), C * p**2)


@right("patchify")
def cut_with_tensor_unfold(images, patch_size):
    B, C = images.shape[:2]
    x = images.unfold(2, patch_size, patch_size).unfold(3, patch_size, patch_size)
    x = x.permute(0, 2, 3, 1, 4, 5).contiguous()
    return x.view(B, -1, C * patch_size * patch_size)


@right("patchify")
def cut_with_nn_unfold(images, patch_size):
    return nn.Unfold(patch_size, stride=patch_size)(images).transpose(1, 2)


@right("patchify")
def cut_with_pixel_unshuffle(images, patch_size):
    return F.pixel_unshuffle(images, patch_size).flatten(2).mT


@right("patchify")
def cut_with_loops(images, patch_size):
    P, patches = patch_size, []
    for top in range(0, images.shape[2], P):
        for left in range(0, images.shape[3], P):
            square = images[:, :, top : top + P, left : left + P]
            patches.append(square.flatten(1))
    return torch.stack(patches, dim=1)


@right("patchify")
def cut_with_split_and_pairs(images, patch_size):
    P, Q = (patch_size, patch_size) if isinstance(patch_size, int) else patch_size
    rows = images.split(P, dim=2)
    squares = [square for row in rows for square in row.split(Q, dim=3)]
    return torch.stack(squares, 1).flatten(2)


@right("patchify")
def cut_with_a_convolution(images, patch_size):
    C, P = images.shape[1], patch_size
    weight = torch.eye(C * P * P, dtype=images.dtype).reshape(-1, C, P, P)
    return F.conv2d(images, weight, stride=P).flatten(2).permute(0, 2, 1)


@right("patchify")
def cut_with_an_index(images, patch_size):
    C, H, W = images.shape[1:]
    order = np.arange(C * H * W).reshape(C, H // patch_size, patch_size, -1, patch_size)
    order = order.transpose(1, 3, 0, 2, 4).reshape(-1, C * patch_size**2)
    return images.flatten(1)[:, torch.from_numpy(order)]


@wrong("patchify", "view instead of cutting")
def cut_by_view(images, patch_size):
    B, _, H, W = images.shape
    N = (H // patch_size) * (W // patch_size)
    return images.view(B, N, -1)


@wrong("patchify", "view instead of cutting")
def split_and_join(images, patch_size):
    B, C, H, W = images.shape
    x = images.reshape(B, C, H // patch_size, patch_size, W // patch_size, patch_size)
    return x.reshape(B, -1, C * patch_size * patch_size)


@wrong("patchify", "rows and columns swapped")
def cut_columns_first(images, patch_size):
    return rearrange(
        images,
        "b c (h p1) (w p2) -> b (w h) (c p1 p2)",
        p1=patch_size,
        p2=patch_size,
    )


@wrong("patchify", "channels last")
def cut_as_vit_pytorch(images, patch_size):
    return rearrange(
        images,
        "b c (h p1) (w p2) -> b (h w) (p1 p2 c)",
        p1=patch_size,
        p2=patch_size,
    )


@wrong("patchify", "patches transposed")
def cut_with_two_axes_swapped(images, patch_size):
    P = patch_size
    B, C, H, W = images.shape
    x = images.reshape(B, C, H // P, P, W // P, P).permute(0, 2, 4, 1, 5, 3)
    return x.reshape(B, -1, C * P * P)


@wrong("patchify", "image transposed")
def cut_of_the_turned_image(images, patch_size):
    return cut_with_einops(images.permute(0, 1, 3, 2), patch_size)


@wrong("patchify", "channels left in front")
def cut_with_unfold_and_reshape(images, patch_size):
    B, C = images.shape[:2]
    x = images.unfold(2, patch_size, patch_size).unfold(3, patch_size, patch_size)
    return x.reshape(B, -1, C * patch_size * patch_size)


@wrong("patchify", "a patch for each channel")
def cut_each_channel(images, patch_size):
    x = images.unfold(2, patch_size, patch_size).unfold(3, patch_size, patch_size)
    return x.reshape(images.shape[0], -1, patch_size * patch_size)


@wrong("patchify", "every n-th pixel")
def cut_with_the_wrong_brackets(images, patch_size):
    return rearrange(
        images,
        "b c (p1 h) (p2 w) -> b (h w) (c p1 p2)",
        p1=patch_size,
        p2=patch_size,
    )


@wrong("patchify", "patches last")
def cut_with_unfold_alone(images, patch_size):
    return F.unfold(images, kernel_size=patch_size, stride=patch_size)


@wrong("patchify", "reshaped instead of turned")
def cut_with_unfold_and_view(images, patch_size):
    x = F.unfold(images, kernel_size=patch_size, stride=patch_size)
    return x.reshape(x.shape[0], x.shape[2], x.shape[1])


@wrong("patchify", "overlapping")
def cut_without_stride(images, patch_size):
    return F.unfold(images, kernel_size=patch_size).transpose(1, 2)


@wrong("patchify", "last ones left out")
def cut_one_too_few(images, patch_size):
    P, patches = patch_size, []
    for top in range(0, images.shape[2] - P, P):
        for left in range(0, images.shape[3] - P, P):
            patches.append(images[:, :, top : top + P, left : left + P].flatten(1))
    return torch.stack(patches, dim=1)


@wrong("patchify", "patches not flattened")
def cut_and_left_square(images, patch_size):
    return rearrange(
        images,
        "b c (h p1) (w p2) -> b (h w) c p1 p2",
        p1=patch_size,
        p2=patch_size,
    )


@wrong("patchify", "grid not flattened")
def cut_and_left_in_the_grid(images, patch_size):
    return rearrange(
        images,
        "b c (h p1) (w p2) -> b h w (c p1 p2)",
        p1=patch_size,
        p2=patch_size,
    )


@wrong("patchify", "batch joined")
def cut_into_one_list(images, patch_size):
    return cut_with_einops(images, patch_size).reshape(
        -1, images.shape[1] * patch_size**2
    )


@wrong("patchify", "patches before the batch")
def cut_and_stacked_in_front(images, patch_size):
    return torch.stack(list(cut_with_einops(images, patch_size).unbind(1)))


@wrong("patchify", "first channel alone")
def cut_one_channel(images, patch_size):
    return cut_with_einops(images[:, 0:1], patch_size)


@wrong("patchify", "depends on the batch")
def cut_the_batch_up(images, patch_size):
    P = patch_size
    B, C, H, W = images.shape
    x = images.reshape(C, B, H // P, P, W // P, P).permute(1, 2, 4, 0, 3, 5)
    return x.reshape(B, -1, C * P * P)


@wrong("patchify", "raises")
def cut_of_a_square_image(images, patch_size):
    P = patch_size
    B, C, side, _ = images.shape
    x = images.reshape(B, C, side // P, P, side // P, P).permute(0, 2, 4, 1, 3, 5)
    return x.reshape(B, -1, C * P * P)


@wrong("patchify", "no gradient")
def cut_with_numpy(images, patch_size):
    x = images.detach().double().numpy()
    B, C, H, W = x.shape
    x = x.reshape(B, C, H // patch_size, patch_size, W // patch_size, patch_size)
    x = x.transpose(0, 2, 4, 1, 3, 5).reshape(B, -1, C * patch_size**2)
    return torch.from_numpy(x).to(images.dtype)


@wrong("patchify", "changes its input")
def cut_and_centred(images, patch_size):
    patches = cut_with_einops(images, patch_size)
    images -= images.mean()
    return patches


@wrong("patchify", "dtype")
def cut_as_float(images, patch_size):
    return cut_with_einops(images.float(), patch_size)


@wrong("patchify", "order")
def cut_with_pairs_swapped(images, patch_size):
    p1, p2 = (patch_size,) * 2 if isinstance(patch_size, int) else patch_size
    patches = rearrange(images, "b c (h p1) (w p2) -> b (h w) (c p1 p2)", p1=p1, p2=p2)
    if p1 == p2:
        return patches
    return patches.unflatten(2, (-1, p1, p2)).flip(-1).flatten(2)


right("unpatchify")(vit_steps.unpatchify)


@right("unpatchify")
def join_with_einops(patches, patch_size, image_size):
    return rearrange(
        patches,
        "b (h w) (c p1 p2) -> b c (h p1) (w p2)",
        h=image_size[0] // patch_size,
        p1=patch_size,
        p2=patch_size,
    )


@right("unpatchify")
def join_with_fold(patches, patch_size, image_size):
    return F.fold(
        patches.transpose(1, 2), image_size, kernel_size=patch_size, stride=patch_size
    )


@right("unpatchify")
def join_with_pixel_shuffle(patches, patch_size, image_size):
    rows = image_size[0] // patch_size
    return F.pixel_shuffle(patches.mT.unflatten(2, (rows, -1)), patch_size)


@right("unpatchify")
def join_with_loops(patches, patch_size, image_size):
    B, N, numbers = patches.shape
    P, Q = (patch_size, patch_size) if isinstance(patch_size, int) else patch_size
    images = patches.new_zeros(B, numbers // (P * Q), *image_size)
    columns = image_size[1] // Q
    for index in range(N):
        row, column = divmod(index, columns)
        images[:, :, row * P : row * P + P, column * Q : column * Q + Q] = patches[
            :, index
        ].reshape(B, -1, P, Q)
    return images


@right("unpatchify")
def join_with_cat(patches, p, size):
    squares = patches.unflatten(2, (-1, p, p)).unbind(1)
    columns = size[1] // p
    rows = [
        torch.cat(squares[start : start + columns], dim=3)
        for start in range(0, len(squares), columns)
    ]
    return torch.cat(rows, dim=2)


@wrong("unpatchify", "view instead of joining")
def join_by_view(patches, patch_size, image_size):
    H, W = image_size
    return patches.view(patches.shape[0], -1, H, W)


@wrong("unpatchify", "grid and pixels not interleaved")
def join_with_the_channels_moved_only(patches, patch_size, image_size):
    (H, W), P, B = image_size, patch_size, len(patches)
    x = patches.reshape(B, H // P, W // P, -1, P, P).permute(0, 3, 1, 2, 4, 5)
    return x.reshape(B, -1, H, W)


@wrong("unpatchify", "rows and columns swapped")
def join_columns_first(patches, patch_size, image_size):
    return rearrange(
        patches,
        "b (w h) (c p1 p2) -> b c (h p1) (w p2)",
        h=image_size[0] // patch_size,
        p1=patch_size,
        p2=patch_size,
    )


@wrong("unpatchify", "channels last in a patch")
def join_channels_last(patches, patch_size, image_size):
    return rearrange(
        patches,
        "b (h w) (p1 p2 c) -> b c (h p1) (w p2)",
        h=image_size[0] // patch_size,
        p1=patch_size,
        p2=patch_size,
    )


@wrong("unpatchify", "patches transposed")
def join_turned_patches(patches, patch_size, image_size):
    return rearrange(
        patches,
        "b (h w) (c p1 p2) -> b c (h p2) (w p1)",
        h=image_size[0] // patch_size,
        p1=patch_size,
        p2=patch_size,
    )


@wrong("unpatchify", "pixels before the grid")
def join_with_the_wrong_brackets(patches, patch_size, image_size):
    return rearrange(
        patches,
        "b (h w) (c p1 p2) -> b c (p1 h) (p2 w)",
        h=image_size[0] // patch_size,
        p1=patch_size,
        p2=patch_size,
    )


@wrong("unpatchify", "channels behind")
def join_for_matplotlib(patches, patch_size, image_size):
    return join_with_einops(patches, patch_size, image_size).permute(0, 2, 3, 1)


@wrong("unpatchify", "image transposed")
def join_and_turn(patches, patch_size, image_size):
    return join_with_einops(patches, patch_size, image_size).transpose(2, 3)


@wrong("unpatchify", "sizes swapped")
def join_with_width_first(patches, patch_size, image_size):
    W, H = image_size
    return join_with_fold(patches, patch_size, (H, W))


@wrong("unpatchify", "folded without turning")
def join_with_fold_alone(patches, patch_size, image_size):
    return F.fold(patches, image_size, kernel_size=patch_size, stride=patch_size)


@wrong("unpatchify", "axes not joined")
def join_almost(patches, patch_size, image_size):
    (H, W), P = image_size, patch_size
    x = patches.unflatten(1, (H // P, W // P)).unflatten(3, (-1, P, P))
    return x.permute(0, 3, 1, 4, 2, 5)


@wrong("unpatchify", "last ones left out")
def join_one_too_few(patches, patch_size, image_size):
    (H, W), P = image_size, patch_size
    images = patches.new_zeros(len(patches), patches.shape[2] // P**2, H, W)
    for top in range(0, H - P, P):
        for left in range(0, W - P, P):
            index = (top // P) * (W // P) + left // P
            square = patches[:, index].unflatten(1, (-1, P, P))
            images[:, :, top : top + P, left : left + P] = square
    return images


@wrong("unpatchify", "raises")
def join_a_square(patches, patch_size, image_size):
    side = int(patches.shape[1] ** 0.5)
    return rearrange(
        patches,
        "b (h w) (c p1 p2) -> b c (h p1) (w p2)",
        h=side,
        w=side,
        p1=patch_size,
        p2=patch_size,
    )


@wrong("unpatchify", "no gradient")
def join_detached(patches, patch_size, image_size):
    return join_with_einops(patches.detach(), patch_size, image_size)


right("patch_embedding")(vit_steps.PatchEmbedding)


class Convolved(nn.Module):
    """As most libraries have it; the wrong ones below change a line of it."""

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
    """Patches by einops, then a linear layer; the flattening has the pixels first."""

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


@right("patch_embedding")
class CutColumnByColumn(Cut):
    pattern = "b c (h p1) (w p2) -> b (h w) (p2 p1 c)"


@right("patch_embedding")
class Multiplied(nn.Module):
    """A matrix of its own, no bias, as in the paper's equation 1."""

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
    """A filter for each output, with its axes in an order of its own."""

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


@wrong("patchify", "channels in front of the patches")
def unfolded_twice_and_joined(images, patch_size):
    windows = images.unfold(2, patch_size, patch_size)
    windows = windows.unfold(3, patch_size, patch_size)
    return windows.flatten(4).flatten(2, 3)


@wrong("patchify", "height for width")
def cut_to_the_height_twice(images, patch_size):
    P, H, patches = patch_size, images.shape[2], []
    for top in range(0, H, P):
        for left in range(0, H, P):
            patches.append(images[:, :, top : top + P, left : left + P].flatten(1))
    return torch.stack(patches, dim=1)


@wrong("unpatchify", "sizes swapped")
def put_together_as_a_square(patches, patch_size, image_size):
    return rearrange(
        patches,
        "b (h w) (c p q) -> b c (h p) (w q)",
        h=int(patches.shape[1] ** 0.5),
        p=patch_size,
        q=patch_size,
    )
