import torch
from torch import Generator

from vit_check.engine.drawing import Cases, normal
from vit_check.engine.functions import FunctionCheck
from vit_steps.attention_maps import scoring


def _mass_inputs(generator: Generator) -> Cases:
    sizes = ((3, (24, 40), 8), (4, (20, 15), 5), (3, (18, 18), 6))
    for (B, (H, W), P), dtype in zip(sizes, ("double", "float", "double"), strict=True):
        N = (H // P) * (W // P)
        raw = normal(generator, B, N)
        # Boxes cut patches on all sides and are not square, but for the last two, one
        # in a single patch and one of the whole image.
        top = torch.randint(1, P, (B,), generator=generator)
        left = torch.randint(1, P // 2 + 1, (B,), generator=generator)
        bottom = H - torch.randint(2, P, (B,), generator=generator)
        right_ = left + P + torch.randint(1, P, (B,), generator=generator)
        boxes = torch.stack([top, left, bottom, right_], dim=1)
        boxes[-2:] = torch.tensor([[2, 1, 3, 4], [0, 0, H, W]])
        yield [getattr((1.5 * raw).softmax(dim=1), dtype)(), boxes, (H, W), P]


TABLE = """
mass_inside(attention, boxes, image_size, patch_size) -> (B,)
whole patch if touched: inside.diff(dim=1) / length -> inside.diff(dim=1).sign()
    a patch that the box cuts counts whole, expected by the share of its area inside
cut patches left out: inside.diff(dim=1) / length -> inside.diff(dim=1) // length
    a patch that the box cuts does not count, expected by the share of its area inside
by the middle: inside = -> edges = edges[:-1] + length // 2; end = end - 1; inside =
  inside.diff(dim=1) / length -> (inside == edges).to(start)
    a patch counts by its middle, whole or not at all, expected by its area inside
left before top: top, left, bottom, right = -> left, top, right, bottom =
    the box is read as left, top, right, bottom, expected top, left, bottom, right
height and width of the box
  overlap(top, bottom -> overlap(top, top + bottom
  overlap(left, right -> overlap(left, left + right
    bottom and right are taken for height and width, expected for a row and a column
first image's box: boxes.to(attention) -> boxes[:1].expand_as(boxes).to(attention)
    all images get the box of the first, expected each its own
one pixel too many: overlap(top, bottom -> overlap(top, bottom + 1
  overlap(left, right -> overlap(left, right + 1
    the box is a pixel too large: row bottom and column right are the first outside
columns first: share.flatten(1) -> share.mT.flatten(1)
    the patches are counted down the columns, expected row by row
width first: rows, columns = -> columns, rows =
    the map has as many rows as it should have columns: they are height/P and width/P
? Spread each patch's share evenly over its P·P pixels. Which pixels lie in the box?
? A patch counts by (rows of pixels inside / P) times (columns inside / P); the first
  pixel outside is bottom, and right.
? pixels = attention.reshape(B, rows, columns) / P², repeated P times along both axes;
  pixels[i, top:bottom, left:right].sum() for each image.
"""

mass_inside = FunctionCheck(
    scoring.mass_inside,
    TABLE,
    inputs=_mass_inputs,
    parts=[scoring.overlap],
    batched=(0, 1),
    gradients=False,
)
