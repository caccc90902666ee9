import torch
from torch.nn import functional as F

from tests.checks.answers import right, wrong
from vit_steps.attention_maps import (
    mass_inside,
)

right("mass_inside")(mass_inside)


@right("mass_inside")
def pixel_by_pixel(attention, boxes, image_size, patch_size):
    columns, P = image_size[1] // patch_size, patch_size
    masses = []
    for shares, (top, left, bottom, end) in zip(attention, boxes.tolist(), strict=True):
        inside = 0.0
        for y in range(top, bottom):
            for x in range(left, end):
                inside += shares[y // P * columns + x // P] / P**2
        masses.append(inside)
    return torch.stack(masses)


@right("mass_inside")
def with_repeated_pixels(attention, boxes, image_size, P):
    rows, columns = image_size[0] // P, image_size[1] // P
    grid = attention.reshape(-1, rows, columns) / P**2
    pixels = grid.repeat_interleave(P, 1).repeat_interleave(P, 2)
    return torch.stack(
        [p[t:b, l:r].sum() for p, (t, l, b, r) in zip(pixels, boxes, strict=True)]
    )


@right("mass_inside")
def with_a_pooled_mask(attention, boxes, image_size, patch_size):
    mask = torch.zeros(len(boxes), 1, *image_size, dtype=attention.dtype)
    for picture, (y, x, y_end, x_end) in zip(mask, boxes, strict=True):
        picture[:, y:y_end, x:x_end] = 1
    share = F.avg_pool2d(mask, patch_size).flatten(1)
    return torch.linalg.vecdot(attention, share)


def masses(attention, boxes, image_size, patch_size, pool=F.avg_pool2d, end=0):
    mask = torch.zeros(len(boxes), 1, *image_size, dtype=attention.dtype)
    for picture, (y, x, y_end, x_end) in zip(mask, boxes.tolist(), strict=True):
        picture[:, y : y_end + end, x : x_end + end] = 1
    return (attention * pool(mask, patch_size).flatten(1)).sum(1)


@wrong("mass_inside", "whole patch if touched")
def counts_what_it_touches(attention, boxes, image_size, patch_size):
    return masses(attention, boxes, image_size, patch_size, F.max_pool2d)


@wrong("mass_inside", "cut patches left out")
def counts_what_is_whole(attention, boxes, image_size, patch_size):
    whole = lambda x, P: -F.max_pool2d(-x, P)  # noqa: E731
    return masses(attention, boxes, image_size, patch_size, whole)


@wrong("mass_inside", "left before top")
def x_before_y(attention, boxes, image_size, patch_size):
    return masses(attention, boxes[:, [1, 0, 3, 2]], image_size, patch_size)


@wrong("mass_inside", "one pixel too many")
def ends_included(attention, boxes, image_size, patch_size):
    return masses(attention, boxes, image_size, patch_size, end=1)


@wrong("mass_inside", "columns first")
def down_the_columns(attention, boxes, image_size, patch_size):
    turned = lambda x, P: F.avg_pool2d(x, P).mT  # noqa: E731
    return masses(attention, boxes, image_size, patch_size, turned)


@wrong("mass_inside", "pixels counted whole")
def forgets_the_pixels_part(attention, boxes, image_size, patch_size):
    return masses(attention, boxes, image_size, patch_size) * patch_size**2


@wrong("mass_inside", "averaged over images")
def one_number(attention, boxes, image_size, patch_size):
    return masses(attention, boxes, image_size, patch_size).mean()


@wrong("mass_inside", "averaged over patches")
def mean_for_sum(attention, boxes, image_size, patch_size):
    return masses(attention, boxes, image_size, patch_size) / attention.shape[1]


@wrong("mass_inside", "divided by the area")
def how_much_denser(attention, boxes, image_size, patch_size):
    top, left, bottom, right = boxes.unbind(1)
    area = (bottom - top) * (right - left) / (image_size[0] * image_size[1])
    return masses(attention, boxes, image_size, patch_size) / area


@wrong("mass_inside", "by the middle")
def middle_in_or_out(attention, boxes, image_size, P):
    rows, columns = image_size[0] // P, image_size[1] // P
    y = (torch.arange(rows) + 0.5) * P
    x = (torch.arange(columns) + 0.5) * P
    top, left, bottom, right = boxes[:, :, None].unbind(1)
    inside = ((y >= top) & (y < bottom))[:, :, None] & ((x >= left) & (x < right))[
        :, None
    ]
    return (attention * inside.flatten(1)).sum(1)


@wrong("mass_inside", "dtype")
def as_float32(attention, boxes, image_size, patch_size):
    return masses(attention.float(), boxes, image_size, patch_size)


@wrong("mass_inside", "rounded down")
def whole_patches(attention, boxes, image_size, patch_size):
    rows, columns = image_size[0] // patch_size, image_size[1] // patch_size
    grids = attention.reshape(-1, rows, columns)
    sides = [[side // patch_size for side in box] for box in boxes.tolist()]
    cut = zip(grids, sides, strict=True)
    return torch.stack([g[t:b, left:r].sum() for g, (t, left, b, r) in cut])


@wrong("mass_inside", "width first")
def width_before_height(attention, boxes, image_size, patch_size):
    W, H = image_size
    return mass_inside(attention, boxes, (H, W), patch_size)


def pixels_of(attention, image_size, patch_size):
    (H, W), P = image_size, patch_size
    maps = attention.reshape(-1, H // P, W // P) / P**2
    return maps.repeat_interleave(P, dim=1).repeat_interleave(P, dim=2)


@right("mass_inside")
def mass_by_overlaps(attention, boxes, image_size, patch_size):
    (H, W), P = image_size, patch_size
    rows, columns = torch.arange(H // P) * P, torch.arange(W // P) * P
    top, left, bottom, right = boxes.unsqueeze(-1).unbind(1)
    high = (torch.minimum(rows + P, bottom) - torch.maximum(rows, top)).clamp(min=0)
    wide = torch.minimum(columns + P, right) - torch.maximum(columns, left)
    wide = wide.clamp(min=0)
    maps = attention.reshape(-1, H // P, W // P)
    high, wide = high.to(maps), wide.to(maps)
    return torch.einsum("brc,br,bc->b", maps, high, wide) / P**2


@wrong("mass_inside", "height and width of the box")
def mass_in_a_box_as_coco_has_it(attention, boxes, image_size, patch_size):
    pixels = pixels_of(attention, image_size, patch_size)
    return torch.stack(
        [
            picture[top : top + height, left : left + width].sum()
            for picture, (top, left, height, width) in zip(pixels, boxes, strict=True)
        ]
    )


@wrong("mass_inside", "first image's box")
def mass_in_the_first_box(attention, boxes, image_size, patch_size):
    top, left, bottom, right = boxes[0]
    pixels = pixels_of(attention, image_size, patch_size)
    return pixels[:, top:bottom, left:right].sum(dim=(1, 2))
