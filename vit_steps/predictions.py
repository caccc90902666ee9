"""A trained model's answers to a data set's images, and how often they are right."""

import csv
import io
import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

from vit_steps.checkpoint import write_whole
from vit_steps.compatibility import Data, check_images, check_preprocessing, logits_of
from vit_steps.evaluating import evaluating
from vit_steps.optional import imported
from vit_steps.preprocessing import Preprocessing
from vit_steps.tensors import check_indices


@dataclass(frozen=True)
class Predictions:
    """A model's answers to the images of a data set, in its order, on the CPU."""

    logits: Tensor  # (n, K), float32
    labels: Tensor  # (n,), from 0 to K - 1; empty if they are unknown
    features: Tensor | None  # (n, D), what the head was given; None if not asked for
    classes: tuple[str, ...]  # K names; their numbers where the model has none

    def confusion_matrix(self) -> Tensor:
        """Return how often each class (row) got each answer (column): (K, K)."""
        K = len(self.classes)
        answers = self.logits.argmax(dim=1)  # (n,)
        return (K * self.labels + answers).bincount(minlength=K * K).reshape(K, K)

    def accuracy_by_class(self) -> dict[str, float]:
        """Return the share of right answers for the name of each class that occurs."""
        counts = self.confusion_matrix()  # (K, K)
        rows = zip(self.classes, counts.diagonal(), counts.sum(dim=1), strict=True)
        return {name: (right / n).item() for name, right, n in rows if n}

    def write_csv(self, path: str | os.PathLike[str], images: Sequence[Any]) -> None:
        """Write a row for each image: name, class (if known), answer, probabilities."""
        lines = io.StringIO()
        writer = csv.writer(lines, lineterminator="\n")
        columns = {"class": self.labels} if len(self.labels) else {}
        columns["answer"] = self.logits.argmax(dim=1)
        writer.writerow(["image", *columns, *self.classes])
        shares = self.logits.softmax(dim=1).tolist()
        for image, row, *numbers in zip(images, shares, *columns.values(), strict=True):
            names = [self.classes[number] for number in numbers]
            writer.writerow([image, *names, *(f"{share:.6f}" for share in row)])
        write_whole(Path(path), lines.getvalue().encode())


def predictions(
    model: nn.Module,
    dataset: Dataset[Any],
    batch_size: int = 256,
    num_workers: int = 0,
    features: bool = True,
    progress: bool = False,
) -> Predictions:
    """Run a classifier over a data set, and leave the model as it was.

    The ``features`` of an image are what the layer ``model.head`` is given, so that
    the head, or another in its place, makes logits of them.

    Raises: ValueError if the data set is empty or a DataLoader, its labels or its
        normalisation are not the model's, or the model is not a classifier.
    """
    check_images(dataset, "dataset")
    check_preprocessing(model, dataset)
    logits, labels, given = [], [], []
    loader = DataLoader(dataset, batch_size, num_workers=num_workers)
    bar = imported("tqdm.auto").tqdm(loader, leave=False, disable=not progress)
    keeping: Any = nullcontext()
    if features and isinstance(head := getattr(model, "head", None), nn.Module):
        model = getattr(model, "_orig_mod", model)  # compiled, it would skip the hook
        keeping = head.register_forward_pre_hook(lambda _, x: given.append(x[0].cpu()))
    with evaluating(model), keeping:
        for images, numbers in bar:
            logits.append(logits_of(model, images).float().cpu())  # (B, K)
            K = logits[-1].shape[1]
            check_indices(numbers, "labels", len(images), count=K)
            labels.append(numbers.cpu())  # (B,)
    return Predictions(
        logits=torch.cat(logits),
        labels=torch.cat(labels),
        features=torch.cat(given) if given else None,
        classes=class_names(model, K, dataset),
    )


def class_names(model: nn.Module, num_classes: int, dataset: Any = None) -> Any:
    """Return the model's class names, else the data set's, else the class numbers."""
    known = [getattr(each, "preprocessing", None) for each in (model, dataset)]
    named = [each.classes for each in known if isinstance(each, Preprocessing)]
    named += [tuple(map(str, range(num_classes)))]
    return next(names for names in named if len(names) == num_classes)


def head_data(model: nn.Module, data: Data, progress: bool = False) -> SimpleNamespace:
    """Return data with each image's features in its place, to train the head alone.

    ``train(model.head, head_data(model, data))`` makes a linear probe. An image goes
    through the rest of the model only once, and no parameter there changes.

    Shape: the parts' images (C, H, W) -> (D,)
    Raises: ValueError as ``predictions``, or if the model has no ``head``.
    """
    if not isinstance(getattr(model, "head", None), nn.Module):
        raise ValueError(f"model: got a {type(model).__name__} without a head")
    parts = {}
    for name in ("train", "validation"):
        found: Any = predictions(model, getattr(data, name), progress=progress)
        parts[name] = TensorDataset(found.features, found.labels)
    return SimpleNamespace(**parts)
