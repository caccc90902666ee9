"""A folder of images, with one folder in it for each class."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
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
from vit_steps.preprocessing import opened
from vit_steps.sizes import Size, as_pair

TYPES = tuple(".jpg .jpeg .png .ppm .bmp .pgm .tif .tiff .webp".split())
Samples = list[tuple[str, int]]  # paths and labels
ALBUMS_OWN = ("__MACOSX", "@eaDir")  # folders that other programs leave


@dataclass(frozen=True)
class ImageFiles(Dataset[tuple[Tensor, int]]):
    """Image files with their labels, read from disk each time."""

    samples: Samples
    transform: Callable[[Image.Image], Tensor]  # to a model's input
    mode: str = "RGB"  # or "L" for grey, as Pillow names it

    @property
    def labels(self) -> list[int]:
        return [label for _, label in self.samples]

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        path, label = self.samples[index]
        return self.transform(opened(path).convert(self.mode)), label


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
        ValueError: if it has no two classes, a class has no image, its parts have
            different classes, or it cannot be split.
    """
    if in_channels not in (1, 3, None):
        channels = f"got {in_channels}, expected 1 for grey, 3 for colour"
        raise ValueError(f"in_channels: {channels}")
    root = Path(root)
    classes, train, held_out = _listed(root)
    count = round(share * (len(train) + sum(map(len, held_out))))
    while len(held_out) < 2:  # first the test, if there is none, then the validation
        labels = torch.tensor([label for _, label in train])
        try:
            kept, taken = stratified_split(labels, count, seed)
        except ValueError as error:
            why = str(error).removeprefix("labels: ")
            raise ValueError(
                f"root: {why}; or folders train, val and test, to split them yourself"
            ) from error
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
    bicubic = Image.Resampling.BICUBIC
    middle = partial(ImageOps.fit, size=(width, height), method=bicubic)
    mode, mean, std = "RGB", IMAGENET_MEAN, IMAGENET_STD
    if in_channels == 1:
        mode, mean, std = "L", (sum(mean) / 3,), (sum(std) / 3,)
    as_it_is = v2.Compose([middle, v2.PILToTensor(), prepare([], mean, std)])
    changed = prepare([augmentation("folder", image_size)], mean, std)
    changed = v2.Compose([v2.PILToTensor(), changed])
    parts = (
        ImageFiles(train, changed if augment else as_it_is, mode),
        ImageFiles(validation, as_it_is, mode),
        ImageFiles(test, as_it_is, mode),
    )
    return ImageData("folder", classes, *parts, mean, std)


def check_files(*parts: ImageFiles) -> None:
    """Read every file once, so that none is found damaged after hours of training.

    Raises: ValueError if some cannot be read as images; says how many, and names three.
    """

    def complaint(path: str) -> str | None:
        try:
            opened(path)
        except (ValueError, OSError) as error:
            return str(error).removeprefix("image: ")
        return None

    paths = sorted({path for part in parts for path, _ in part.samples})
    with ThreadPoolExecutor() as readers:
        found = [text for text in readers.map(complaint, paths) if text]
    if found:
        raise ValueError(
            f"root: {len(found)} of {len(paths)} files cannot be trained on: "
            f"{', '.join(found[:3])}{', ...' * (len(found) > 3)}"
        )


def left_out(root: Path | str, parts: Iterable[ImageFiles]) -> dict[str, int]:
    """How many files in a folder are in none of its parts, by their type.

    What is hidden is not counted, since no one put it there.
    """
    taken = {path for part in parts for path, _ in part.samples}
    others = (path for path in _visible(root) if path not in taken)
    types = (Path(path).suffix.lower() or "without a type" for path in others)
    return dict(sorted(Counter(types).items()))


def _all_grey(samples: Samples) -> bool:
    """Whether no file says that it has colours; reads their first bytes only."""
    for path, _ in samples:
        with Image.open(path) as image:
            if image.mode not in ("1", "L", "LA") and image.mode[:4] != "I;16":
                return False
    return True


def _listed(root: Path) -> tuple[tuple[str, ...], Samples, list[Samples]]:
    """Classes, training files, and those of ``val`` and ``test`` where they are."""
    if not root.is_dir():
        wanted = "expected one with a folder of images for each class"
        raise FileNotFoundError(f"root: there is no folder {root}; {wanted}")
    given = [part for part in ("train", "val", "test") if (root / part).is_dir()]
    whole = given[:1] != ["train"] or len(given) == 1
    first, *others = [root] if whole else [root / part for part in given]
    classes = _classes(first)
    if len(classes) < 2:
        found = f"one folder, {classes[0]}," if classes else "no folder"
        raise ValueError(
            f"root: got {found} in {first}, expected two or more, one for each class "
            "with its images in it"
        )
    for folder in others:
        if _classes(folder) != classes:
            raise ValueError(
                f"{folder}: got classes {', '.join(_classes(folder))}, expected "
                f"those of train, {', '.join(classes)}; give both the same folders"
            )
    return classes, _samples(first, classes), [_samples(f, classes) for f in others]


def _classes(root: Path) -> tuple[str, ...]:
    """Names of the folders in a folder, in the order of their labels."""
    folders = (entry.name for entry in os.scandir(root) if entry.is_dir())
    return tuple(sorted(name for name in folders if not _hidden(name)))


def _samples(root: Path, classes: tuple[str, ...]) -> Samples:
    """Path and label of each image, also of those that lie deeper in a class."""
    samples = []
    for label, name in enumerate(classes):
        there = list(_visible(root / name))
        paths = [path for path in there if path.lower().endswith(TYPES)]
        if not paths:
            others = Counter(Path(path).suffix.lower() for path in there)
            found = ", ".join(f"{count} {kind}" for kind, count in others.items())
            raise ValueError(
                f"root: got {found or 'nothing'} in {root / name}, expected images of "
                f"that class, in {', '.join(TYPES)}"
            )
        samples += [(path, label) for path in paths]
    return samples


def _visible(root: Path | str) -> Iterator[str]:
    """Every file in a folder and those in it, but what is hidden, in order."""
    walked = os.walk(root, followlinks=True)
    for folder, _, files in sorted(walked):
        inside = Path(folder).relative_to(root).parts
        if not any(map(_hidden, inside)):
            for name in sorted(files):
                if not _hidden(name):
                    yield os.path.join(folder, name)


def _hidden(name: str) -> bool:
    return name.startswith(".") or name in ALBUMS_OWN
