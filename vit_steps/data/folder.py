"""A folder of images, with one folder in it for each class."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from PIL import Image, ImageOps
from torch import Tensor
from torch.utils.data import Dataset

from vit_steps.data.augmentation import augmentation, prepare
from vit_steps.data.photographs import IMAGENET_MEAN, IMAGENET_STD
from vit_steps.data.sets import ImageData, stratified_split
from vit_steps.sizes import Size, as_pair


@dataclass(frozen=True)
class ImageFiles(Dataset[tuple[Tensor, int]]):
    """Image files with their labels, read from disk each time.

    Args:
        samples: path and label of each.
        transform: from an image of Pillow's to a model's input.
        mode: Pillow's name for the image's colours, "RGB" or "L" for grey.
    """

    samples: list[tuple[str, int]]
    transform: Callable[[Image.Image], Tensor]
    mode: str = "RGB"

    @property
    def labels(self) -> list[int]:
        return [label for _, label in self.samples]

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        path, label = self.samples[index]
        with Image.open(path) as image:
            ImageOps.exif_transpose(image, in_place=True)  # as it was held
            return self.transform(image.convert(self.mode)), label


def load_folder(
    root: Path | str,
    image_size: Size = 224,
    augment: bool = True,
    seed: int = 0,
    merge_validation: bool = False,
    share: float = 0.1,
    in_channels: int | None = None,
) -> ImageData:
    """Parts of a folder of images; the arguments are those of ``load``.

    Raises:
        FileNotFoundError: if there is no such folder.
        ValueError: if its parts have different classes, or it cannot be split.
    """
    if in_channels not in (1, 3, None):
        raise ValueError(
            f"in_channels: got {in_channels}, expected 1 for grey, 3 for colour"
        )
    root = Path(root)
    classes, train, held_out = _listed(root)
    count = round(share * (len(train) + sum(map(len, held_out))))
    while len(held_out) < 2:  # first the test, if there is none, then the validation
        labels = torch.tensor([label for _, label in train])
        kept, taken = stratified_split(labels, count, seed)
        held_out.insert(0, [train[i] for i in taken.tolist()])
        train = [train[i] for i in kept.tolist()]
    validation, test = held_out
    if in_channels is None:
        in_channels = 1 if _all_grey([*train, *validation, *test]) else 3
    if merge_validation:
        train = train + validation

    from torchvision.transforms import v2

    height, width = as_pair(image_size, "image_size")
    # As much of the photograph's middle as fits, proportions as they are.
    middle = partial(
        ImageOps.fit, size=(width, height), method=Image.Resampling.BICUBIC
    )
    mode = "L" if in_channels == 1 else "RGB"
    mean, std = (
        (sum(numbers) / 3,) if in_channels == 1 else numbers
        for numbers in (IMAGENET_MEAN, IMAGENET_STD)
    )
    as_it_is = v2.Compose([middle, v2.PILToTensor(), prepare([], mean, std)])
    changed = prepare([augmentation("folder", image_size)], mean, std)
    changed = v2.Compose([v2.PILToTensor(), changed])
    return ImageData(
        "folder",
        classes,
        ImageFiles(train, changed if augment else as_it_is, mode),
        ImageFiles(validation, as_it_is, mode),
        ImageFiles(test, as_it_is, mode),
        mean,
        std,
    )


def _all_grey(samples: list[tuple[str, int]]) -> bool:
    """Whether no file says that it has colours; reads their first bytes only."""
    for path, _ in samples:
        with Image.open(path) as image:
            if image.mode not in ("1", "L", "LA"):
                return False
    return True


def _listed(
    root: Path,
) -> tuple[tuple[str, ...], list[tuple[str, int]], list[list[tuple[str, int]]]]:
    """Classes, training files, and those of ``val`` and ``test`` where they are."""
    from torchvision.datasets import ImageFolder

    if not root.is_dir():
        raise FileNotFoundError(
            f"root: there is no folder {root}; expected one with a folder of images "
            "for each class"
        )
    given = [part for part in ("train", "val", "test") if (root / part).is_dir()]
    whole = given[:1] != ["train"] or len(given) == 1
    first, *others = [
        ImageFolder(path) for path in ([root] if whole else [root / p for p in given])
    ]
    for folder in others:
        if folder.classes != first.classes:
            raise ValueError(
                f"{folder.root}: got classes {', '.join(folder.classes)}, expected "
                f"those of train, {', '.join(first.classes)}; give both the same "
                "folders"
            )
    return tuple(first.classes), first.samples, [folder.samples for folder in others]
