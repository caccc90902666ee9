"""Random changes that leave an image's class what it is."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from vit_steps.sizes import Size, as_pair

NAMES = ("digits", "cluttered-digits", "fashion-mnist", "cifar-10", "folder")


def augmentation(name: str, image_size: Size) -> Callable[[Tensor], Tensor]:
    """Random changes to one image, float between 0 and 1, before normalisation.

    What is harmless depends on what is seen, so ``name`` is one of those of ``load``.

    Shape: (C, H, W) -> (C, H, W), of ``image_size``
    Raises: ValueError if there is no data of that name.
    """
    if name not in NAMES:
        raise ValueError(f"name: got {name!r}, expected one of {', '.join(NAMES)}")
    from torchvision.transforms import InterpolationMode, v2

    size = as_pair(image_size, "image_size")
    photograph = [
        v2.RandomHorizontalFlip(),
        v2.ColorJitter(brightness=0.2, contrast=0.2, saturation=0.2),
        v2.RandomErasing(p=0.25, scale=(0.02, 0.2), value=0.5),  # with grey
    ]
    # Digits are never flipped, and turned so little that no 6 becomes a 9. Articles and
    # photographs are flipped from side to side, not upside down.
    changes: dict[str, list[v2.Transform]] = {
        "digits": [
            v2.RandomAffine(
                degrees=12,
                translate=(1 / 8, 1 / 8),  # a pixel
                scale=(0.9, 1.1),
                interpolation=InterpolationMode.BILINEAR,
            )
        ],
        # No shift and no erasing: the making has already put the digit anywhere, with
        # enough beside it.
        "cluttered-digits": [v2.ColorJitter(brightness=0.2, contrast=0.2)],
        "fashion-mnist": [
            v2.RandomCrop(size, padding=2),  # with black, as the ground is
            v2.RandomHorizontalFlip(),
            v2.RandomErasing(p=0.25, scale=(0.02, 0.2)),
        ],
        "cifar-10": [
            v2.RandomCrop(size, padding=4, padding_mode="reflect"),
            *photograph,
        ],
        # At least a third of the photograph, so that the object is mostly in it.
        "folder": [
            v2.RandomResizedCrop(size, scale=(0.35, 1.0), antialias=True),
            *photograph,
        ],
    }
    return v2.Compose(changes[name])


def prepare(
    changes: Sequence[Callable[[Tensor], Tensor]],
    mean: Sequence[float],
    std: Sequence[float],
) -> Callable[[Tensor], Tensor]:
    """From uint8 to a model's input, with changes on the way while it is in [0, 1]."""
    from torchvision.transforms import v2

    to_float = v2.ToDtype(torch.float32, scale=True)
    return v2.Compose([to_float, *changes, v2.Normalize(mean, std)])
