"""Published sets: from scikit-learn, from the package, from disk, or downloaded."""

from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from vit_steps.checkpoint import check_digest
from vit_steps.data.sets import stratified_split
from vit_steps.optional import INSTALL_BOOK
from vit_steps.sizes import check_choice

SHIPPED = Path(__file__).with_name("fashion-mnist-7000.npz")
SHIPPED_SHA256 = "b3a5ef00123a6fcb94b9de321db87656eb8fb8f8a3ae1a4a4b2175975aec0fce"

FASHION_CLASSES = (
    *("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"),
    *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
)
CIFAR10_CLASSES = tuple(
    "airplane automobile bird cat deer dog frog horse ship truck".split()
)

DOWNLOADS = {  # how much torchvision downloads, and from where
    "Fashion-MNIST": "30 MB from fashion-mnist.s3-website.eu-central-1.amazonaws.com",
    "CIFAR-10": "170 MB from www.cs.toronto.edu",
}


def digits() -> tuple[Tensor, Tensor]:
    """Return scikit-learn's handwritten digits (Alpaydin and Kaynak, UCI, CC BY 4.0).

    Shape: -> images (1797, 1, 8, 8), float32 from 0 to 1, and labels (1797,), int64
    """
    from sklearn.datasets import load_digits

    bunch = load_digits()
    images = torch.tensor(bunch.images, dtype=torch.float32)[:, None] / 16
    return images, torch.tensor(bunch.target)


def digits_split(labels: Tensor, seed: int = 0) -> dict[str, Tensor]:
    """Divide the digits: a quarter to test, an eighth to validate, stratified.

    Shape: (1797,) -> indices by part: train (1122,), validation (225,), test (450,)
    """
    rest, test = stratified_split(labels, 450, seed)
    train, validation = stratified_split(labels[rest], 225, seed)
    return {"train": rest[train], "validation": rest[validation], "test": test}


def fashion_mnist(part: str = "train") -> tuple[Tensor, Tensor]:
    """Return a part of Fashion-MNIST (Zalando, MIT; arXiv 1708.07747) that ships.

    "train" is the first 600 of each class, "test" the first 100.

    Shape: -> images (n, 1, 28, 28), uint8, and labels (n,), int64 from 0 to 9
    Raises: ValueError if there is no such part; ImportError without the book's files.
    """
    check_choice(part, "part", ("train", "test"))
    if not SHIPPED.is_file():
        raise ImportError(f"the book's {SHIPPED.name} is not installed: {INSTALL_BOOK}")
    check_digest(SHIPPED, SHIPPED_SHA256, "install vit_steps again")
    with np.load(SHIPPED, allow_pickle=False) as arrays:
        images = torch.from_numpy(arrays[f"{part}_images"])
        labels = torch.from_numpy(arrays[f"{part}_labels"])
    return images[:, None], labels.long()


def by_torchvision(
    title: str,
    part: str = "train",
    root: Path | str | None = None,
    download: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return all of "Fashion-MNIST" or "CIFAR-10" (Krizhevsky 2009), "train" or "test".

    Args:
        root: where torchvision keeps it: four files in ``FashionMNIST/raw``, such as
            Debian's package dataset-fashion-mnist has, unpacked by gunzip; or
            ``cifar-10-batches-py``, unpacked from cifar-10-python.tar.gz. None for a
            folder in PyTorch's cache.
        download: download it to ``root`` by torchvision, which checks it.

    Shape: -> images (n, C, H, W), uint8, and labels (n,), int64 from 0 to 9
    Raises: ValueError if there is no such part; FileNotFoundError if it is not there.
    """
    check_choice(part, "part", ("train", "test"))
    from torchvision import datasets

    root = root or Path(torch.hub.get_dir()).parent / "datasets"
    read = partial(getattr(datasets, title.replace("-", "")), root, part == "train")
    try:
        found = read()
    except (RuntimeError, AssertionError, ValueError) as error:  # missing or damaged
        if not download:
            raise FileNotFoundError(
                f"{title} is not in {root}, or not complete; put its files there by "
                f"hand, or set download, which takes {DOWNLOADS[title]}"
            ) from error
        print(f"Downloading {title}: {DOWNLOADS[title]} to {root}")
        found = read(download=True)
    images, labels = map(torch.as_tensor, (found.data, found.targets))
    grey = images.ndim == 3
    images = images[:, None] if grey else images.permute(0, 3, 1, 2)  # (n, C, H, W)
    return images.contiguous(), labels.long()
