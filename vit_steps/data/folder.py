"""A folder of images, with one folder in it for each class."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from PIL import ImageOps
from torch import Tensor

from vit_steps.data.sets import ImageSet, hold_out, listed
from vit_steps.preprocessing import opened
from vit_steps.sizes import Size, as_pair

TYPES = tuple(".jpg .jpeg .png .ppm .bmp .pgm .tif .tiff .webp".split())
PARTS = {  # a folder's name in small letters, and the part of the data in it
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("val", "valid", "validation", "dev"), "validation"),
    **dict.fromkeys(("test", "testing"), "test"),
}
HIDDEN = (".", "__MACOSX", "@eaDir")  # other programs' files begin with these
KEPT = 2**30  # bytes of a part's images that stay in memory


@dataclass(eq=False)
class ImageReader:
    """Read image files, whole or their middle alone, scaled down, and keep the images.

    Decoding a photograph takes longer than training on it, so up to ``KEPT`` bytes stay
    in memory. A whole image keeps at least twice the ``image_size``, for sharp crops.

    Shape: path -> (C, H, W), uint8
    """

    image_size: tuple[int, int]
    in_channels: int  # 1 for grey, 3 for colours
    whole: bool = False  # keep whole images, to crop them at random, not the middle
    kept: dict[str, Tensor] = field(default_factory=dict, init=False, repr=False)

    def __call__(self, path: str) -> Tensor:
        from torchvision.transforms.v2.functional import pil_to_tensor

        if path in self.kept:
            return self.kept[path]
        image = opened(path).convert("L" if self.in_channels == 1 else "RGB")
        height, width = self.image_size
        if self.whole:
            factor = min(image.height // (2 * height), image.width // (2 * width))
            image = image.reduce(max(1, factor))
        else:
            image = ImageOps.fit(image, (width, height))  # bicubic, as in as_picture
        pixels: Tensor = pil_to_tensor(image)
        if (len(self.kept) + 1) * pixels.nbytes <= KEPT:
            self.kept[path] = pixels
        return pixels


def read_folder(
    seed: int,
    root: Path | str | None = None,
    image_size: Size = 224,
    share: float = 0.1,
    in_channels: int = 3,
) -> tuple[tuple[str, ...], dict[str, ImageSet]]:
    """Return the classes and the parts of a folder of images, for ``load``."""
    if in_channels not in (1, 3):
        raise ValueError(f"in_channels: got {in_channels}, expected 1 (grey) or 3")
    folders = part_folders(root)
    classes = _folders(folders["train"])
    for folder in folders.values():
        if len(found := _folders(folder)) < 2 or found != classes:
            raise ValueError(
                f"root: got {', '.join(found) or 'no folder'} in {folder}, expected "
                "two folders or more, one for each class, and in every part the same; "
                f"{folders['train']} has {', '.join(classes) or 'none'}"
            )
    parts = {part: _files(folder, classes) for part, folder in folders.items()}
    for part in parts.values():
        part.read = ImageReader(as_pair(image_size, "image_size"), in_channels)
    if "test" not in parts and "validation" in parts:
        parts["test"] = parts.pop("validation")
    hold_out(parts, round(share * sum(map(len, parts.values()))), seed)
    return tuple(classes), parts


def read_known(root: Path | str, classes: Sequence[str]) -> tuple[Path, ImageSet]:
    """Return a folder's images, labelled by the indices of their classes in a model.

    The folder may lack some classes. If it has parts, its test images are taken, or
    those of the only other part beside ``train``.
    """
    folders = part_folders(root)
    folder = folders.get("test") or folders.get("validation") or folders["train"]
    numbers = {name.replace("/", "_"): k for k, name in enumerate(classes)}
    names = _folders(folder)
    if not names or not {*names} <= {*numbers}:
        strange = listed([name for name in names if name not in numbers])
        raise ValueError(
            f"root: got {strange or 'no folder'} in {folder}, expected folders with "
            f"names of the model's classes, {listed(classes)}"
        )
    images = _files(folder, names)
    images.labels = torch.tensor([numbers[name] for name in names])[images.labels]
    return folder, images


def part_folders(root: Path | str | None) -> dict[str, Path]:
    """Return each part's folder; the root as "train" where its folders are classes.

    Folders called as in ``PARTS`` are parts if there are two of them, or if one has
    folders in it. A single one without folders may be a class, such as trains.
    """
    if root is None or not Path(root).is_dir():
        wanted = "a folder with a folder of images for each class"
        raise FileNotFoundError(f"root: got {root}, expected {wanted}")
    root = Path(root)
    names = _folders(root)
    called = [name for name in names if name.lower() in PARTS]
    if len(called) < 2 and not any(_folders(root / name) for name in called):
        return {"train": root}
    parts = {PARTS[name.lower()]: root / name for name in called}
    others = [n for n in names if n not in called and any(_images(root / n))]
    if "train" not in parts or len(parts) < len(called) or others:
        raise ValueError(
            f"root: got the folders {', '.join([*called, *others])} in {root}, "
            "expected either one for each class, or train, val and test with one for "
            "each class in them; move or rename the others"
        )
    return parts


def check_files(*parts: ImageSet) -> None:
    """Read every file now: a damaged one would stop the training, perhaps hours later.

    Raises: ValueError with their number and the first three, if any cannot be read.
    """

    def complaint(read: ImageReader, path: str) -> str | None:
        try:
            read(path)
        except (ValueError, OSError) as error:
            return str(error).removeprefix("image: ")
        return None

    files = {path: part.read for part in parts for path in part.images}
    with ThreadPoolExecutor() as readers:
        said = readers.map(complaint, files.values(), files)
        found = sorted(sentence for sentence in said if sentence)
    if found:
        raise ValueError(
            f"root: {len(found)} of {len(files)} files cannot be trained on: "
            f"{', '.join(found[:3])}{', ...' * (len(found) > 3)}"
        )


def left_out(root: Path | str, *parts: ImageSet) -> str:
    """Return how many files of a folder are in none of its parts, by their type."""
    used = {path for part in parts for path in part.images}
    return _counted(path for path in _visible(root) if path not in used)


def _counted(paths: Iterable[str]) -> str:
    types = (Path(path).suffix.lower() or "without a type" for path in paths)
    return ", ".join(f"{n} {kind}" for kind, n in sorted(Counter(types).items()))


def _files(root: Path, classes: Iterable[str]) -> ImageSet:
    """Return each image with its label, also those deeper in a class folder."""
    files: list[str] = []
    labels: list[int] = []
    for label, name in enumerate(classes):
        paths = image_files(root / name)
        files += paths
        labels += [label] * len(paths)
    return ImageSet(np.array(files, dtype=object), torch.tensor(labels))


def image_files(root: Path | str) -> list[str]:
    """Return the paths of all images below a folder; ValueError if there are none."""
    paths = list(_images(root))
    if not paths:
        raise ValueError(
            f"root: got {_counted(_visible(root)) or 'nothing'} in {root}, "
            f"expected images, in {', '.join(TYPES)}"
        )
    return paths


def _folders(root: Path) -> list[str]:
    names = (entry.name for entry in os.scandir(root) if entry.is_dir())
    return sorted(name for name in names if not name.startswith(HIDDEN))


def _images(root: Path | str) -> Iterator[str]:
    return (path for path in _visible(root) if path.lower().endswith(TYPES))


def _visible(root: Path | str) -> Iterator[str]:
    """Yield every file below a folder in order, without what is hidden."""
    for folder, inside, files in os.walk(root, followlinks=True):
        inside[:] = sorted(name for name in inside if not name.startswith(HIDDEN))
        for name in sorted(files):
            if not name.startswith(HIDDEN):
                yield os.path.join(folder, name)
