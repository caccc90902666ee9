"""A folder of images, with one folder in it for each class."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import torch
from PIL import Image, ImageOps
from torch import Tensor
from torch.utils.data import Dataset

from vit_steps.data.augmentation import augmentation, prepare
from vit_steps.data.photographs import IMAGENET_MEAN, IMAGENET_STD
from vit_steps.data.sets import ImageData, adopted, places, stratified_split
from vit_steps.preprocessing import Preprocessing, opened
from vit_steps.sizes import Size, as_pair

TYPES = tuple(".jpg .jpeg .png .ppm .bmp .pgm .tif .tiff .webp".split())
PARTS = {  # a folder's name in small letters, and the part of the data in it
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("val", "valid", "validation", "dev"), "validation"),
    **dict.fromkeys(("test", "testing"), "test"),
}
SYSTEM_FOLDERS = ("__MACOSX", "@eaDir")  # left by macOS and by network drives
KEPT = 2**30  # bytes of a part's images that stay in memory

Samples = list[tuple[str, int]]  # paths and labels


@dataclass(frozen=True)
class ImageFiles(Dataset[tuple[Tensor, int]]):
    """Image files with their labels, each read when it is first asked for.

    What is read is scaled down and kept in memory, ``KEPT`` bytes at most: to decode a
    photograph takes longer than to train on it.
    """

    samples: Samples
    image_size: tuple[int, int]
    preprocessing: Preprocessing
    transform: Callable[[Tensor], Tensor]  # from uint8 to a model's input
    whole: bool = False  # whole images, to be cropped at random; else their middle
    kept: dict[int, Tensor] = field(default_factory=dict, repr=False, compare=False)

    @property
    def labels(self) -> list[int]:
        return [label for _, label in self.samples]

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return self.transform(self.read(index)), self.samples[index][1]

    def read(self, index: int) -> Tensor:
        """Return an image before its transform, which is the same each time.

        A whole image keeps at least twice the ``image_size``, so that a crop of it is
        not blurred.

        Shape: -> (C, H, W), uint8
        """
        from torchvision.transforms.v2.functional import pil_to_tensor

        if index in self.kept:
            return self.kept[index]
        image = opened(self.samples[index][0])
        image = image.convert("L" if len(self.preprocessing.mean) == 1 else "RGB")
        height, width = self.image_size
        if self.whole:
            factor = min(image.height // (2 * height), image.width // (2 * width))
            image = image.reduce(max(1, factor))
        else:
            bicubic = Image.Resampling.BICUBIC
            image = ImageOps.fit(image, (width, height), method=bicubic)
        pixels: Tensor = pil_to_tensor(image)
        if (len(self.kept) + 1) * pixels.nbytes <= KEPT:
            self.kept[index] = pixels
        return pixels


def load_folder(
    root: Path | str | None = None,
    image_size: Size = 224,
    augment: bool = True,
    seed: int = 0,
    merge_validation: bool = False,
    share: float = 0.1,
    in_channels: int | None = None,
    preprocessing: Preprocessing | None = None,
) -> ImageData:
    """Return the parts of a folder of images; the arguments are those of ``load``.

    Raises:
        FileNotFoundError: if there is no such folder.
        ValueError: if it has no two classes, a class has no image, its parts have
            different classes, or it cannot be split.
    """
    if root is None:
        folder = "the folder of your images, with one folder for each class in it"
        raise ValueError(f"root: got none, expected {folder}")
    if in_channels not in (1, 3, None):
        channels = f"got {in_channels}, expected 1 for grey, 3 for colour"
        raise ValueError(f"in_channels: {channels}")
    folders = part_folders(Path(root))
    classes = class_names(folders)
    if in_channels is None and preprocessing is not None:
        in_channels = len(preprocessing.mean)
    if in_channels is None:
        in_channels = 1 if _all_grey(folders.values()) else 3
    mean, std = IMAGENET_MEAN, IMAGENET_STD
    if in_channels == 1:
        mean, std = (sum(mean) / 3,), (sum(std) / 3,)
    known = adopted(preprocessing, Preprocessing(mean, std, classes))

    in_order = [classes[place] for place in places(known.classes, classes)]
    samples = {part: _samples(path, in_order) for part, path in folders.items()}
    if "test" not in samples and "validation" in samples:
        samples["test"] = samples.pop("validation")
    count = round(share * sum(map(len, samples.values())))
    for part in ("test", "validation"):
        if part not in samples:
            samples["train"], samples[part] = _split(samples["train"], count, seed)
    if merge_validation:
        samples["train"] = samples["train"] + samples["validation"]

    parts = {}
    for part, chosen in samples.items():
        varied = augment and part == "train"
        changes = [augmentation("folder", image_size)] if varied else []
        parts[part] = ImageFiles(
            chosen,
            image_size=as_pair(image_size, "image_size"),
            preprocessing=known,
            transform=prepare(changes, known.mean, known.std),
            whole=varied,
        )
    try:
        return ImageData(
            "folder", known.classes, **parts, mean=known.mean, std=known.std
        )
    except ValueError:
        check_files(*parts.values())  # counts all that are like the first
        raise


def part_folders(root: Path) -> dict[str, Path]:
    """Return each part's folder; the root as "train" where its folders are classes.

    Folders called as in ``PARTS`` are parts if there are two of them, or if one has
    folders in it. A single one without may be a class of trains or tests.

    Raises:
        FileNotFoundError: if there is no such folder.
        ValueError: if none of the parts is to train on, two are the same, or folders of
            other images stand beside them.
    """
    if not root.is_dir():
        wanted = "expected one with a folder of images for each class"
        raise FileNotFoundError(f"root: there is no folder {root}; {wanted}")
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


def class_names(folders: dict[str, Path]) -> tuple[str, ...]:
    """Return the names of the class folders, which are the same in all parts.

    Raises: ValueError if there are fewer than two, or a part has others.
    """
    classes = _folders(folders["train"])
    if len(classes) < 2:
        found = f"one folder, {classes[0]}," if classes else "no folder"
        raise ValueError(
            f"root: got {found} in {folders['train']}, expected two or more, one for "
            "each class with its images in it"
        )
    for folder in folders.values():
        if (others := _folders(folder)) != classes:
            raise ValueError(
                f"{folder}: got classes {', '.join(others)}, expected those of train, "
                f"{', '.join(classes)}; give both the same folders"
            )
    return tuple(classes)


def check_files(*parts: ImageFiles) -> None:
    """Read every file, so that none is found damaged after hours of training.

    Raises: ValueError, with their number and three names, if some cannot be read.
    """

    def complaint(sample: tuple[ImageFiles, int]) -> str | None:
        part, index = sample
        try:
            part.read(index)
        except (ValueError, OSError) as error:
            return str(error).removeprefix("image: ")
        return None

    samples = [(part, index) for part in parts for index in range(len(part))]
    with ThreadPoolExecutor() as readers:
        found = dict.fromkeys(filter(None, readers.map(complaint, samples)))
    if found:
        count = len({path for part in parts for path, _ in part.samples})
        raise ValueError(
            f"root: {len(found)} of {count} files cannot be trained on: "
            f"{', '.join(list(found)[:3])}{', ...' * (len(found) > 3)}"
        )


def left_out(root: Path | str, parts: Iterable[ImageFiles]) -> dict[str, int]:
    """Return how many files of a folder are in none of its parts, by their type.

    Hidden files are not counted, since other programs put them there.
    """
    used = {path for part in parts for path, _ in part.samples}
    others = (path for path in _visible(root) if path not in used)
    types = (Path(path).suffix.lower() or "without a type" for path in others)
    return dict(sorted(Counter(types).items()))


def _split(samples: Samples, count: int, seed: int) -> tuple[Samples, Samples]:
    """Return the samples without a part of them, and that part."""
    labels = torch.tensor([label for _, label in samples])
    try:
        others, held_out = stratified_split(labels, count, seed)
    except ValueError as error:
        reason = str(error).removeprefix("labels: ")
        raise ValueError(
            f"root: {reason}; or folders train, val and test, to split them yourself"
        ) from error
    return [samples[i] for i in others], [samples[i] for i in held_out]


def _all_grey(folders: Iterable[Path]) -> bool:
    """Return whether no file has colours; reads only the first bytes of each."""
    for path in (path for folder in folders for path in _images(folder)):
        try:
            with Image.open(path) as image:
                if image.mode not in ("1", "L", "LA") and image.mode[:4] != "I;16":
                    return False
        except OSError:  # a damaged file is reported once all are read
            continue
    return True


def _samples(root: Path, classes: Iterable[str]) -> Samples:
    """Return path and label of each image, also of those deeper in a class folder."""
    samples = []
    for label, name in enumerate(classes):
        paths = list(_images(root / name))
        if not paths:
            types = Counter(Path(path).suffix.lower() for path in _visible(root / name))
            found = ", ".join(f"{count} {kind}" for kind, count in types.items())
            raise ValueError(
                f"root: got {found or 'nothing'} in {root / name}, expected images of "
                f"that class, in {', '.join(TYPES)}"
            )
        samples += [(path, label) for path in paths]
    return samples


def _folders(root: Path) -> list[str]:
    names = (entry.name for entry in os.scandir(root) if entry.is_dir())
    return sorted(name for name in names if not _hidden(name))


def _images(root: Path) -> Iterator[str]:
    return (path for path in _visible(root) if path.lower().endswith(TYPES))


def _visible(root: Path | str) -> Iterator[str]:
    """Yield every file below a folder in order, without what is hidden."""
    for folder, _, files in sorted(os.walk(root, followlinks=True)):
        inside = Path(folder).relative_to(root).parts
        if not any(map(_hidden, inside)):
            for name in sorted(files):
                if not _hidden(name):
                    yield os.path.join(folder, name)


def _hidden(name: str) -> bool:
    return name.startswith(".") or name in SYSTEM_FOLDERS
