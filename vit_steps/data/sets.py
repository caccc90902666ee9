"""Images with labels: a set of them, and the three parts that training needs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from vit_steps.preprocessing import Preprocessing
from vit_steps.tensors import check_tensor

# of ImageNet's channels; most published models expect this normalisation
IMAGENET_MEAN: tuple[float, ...] = (0.485, 0.456, 0.406)
IMAGENET_STD: tuple[float, ...] = (0.229, 0.224, 0.225)


@dataclass(eq=False)
class ImageSet(Dataset[tuple[Tensor, int]]):
    """Labelled images, transformed one by one as they are asked for.

    Shape: images (n, C, H, W), labels (n,), boxes (n, 4)
    Raises: ValueError if a shape is another, or images are neither float32 nor uint8.
    """

    images: Any  # as they were taken, float32 between 0 and 1 or uint8; or their paths
    labels: Tensor  # the class of each image
    boxes: Tensor | None = None  # top, left, bottom, right; the last two exclusive
    transform: Callable[[Tensor], Tensor] | None = None  # to a model's input
    preprocessing: Preprocessing | None = None  # the transform's, and the labels' names
    read: Any = None  # turns a path into an image, before the transform

    def __post_init__(self) -> None:
        if isinstance(self.images, Tensor):
            check_tensor(self.images, "images", "n", "C", "H", "W")
            if (dtype := self.images.dtype) not in (torch.float32, torch.uint8):
                raise ValueError(f"images: got {dtype}, expected float32 or uint8")
        check_tensor(self.labels, "labels", len(self))
        if self.boxes is not None:
            check_tensor(self.boxes, "boxes", len(self), 4)

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        image = self.images[index]  # (C, H, W)
        for step in filter(None, (self.read, self.transform)):
            image = step(image)
        return image, int(self.labels[index])

    def batch(
        self, indices: Sequence[int] | Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return several images, each transformed on its own; None for all of them.

        Shape: -> images (B, C, H, W), labels (B,)
        """
        chosen = torch.as_tensor(range(len(self)) if indices is None else indices)
        images = torch.stack([self[int(index)][0] for index in chosen])
        return images, self.labels[chosen]

    def subset(self, indices: Sequence[int] | Tensor) -> "ImageSet":
        """Return some of the images, in the order of ``indices``."""
        chosen = torch.as_tensor(indices, dtype=torch.int64)
        boxes = None if self.boxes is None else self.boxes[chosen]
        images, labels = self.images[chosen], self.labels[chosen]
        return replace(self, images=images, labels=labels, boxes=boxes)

    def joined(self, other: "ImageSet") -> "ImageSet":
        """Return a set of this one's images followed by the other's."""
        join: Any = torch.cat if isinstance(self.images, Tensor) else np.concatenate
        images, labels = join([self.images, other.images]), [self.labels, other.labels]
        boxes = [part.boxes for part in (self, other) if part.boxes is not None]
        both = torch.cat(boxes) if boxes else None
        return replace(self, images=images, labels=torch.cat(labels), boxes=both)


@dataclass(frozen=True)
class ImageData:
    """Images to train a classifier, to choose its recipe, and to test it in the end.

    The parts yield normalised float32 images (C, H, W) with the number of their class,
    the images of ``train`` augmented too.
    """

    name: str
    classes: tuple[str, ...]
    train: Dataset[tuple[Tensor, int]]
    validation: Dataset[tuple[Tensor, int]]
    test: Dataset[tuple[Tensor, int]]
    mean: tuple[float, ...]
    std: tuple[float, ...]

    @property
    def num_classes(self) -> int:
        """The number of classes, K."""
        return len(self.classes)

    @property
    def preprocessing(self) -> Preprocessing:
        """The mean, std and classes that a model trained on this data has to keep."""
        return Preprocessing(self.mean, self.std, self.classes)


def places(names: Sequence[str], others: Sequence[str]) -> list[int]:
    """Return the index of each class name in ``others``; nothing if the names differ.

    "T-shirt_top" is the same as "T-shirt/top", which cannot be the name of a folder.
    """
    sought = [name.replace("/", "_") for name in names]
    found = [name.replace("/", "_") for name in others]
    same = sorted(sought) == sorted(found)
    return [found.index(name) for name in sought] if same else []


def listed(names: Sequence[str]) -> str:
    """Return names in one line, the first ten if there are more."""
    return ", ".join(names[:10]) + ", ..." * (len(names) > 10)


def normalize(
    images: Tensor,
    mean: Sequence[float] = IMAGENET_MEAN,
    std: Sequence[float] = IMAGENET_STD,
) -> Tensor:
    """Subtract each channel's mean and divide by its standard deviation.

    Shape: (..., C, H, W) -> (..., C, H, W)
    """
    return Preprocessing(tuple(mean), tuple(std)).normalize(images)


def channel_statistics(images: Tensor) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return mean and standard deviation of each channel over all pixels of all images.

    Give it the training images alone: constants computed from test images would let
    the training learn from them. Images of uint8 are divided by 255.

    Shape: (n, C, H, W) -> C means, C standard deviations
    """
    # one channel after the other, since all of them in float64 would take much memory
    pairs = [torch.std_mean(c.double(), correction=0) for c in images.unbind(dim=1)]
    scale = 255 if images.dtype == torch.uint8 else 1
    std, mean = (torch.stack(numbers) / scale for numbers in zip(*pairs, strict=True))
    return tuple(mean.tolist()), tuple(std.tolist())


def stratified_split(labels: Tensor, size: int, seed: int) -> tuple[Tensor, Tensor]:
    """Hold out ``size`` of the images at random, every class in proportion.

    Shape: (n,) -> indices of the rest (n - size,), indices held out (size,)
    Raises: ValueError if a class would be missing on one of the sides.
    """
    from sklearn.model_selection import train_test_split

    try:
        others, held_out = train_test_split(
            range(len(labels)), test_size=size, stratify=labels, random_state=seed
        )
    except ValueError as error:
        told = f"labels: cannot hold out {size} of {len(labels)} images: {error}"
        raise ValueError(told) from error
    return torch.tensor(others), torch.tensor(held_out)


def hold_out(parts: dict[str, ImageSet], size: int, seed: int) -> None:
    """Split each missing part, of ``size`` images, off the training images."""
    for part in ("test", "validation"):
        if part not in parts:
            train = parts["train"]
            others, held_out = stratified_split(train.labels, size, seed)
            parts |= {"train": train.subset(others), part: train.subset(held_out)}
