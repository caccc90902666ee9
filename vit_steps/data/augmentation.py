"""Random changes to training images that do not change their class."""

from collections.abc import Callable

from torch import Tensor

from vit_steps.sizes import Size, as_pair, check_choice


def augmentation(name: str, image_size: Size) -> Callable[[Tensor], Tensor]:
    """Return random changes to one image, float from 0 to 1, before normalisation.

    Which changes are harmless depends on the data: ``name`` is one that ``load`` takes.

    Shape: (C, H, W) -> (C, H, W), of ``image_size``
    Raises: ValueError if there is no data of that name.
    """
    from torchvision.transforms import InterpolationMode, v2

    size = as_pair(image_size, "image_size")
    photograph = [
        v2.RandomHorizontalFlip(),
        v2.ColorJitter(brightness=0.2, contrast=0.2, saturation=0.2),
        v2.RandomErasing(p=0.25, scale=(0.02, 0.2), value=0.5),  # fills with grey
    ]
    # digits are not flipped, and turned so little that no 6 becomes a 9; clothes and
    # photographs are flipped left to right, which leaves them plausible
    changes: dict[str, list[v2.Transform]] = {
        "digits": [
            v2.RandomAffine(
                degrees=12,
                translate=(1 / 8, 1 / 8),  # one pixel of eight
                scale=(0.9, 1.1),
                interpolation=InterpolationMode.BILINEAR,
            )
        ],
        # no shift and no erasing, since the digit is already anywhere, among scraps
        "cluttered-digits": [v2.ColorJitter(brightness=0.2, contrast=0.2)],
        "fashion-mnist": [
            v2.RandomCrop(size, padding=2),  # with black, the background's colour
            v2.RandomHorizontalFlip(),
            v2.RandomErasing(p=0.25, scale=(0.02, 0.2)),
        ],
        "cifar-10": [
            v2.RandomCrop(size, padding=4, padding_mode="reflect"),
            *photograph,
        ],
        # a third of the photograph mostly still shows the object
        "folder": [
            v2.RandomResizedCrop(size, scale=(0.35, 1.0), antialias=True),
            *photograph,
        ],
    }
    check_choice(name, "name", changes)
    return v2.Compose(changes[name])
