import torch
from einops import rearrange
from torch.nn import functional as F

import vit_steps
from tests.checks.answers import right, wrong

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


@wrong("unpatchify", "shape")
def put_together_as_a_square(patches, patch_size, image_size):
    return rearrange(
        patches,
        "b (h w) (c p q) -> b c (h p) (w q)",
        h=int(patches.shape[1] ** 0.5),
        p=patch_size,
        q=patch_size,
    )


@right("unpatchify")
def by_pixel_shuffle(patches, patch_size, image_size):
    rows, columns = image_size[0] // patch_size, image_size[1] // patch_size
    grid = patches.transpose(1, 2).unflatten(2, (rows, columns))
    return F.pixel_shuffle(grid, patch_size)


@wrong("unpatchify", "patches transposed")
def with_the_pixels_swapped(patches, patch_size, image_size):
    return rearrange(
        patches,
        "b (h w) (c p q) -> b c (h q) (w p)",
        p=patch_size,
        q=patch_size,
        h=image_size[0] // patch_size,
    )
