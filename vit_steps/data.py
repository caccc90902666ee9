"""Real images: six photographs to look at, and the sets that are trained on.

All but CIFAR-10 and your own folders need no network: they ship inside scikit-learn and
scikit-image, which must be installed, and with this package.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import Tensor

from vit_steps import cluttered_digits, oracles
from vit_steps.digits import digits, digits_split
from vit_steps.image_data import (
    ImageData,
    ImageSet,
    channel_statistics,
    stratified_split,
)
from vit_steps.published_sets import (
    CIFAR10_CLASSES,
    FASHION_CLASSES,
    cifar10,
    fashion_mnist,
)
from vit_steps.sizes import Size, as_pair

if TYPE_CHECKING:
    from torchvision.transforms import v2


@dataclass(frozen=True)
class Photo:
    """Where a sample photograph comes from, and on what terms."""

    description: str
    library: str
    loader: str  # the library's own name for it
    credit: str
    licence: str


PHOTOS = {
    "china": Photo(
        "a temple in front of a pale blue sky",
        "scikit-learn",
        "china.jpg",
        "danielbuechele, Flickr",
        "CC BY 2.0",
    ),
    "flower": Photo(
        "an orange dahlia before dark leaves",
        "scikit-learn",
        "flower.jpg",
        "vultilion, Flickr",
        "CC BY 2.0",
    ),
    "astronaut": Photo(
        "Eileen Collins in an orange suit, a shuttle behind her",
        "scikit-image",
        "astronaut",
        "NASA",
        "public domain",
    ),
    "cat": Photo(
        "the face of a tabby cat",
        "scikit-image",
        "chelsea",
        "Stéfan van der Walt",
        "CC0",
    ),
    "coffee": Photo(
        "a cup of espresso on a wooden table",
        "scikit-image",
        "coffee",
        "Rachel Michetti, at Pikolo Espresso Bar",
        "CC0",
    ),
    "rocket": Photo(
        "a rocket on its launch pad at dusk", "scikit-image", "rocket", "SpaceX", "CC0"
    ),
}

# Mean and standard deviation of ImageNet's channels, the customary normalisation.
IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


def photo(name: str, size: Size | None = None) -> Tensor:
    """Load a sample photograph.

    Args:
        name: a key of ``PHOTOS``.
        size: height and width to scale to, an int for a square, cutting off what
            overhangs around the middle; None leaves the photograph as it is.

    Shape:
        -> (3, H, W), float32 between 0 and 1

    Raises:
        ValueError: if there is no photograph of that name.
    """
    if name not in PHOTOS:
        raise ValueError(f"name: got {name!r}, expected one of {', '.join(PHOTOS)}")
    source = PHOTOS[name]
    if source.library == "scikit-learn":
        from sklearn.datasets import load_sample_image

        array = load_sample_image(source.loader)
    else:
        from skimage import data

        array = getattr(data, source.loader)()
    image = Image.fromarray(array)
    if size is not None:
        height, width = as_pair(size, "size")
        image = ImageOps.fit(image, (width, height), Image.Resampling.BICUBIC)
    pixels = torch.from_numpy(np.array(image))  # (H, W, C)
    return pixels.permute(2, 0, 1).contiguous().float() / 255


def photos(size: Size) -> Tensor:
    """All sample photographs, in the order of ``PHOTOS``.

    Shape:
        -> (6, 3, H, W), float32 between 0 and 1
    """
    return torch.stack([photo(name, size) for name in PHOTOS])


def normalize(
    images: Tensor,
    mean: Sequence[float] = IMAGENET_MEAN,
    std: Sequence[float] = IMAGENET_STD,
) -> Tensor:
    """Shift and scale each channel, as is customary for models trained on ImageNet.

    Shape:
        (..., C, H, W) -> (..., C, H, W)
    """
    shift, scale = images.new_tensor(mean), images.new_tensor(std)
    return (images - shift[:, None, None]) / scale[:, None, None]


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
    folder             as it is              root, image_size, share=0.1
    =================  ====================  ==================================

    A folder has one folder of images for each class. Where ``root`` has ``train`` with
    those, and ``val`` or ``test``, they are the parts, and of a lone ``val`` or
    ``test`` the test; what is missing is split off, ``share`` of the images each, every
    class in proportion.

    Images are normalised by mean and standard deviation of the training images, those
    of a folder by ImageNet's.

    Args:
        name: one of ``NAMES``.
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
    if name == "folder":
        return _load_folder(augment, seed, merge_validation, **options)
    classes, parts = _READERS[name](seed, **options)
    if merge_validation:
        parts["train"] = _merge(parts["train"], parts["validation"])
    mean, std = channel_statistics(parts["train"].images)
    height, width = parts["train"].images.shape[2:]
    for part, images in parts.items():
        changes = [augmentation(name, (height, width))]
        images.transform = _transform(
            changes if augment and part == "train" else [], mean, std
        )
    return ImageData(name, classes, **parts, mean=mean, std=std)


def augmentation(name: str, image_size: Size) -> "v2.Compose":
    """Random changes that leave an image's class what it is.

    Each is for one image, float between 0 and 1, before normalisation.

    Args:
        name: one of ``NAMES``; what is harmless depends on what is seen.
        image_size: pixels of what comes out.

    Shape:
        (C, H, W) -> (C, H, W), of that size

    Raises:
        ValueError: if there is no data of that name.
    """
    if name not in NAMES:
        raise ValueError(f"name: got {name!r}, expected one of {', '.join(NAMES)}")
    oracles.torchvision()
    from torchvision.transforms import InterpolationMode, v2

    size = as_pair(image_size, "image_size")
    # Digits are never flipped, and turned so little that no 6 becomes a 9. Articles and
    # photographs are flipped from side to side, not upside down.
    if name == "digits":
        return v2.Compose(
            [
                v2.RandomAffine(
                    degrees=12,
                    translate=(1 / 8, 1 / 8),  # a pixel
                    scale=(0.9, 1.1),
                    interpolation=InterpolationMode.BILINEAR,
                )
            ]
        )
    if name == "cluttered-digits":
        # No shift and no erasing: the making has already put the digit anywhere, with
        # enough beside it.
        return v2.Compose([v2.ColorJitter(brightness=0.2, contrast=0.2)])
    if name == "fashion-mnist":
        return v2.Compose(
            [
                v2.RandomCrop(size, padding=2),  # with black, as the ground is
                v2.RandomHorizontalFlip(),
                v2.RandomErasing(p=0.25, scale=(0.02, 0.2)),
            ]
        )
    crop: v2.Transform
    if name == "cifar-10":
        crop = v2.RandomCrop(size, padding=4, padding_mode="reflect")
    else:
        # At least a third of the photograph, so that the object is mostly in it.
        crop = v2.RandomResizedCrop(size, scale=(0.35, 1.0), antialias=True)
    return v2.Compose(
        [
            crop,
            v2.RandomHorizontalFlip(),
            v2.ColorJitter(brightness=0.2, contrast=0.2, saturation=0.2),
            v2.RandomErasing(p=0.25, scale=(0.02, 0.2), value=0.5),  # with grey
        ]
    )


def _transform(
    changes: Sequence[Callable[[Tensor], Tensor]],
    mean: Sequence[float],
    std: Sequence[float],
) -> "v2.Compose":
    from torchvision.transforms import v2

    to_float = v2.ToDtype(torch.float32, scale=True)
    return v2.Compose([to_float, *changes, v2.Normalize(mean, std)])


Parts = dict[str, ImageSet]


def _read_digits(seed: int) -> tuple[tuple[str, ...], Parts]:
    images = ImageSet(*digits())
    indices = digits_split(images.labels, seed)
    return _TEN_DIGITS, {part: images.subset(indices[part]) for part in indices}


def _read_cluttered_digits(
    seed: int, counts: Sequence[int] = tuple(cluttered_digits.PARTS.values())
) -> tuple[tuple[str, ...], Parts]:
    make = cluttered_digits.make
    parts = {
        part: ImageSet(*make(count, part, seed))
        for part, count in zip(cluttered_digits.PARTS, counts, strict=True)
    }
    return _TEN_DIGITS, parts


def _read_fashion_mnist(
    seed: int,
    full: bool = False,
    root: Path | str | None = None,
    download: bool = False,
) -> tuple[tuple[str, ...], Parts]:
    train, test = (
        ImageSet(*fashion_mnist(part, full, root, download))
        for part in ("train", "test")
    )
    return FASHION_CLASSES, _hold_out(train, 5000 if full else 1000, seed, test)


def _read_cifar10(
    seed: int, root: Path | str | None = None, download: bool = False
) -> tuple[tuple[str, ...], Parts]:
    train, test = (
        ImageSet(*cifar10(part, root, download)) for part in ("train", "test")
    )
    return CIFAR10_CLASSES, _hold_out(train, len(train) // 10, seed, test)


_TEN_DIGITS = tuple("0123456789")
_READERS: dict[str, Callable[..., tuple[tuple[str, ...], Parts]]] = {
    "digits": _read_digits,
    "cluttered-digits": _read_cluttered_digits,
    "fashion-mnist": _read_fashion_mnist,
    "cifar-10": _read_cifar10,
}
NAMES = (*_READERS, "folder")


def _hold_out(train: ImageSet, size: int, seed: int, test: ImageSet) -> Parts:
    others, held_out = stratified_split(train.labels, size, seed)
    return {
        "train": train.subset(others),
        "validation": train.subset(held_out),
        "test": test,
    }


def _merge(one: ImageSet, other: ImageSet) -> ImageSet:
    boxes = None
    if one.boxes is not None and other.boxes is not None:
        boxes = torch.cat([one.boxes, other.boxes])
    return ImageSet(
        torch.cat([one.images, other.images]),
        torch.cat([one.labels, other.labels]),
        boxes,
    )


def _load_folder(
    augment: bool,
    seed: int,
    merge_validation: bool,
    root: Path | str,
    image_size: Size = 224,
    share: float = 0.1,
) -> ImageData:
    """Parts of a folder of images; they are read from disk each time."""
    oracles.torchvision()
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import v2

    root = Path(root)
    if not root.is_dir():
        raise FileNotFoundError(
            f"root: there is no folder {root}; expected one with a folder of images "
            "for each class"
        )
    given = [part for part in ("train", "val", "test") if (root / part).is_dir()]
    if given[:1] == ["train"] and len(given) > 1:
        found = [ImageFolder(root / part) for part in given]
    else:
        found = [ImageFolder(root)]
    classes = tuple(found[0].classes)
    for folder in found[1:]:
        if tuple(folder.classes) != classes:
            raise ValueError(
                f"{folder.root}: got classes {', '.join(folder.classes)}, expected "
                f"those of train, {', '.join(classes)}; give both the same folders"
            )
    train, *held_out = (folder.samples for folder in found)
    count = round(share * sum(len(folder) for folder in found))
    while len(held_out) < 2:  # first the test, if there is none, then the validation
        labels = torch.tensor([label for _, label in train])
        kept, taken = stratified_split(labels, count, seed)
        held_out.insert(0, [train[i] for i in taken.tolist()])
        train = [train[i] for i in kept.tolist()]
    validation, test = held_out
    if merge_validation:
        train = train + validation

    height, width = as_pair(image_size, "image_size")
    # As much of the photograph's middle as fits, proportions as they are.
    middle = partial(
        ImageOps.fit, size=(width, height), method=Image.Resampling.BICUBIC
    )

    def part(samples: list[tuple[str, int]], augmented: bool) -> ImageFolder:
        changes = [augmentation("folder", image_size)] if augmented else []
        to_tensor = [v2.PILToTensor()] if augmented else [middle, v2.PILToTensor()]
        images = ImageFolder(found[0].root)
        images.samples = images.imgs = samples
        images.targets = [label for _, label in samples]
        images.transform = v2.Compose(
            [*to_tensor, _transform(changes, IMAGENET_MEAN, IMAGENET_STD)]
        )
        return images

    return ImageData(
        "folder",
        classes,
        part(train, augment),
        part(validation, False),
        part(test, False),
        IMAGENET_MEAN,
        IMAGENET_STD,
    )
