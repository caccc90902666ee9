"""Checks that a classifier, images and labels fit each other."""

from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.utils.data import Dataset

from vit_steps.evaluating import evaluating
from vit_steps.preprocessing import Preprocessing
from vit_steps.tensors import check_tensor


class Data(Protocol):
    """The two data sets of a training run, of images (C, H, W) with their labels."""

    @property
    def train(self) -> Dataset[Any]: ...
    @property
    def validation(self) -> Dataset[Any]: ...


def check_fit(model: nn.Module, data: Data) -> int:
    """Try one image, so that a mismatch is found before the first step; return K.

    Raises: ValueError if a part is missing or empty, the model is not a classifier
        of its images and classes, or its weights are too coarse to be trained.
    """
    for name in ("train", "validation"):
        check_images(getattr(data, name, None), f"data.{name}")
    if not any(p.requires_grad for p in model.parameters()):
        raise ValueError("model: got no parameter that requires a gradient")
    if {p.dtype for p in model.parameters()} & {torch.float16, torch.bfloat16}:
        raise ValueError(
            "model: got parameters of 16 bits, which lose small steps, expected 32; "
            "take model.float(), and TrainConfig(autocast=True) for speed"
        )
    with torch.random.fork_rng([]), evaluating(model):  # augmentation draws numbers
        num_classes = logits_of(model, data.train[0][0][None]).shape[1]
    expected = getattr(data, "num_classes", num_classes)
    if num_classes != expected:
        raise ValueError(
            f"model: got {num_classes} classes, expected the {expected} of the data; "
            "reset_classifier makes a head for them"
        )
    check_preprocessing(model, data)
    return num_classes


def check_images(images: Any, name: str) -> None:
    """Raise ValueError unless this is a data set of at least one image."""
    if not hasattr(images, "__getitem__") or not hasattr(images, "__len__"):
        advice = "; types.SimpleNamespace(train=..., validation=...) puts two together"
        got = f"got {type(images).__name__}, expected a data set"
        raise ValueError(f"{name}: {got}{advice * name.startswith('data.')}")
    if not len(images):
        raise ValueError(f"{name}: got no image, expected at least one")


def check_preprocessing(model: nn.Module, images: Any) -> None:
    """Raise ValueError if images were not normalised as a model's training images were.

    Means and standard deviations may differ by a twentieth of the model's smallest
    deviation, about as much as two samples of the same images do. If both have the same
    classes, these must be in the same order. Nothing is compared if the model or the
    images have no ``preprocessing``.
    """
    known = getattr(model, "preprocessing", None)
    given = getattr(images, "preprocessing", None)
    if not isinstance(known, Preprocessing) or not isinstance(given, Preprocessing):
        return
    pairs = zip(known.mean + known.std, given.mean + given.std, strict=False)
    far = any(abs(one - other) > 0.05 * min(known.std) for one, other in pairs)
    moved = known.classes != given.classes and {*known.classes} == {*given.classes}
    if far or moved:
        expected, got = (
            f"mean {each.mean}, std {each.std} and classes {each.classes[:10]}"
            for each in (known, given)
        )
        raise ValueError(
            f"preprocessing: got images with {got}, expected the model's {expected}; "
            "load them with data.load(..., preprocessing=model.preprocessing), or "
            "train a model on them after model.preprocessing = None"
        )


def logits_of(model: nn.Module, images: Tensor) -> Tensor:
    """Return a classifier's logits for images, which may be on another device.

    Shape: (B, C, H, W) -> (B, K)
    Raises: ValueError if the model has no head, or returns something else.
    """
    if getattr(getattr(model, "config", None), "num_classes", None) == 0:
        raise ValueError("model: has no head, expected one; reset_classifier makes one")
    logits: Tensor = model(on_device_of(model, images))
    check_tensor(logits, "model's output", "B", "K", note=", logits returned alone")
    return logits


def on_device_of(model: nn.Module, images: Tensor) -> Tensor:
    """Return images on a model's device, and in its dtype if they are floats."""
    like = next(model.parameters(), images)
    return images.to(like.device, like.dtype if images.is_floating_point() else None)
