"""Cut the Fashion-MNIST that ships with the package out of the published files.

    python -m experiments.make_fashion_subset FOLDER

FOLDER has the four idx.gz files, as Debian's package dataset-fashion-mnist puts them in
/usr/share/datasets/fashion-mnist. The first 600 training and 100 test images of each
class are kept, in the published order. What it prints last is to stand in published.py.
"""

import hashlib
import sys
from pathlib import Path

import numpy as np

from vit_steps.data.published import PER_CLASS, SHIPPED, read_idx


def main(folder: Path) -> None:
    arrays = {}
    for part, prefix in (("train", "train"), ("test", "t10k")):
        labels = read_idx(folder / f"{prefix}-labels-idx1-ubyte.gz")
        kept = first_of_each_class(labels, PER_CLASS[part])
        images = read_idx(folder / f"{prefix}-images-idx3-ubyte.gz")
        arrays[f"{part}_images"] = images[kept]
        arrays[f"{part}_labels"] = labels[kept]
    np.savez_compressed(SHIPPED, **arrays)
    content = SHIPPED.read_bytes()
    print(f"{SHIPPED.name}: {len(content):,} bytes, sha256")
    print(hashlib.sha256(content).hexdigest())


def first_of_each_class(labels: np.ndarray, count: int) -> np.ndarray:
    """Indices of the first ``count`` of each class, in the order they stand in."""
    firsts = [np.flatnonzero(labels == label)[:count] for label in np.unique(labels)]
    return np.sort(np.concatenate(firsts))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
