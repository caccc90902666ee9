from typing import Any

import torch
from torch import Generator, Tensor, nn

from vit_check.engine.drawing import Answer, Cases
from vit_check.engine.functions import checked_by


class _Moody(nn.Module):
    """A model whose images are its logits; in training mode some answers change."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones((), dtype=torch.float32))
        self.part = nn.Dropout(0.0)  # it has a mode of its own
        self.recorded = False

    def forward(self, images: Tensor) -> Tensor:
        self.recorded |= torch.is_grad_enabled()
        logits = self.scale * images.flatten(1)  # (B, K)
        return logits.roll(1, dims=1) if self.part.training else logits


def _evaluation(
    function: Answer, images: list[Tensor], labels: list[Tensor], mode: str
) -> dict[str, Any]:
    model = _Moody().train(mode == "training")
    measured = function(model, list(zip(images, labels, strict=True)))
    modes = {("eval", "training")[part.training] for part in model.modules()}
    return {
        f"the accuracy over {len(images)} batches in {mode} mode": measured,
        "the mode that the model is left in": " and ".join(sorted(modes)),
        "a graph for gradients": "built" if model.recorded else "not built",
    }


def _evaluation_inputs(generator: Generator) -> Cases:
    K = 5
    for mode in ("eval", "training"):
        images, labels = [], []
        # The images of a batch, those right in eval mode, and in training mode.
        small = ((5, 3, 1), (4, 1, 2), (1, 1, 0))
        for B, right, moved in ((16, 10, 4), (16, 6, 3), *small * 4, (5, 2, 1)):
            y = torch.randint(K, (B,), generator=generator)
            shift = torch.tensor([0] * right + [1] * moved + [2] * (B - right - moved))
            best = (y - shift) % K  # the class with the highest logit
            x = torch.rand(B, 1, 1, K, generator=generator)
            x[torch.arange(B), 0, 0, best] += 1.0
            images.append(x)
            labels.append(y)
        yield [images, labels, mode]


TABLE = """
evaluate_accuracy(model, batches) -> a float from 0 to 1
in training mode: model.eval() -> nothing
    the model or a part of it is asked in training mode: model.eval() sets all parts
first batch alone: in batches: -> in batches[:1]:
    the share is that of the first batch alone: does the loop end too soon?
mean of the batches: hits.sum() -> hits.double().mean()
  len(labels) -> 1
    the shares of the batches are averaged: an image of a small batch counts for more
full batches: right / count -> right / len(batches) / len(batches[0][1])
    the right answers are divided by the number of batches times the size of the first
last batch alone: += -> =
    the share is that of the last batch alone: what the others gave is overwritten
graph kept: no_grad -> enable_grad
    a graph for gradients is built, which nobody needs: measure under torch.no_grad()
? Two batches of 16 and one of 5: how many images are there, and how many right?
? Count right answers and images over all batches and divide once, at the end. Before
  it: which mode is the model in, and which is it to be left in?
? was = model.training; model.eval(); with torch.no_grad(): add up
  (model(images).argmax(1) == labels).sum().item() and len(labels); model.train(was).
"""


@checked_by(TABLE, inputs=_evaluation_inputs, gradients=False, scenario=_evaluation)
def evaluate_accuracy(model: nn.Module, batches: list[tuple[Tensor, Tensor]]) -> float:
    was = model.training
    model.eval()
    right, count = 0.0, 0
    with torch.no_grad():
        for images, labels in batches:
            hits = model(images).argmax(dim=1) == labels
            right += hits.sum().item()
            count += len(labels)
    model.train(was)
    return right / count
