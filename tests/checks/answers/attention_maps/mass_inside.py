import torch
from torch.nn import functional as F

from tests.checks.answers import right, wrong_edits
from vit_steps.attention_maps import mass_inside

right(mass_inside)


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


def with_repeated_pixels(attention, boxes, image_size, P):
    rows, columns = image_size[0] // P, image_size[1] // P
    grid = attention.reshape(-1, rows, columns) / P**2
    pixels = grid.repeat_interleave(P, 1).repeat_interleave(P, 2)
    return torch.stack(
        [p[t:b, l:r].sum() for p, (t, l, b, r) in zip(pixels, boxes, strict=True)]
    )


@wrong_edits("""
whole patch if touched: F.avg_pool2d -> F.max_pool2d
cut patches left out: F.avg_pool2d(mask, -> -F.max_pool2d(-mask,
left before top: (y, x, y_end, x_end) -> (x, y, x_end, y_end)
one pixel too many: y:y_end, x:x_end -> y : y_end + 1, x : x_end + 1
width first: *image_size -> *image_size[::-1]
height and width of the box: y:y_end, x:x_end -> y : y + y_end, x : x + x_end
first image's box: zip(mask, boxes, -> zip(mask, boxes[:1].expand_as(boxes),
""")
def with_a_pooled_mask(attention, boxes, image_size, patch_size):
    mask = torch.zeros(len(boxes), 1, *image_size)  # float32, whatever comes
    for picture, (y, x, y_end, x_end) in zip(mask, boxes, strict=True):
        picture[:, y:y_end, x:x_end] = 1
    share = F.avg_pool2d(mask, patch_size).flatten(1)
    return torch.linalg.vecdot(attention, share)


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
