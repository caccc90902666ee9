from typing import Any

import torch
from torch import Generator, Tensor

from vit_check.engine.drawing import Answer, Cases
from vit_check.engine.functions import checked_by


def _accuracies(
    function: Answer, logits: list[Tensor], labels: list[Tensor]
) -> dict[str, Any]:
    """Return the accuracy of several batches, so that none is right by chance."""
    seen = {}
    for x, y in zip(logits, labels, strict=True):
        hits = int((x.argmax(dim=1) == y).sum())
        what = f"the accuracy of {len(y)} images, of which {hits} are answered right,"
        seen[what] = function(x, y)
    return seen


def _accuracy_inputs(generator: Generator) -> Cases:
    small = [(11, 7), (8, 6), (13, 7), (1, 6)]
    for scale, sizes in ((1, small), (100, [(11, 11), (13, 13), (12, 12)])):
        logits, labels = [], []
        for B, K in sizes:
            x = scale * torch.randn(B, K, generator=generator)
            # The rank of the right class by its logit, from 0.
            last = K - 1
            ranks = torch.tensor([0, 1, last, 0, 3, 0, last, 5, 0, last, 4, 1, 2])[:B]
            order = x.argsort(dim=1, descending=True)
            labels.append(order.gather(1, ranks[:, None])[:, 0])
            logits.append(x)
        yield [logits, labels]


TABLE = """
accuracy(logits, labels) -> a float from 0 to 1
a count, as a float: mean -> sum
    the right answers are counted, expected their share, from 0 to 1
percent: return -> return 100 *
    the share is in percent, expected from 0 to 1
the share of wrong answers: == -> !=
    the share of wrong answers is returned, expected that of right ones
sigmoid first: logits.argmax -> logits.sigmoid().argmax
    a sigmoid makes all large logits 1, and then which is largest is lost
every answer with every label: dim=1 -> dim=1, keepdim=True
    answers (B, 1) are compared with labels (B,), which makes B×B, expected B pairs
argmax over the batch: argmax(dim=1) -> argmax(dim=0)[: len(labels)]
  answers == labels -> answers == labels[: len(answers)]
    the largest logit is looked for along the batch, expected along the classes
divided by K: double().mean().item() -> sum().item() / logits.shape[1]
    the count is divided by the number of classes, expected by the number of images
? What does the model answer for image 0: which of its K logits is the highest?
? argmax over the classes gives B answers; compare with the B labels, take the mean.
? (logits.argmax(dim=1) == labels).float().mean().item().
"""


@checked_by(TABLE, inputs=_accuracy_inputs, gradients=False, scenario=_accuracies)
def accuracy(logits: Tensor, labels: Tensor) -> float:
    answers = logits.argmax(dim=1)
    hits = answers == labels
    return hits.double().mean().item()
