import numpy as np
import torch
from einops import rearrange
from torch import nn
from torch.nn import functional as F

import vit_steps
from tests.checks.answers import right, wrong
from tests.checks.answers.patch_embedding.shared import cut_with_einops

right("patchify")(vit_steps.patchify)


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


@wrong("patchify", "built in")
def for_batches_of_four(images, patch_size):
    P, C = patch_size, images.shape[1]
    x = images.unfold(2, P, P).unfold(3, P, P).permute(0, 2, 3, 1, 4, 5)
    return x.reshape(4, -1, C * P * P)


@wrong("patchify", "depends on the batch")
def for_the_batch_of_the_first_test(images, patch_size):
    return cut_with_einops(images, patch_size).reshape(
        2, -1, images.shape[1] * patch_size**2
    )


@wrong("patchify", "a list of patches")
def as_a_list(images, patch_size):
    P = patch_size
    return [
        images[:, :, top : top + P, left : left + P].flatten(1)
        for top in range(0, images.shape[2], P)
        for left in range(0, images.shape[3], P)
    ]


@wrong("patchify", "shape")
def of_three_channels(images, patch_size):
    return cut_with_einops(images, patch_size)[:, :, : 3 * patch_size**2]


@right("patchify")
def by_pixel_unshuffle(images, patch_size):
    return F.pixel_unshuffle(images, patch_size).flatten(2).transpose(1, 2)


@right("patchify")
def by_splitting_twice(images, patch_size):
    rows = images.split(patch_size, dim=2)
    squares = [square for row in rows for square in row.split(patch_size, dim=3)]
    return torch.stack([square.flatten(1) for square in squares], 1)


@wrong("patchify", "dtype")
def into_zeros_of_the_default_type(images, patch_size):
    P, (B, C, H, W) = patch_size, images.shape
    patches = torch.zeros(B, (H // P) * (W // P), C * P * P)
    for n in range(patches.shape[1]):
        top, left = n // (W // P) * P, n % (W // P) * P
        patches[:, n] = images[:, :, top : top + P, left : left + P].flatten(1)
    return patches


@wrong("patchify", "every n-th pixel")
def with_the_letters_swapped(images, patch_size):
    pattern = "b c (p1 h) (p2 w) -> b (h w) (c p1 p2)"
    return rearrange(images, pattern, p1=patch_size, p2=patch_size)
