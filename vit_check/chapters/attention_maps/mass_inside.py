"""Check of chapter 9: how much of a map lies inside a box."""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake
from vit_steps import attention_maps as right


def _mass(
    attention: Tensor,
    boxes: Tensor,
    image_size: tuple[int, int],
    patch_size: int,
    sides: str = "top left bottom right",
    count: str = "by area",
    end: int = 0,
    order: str = "rows",
    result: str = "inside",
    one_box: bool = False,
    sides_long: bool = False,
) -> Tensor:
    """The share inside the box with a place for each usual mistake."""
    (H, W), P = image_size, patch_size
    inside = []
    for box in (boxes[:1].expand_as(boxes) if one_box else boxes).tolist():
        named = dict(zip(sides.split(), box, strict=True))
        top, left = named["top"], named["left"]
        bottom, right_ = named["bottom"] + end, named["right"] + end
        if sides_long:
            bottom, right_ = top + bottom, left + right_
        pixels = torch.zeros(H, W, dtype=attention.dtype)
        pixels[max(top, 0) : bottom, max(left, 0) : right_] = 1
        blocks = pixels.unfold(0, P, P).unfold(1, P, P)  # (rows, columns, P, P)
        share = {
            "by area": blocks.mean(dim=(2, 3)),
            "whole if touched": blocks.amax(dim=(2, 3)),
            "whole or not": blocks.amin(dim=(2, 3)),
            "by its first pixel": blocks[:, :, 0, 0],
            "by its middle": blocks[:, :, P // 2, P // 2],
            "in pixels": blocks.sum(dim=(2, 3)),
            "rounded down": blocks.mean(dim=(2, 3)),
        }[count]  # (rows, columns)
        if count == "rounded down":
            whole = torch.zeros_like(share)
            whole[top // P : bottom // P, left // P : right_ // P] = 1
            share = whole
        inside.append((share if order == "rows" else share.T).flatten())
    share = torch.stack(inside)  # (B, N)
    mass = (attention * share).sum(dim=1)  # (B,)
    return {
        "inside": mass,
        "outside": 1 - mass,
        "area": share.mean(dim=1),
        "over area": mass / share.mean(dim=1),
        "mean": mass.mean(),
        "average": (attention * share).mean(dim=1),
    }[result]


def _mass_inputs(generator: Generator) -> Iterator[Case]:
    for B, (H, W), P in ((3, (24, 40), 8), (4, (20, 15), 5), (3, (18, 18), 6)):
        N = (H // P) * (W // P)
        raw = torch.randn(B, N, generator=generator, dtype=torch.float64)
        # Every box cuts patches on all sides and is not square.
        top = torch.randint(1, P, (B,), generator=generator)
        left = torch.randint(1, P // 2 + 1, (B,), generator=generator)
        bottom = H - torch.randint(2, P, (B,), generator=generator)
        right_ = left + P + torch.randint(1, P, (B,), generator=generator)
        boxes = torch.stack([top, left, bottom, right_], dim=1)
        yield [(1.5 * raw).softmax(dim=1), boxes, (H, W), P]


mass_inside = FunctionCheck(
    "mass_inside",
    "mass_inside(attention, boxes, image_size, patch_size) -> (B,)",
    right.mass_inside,
    _mass_inputs,
    [
        Mistake(
            "whole patch if touched",
            "a patch that the box cuts counts whole, expected by the share of its area "
            "inside",
            partial(_mass, count="whole if touched"),
        ),
        Mistake(
            "cut patches left out",
            "a patch that the box cuts does not count, expected by the share of its "
            "area inside",
            partial(_mass, count="whole or not"),
        ),
        Mistake(
            "rounded down",
            "the sides of the box are rounded down to whole patches, expected each "
            "patch by the share of its area inside",
            partial(_mass, count="rounded down"),
        ),
        Mistake(
            "by the first pixel",
            "a patch counts whole or not at all, by its first pixel, expected by the "
            "share of its area inside",
            partial(_mass, count="by its first pixel"),
        ),
        Mistake(
            "by the middle",
            "a patch counts whole or not at all, by its middle, expected by the share "
            "of its area inside",
            partial(_mass, count="by its middle"),
        ),
        Mistake(
            "pixels counted whole",
            "every pixel inside counts with the whole share of its patch, expected "
            "with its part of it: a patch has P·P pixels",
            partial(_mass, count="in pixels"),
        ),
        Mistake(
            "left before top",
            "the box is read as left, top, right, bottom; it is top, left, bottom, "
            "right",
            partial(_mass, sides="left top right bottom"),
        ),
        Mistake(
            "height and width of the box",
            "bottom and right are taken for the height and the width of the box; they "
            "are a row and a column of the image",
            partial(_mass, sides_long=True),
        ),
        Mistake(
            "first image's box",
            "all images get the box of the first; each has a row of its own",
            partial(_mass, one_box=True),
        ),
        Mistake(
            "one pixel too many",
            "the box is a pixel too large: bottom and right are the first pixels "
            "outside",
            partial(_mass, end=1),
        ),
        Mistake(
            "one pixel too few",
            "the box is a pixel too small: bottom and right are the first pixels "
            "outside, so the ones before them are in",
            partial(_mass, end=-1),
        ),
        Mistake(
            "columns first",
            "the patches are counted down the columns; they are numbered row by row",
            partial(_mass, order="columns"),
        ),
        Mistake(
            "outside",
            "the share outside the box is returned",
            partial(_mass, result="outside"),
        ),
        Mistake(
            "area of the box",
            "the box's share of the image is returned: the attention takes no part",
            partial(_mass, result="area"),
        ),
        Mistake(
            "divided by the area",
            "the share is divided by the box's area, expected the share itself",
            partial(_mass, result="over area"),
        ),
        Mistake(
            "width first",
            "image_size is read as (width, height); the height comes first",
            lambda attention, boxes, size, P: _mass(attention, boxes, size[::-1], P),
        ),
        Mistake(
            "averaged over patches",
            "the shares inside are averaged over all patches, expected added up",
            partial(_mass, result="average"),
        ),
        Mistake(
            "averaged over images",
            "the images are averaged, expected a number for each, (B,)",
            partial(_mass, result="mean"),
        ),
    ],
    hints=(
        "Spread each patch's share evenly over its P·P pixels. Which pixels lie in the "
        "box?",
        "A patch counts by (rows of pixels inside / P) times (columns inside / P); the "
        "first pixel outside is bottom, and right.",
        "pixels = attention.reshape(B, rows, columns) / P², repeated P times along "
        "both axes; pixels[i, top:bottom, left:right].sum() for each image.",
    ),
    shape="(B,)",
    batched=(0, 1),
    gradients=False,
)
