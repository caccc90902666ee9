"""A model and its images, in the form that the tests of ``examine`` need."""

import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from vit_doctor import limits
from vit_doctor.report import Unseen
from vit_steps.compatibility import check_images, logits_of
from vit_steps.preprocessing import Preprocessing
from vit_steps.tensors import check_tensor
from vit_steps.training import train_step


@dataclass
class Part:
    """A data set's images in random order: all are compared, the first are shown."""

    images: Tensor  # (m, C, H, W)
    shown: Tensor  # (m,), their labels
    small: Tensor  # (n, C, s, s), averaged to at most 16×16 pixels
    labels: Tensor  # (n,)
    logits: Tensor | None = None  # (m, K), once the model has been asked


def read_part(dataset: Any, name: str) -> Part:
    """Read a data set's images; ValueError if one is no image, or of another size."""
    check_images(dataset, name)
    generator = torch.Generator().manual_seed(0)
    order = torch.randperm(len(dataset), generator=generator)[: limits.COMPARED]
    images: list[Tensor] = []
    small: list[Tensor] = []
    labels: list[int] = []
    for index in order.tolist():
        image, label = dataset[index]
        first = images[0].shape if images else ("C", "H", "W")
        check_tensor(image, f"{name}, image {index}", *first)
        image = image.detach().float().cpu()
        height, width = (min(side, 16) for side in image.shape[1:])
        small.append(F.adaptive_avg_pool2d(image, (height, width)))  # (C, s, s)
        labels.append(int(label))
        if len(images) < limits.SHOWN:
            images.append(image)
    every, some = torch.tensor(labels), torch.tensor(labels[: len(images)])
    return Part(torch.stack(images), some, torch.stack(small), every)


class Call(NamedTuple):
    """A part of a model that has run."""

    name: str
    part: nn.Module
    given: Any
    out: Any  # the first, if there are several


class Watched(nn.Module):
    """A model that returns the input of its head, and keeps the outputs of its parts.

    Shape: (B, C, H, W) -> (B, D)
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.calls: list[Call] = []
        self.head: nn.Linear | None = None

    def watch(self, images: Tensor) -> Tensor:
        """Return the logits, and keep the calls in the order in which they end."""
        self.calls = []

        def hook(name: str) -> Any:
            def keep(part: nn.Module, given: Any, out: Any) -> None:
                out = out[0] if isinstance(out, tuple) else out
                self.calls.append(Call(name, part, given, out))

            return keep

        parts = self.model.named_modules()
        hooks = [part.register_forward_hook(hook(name)) for name, part in parts]
        try:
            return logits_of(self.model, images)
        finally:
            for each in hooks:
                each.remove()

    def forward(self, images: Tensor) -> Tensor:
        logits = self.watch(images)  # (B, K)
        for call in reversed(self.calls):
            if isinstance(call.part, nn.Linear) and call.out.shape == logits.shape:
                self.head = call.part
                return call.given[0].flatten(1)  # (B, D)
        raise Unseen("no linear layer of the model returns the logits")


@dataclass
class Patient:
    """A copy of a model, in evaluation mode, and what it was trained and tested on."""

    model: nn.Module
    train: Part
    test_images: Part | None
    known: Preprocessing | None
    classes: tuple[str, ...]
    order: Tensor | None  # (n,), labels as a loader gives them
    lr: float | None
    readings: dict[str, Any] = field(default_factory=dict)  # on changed images

    @property
    def parts(self) -> dict[str, Part]:
        """The training images, and the test images if there are any."""
        parts = {"training": self.train, "test": self.test_images}
        return {name: part for name, part in parts.items() if part}

    @property
    def test(self) -> Part:
        if self.test_images is None:
            raise Unseen("there are no test images")
        return self.test_images

    @property
    def few(self) -> Tensor:
        """A small batch of training images."""
        return self.train.images[:16]

    def logits(self, images: Tensor) -> Tensor:
        """Return the logits: (n, C, H, W) -> (n, K)."""
        logits = torch.cat([logits_of(self.model, few) for few in images.split(64)])
        if not logits.isfinite().all():
            raise Unseen("the model's logits are not finite")
        return logits

    def answers(self, part: Part) -> Tensor:
        """Return the logits of a part: (m, K)."""
        if part.logits is None:
            part.logits = self.logits(part.images)
        return part.logits

    def right(self, part: Part, changed: Tensor | None = None) -> Tensor:
        """Return which answers about a part, or changed images, are right: (m,)."""
        found = self.answers(part) if changed is None else self.logits(changed)
        return found.argmax(dim=1) == part.shown[: len(found)]

    @cached_property
    def shares(self) -> Tensor:
        """The share of each class among the training images: (K,)."""
        counts = self.train.labels.bincount(minlength=len(self.classes))
        return counts / counts.sum()

    @property
    def floor(self) -> float:
        """The lowest loss of a constant answer, ln K if all classes are as frequent."""
        return torch.special.entr(self.shares).sum().item()

    @cached_property
    def knows(self) -> bool:
        """True if the model does better on training images than a constant answer."""
        labels = self.train.shown
        losses = F.cross_entropy(self.answers(self.train), labels, reduction="none")
        gain = -self.shares.log()[labels] - losses  # (m,)
        less = bool(gain.mean() > limits.SURE * gain.std() / len(gain) ** 0.5)
        common = labels == self.shares.argmax()
        return less or better(self.right(self.train), common, least=0.0)

    def check_knows(self) -> None:
        if not self.knows:
            raise Unseen("the model does not know the classes yet")

    @cached_property
    def scaling(self) -> tuple[Tensor, Tensor]:
        """The mean and the std that pixels in [0, 1] were normalised with.

        If the model does not have them, and images are neither in [0, 1] nor in [0,
        255], the darkest and brightest pixel of each channel count as 0 and 1.

        Shape: (C, 1, 1) each
        """
        if self.known:
            mean, std = torch.tensor([self.known.mean, self.known.std])
            return mean[:, None, None], std[:, None, None]
        low = self.train.images.amin(dim=(0, 2, 3))[:, None, None]
        high = self.train.images.amax(dim=(0, 2, 3))[:, None, None]
        if low.min() < -0.01 or high.max() > 255:
            std = 1 / (high - low).clamp_min(1e-6)
            return -low * std, std
        return 0 * low, torch.ones_like(low) / (1 if high.max() < 1.01 else 255)

    def pixels(self, images: Tensor) -> Tensor:
        """Return images as they were before they were normalised."""
        mean, std = self.scaling
        return images * std + mean

    def normalised(self, pixels: Tensor) -> Tensor:
        mean, std = self.scaling
        return (pixels - mean) / std

    @torch.enable_grad()
    def short_training(self, lr: float) -> float:
        """Return the loss that a copy reaches in a few steps of AdamW.

        It goes on from the model's parameters, or from new ones if the model knows
        nothing.
        """
        model = copy.deepcopy(self.model).train()
        if not self.knows:
            parts = [model] if hasattr(model, "reset_parameters") else model.modules()
            for part in parts:
                if callable(reset := getattr(part, "reset_parameters", None)):
                    reset()
        optimizer = torch.optim.AdamW(model.parameters(), lr, weight_decay=0.0)
        losses = []
        for step in range(limits.STEPS):
            chosen = torch.randint(len(self.train.images), (32,))
            images, targets = self.train.images[chosen], self.train.shown[chosen]
            optimizer.param_groups[0]["lr"] = lr * min(1.0, (step + 1) / 10)
            loss = train_step(model, optimizer, images, targets, clip_norm=1.0)
            losses.append(loss.item())
        return sum(losses[-10:]) / 10


def better(one: Tensor, other: Tensor, least: float = limits.MENDED) -> bool:
    """Return whether one of two ways to answer the same questions is clearly better.

    It has to mend at least this share of the other's errors, and more than luck would
    (McNemar's test).

    Shape: which answers are right, (n,) each
    """
    gained, lost = (one & ~other).sum().item(), (other & ~one).sum().item()
    sure = gained - lost > limits.SURE * (gained + lost) ** 0.5
    return sure and gained - lost >= least * (~other).sum().item()


def percent(found: Tensor) -> str:
    """Return the share of True, in per cent."""
    return f"{found.float().mean():.0%}"
