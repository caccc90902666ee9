"""Images with labels: a set of them, and the three parts that training needs."""

from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass, replace
from typing import cast

import torch
from torch import Tensor
from torch.utils.data import Dataset

from vit_steps.preprocessing import Preprocessing


class ImageSet(Dataset[tuple[Tensor, int]]):
    """Labelled images in memory, transformed one by one as they are asked for.

    Args:
        images: as they were taken, float32 between 0 and 1 or uint8.
        labels: the class of each image, int64.
        boxes: top, left, bottom, right, int64 pixels, the last two exclusive; or None.
        transform: from one image to a model's input, random or not.
        preprocessing: the mean, std and classes of the transform and the labels.

    Shape: images (n, C, H, W), labels (n,), boxes (n, 4)
    Raises: ValueError if a shape or a dtype is another.
    """

    def __init__(
        self,
        images: Tensor,
        labels: Tensor,
        boxes: Tensor | None = None,
        transform: Callable[[Tensor], Tensor] | None = None,
        preprocessing: Preprocessing | None = None,
    ) -> None:
        if images.ndim != 4 or images.dtype not in (torch.float32, torch.uint8):
            raise ValueError(
                f"images: got shape {tuple(images.shape)}, {images.dtype}, "
                "expected (n, C, H, W), float32 or uint8"
            )
        n = len(images)
        shapes = {"labels": (labels, (n,)), "boxes": (boxes, (n, 4))}
        for name, (of_each, shape) in shapes.items():
            if of_each is None:
                continue
            if of_each.shape != shape or of_each.dtype != torch.int64:
                got = f"{name}: got shape {tuple(of_each.shape)}, {of_each.dtype}"
                raise ValueError(f"{got}, expected {shape}, int64")
        self.images = images
        self.labels = labels
        self.boxes = boxes
        self.transform = transform
        self.preprocessing = preprocessing

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        image = self.images[index]  # (C, H, W)
        if self.transform is not None:
            image = self.transform(image)
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
        return ImageSet(
            self.images[chosen],
            self.labels[chosen],
            None if self.boxes is None else self.boxes[chosen],
            self.transform,
            self.preprocessing,
        )


@dataclass(frozen=True)
class ImageData:
    """Images to train a classifier, to choose its recipe, and to test it in the end.

    Recipes are chosen on ``validation``; ``test`` is used once, at the end. The parts
    yield normalised float32 images (C, H, W) with the number of their class, the images
    of ``train`` augmented too. A part's ``labels`` or ``targets``, where it has any,
    are checked against ``classes``, which are in their order.

    Raises: ValueError if a part is empty, has a label that is no class, or images of
        another shape than ``train``.
    """

    name: str
    classes: tuple[str, ...]
    train: Dataset[tuple[Tensor, int]]
    validation: Dataset[tuple[Tensor, int]]
    test: Dataset[tuple[Tensor, int]]
    mean: tuple[float, ...]
    std: tuple[float, ...]

    def __post_init__(self) -> None:
        shapes = {}
        for part in ("train", "validation", "test"):
            dataset = getattr(self, part)
            if not len(cast(Sized, dataset)):
                reason = "got no image, expected at least one; move some there"
                raise ValueError(f"{part}: {reason}")
            labels = getattr(dataset, "labels", getattr(dataset, "targets", None))
            if labels is not None:
                labels = torch.as_tensor(labels)
                low, high = int(labels.min()), int(labels.max())
                if low < 0 or high >= self.num_classes:
                    raise ValueError(
                        f"{part}: got labels from {low} to {high}, expected 0 to "
                        f"{self.num_classes - 1}, the places in classes; name every "
                        "class, and count from 0"
                    )
            # a random transform must not change what training draws later
            with torch.random.fork_rng(devices=[]):
                shapes[part] = tuple(dataset[0][0].shape)
            if shapes[part] != shapes["train"]:
                raise ValueError(
                    f"{part}: got images of {shapes[part]}, expected "
                    f"{shapes['train']} as in train; resize them in its transform"
                )

    @property
    def num_classes(self) -> int:
        """K."""
        return len(self.classes)

    @property
    def preprocessing(self) -> Preprocessing:
        """The mean, std and classes that a model trained on this data has to keep."""
        return Preprocessing(self.mean, self.std, self.classes)


def adopted(known: Preprocessing | None, own: Preprocessing) -> Preprocessing:
    """Return how a model needs data to be normalised and its classes to be numbered.

    Args:
        known: the model's preprocessing; None for the data's own. Where it has no
            classes, as that of a model with a new head, the data's are taken.
        own: the data's.

    Raises: ValueError if the model's channels are others, or the names of its classes.
        Their order may differ.
    """
    if known is None:
        return own
    came, expected = len(known.mean), len(own.mean)
    if came != expected:
        raise ValueError(
            f"preprocessing: got mean and std for {came} channels, expected "
            f"{expected} as the images have; from_pretrained(in_channels={expected}) "
            "adapts a model"
        )
    if not known.classes:
        return replace(known, classes=own.classes)
    if not places(own.classes, known.classes):
        raise ValueError(
            f"preprocessing: got a model's classes {listed(known.classes)}, expected "
            f"those of the images, {listed(own.classes)}, in any order; rename the "
            "images' classes, or give the model a new head with from_pretrained("
            f"num_classes={len(own.classes)})"
        )
    return known


def places(names: Sequence[str], others: Sequence[str]) -> list[int]:
    """Return where each class name is among the others, nothing if they differ.

    "T-shirt_top" is the same as "T-shirt/top", which no folder can be called.
    """
    sought = [name.replace("/", "_") for name in names]
    found = [name.replace("/", "_") for name in others]
    same = sorted(sought) == sorted(found)
    return [found.index(name) for name in sought] if same else []


def listed(names: Sequence[str]) -> str:
    """Return names in one line, the first ten if there are more."""
    return ", ".join(names[:10]) + ", ..." * (len(names) > 10)


def channel_statistics(images: Tensor) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return mean and standard deviation of each channel over all pixels of all images.

    Give it the training images alone: constants computed from test images would let
    the training learn from them. Images of uint8 are divided by 255.

    Shape: (n, C, H, W) -> C means, C standard deviations
    Raises: ValueError if the shape is another, or a channel is the same everywhere, so
        that its standard deviation is 0.
    """
    if images.ndim != 4 or not images.numel():
        raise ValueError(
            f"images: got shape {tuple(images.shape)}, expected (n, C, H, W), n > 0"
        )
    channels = images.transpose(0, 1).flatten(1)  # (C, n·H·W)
    if images.dtype == torch.uint8:
        # counting the 256 values is exact and needs no copy of all images in float
        values = torch.arange(256, dtype=torch.float64) / 255
        counts = torch.stack([channel.bincount(minlength=256) for channel in channels])
        shares = counts.double() / channels.shape[1]  # (C, 256)
        mean = shares @ values  # (C,)
        std = (shares * (values - mean[:, None]) ** 2).sum(dim=1).sqrt()  # (C,)
    else:
        std, mean = torch.std_mean(channels.double(), dim=1, correction=0)
    if not (std > 0).all():
        raise ValueError(
            f"images: got a standard deviation of {min(std.tolist())} in a channel, "
            "expected images that are not one grey"
        )
    return tuple(mean.tolist()), tuple(std.tolist())


def stratified_split(labels: Tensor, size: int, seed: int) -> tuple[Tensor, Tensor]:
    """Hold out ``size`` of the images at random, every class in proportion.

    Shape: (n,) -> indices of the others (n - size,), indices held out (size,)
    Raises: ValueError if a class would be missing on one of the sides.
    """
    from sklearn.model_selection import train_test_split

    counts = torch.unique(labels, return_counts=True)[1].tolist()
    n, K, fewest = len(labels), len(counts), min(counts, default=0)
    if fewest < 2 or not K <= size <= n - K:
        raise ValueError(
            f"labels: cannot hold out {size} of {n} images of {K} classes, the rarest "
            f"of which has {fewest}; expected two images or more in each class, and "
            "both sides large enough for every class"
        )
    others, held_out = train_test_split(
        range(len(labels)), test_size=size, stratify=labels, random_state=seed
    )
    return torch.tensor(others), torch.tensor(held_out)
