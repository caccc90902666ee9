"""The check of ``batch_effect``, chapter 14."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor, nn

from vit_check.engine.check import Case
from vit_check.engine.drawing import normal
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.observing import as_number
from vit_check.engine.verdict import Mistake


class _Mixing(nn.Module):
    """Its images are its logits; some of the batch's mean is added to them.

    In training mode more is added, so that the mode matters, and so it is in a larger
    batch, so that an image is not alone among copies of itself.
    """

    def __init__(self, mix: float) -> None:
        super().__init__()
        self.mix = mix
        self.scale = nn.Parameter(torch.ones((), dtype=torch.float64))

    def forward(self, images: Tensor) -> Tensor:
        if images.ndim != 4:
            raise ValueError(f"images: got {images.ndim} axes, expected (B, C, H, W)")
        logits = self.scale * images.flatten(1)  # (B, K)
        mix = self.mix * (0.9 + 0.1 * len(images)) + 0.75 * self.training
        return logits + mix * logits.mean(dim=0)


def _measured(
    function: Callable[..., Any], images: Tensor, mix: float, mode: str
) -> dict[str, Any]:
    model = _Mixing(mix).train(mode == "training")
    effect = as_number(function(model, images))
    return {
        f"the largest difference, with the model in {mode} mode,": effect,
        "the mode that the model is left in": "training" if model.training else "eval",
    }


def _effect(
    model: nn.Module,
    images: Tensor,
    mode: str = "eval",
    back: str = "as it was",
    others: str = "none",
    number: str = "largest",
) -> float:
    """The effect with a place for each usual mistake."""
    was = model.training
    model.train({"eval": False, "as it is": was, "train": True}[mode])
    with torch.no_grad():
        together = model(images)  # (B, K)
        parts = {
            "none": images.split(1),
            "half": images.split((len(images) + 1) // 2),
            "copies": [image.expand_as(images) for image in images.split(1)],
            "all": [images],
        }[others]
        alone = torch.cat([model(part)[: len(part)] for part in parts])
        if others == "copies":
            alone = alone[:: len(images)]  # (B, K)
    model.train({"as it was": was, "eval": False, "train": True}[back])
    apart = together - alone
    return {
        "largest": apart.abs().max(),
        "signed": apart.max(),
        "mean": apart.abs().mean(),
        "sum": apart.abs().sum(),
        "length": apart.norm(),
        "first": apart[0].abs().max(),
        "answers": (together.argmax(1) != alone.argmax(1)).double().mean(),
    }[number].item()


def _effect_inputs(generator: Generator) -> Iterator[Case]:
    for mix, mode in ((0.5, "eval"), (0.25, "training"), (0.0, "eval")):
        images = 0.1 * normal(generator, 6, 1, 1, 5)
        # One image is farthest above the mean of the batch, and another is farthest
        # below it, less far; neither is the first.
        images[2, ..., 0] += 5.0
        images[4, ..., 1] -= 3.0
        yield [images, mix, mode]


batch_effect = FunctionCheck(
    "batch_effect",
    "batch_effect(model, images) -> a float",
    _effect,
    _effect_inputs,
    [
        Mistake(
            "in training mode",
            "the model is asked in the mode it happens to be in; in training mode its "
            "answers are others, so call eval() first",
            partial(_effect, mode="as it is"),
        ),
        Mistake(
            "put into training mode",
            "the model is put into training mode before it is asked",
            partial(_effect, mode="train"),
        ),
        Mistake(
            "signed",
            "the largest difference is taken with its sign: where the logits get "
            "smaller, nothing is seen, so take the absolute value first",
            partial(_effect, number="signed"),
        ),
        Mistake(
            "mean",
            "the differences are averaged, expected the largest: one image that moves "
            "among many that do not is enough",
            partial(_effect, number="mean"),
        ),
        Mistake(
            "sum",
            "the differences are added up, expected the largest of them",
            partial(_effect, number="sum"),
        ),
        Mistake(
            "length",
            "the length of the difference is returned, expected its largest number",
            partial(_effect, number="length"),
        ),
        Mistake(
            "first image",
            "only the first image is asked alone, expected each of them",
            partial(_effect, number="first"),
        ),
        Mistake(
            "in halves",
            "the batch is cut in halves; each image is to come alone, as a batch of "
            "one",
            partial(_effect, others="half"),
        ),
        Mistake(
            "never alone",
            "the batch is compared with itself: that is the test of asking again",
            partial(_effect, others="all"),
        ),
        Mistake(
            "answers",
            "the answers are compared, expected the logits: they move long before an "
            "answer changes",
            partial(_effect, number="answers"),
        ),
        Mistake(
            "left in eval mode",
            "the model is left in eval mode, and it came in training mode: put back "
            "what was there",
            partial(_effect, back="eval"),
        ),
        Mistake(
            "left in training mode",
            "the model is left in training mode, and it came in eval mode: put back "
            "what was there",
            partial(_effect, back="train"),
        ),
    ],
    hints=(
        "Ask the model twice: once with all images, and once for each image alone. "
        "Both times it has to be in eval mode.",
        "images.split(1) gives batches of one; torch.cat puts their logits together "
        "again. Then compare: absolute difference, largest number.",
        "was = model.training; model.eval(); together = model(images); alone = "
        "torch.cat([model(one) for one in images.split(1)]); model.train(was); "
        "(together - alone).abs().max().item()",
    ),
    gradients=False,
    scenario=_measured,
)
