"""Check of chapter 8: the loss."""

import torch
from torch import Generator, Tensor
from torch.nn import functional as F

from vit_check.engine.drawing import Cases
from vit_check.engine.functions import FunctionCheck


def mean_loss(logits: Tensor, labels: Tensor, label_smoothing: float = 0.0) -> Tensor:
    K = logits.shape[1]
    log_p = logits.log_softmax(dim=1)  # (B, K)
    one = F.one_hot(labels, K).to(logits)  # (B, K)
    target = (1 - label_smoothing) * one + label_smoothing / K
    losses = -(target * log_p).sum(dim=1)  # (B,)
    return losses.mean()


def _cross_entropy_inputs(generator: Generator) -> Cases:
    def normal(B: int, K: int) -> Tensor:
        return 2.0 * torch.randn(B, K, generator=generator)

    def labels(B: int, K: int) -> Tensor:
        return torch.randint(K, (B,), generator=generator)

    yield [normal(7, 5).double() * 5.0, labels(7, 5)]
    yield [normal(7, 5), labels(7, 5)]
    # In float32, e^300 is infinite and e^-120 is 0, but 300 keeps five decimals.
    yield [normal(4, 5) + 300.0, labels(4, 5), 0.2]
    apart = 800.0 * normal(5, 4).argsort(dim=1)
    yield [normal(5, 4).double() - apart, labels(5, 4), 0.1]  # e^-800 is 0
    yield [normal(4, 3) + 120.0 * torch.arange(4.0)[:, None], labels(4, 3), 0.1]
    yield [normal(3, 6).double(), labels(3, 6), 0.1]


MISTAKES = """
summed: losses.mean() -> losses.sum()
    the losses are summed, expected their mean: a larger batch would lose more
mean over classes too: sum(dim=1) -> mean(dim=1)
    the mean runs over the classes as well: each image has one, so divide by B, not by
    B·K
sign: -(target * log_p) -> (target * log_p)
    the sign is wrong: the logarithm is negative, and the loss is minus that
softmax twice: log_softmax -> softmax(dim=1).log_softmax
    the softmax is taken twice: probabilities go into a loss that expects logits
softmax over the batch: log_softmax(dim=1) -> log_softmax(dim=0)
    the softmax runs over the batch: the probabilities of each image should sum to 1,
    and here those of each class do
base 2: log_softmax(dim=1) -> log_softmax(dim=1) / math.log(2)
    the logarithm is to base 2, expected the natural one: the loss is in nats
columns of the whole batch: .to(logits) -> .to(logits).mean(dim=0)
    each label picks its column for all images, B×B numbers; it should pick one number,
    from its own image's row
smoothing over K - 1: label_smoothing / K -> label_smoothing / (K - 1) * (1 - one)
    the smoothing is shared out among the K - 1 wrong classes; it is spread over all K,
    the right one included
right class keeps 1: (1 - label_smoothing) * one -> one
    the target sums to more than 1: the right class keeps the whole 1, expected 1 - ε
    and its share of ε
summed over the classes: label_smoothing / K -> label_smoothing
    every class gets the whole ε: the log-probabilities are summed, expected their mean
logarithm of 0: log_softmax(dim=1) -> softmax(dim=1).log()
    the loss is infinite where logits lie far apart: a probability has become 0 before
    its logarithm is taken; the two belong in one step
overflow: logits.log_softmax(dim=1)
  -> (logits.exp() / logits.exp().sum(dim=1, keepdim=True)).log()
    the loss is NaN for logits of 300: e³⁰⁰ is infinite in 32 bits; a softmax stays what
    it is when every logit is lowered by the largest
? Take one image: which of its K logarithms counts, and with what weight? Then the mean
  over the batch.
? The target is (1 - ε) for the right class plus ε/K for every class; the loss of an
  image is minus the sum of target times log-probability.
? log_p = logits.log_softmax(dim=1); nll = -log_p.gather(1, labels[:, None]); ((1 - ε) ·
  nll - ε · log_p.mean(dim=1, keepdim=True)).mean().
"""

cross_entropy = FunctionCheck(
    "cross_entropy(logits, labels, label_smoothing=0.0) -> the loss, a tensor ()",
    mean_loss,
    _cross_entropy_inputs,
    MISTAKES,
    shape="()",
    batched=(0, 1),
)
