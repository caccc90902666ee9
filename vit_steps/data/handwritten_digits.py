"""scikit-learn's handwritten digits, and their division into three parts."""

import torch
from torch import Tensor

from vit_steps.data.sets import stratified_split


def digits() -> tuple[Tensor, Tensor]:
    """Return scikit-learn's handwritten digits (Alpaydin and Kaynak, UCI, CC BY 4.0).

    Shape: -> images (1797, 1, 8, 8), float32 between 0 and 1, and labels (1797,), int64
        from 0 to 9
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
