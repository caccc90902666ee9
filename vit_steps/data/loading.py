"""The data sets that models are trained on, loaded by name.

All but CIFAR-10 and your own folders ship with this package, scikit-learn and
scikit-image.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import torch

from vit_steps.data import cluttered_digits, published
from vit_steps.data.augmentation import augmentation
from vit_steps.data.folder import read_folder
from vit_steps.data.published import by_torchvision, digits, digits_split
from vit_steps.data.sets import (
    IMAGENET_MEAN,
    IMAGENET_STD,
    ImageData,
    ImageSet,
    channel_statistics,
    hold_out,
    listed,
    places,
)
from vit_steps.optional import imported
from vit_steps.preprocessing import Preprocessing
from vit_steps.sizes import check_choice

Parts = dict[str, ImageSet]
TEN_DIGITS = tuple("0123456789")


def load(
    name: str,
    augment: bool = True,
    seed: int = 0,
    merge_validation: bool = False,
    preprocessing: Preprocessing | None = None,
    **options: Any,
) -> ImageData:
    """Return images for training, validation and testing, ready for a DataLoader.

    =================  ====================  ==================================
    name               train, validation,    options
                       test
    =================  ====================  ==================================
    digits             1122, 225, 450
    cluttered-digits   40,000, 1000, 1000    counts: three numbers
    fashion-mnist      5000, 1000, 1000      full=True: 55,000, 5000, 10,000;
                                             root, download: see by_torchvision
    cifar-10           45,000, 5000, 10,000  root, download
    folder             as it is              root, image_size, share=0.1,
                                             in_channels
    =================  ====================  ==================================

    A folder has one folder of images for each class. Where ``root`` has the folders
    ``train`` and ``val`` or ``test`` with class folders in them, these are the parts
    (``valid``, ``validation`` and ``dev`` mean ``val``, in any case of letters), and a
    ``val`` without a ``test`` is the test. A part that is missing is split off,
    ``share`` of the images, every class in proportion. ``in_channels=1`` makes a
    folder's images grey.

    Images are normalised by mean and standard deviation of the training images, those
    of a folder by ImageNet's, averaged over the three channels for grey.

    Args:
        augment: change the training images at random each time they are read, by
            ``augmentation(name)``. The randomness is PyTorch's own: seed it.
        seed: of what is held out, and of how the digits are cluttered.
        merge_validation: train on the validation images too, for the last training,
            when nothing is left to choose. ``validation`` stays as it is.
        preprocessing: a trained model's. Its mean and std take the place of the data's,
            and its classes number the labels. A model with a new head has no classes
            and takes the data's.

    Raises:
        ValueError: if there is no data of that name, it has no such option, it cannot
            be split, or the preprocessing has other channels or other classes.
        FileNotFoundError: if it is not on this computer; the message helps to get it.
    """
    check_choice(name, "name", READERS)
    _, *own = signature(READERS[name]).parameters
    for option in options:
        if option not in own:
            expected = f"expected {', '.join(own) or 'none'}"
            raise ValueError(f"{option}: {name} has no such option, {expected}")
    v2 = imported("torchvision.transforms.v2")
    if name == "folder" and preprocessing is not None:
        options["in_channels"] = options.get("in_channels") or len(preprocessing.mean)
    classes, parts = READERS[name](seed, **options)
    if merge_validation:
        parts["train"] = parts["train"].joined(parts["validation"])
    train = parts["train"]
    if name == "folder":
        image_size = train.read.image_size
        mean, std = IMAGENET_MEAN, IMAGENET_STD
        if train.read.in_channels == 1:
            mean, std = (sum(mean) / 3,), (sum(std) / 3,)
    else:
        image_size = tuple(train.images.shape[2:])
        mean, std = channel_statistics(train.images)
    known = adopted(preprocessing, Preprocessing(mean, std, classes))
    numbers = torch.tensor(places(classes, known.classes))
    to_float = v2.ToDtype(torch.float32, scale=True)
    for part, images in parts.items():
        varied = augment and part == "train"
        changes = [augmentation(name, image_size)] if varied else []
        normalize = v2.Normalize(known.mean, known.std)
        images.transform = v2.Compose([to_float, *changes, normalize])
        images.preprocessing = known
        images.labels = numbers[images.labels]
        if name == "folder":
            images.read = replace(images.read, whole=varied)
    return ImageData(name, known.classes, **parts, mean=known.mean, std=known.std)


def adopted(known: Preprocessing | None, own: Preprocessing) -> Preprocessing:
    """Return a model's preprocessing; the data's own where the model has none."""
    if known is None:
        return own
    came, expected = len(known.mean), len(own.mean)
    if came != expected:
        raise ValueError(f"preprocessing: got {came} channels, expected {expected}")
    if not known.classes:
        return replace(known, classes=own.classes)
    if not places(own.classes, known.classes):
        raise ValueError(
            f"preprocessing: got a model's classes {listed(known.classes)}, expected "
            f"those of the images, {listed(own.classes)}, in any order; rename these, "
            f"or make a new head with from_pretrained(num_classes={len(own.classes)})"
        )
    return known


def _read_digits(seed: int) -> tuple[tuple[str, ...], Parts]:
    images = ImageSet(*digits())
    indices = digits_split(images.labels, seed)
    return TEN_DIGITS, {part: images.subset(indices[part]) for part in indices}


def _read_cluttered_digits(
    seed: int, counts: Sequence[int] = tuple(cluttered_digits.PARTS.values())
) -> tuple[tuple[str, ...], Parts]:
    make = cluttered_digits.make
    sizes = zip(cluttered_digits.PARTS, counts, strict=True)
    return TEN_DIGITS, {part: ImageSet(*make(n, part, seed)) for part, n in sizes}


def _read_fashion_mnist(
    seed: int,
    full: bool = False,
    root: Path | str | None = None,
    download: bool = False,
) -> tuple[tuple[str, ...], Parts]:
    if not full and (root or download):
        raise ValueError("full: got False with a root or a download, expected True")
    whole = partial(by_torchvision, "Fashion-MNIST", root=root, download=download)
    read, share = (whole, 1 / 12) if full else (published.fashion_mnist, 1 / 6)
    return published.FASHION_CLASSES, _parts(read, share, seed)


def _read_cifar10(
    seed: int, root: Path | str | None = None, download: bool = False
) -> tuple[tuple[str, ...], Parts]:
    read = partial(by_torchvision, "CIFAR-10", root=root, download=download)
    return published.CIFAR10_CLASSES, _parts(read, 1 / 10, seed)


def _parts(read: Callable[[str], Any], share: float, seed: int) -> Parts:
    """Return a published set's two parts, and a share of the first for validation."""
    parts = {part: ImageSet(*read(part)) for part in ("train", "test")}
    hold_out(parts, round(share * len(parts["train"])), seed)
    return parts


READERS: dict[str, Callable[..., tuple[tuple[str, ...], Any]]] = {
    "digits": _read_digits,
    "cluttered-digits": _read_cluttered_digits,
    "fashion-mnist": _read_fashion_mnist,
    "cifar-10": _read_cifar10,
    "folder": read_folder,
}
