"""The sets that are trained on, by name.

All but CIFAR-10 and your own folders ship with this package, scikit-learn and
scikit-image.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from vit_steps import optional
from vit_steps.data import cluttered_digits, published
from vit_steps.data.augmentation import NAMES, augmentation, prepare
from vit_steps.data.folder import load_folder
from vit_steps.data.handwritten_digits import digits, digits_split
from vit_steps.data.sets import (
    ImageData,
    ImageSet,
    channel_statistics,
    stratified_split,
)

Parts = dict[str, ImageSet]
_TEN_DIGITS = tuple("0123456789")


def load(
    name: str,
    augment: bool = True,
    seed: int = 0,
    merge_validation: bool = False,
    **options: Any,
) -> ImageData:
    """Images for training, validation and testing, ready for a DataLoader.

    =================  ====================  ==================================
    name               train, validation,    options
                       test
    =================  ====================  ==================================
    digits             1122, 225, 450
    cluttered-digits   40,000, 1000, 1000    counts: three others
    fashion-mnist      5000, 1000, 1000      full=True: 55,000, 5000, 10,000;
                                             root, download: see fashion_mnist
    cifar-10           45,000, 5000, 10,000  root, download: see cifar10
    folder             as it is              root, image_size, share=0.1,
                                             in_channels
    =================  ====================  ==================================

    A folder has one folder of images for each class. Where ``root`` has ``train`` with
    those, and ``val`` or ``test``, they are the parts, and of a lone ``val`` or
    ``test`` the test; what is missing is split off, ``share`` of the images each, every
    class in proportion. ``in_channels=1`` makes its images grey, 3 coloured; left out,
    they are grey if all files are.

    Images are normalised by mean and standard deviation of the training images, those
    of a folder by ImageNet's, over the three channels for grey.

    Args:
        augment: change the training images at random each time they are looked at, by
            ``augmentation(name)``. The randomness is PyTorch's own: seed it.
        seed: of what is held out, and of how the digits are cluttered.
        merge_validation: add the validation images to the training images, for the last
            training, when nothing is left to choose. ``validation`` stays as it is, but
            is no longer unseen: its accuracy says nothing then.

    Raises:
        ValueError: if there is no data of that name, or it cannot be split.
        FileNotFoundError, ConnectionError: if it is not on this computer, or cannot be
            downloaded; say how to get it.
    """
    if name not in NAMES:
        raise ValueError(f"name: got {name!r}, expected one of {', '.join(NAMES)}")
    optional.torchvision()
    if name == "folder":
        return load_folder(
            augment=augment, seed=seed, merge_validation=merge_validation, **options
        )
    classes, parts = _READERS[name](seed, **options)
    if merge_validation:
        parts["train"] = _merge(parts["train"], parts["validation"])
    mean, std = channel_statistics(parts["train"].images)
    height, width = parts["train"].images.shape[2:]
    for part, images in parts.items():
        augmented = augment and part == "train"
        changes = [augmentation(name, (height, width))] if augmented else []
        images.transform = prepare(changes, mean, std)
    return ImageData(name, classes, **parts, mean=mean, std=std)


def _read_digits(seed: int) -> tuple[tuple[str, ...], Parts]:
    images = ImageSet(*digits())
    indices = digits_split(images.labels, seed)
    return _TEN_DIGITS, {part: images.subset(indices[part]) for part in indices}


def _read_cluttered_digits(
    seed: int, counts: Sequence[int] = tuple(cluttered_digits.PARTS.values())
) -> tuple[tuple[str, ...], Parts]:
    make = cluttered_digits.make
    sizes = zip(cluttered_digits.PARTS, counts, strict=True)
    return _TEN_DIGITS, {part: ImageSet(*make(n, part, seed)) for part, n in sizes}


def _read_fashion_mnist(
    seed: int, full: bool = False, **source: Any
) -> tuple[tuple[str, ...], Parts]:
    read = partial(published.fashion_mnist, full=full, **source)
    return published.FASHION_CLASSES, _parts(read, 1 / 12 if full else 1 / 6, seed)


def _read_cifar10(seed: int, **source: Any) -> tuple[tuple[str, ...], Parts]:
    read = partial(published.cifar10, **source)
    return published.CIFAR10_CLASSES, _parts(read, 1 / 10, seed)


_READERS: dict[str, Callable[..., tuple[tuple[str, ...], Parts]]] = {
    "digits": _read_digits,
    "cluttered-digits": _read_cluttered_digits,
    "fashion-mnist": _read_fashion_mnist,
    "cifar-10": _read_cifar10,
}


def _parts(read: Callable[[str], Any], share: float, seed: int) -> Parts:
    """A published set's two parts, and a share of the first for validation."""
    train, test = (ImageSet(*read(part)) for part in ("train", "test"))
    size = round(share * len(train))
    others, held_out = stratified_split(train.labels, size, seed)
    parts = {"train": train.subset(others), "validation": train.subset(held_out)}
    return parts | {"test": test}


def _merge(one: ImageSet, other: ImageSet) -> ImageSet:
    images = torch.cat([one.images, other.images])
    labels = torch.cat([one.labels, other.labels])
    if one.boxes is None or other.boxes is None:
        return ImageSet(images, labels)
    return ImageSet(images, labels, torch.cat([one.boxes, other.boxes]))
