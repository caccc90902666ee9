"""Checks that a classifier, images and labels fit each other."""

from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.utils.data import Dataset

from vit_steps.evaluating import evaluating
from vit_steps.preprocessing import Preprocessing


class Data(Protocol):
    """The two data sets of a training, which yield an image (C, H, W) and its label."""

    @property
    def train(self) -> Dataset[Any]: ...
    @property
    def validation(self) -> Dataset[Any]: ...


def check_fit(model: nn.Module, data: Data) -> int:
    """Try one image, so that a mismatch is found before the first step; return K.

    Raises: ValueError if a part is missing or empty, the model is no classifier of its
        images and classes, or the model cannot be trained.
    """
    for name in ("train", "validation"):
        part: Any = getattr(data, name, None)
        if not hasattr(part, "__getitem__") or not hasattr(part, "__len__"):
            raise ValueError(
                f"data: got {type(data).__name__}, expected data sets as its train and "
                "validation; data.load returns such data, types.SimpleNamespace(train="
                "..., validation=...) makes it of sets of your own"
            )
        if not len(part):
            raise ValueError(f"data: its {name} part is empty, expected images")
    parameters = list(model.parameters())
    if not any(parameter.requires_grad for parameter in parameters):
        raise ValueError("model: got no parameter with requires_grad, expected some")
    if {p.dtype for p in parameters} & {torch.float16, torch.bfloat16}:
        raise ValueError(
            "model: got parameters of 16 bits, which lose small steps, expected 32; "
            "take model.float(), and TrainConfig(autocast=True) for speed"
        )
    with torch.random.fork_rng([]), evaluating(model):  # augmentation draws numbers
        image, _ = data.train[0]
        num_classes = logits_of(model, image[None]).shape[1]
    expected = getattr(data, "num_classes", num_classes)
    if num_classes != expected:
        raise ValueError(
            f"model: got {num_classes} classes, expected the {expected} of the data; "
            "reset_classifier makes a head for them"
        )
    check_preprocessing(model, data)
    return num_classes


def check_preprocessing(model: nn.Module, images: Any) -> None:
    """Raise ValueError if images were not normalised as a model's training images were.

    Means and deviations may differ by a twentieth of a deviation, as those of two
    samples of the same images do. The same classes must be in the same order. Where
    the model or the images have no ``preprocessing``, nothing is compared.
    """
    known = getattr(model, "preprocessing", None)
    given = getattr(images, "preprocessing", None)
    if not isinstance(known, Preprocessing) or not isinstance(given, Preprocessing):
        return
    pairs = zip(known.mean + known.std, given.mean + given.std, strict=False)
    close = 0.05 * min(known.std)
    advice = (
        "load them with data.load(..., preprocessing=model.preprocessing), or train a "
        "model on them after model.preprocessing = None"
    )
    if any(abs(one - other) > close for one, other in pairs):
        raise ValueError(
            f"preprocessing: got images with mean {given.mean} and std {given.std}, "
            f"expected the model's {known.mean} and {known.std}; {advice}"
        )
    if known.classes != given.classes and {*known.classes} == {*given.classes}:
        raise ValueError(
            f"preprocessing: got images with classes {given.classes}, expected the "
            f"model's order {known.classes}; {advice}"
        )


def check_labels(labels: Any, num_classes: int) -> None:
    """Raise ValueError unless labels are int64 numbers of the K classes, one an image.

    Shape: (B,)
    """
    if not isinstance(labels, Tensor) or labels.dtype != torch.int64:
        kind = labels.dtype if isinstance(labels, Tensor) else type(labels).__name__
        raise ValueError(f"data: got labels of {kind}, expected torch.int64")
    if labels.ndim != 1:
        shape = tuple(labels.shape)
        raise ValueError(f"data: got labels of shape {shape}, expected one an image")
    low, high = int(labels.min()), int(labels.max())
    if low < 0 or high >= num_classes:
        raise ValueError(
            f"data: got labels from {low} to {high}, expected 0 to {num_classes - 1}, "
            f"since the model has {num_classes} classes"
        )


def logits_of(model: nn.Module, images: Tensor) -> Tensor:
    """Return a classifier's logits for images, which may be on another device.

    Shape: (B, C, H, W) -> (B, K)
    Raises: ValueError if the model has no head, or returns something else.
    """
    if getattr(getattr(model, "config", None), "num_classes", None) == 0:
        raise ValueError("model: has no head, expected one; reset_classifier makes one")
    logits = model(on_device_of(model, images)[0])
    if not isinstance(logits, Tensor):
        raise ValueError(
            f"model: got output {type(logits).__name__}, expected logits (B, K); wrap "
            "it in a module whose forward returns them alone"
        )
    if logits.ndim != 2:
        shape = tuple(logits.shape)
        raise ValueError(f"model: got output {shape}, expected logits (B, K)")
    return logits


def on_device_of(model: nn.Module, *tensors: Tensor) -> list[Tensor]:
    """Return tensors on a model's device, and those of floats in its dtype."""
    like = next(model.parameters())
    return [
        tensor.to(like.device, like.dtype if tensor.is_floating_point() else None)
        for tensor in tensors
    ]
