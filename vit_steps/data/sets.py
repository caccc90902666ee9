"""Images with labels: a set of them, and the three parts that training needs."""

from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass
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
        transform: what an image goes through on its way out, random or not.

    Shape: images (n, C, H, W), labels (n,), boxes (n, 4)
    Raises: ValueError if a shape or a dtype is another.
    """

    def __init__(
        self,
        images: Tensor,
        labels: Tensor,
        boxes: Tensor | None = None,
        transform: Callable[[Tensor], Tensor] | None = None,
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
        self.images, self.labels, self.boxes = images, labels, boxes
        self.transform = transform

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
        """Several images at once, each transformed for itself; None for all of them.

        Shape: -> images (B, C, H, W), labels (B,)
        """
        chosen = torch.as_tensor(range(len(self)) if indices is None else indices)
        images = torch.stack([self[int(index)][0] for index in chosen])
        return images, self.labels[chosen]

    def subset(self, indices: Sequence[int] | Tensor) -> "ImageSet":
        """Some of the images, in the order of ``indices``, under the same transform."""
        chosen = torch.as_tensor(indices, dtype=torch.int64)
        boxes = None if self.boxes is None else self.boxes[chosen]
        return ImageSet(self.images[chosen], self.labels[chosen], boxes, self.transform)


@dataclass(frozen=True)
class ImageData:
    """What a classifier is trained, chosen and judged on.

    Recipes are chosen on ``validation``; ``test`` is looked at once, at the end. The
    parts yield normalised float32 images (C, H, W) with their class's number, those of
    ``train`` augmented too. What has ``labels`` or ``targets`` is checked against
    ``classes``, which are in their order.

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
            with torch.random.fork_rng(devices=[]):  # to look is not to draw
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
        """What a model has to know to be shown other images than these."""
        return Preprocessing(self.mean, self.std, self.classes)


def channel_statistics(images: Tensor) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and standard deviation of each channel over all pixels of all images.

    They belong to the training images alone: constants that have seen the test images
    have learned from them. Images of uint8 are divided by 255.

    Shape: (n, C, H, W) -> C means, C standard deviations
    Raises: ValueError if the shape is another, or a channel is the same everywhere,
        which leaves nothing to divide by.
    """
    if images.ndim != 4 or not images.numel():
        raise ValueError(
            f"images: got shape {tuple(images.shape)}, expected (n, C, H, W), n > 0"
        )
    channels = images.transpose(0, 1).flatten(1)  # (C, n·H·W)
    if images.dtype == torch.uint8:
        # Counted per value, exactly and without a copy in float.
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
    """Hold out ``size`` of the images, at random, with every class in proportion.

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
