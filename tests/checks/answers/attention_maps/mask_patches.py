import torch
from einops import rearrange
from torch.nn import functional as F

from tests.checks.answers import right, wrong
from vit_steps.attention_maps import (
    mask_patches,
)

right("mask_patches")(mask_patches)


@right("mask_patches")
def with_slices(images, patch_size, indices, fill=0.0):
    images, columns, P = images.clone(), images.shape[3] // patch_size, patch_size
    for image, hidden in zip(images, indices, strict=True):
        for i in hidden:
            row, column = i // columns, i % columns
            image[:, row * P : (row + 1) * P, column * P : (column + 1) * P] = fill
    return images


@right("mask_patches")
def with_einops_and_scatter(images, patch_size, indices, fill=0.0):
    rows = images.shape[2] // patch_size
    patches = rearrange(
        images, "b c (i p) (j q) -> b (i j) (c p q)", p=patch_size, q=patch_size
    )
    index = indices[:, :, None].expand(-1, -1, patches.shape[2])
    patches = patches.scatter(1, index, fill)
    return rearrange(
        patches,
        "b (i j) (c p q) -> b c (i p) (j q)",
        i=rows,
        p=patch_size,
        q=patch_size,
    )


@right("mask_patches")
def with_interpolate(images, patch_size, indices, fill=0.0):
    B, _, H, W = images.shape
    N = H // patch_size * (W // patch_size)
    hidden = F.one_hot(indices, N).sum(1).clamp(max=1).float()
    hidden = hidden.reshape(B, 1, H // patch_size, W // patch_size)
    hidden = F.interpolate(hidden, scale_factor=patch_size, mode="nearest")
    return images * (1 - hidden) + fill * hidden


@right("mask_patches")
def with_numbered_pixels(images, patch_size, indices, fill=0.0):
    H, W = images.shape[2:]
    rows = torch.arange(H) // patch_size
    number = rows[:, None] * (W // patch_size) + torch.arange(W) // patch_size
    hidden = torch.stack([torch.isin(number, one) for one in indices])
    return images.masked_fill(hidden[:, None], fill)


@wrong("mask_patches", "changes its input")
def covers_the_caller_s(images, patch_size, indices, fill=0.0):
    images.copy_(with_slices(images, patch_size, indices, fill))
    return images


@wrong("mask_patches", "columns first")
def rows_and_columns_swapped(images, patch_size, indices, fill=0.0):
    images, rows, P = images.clone(), images.shape[2] // patch_size, patch_size
    for image, hidden in zip(images, indices, strict=True):
        for i in hidden:
            column, row = i // rows, i % rows
            image[:, row * P : (row + 1) * P, column * P : (column + 1) * P] = fill
    return images


@wrong("mask_patches", "the others taken")
def keeps_what_is_named(images, patch_size, indices, fill=0.0):
    covered = with_slices(torch.zeros_like(images), patch_size, indices, 1.0)
    return torch.where(covered == 1, images, fill)


@wrong("mask_patches", "first image's patches")
def one_mask_for_all(images, patch_size, indices, fill=0.0):
    return with_numbered_pixels(
        images, patch_size, indices[:1].expand(len(images), -1), fill
    )


@wrong("mask_patches", "everybody's patches")
def all_indices_for_all(images, patch_size, indices, fill=0.0):
    images, columns, P = images.clone(), images.shape[3] // patch_size, patch_size
    for i in indices.flatten().tolist():
        row, column = i // columns, i % columns
        images[:, :, row * P : (row + 1) * P, column * P : (column + 1) * P] = fill
    return images


@wrong("mask_patches", "counted from 1")
def numbers_from_one(images, patch_size, indices, fill=0.0):
    return with_slices(images, patch_size, indices - 1, fill)


@wrong("mask_patches", "one too late")
def counts_the_class_token(images, patch_size, indices, fill=0.0):
    return with_slices(images, patch_size, indices + 1, fill)


@wrong("mask_patches", "fill ignored")
def always_black(images, patch_size, indices, fill=0.0):
    return with_slices(images, patch_size, indices)


@wrong("mask_patches", "fill multiplied")
def multiplies(images, patch_size, indices, fill=0.0):
    return images * with_slices(torch.ones_like(images), patch_size, indices, fill)


@wrong("mask_patches", "fill added")
def adds(images, patch_size, indices, fill=0.0):
    return images + with_slices(torch.zeros_like(images), patch_size, indices, fill)


@wrong("mask_patches", "first patch alone")
def only_one(images, patch_size, indices, fill=0.0):
    return with_slices(images, patch_size, indices[:, :1], fill)


@wrong("mask_patches", "first channel alone")
def only_one_channel(images, patch_size, indices, fill=0.0):
    covered = with_slices(images, patch_size, indices, fill)
    return torch.cat([covered[:, :1], images[:, 1:]], dim=1)


@wrong("mask_patches", "none")
def returns_nothing(images, patch_size, indices, fill=0.0):
    with_slices(images, patch_size, indices, fill)


def covered(images, indices, fill, corner):
    """Return a copy that is covered in the rows and columns of ``corner(index)``."""
    images = images.clone()
    for image, hidden in zip(images, indices.tolist(), strict=True):
        for index in hidden:
            (top, bottom), (left, right) = corner(index)
            image[:, top:bottom, left:right] = fill
    return images


@wrong("mask_patches", "row and column exchanged")
def covers_down_for_across(images, patch_size, indices, fill=0.0):
    P, columns = patch_size, images.shape[3] // patch_size

    def corner(index):
        row, column = index % columns, index // columns
        return (row * P, (row + 1) * P), (column * P, (column + 1) * P)

    return covered(images, indices, fill, corner)


@wrong("mask_patches", "patches for pixels")
def covers_at_the_patchs_number(images, patch_size, indices, fill=0.0):
    P, columns = patch_size, images.shape[3] // patch_size

    def corner(index):
        row, column = divmod(index, columns)
        return (row, row + P), (column, column + P)

    return covered(images, indices, fill, corner)


@wrong("mask_patches", "a pixel short")
def covers_all_but_the_edge(images, patch_size, indices, fill=0.0):
    P, columns = patch_size, images.shape[3] // patch_size

    def corner(index):
        top, left = index // columns * P, index % columns * P
        return (top, top + P - 1), (left, left + P - 1)

    return covered(images, indices, fill, corner)


@right("mask_patches")
def covers_by_fold(images, patch_size, indices, fill=0.0):
    pieces = F.unfold(images, patch_size, stride=patch_size).clone()  # (B, C·P·P, N)
    for piece, hidden in zip(pieces, indices, strict=True):
        piece[:, hidden] = fill
    return F.fold(pieces, images.shape[2:], patch_size, stride=patch_size)
