"""The check of ``evaluate_accuracy``, chapter 8."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor, nn

from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.observing import as_number
from vit_check.engine.verdict import Mistake


class _Moody(nn.Module):
    """A model whose images are its logits; in training it moves them by a class."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones((), dtype=torch.float32))
        self.recorded = False

    def forward(self, images: Tensor) -> Tensor:
        self.recorded |= torch.is_grad_enabled()
        logits = self.scale * images.flatten(1)  # (B, K)
        return logits.roll(1, dims=1) if self.training else logits


def _evaluation(
    function: Callable[..., Any],
    images: list[Tensor],
    labels: list[Tensor],
    mode: str,
) -> dict[str, Any]:
    model = _Moody().train(mode == "training")
    measured = as_number(function(model, list(zip(images, labels, strict=True))))
    return {
        "the accuracy": measured,
        "the mode that the model is left in": "training" if model.training else "eval",
        "a graph for gradients": "kept" if model.recorded else "not kept",
    }


def _evaluate(
    model: nn.Module,
    batches: list[tuple[Tensor, Tensor]],
    mode: str = "eval",
    back: str = "as it was",
    share: str = "of images",
    graph: bool = False,
) -> float:
    """An evaluation with a place for each usual mistake."""
    was = model.training
    model.train(mode == "train" or (mode == "as it is" and was))
    right, counts = [], []
    with torch.set_grad_enabled(graph):
        for images, labels in batches:
            right.append((model(images).argmax(dim=1) == labels).sum().item())
            counts.append(len(labels))
    model.train({"as it was": was, "eval": False, "train": True}[back])
    shares = [r / count for r, count in zip(right, counts, strict=True)]
    return {
        "of images": sum(right) / sum(counts),
        "mean of batches": sum(shares) / len(shares),
        "first": shares[0],
        "last": shares[-1],
        "full batches": sum(right) / (counts[0] * len(counts)),
        "count": float(sum(right)),
        "per batch": sum(right) / len(counts),
        "percent": 100 * sum(right) / sum(counts),
    }[share]


def _evaluation_inputs(generator: Generator) -> Iterator[Case]:
    K = 5
    for mode in ("eval", "training"):
        images, labels = [], []
        # So many of each batch are right in eval mode, and so many in training mode.
        for B, right, moved in ((16, 10, 4), (16, 6, 3), (5, 3, 1)):
            y = torch.randint(K, (B,), generator=generator)
            shift = torch.tensor([0] * right + [1] * moved + [2] * (B - right - moved))
            best = (y - shift) % K  # the class with the highest logit
            x = torch.rand(B, 1, 1, K, generator=generator)
            x[torch.arange(B), 0, 0, best] += 1.0
            images.append(x)
            labels.append(y)
        yield [images, labels, mode]


evaluate_accuracy = FunctionCheck(
    "evaluate_accuracy",
    "evaluate_accuracy(model, batches) -> a float from 0 to 1",
    _evaluate,
    _evaluation_inputs,
    [
        Mistake(
            "in training mode",
            "the model is measured in the mode it happens to be in: in training mode "
            "its answers are others",
            partial(_evaluate, mode="as it is"),
        ),
        Mistake(
            "put into training mode",
            "the model is put into training mode before it is measured",
            partial(_evaluate, mode="train"),
        ),
        Mistake(
            "mean of the batches",
            "the shares of the batches are averaged: the last batch is smaller, and "
            "its images count for more than the others'",
            partial(_evaluate, share="mean of batches"),
        ),
        Mistake(
            "full batches",
            "the right answers are divided by the number of batches times the size of "
            "the first: the last batch has fewer images",
            partial(_evaluate, share="full batches"),
        ),
        Mistake(
            "last batch alone",
            "the share is that of the last batch alone: what the others gave is "
            "overwritten",
            partial(_evaluate, share="last"),
        ),
        Mistake(
            "first batch alone",
            "the share is that of the first batch alone: a return inside the loop "
            "ends it",
            partial(_evaluate, share="first"),
        ),
        Mistake(
            "divided by batches",
            "the right answers are divided by the number of batches, expected by the "
            "number of images",
            partial(_evaluate, share="per batch"),
        ),
        Mistake(
            "a count",
            "the right answers are counted, expected their share, from 0 to 1",
            partial(_evaluate, share="count"),
        ),
        Mistake(
            "percent",
            "the share is in per cent, expected from 0 to 1",
            partial(_evaluate, share="percent"),
        ),
        Mistake(
            "left in eval mode",
            "the model is left in eval mode: it came in training mode, and whoever "
            "trains it on would not notice",
            partial(_evaluate, back="eval"),
        ),
        Mistake(
            "left in training mode",
            "the model is left in training mode, and it came in eval mode: put back "
            "what was there",
            partial(_evaluate, back="train"),
        ),
        Mistake(
            "graph kept",
            "PyTorch keeps a graph for gradients that are not needed, which costs "
            "memory: measure without them",
            partial(_evaluate, graph=True),
        ),
    ],
    hints=(
        "Two batches of 16 and one of 5: how many images are there in all, and how "
        "many answers are right?",
        "Count right answers and images over all batches and divide once, at the end. "
        "Before it: which mode is the model in, and which is it to be left in?",
        "was = model.training; model.eval(); with torch.no_grad(): add up "
        "(model(images).argmax(1) == labels).sum().item() and len(labels); "
        "model.train(was).",
    ),
    gradients=False,
    scenario=_evaluation,
)
