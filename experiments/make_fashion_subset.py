"""Cut the Fashion-MNIST that ships with the package out of the published files.

    python -m experiments.make_fashion_subset ROOT

ROOT is where torchvision keeps the data set: the four published files, unpacked, in
ROOT/FashionMNIST/raw. The first 600 training and 100 test images of each class are
kept, in the published order. The sha256 that it prints goes into published.py.
"""

import hashlib
import sys
from pathlib import Path

import numpy as np

from vit_steps.data.published import SHIPPED, by_torchvision

PER_CLASS = {"train": 600, "test": 100}  # images of each class that ship


def main(root: Path) -> None:
    arrays = {}
    for part, count in PER_CLASS.items():
        images, labels = by_torchvision("Fashion-MNIST", part, root)
        kept = first_of_each_class(labels.numpy(), count)
        arrays[f"{part}_images"] = images[:, 0].numpy()[kept]
        arrays[f"{part}_labels"] = labels.numpy()[kept].astype(np.uint8)
    np.savez_compressed(SHIPPED, **arrays)
    content = SHIPPED.read_bytes()
    print(f"{SHIPPED.name}: {len(content):,} bytes, sha256")
    print(hashlib.sha256(content).hexdigest())


def first_of_each_class(labels: np.ndarray, count: int) -> np.ndarray:
    """Return the indices of the first ``count`` of each class, in their order."""
    firsts = [np.flatnonzero(labels == label)[:count] for label in np.unique(labels)]
    return np.sort(np.concatenate(firsts))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
