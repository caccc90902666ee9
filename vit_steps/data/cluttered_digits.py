"""Cluttered digits: a digit somewhere on a texture, among bright scraps of others.

The digit's place is known, so that attention can be scored. The scraps are as bright
as the digit, so that brightness alone does not give its place away, as in Cluttered
MNIST (Mnih et al. 2014, arXiv 1406.6247, section 4.1).
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from vit_steps.data.published import digits, digits_split
from vit_steps.sizes import check_choice, check_count

PARTS = {"train": 40_000, "validation": 1000, "test": 1000}  # usual number of images
TEXTURES = ("brick", "grass", "gravel")

IMAGE, DIGIT, SCRAP = 32, 16, 6  # sides in pixels
TURN = 12.0  # largest rotation, in degrees to either side
ZOOM = 0.1  # largest change of the height or the width, as a share of it
STEP = 2  # pixels; the corners of the box are multiples of it
SCRAPS = 3  # in each image
GAP = 2  # pixels between a scrap and the digit's box
INK = 0.75  # brightness of the faintest digits and scraps; the brightest have 1
BACKGROUND = 0.4  # brightness of the brightest pixels of a texture


def make(
    count: int | None = None, part: str = "train", seed: int = 0
) -> tuple[Tensor, Tensor, Tensor]:
    """Make cluttered digits from scikit-learn's digits and scikit-image's textures.

    The seed draws classes, places, textures and scraps. Whatever the seed, no part
    shares a handwritten digit with another, and the right quarter of each texture is
    the test's alone. If ``count`` is None, it is the part's usual size.

    Shape: -> images (n, 1, 32, 32), float32 between 0 and 1, labels (n,), and boxes (n,
        4): top, left, bottom, right in pixels, bottom and right exclusive
    Raises: ValueError if there is no part of that name, or ``count`` is below 1.
    """
    check_choice(part, "part", PARTS)
    images, labels = digits()
    indices = digits_split(labels)[part]
    *others, last = textures().chunk(4, dim=-1)  # (3, 1, 512, 128) each
    grounds = last if part == "test" else torch.cat(others, dim=-1)
    return cluttered_digits(
        images[indices],
        labels[indices],
        grounds,
        count=PARTS[part] if count is None else count,
        seed=len(PARTS) * seed + list(PARTS).index(part),  # each part has its own draws
    )


def textures() -> Tensor:
    """Return scikit-image's brick, grass and gravel (CC0), in grey.

    Shape: -> (3, 1, 512, 512), float32 between 0 and 1
    """
    from skimage import data

    grounds = [torch.from_numpy(getattr(data, name)()) for name in TEXTURES]
    return torch.stack(grounds)[:, None].float() / 255  # (3, 1, 512, 512)


def cluttered_digits(
    digits: Tensor, labels: Tensor, textures: Tensor, count: int, seed: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Put bright digits on textures, and scraps of other digits around them.

    Shape: (n, 1, h, w), (n,), (t, 1, H, W) -> images (count, 1, 32, 32), labels
        (count,), boxes (count, 4)
    Raises: ValueError if ``count`` is below 1.
    """
    check_count(count, "count")
    generator = torch.Generator().manual_seed(seed)

    def pick(high: int, *shape: int) -> Tensor:
        return torch.randint(high, shape, generator=generator)

    def brightness(*shape: int) -> Tensor:
        return INK + (1 - INK) * torch.rand(*shape, generator=generator)

    def cut(images: Tensor, size: int, *shape: int) -> Tensor:
        """Return random squares of the images: (n, h, w) -> (*shape, size, size)."""
        windows = images.unfold(1, size, 1).unfold(2, size, 1)  # a view
        n, rows, columns = windows.shape[:3]
        return windows[pick(n, *shape), pick(rows, *shape), pick(columns, *shape)]

    # the digit, enlarged, turned and stretched a little, and its box
    chosen = pick(len(digits), count)
    turn = TURN * (2 * torch.rand(count, generator=generator) - 1).deg2rad()
    zoom = 1 + ZOOM * (2 * torch.rand(count, 2, generator=generator) - 1)  # (count, 2)
    affine = torch.zeros(count, 2, 3)
    affine[:, 0, 0] = turn.cos() / zoom[:, 0]
    affine[:, 0, 1] = -turn.sin()
    affine[:, 1, 0] = turn.sin()
    affine[:, 1, 1] = turn.cos() / zoom[:, 1]
    grid = F.affine_grid(affine, [count, 1, DIGIT, DIGIT], align_corners=False)
    drawn = F.grid_sample(digits[chosen], grid, align_corners=False)
    corners = STEP * pick((IMAGE - DIGIT) // STEP + 1, count, 2)  # (count, 2)
    boxes = torch.cat([corners, corners + DIGIT], dim=1)  # (count, 4)
    layer = torch.zeros(count, IMAGE, IMAGE)
    _paste(layer, brightness(count, 1, 1) * drawn[:, 0], corners)  # (count, 16, 16)

    # scraps of any digits, at different places outside the box
    enlarged = F.interpolate(digits, (DIGIT, DIGIT), mode="bilinear")[:, 0]
    middles = corners + (DIGIT - SCRAP) / 2  # of a scrap in the middle of the box
    lines = torch.arange(IMAGE - SCRAP + 1)  # rows or columns where a scrap can begin
    clear = (lines - middles[..., None]).abs() >= (DIGIT + SCRAP) / 2 + GAP
    free = clear[:, 0, :, None] | clear[:, 1, None]  # (count, lines, lines)
    spots = free.flatten(1).float().multinomial(SCRAPS, generator=generator)
    spots = torch.stack([spots // len(lines), spots % len(lines)], dim=2)
    for k in range(SCRAPS):
        scraps = brightness(count, 1, 1) * cut(enlarged, SCRAP, count)
        _paste(layer, scraps, spots[:, k])

    ground = BACKGROUND * cut(textures[:, 0], IMAGE, count)  # (count, 32, 32)
    images = layer + (1 - layer) * ground  # the texture shows where there is no ink
    return images[:, None], labels[chosen], boxes


def _paste(layer: Tensor, pieces: Tensor, corners: Tensor) -> None:
    """Put a piece on each layer, in place; where two overlap, the brighter stays.

    Shape: (count, H, W), (count, size, size), (count, 2)
    """
    steps = torch.arange(pieces.shape[-1])
    rows = corners[:, 0, None] + steps
    columns = corners[:, 1, None] + steps
    index = rows[:, :, None] * layer.shape[-1] + columns[:, None]  # (count, size, size)
    layer.flatten(1).scatter_reduce_(1, index.flatten(1), pieces.flatten(1), "amax")
