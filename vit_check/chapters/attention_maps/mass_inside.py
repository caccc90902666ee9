import torch
from torch import Generator, Tensor

from vit_check.engine.drawing import Cases, normal
from vit_check.engine.functions import checked_by


def _mass_inputs(generator: Generator) -> Cases:
    for B, (H, W), P in ((3, (24, 40), 8), (4, (20, 15), 5), (3, (18, 18), 6)):
        N = (H // P) * (W // P)
        raw = normal(generator, B, N)
        # Every box cuts patches on all sides and is not square.
        top = torch.randint(1, P, (B,), generator=generator)
        left = torch.randint(1, P // 2 + 1, (B,), generator=generator)
        bottom = H - torch.randint(2, P, (B,), generator=generator)
        right_ = left + P + torch.randint(1, P, (B,), generator=generator)
        boxes = torch.stack([top, left, bottom, right_], dim=1)
        yield [(1.5 * raw).softmax(dim=1), boxes, (H, W), P]


TABLE = """
mass_inside(attention, boxes, image_size, patch_size) -> (B,)
whole patch if touched: blocks.mean -> blocks.amax
    a patch that the box cuts counts whole, expected by the share of its area inside
cut patches left out: blocks.mean -> blocks.amin
    a patch that the box cuts does not count, expected by the share of its area inside
by the middle: blocks.mean(dim=(2, 3)) -> blocks[:, :, P // 2, P // 2]
    a patch counts by its middle, whole or not at all, expected by its area inside
left before top: top, left, bottom, right in -> left, top, right, bottom in
    the box is read as left, top, right, bottom; it is top, left, bottom, right
height and width of the box
  top:bottom, left:right -> top : top + bottom, left : left + right
    bottom and right are taken for the height and the width of the box; they are a row
    and a column of the image
first image's box: boxes.tolist() -> boxes[:1].expand_as(boxes).tolist()
    all images get the box of the first; each has a row of its own
one pixel too many: top:bottom, left:right -> top : bottom + 1, left : right + 1
    the box is a pixel too large: bottom and right are the first pixels outside
columns first: blocks.mean(dim=(2, 3)) -> blocks.mean(dim=(2, 3)).T
    the patches are counted down the columns; they are numbered row by row
width first: (H, W), P -> (W, H), P
    image_size is read as (width, height); the height comes first
? Spread each patch's share evenly over its P·P pixels. Which pixels lie in the box?
? A patch counts by (rows of pixels inside / P) times (columns inside / P); the first
  pixel outside is bottom, and right.
? pixels = attention.reshape(B, rows, columns) / P², repeated P times along both axes;
  pixels[i, top:bottom, left:right].sum() for each image.
"""


@checked_by(TABLE, inputs=_mass_inputs, batched=(0, 1), gradients=False)
def mass_inside(
    attention: Tensor, boxes: Tensor, image_size: tuple[int, int], patch_size: int
) -> Tensor:
    (H, W), P = image_size, patch_size
    inside = []
    for top, left, bottom, right in boxes.tolist():
        pixels = attention.new_zeros(H, W)
        pixels[top:bottom, left:right] = 1
        blocks = pixels.unfold(0, P, P).unfold(1, P, P)  # (rows, columns, P, P)
        inside.append(blocks.mean(dim=(2, 3)).flatten())
    share = torch.stack(inside)  # (B, N)
    return (attention * share).sum(dim=1)  # (B,)
