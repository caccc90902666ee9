from typing import Any

import torch
from torch import Generator, Tensor, nn

from vit_check.engine.drawing import Answer, Cases, normal
from vit_check.engine.functions import checked_by
from vit_check.engine.observing import as_number


class _Mixing(nn.Module):
    """A model that adds a part of the batch's mean to its images, which are its logits.

    It adds more in training mode, so that the mode matters, and in a larger batch, so
    that copies of one image do not give it away.
    """

    def __init__(self, mix: float) -> None:
        super().__init__()
        self.mix = mix
        self.part = nn.Dropout(0.0)  # it has a mode of its own
        self.scale = nn.Parameter(torch.ones((), dtype=torch.float64))

    def forward(self, images: Tensor) -> Tensor:
        if images.ndim != 4:
            raise ValueError(f"images: got {images.ndim} axes, expected (B, C, H, W)")
        logits = self.scale * images.flatten(1)  # (B, K)
        mix = self.mix * (0.9 + 0.1 * len(images)) + 0.75 * self.part.training
        return logits + mix * logits.mean(dim=0)


def _measured(
    function: Answer, images: Tensor, mix: float, mode: str
) -> dict[str, Any]:
    model = _Mixing(mix).train(mode == "training")
    effect = as_number(function(model, images))
    modes = {("eval", "training")[part.training] for part in model.modules()}
    return {
        f"the largest difference, with the model in {mode} mode,": effect,
        "the mode that the model is left in": " and ".join(sorted(modes)),
    }


def _effect_inputs(generator: Generator) -> Cases:
    for mix, mode in ((0.5, "eval"), (0.25, "training"), (0.0, "eval")):
        images = 0.1 * normal(generator, 6, 1, 1, 5)
        # The third image has the largest effect and the fifth a smaller one with the
        # other sign, so a test of the first image alone does not find it.
        side = -1 if mode == "training" else 1
        images[2, ..., 2] += side * 5.0
        images[4, ..., 3] -= side * 3.0
        yield [images, mix, mode]


TABLE = """
batch_effect(model, images) -> a float
in training mode: model.eval() -> nothing
    the model or a part of it is asked in training mode: model.eval() sets all parts
eval mode for one half: model.eval() -> nothing
  alone = -> model.eval(); alone =
    the batch is asked in the mode in which the model came, expected in eval mode
signed: .abs() -> nothing
  apart.max() -> torch.minimum(apart.max(), -apart.min())
    the largest difference is taken with its sign, expected without
mean: apart.max -> apart.mean
    the differences are averaged, expected the largest: one that moves is enough
first image: apart.max -> apart[0].max
    only the first image is asked alone, expected each of them
never alone: images.split(1) -> [images]
    the batch is compared with itself: that is the test of asking again
? Ask the model once with all images and once for each image alone, both in eval mode.
? images.split(1) gives batches of one; torch.cat puts their logits together again. Then
  compare: absolute difference, largest number.
? was = model.training; model.eval(); together = model(images); alone =
  torch.cat([model(one) for one in images.split(1)]); model.train(was); (together -
  alone).abs().max().item()
"""


@checked_by(TABLE, inputs=_effect_inputs, gradients=False, scenario=_measured)
def batch_effect(model: nn.Module, images: Tensor) -> float:
    was = model.training
    model.eval()
    with torch.no_grad():
        together = model(images)  # (B, K)
        alone = torch.cat([model(one) for one in images.split(1)])
    model.train(was)
    apart = (together - alone).abs()
    return apart.max().item()
