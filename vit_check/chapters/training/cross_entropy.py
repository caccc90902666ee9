"""Check of chapter 8: the loss."""

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor
from torch.nn import functional as F

from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake


def _cross_entropy(
    logits: Tensor,
    labels: Tensor,
    label_smoothing: float = 0.0,
    log: str = "rightly",
    target: str = "rightly",
    reduce: str = "mean",
) -> Tensor:
    """The loss with a place for each usual mistake."""
    K, epsilon = logits.shape[1], label_smoothing
    powers, p = logits.exp(), logits.softmax(dim=1)
    log_p = {
        "rightly": logits.log_softmax(dim=1),
        "over the batch": logits.log_softmax(dim=0),
        "twice": p.log_softmax(dim=1),
        "no softmax": logits,
        "no log": p,
        "largest of the batch": _lowered_by_the_largest(logits),
        "of a quotient": (powers / powers.sum(dim=1, keepdim=True)).log(),
        "of a sum": logits - powers.sum(dim=1, keepdim=True).log(),
        "of a softmax": p.log(),
        "of a little more": (p + 1e-8).log(),
        "base 2": logits.log_softmax(dim=1) / math.log(2),
        "base 10": logits.log_softmax(dim=1) / math.log(10),
    }[log]  # (B, K)
    one = F.one_hot(labels, K).to(logits)  # (B, K)
    targets = {
        "rightly": (1 - epsilon) * one + epsilon / K,
        "none": one,
        "K - 1": (1 - epsilon) * one + epsilon / (K - 1) * (1 - one),
        "others": (1 - epsilon) * one + epsilon / K * (1 - one),
        "added": one + epsilon / K,
        "each": (1 - epsilon) * one + epsilon * (1 - one),
        "all": (1 - epsilon) * one + epsilon,
        "inverted": epsilon * one + (1 - epsilon) / K,
    }[target]  # (B, K)
    losses = -(targets * log_p).sum(dim=1)  # (B,)
    return {
        "mean": losses.mean(),
        "sum": losses.sum(),
        "classes too": losses.mean() / K,
        "none": losses,
        "sign": -losses.mean(),
    }[reduce]


def _lowered_by_the_largest(logits: Tensor) -> Tensor:
    lowered = logits - logits.max()
    return lowered - lowered.exp().sum(dim=1, keepdim=True).log()


def _picked(logits: Tensor, labels: Tensor, label_smoothing: float = 0.0) -> Tensor:
    log_p = logits.log_softmax(dim=1)
    nll = -log_p[:, labels].mean()
    return (1 - label_smoothing) * nll - label_smoothing * log_p.mean()


def _log_of_mean(
    logits: Tensor, labels: Tensor, label_smoothing: float = 0.0
) -> Tensor:
    nll = -logits.softmax(dim=1).gather(1, labels[:, None]).mean().log()
    return (1 - label_smoothing) * nll - label_smoothing * logits.log_softmax(1).mean()


def _cross_entropy_inputs(generator: Generator) -> Iterator[Case]:
    def normal(B: int, K: int) -> Tensor:
        return 2.0 * torch.randn(B, K, generator=generator)

    def labels(B: int, K: int) -> Tensor:
        return torch.randint(K, (B,), generator=generator)

    yield [normal(7, 5).double() * 5.0, labels(7, 5)]
    yield [normal(7, 5), labels(7, 5)]
    yield [normal(4, 5).double() + 800.0, labels(4, 5), 0.2]  # e^800 is infinite
    apart = 800.0 * normal(5, 4).argsort(dim=1)
    yield [normal(5, 4).double() - apart, labels(5, 4), 0.1]  # e^-800 is 0
    rows_apart = 800.0 * torch.arange(4.0)[:, None].double()
    yield [normal(4, 3).double() + rows_apart, labels(4, 3), 0.1]
    yield [normal(3, 6).double(), labels(3, 6), 0.1]


cross_entropy = FunctionCheck(
    "cross_entropy",
    "cross_entropy(logits, labels, label_smoothing=0.0) -> the loss, a tensor ()",
    lambda x, y, epsilon=0.0: F.cross_entropy(x, y, label_smoothing=epsilon),
    _cross_entropy_inputs,
    [
        Mistake(
            "summed",
            "the losses of the batch are summed, expected their mean: a larger batch "
            "would get a larger loss",
            partial(_cross_entropy, reduce="sum"),
        ),
        Mistake(
            "mean over classes too",
            "the mean runs over the classes as well: each image has one loss, so "
            "divide by B, not by B·K",
            partial(_cross_entropy, reduce="classes too"),
        ),
        Mistake(
            "not reduced",
            "there is a loss for each image, expected their mean, one number",
            partial(_cross_entropy, reduce="none"),
        ),
        Mistake(
            "sign",
            "the sign is wrong: a logarithm of a probability is negative, and the loss "
            "is minus that",
            partial(_cross_entropy, reduce="sign"),
        ),
        Mistake(
            "no softmax",
            "the logits are taken for log-probabilities: there is no softmax",
            partial(_cross_entropy, log="no softmax"),
        ),
        Mistake(
            "softmax twice",
            "the softmax is taken twice: probabilities go into a loss that expects "
            "logits",
            partial(_cross_entropy, log="twice"),
        ),
        Mistake(
            "softmax over the batch",
            "the softmax runs over the batch: the probabilities of each image should "
            "sum to 1, and here those of each class do",
            partial(_cross_entropy, log="over the batch"),
        ),
        Mistake(
            "no logarithm",
            "the probabilities themselves are averaged: their logarithm is missing",
            partial(_cross_entropy, log="no log"),
        ),
        Mistake(
            "base 2",
            "the logarithm is to base 2, expected the natural one: the loss is in nats",
            partial(_cross_entropy, log="base 2"),
        ),
        Mistake(
            "base 10",
            "the logarithm is to base 10, expected the natural one",
            partial(_cross_entropy, log="base 10"),
        ),
        Mistake(
            "columns of the whole batch",
            "each label picks its column for all images, B×B numbers; it should pick "
            "one number, from its own image's row",
            _picked,
        ),
        Mistake(
            "smoothing ignored",
            "label_smoothing has no effect",
            partial(_cross_entropy, target="none"),
        ),
        Mistake(
            "smoothing over K - 1",
            "the smoothing is shared out among the K - 1 wrong classes; it is spread "
            "over all K, the right one included",
            partial(_cross_entropy, target="K - 1"),
        ),
        Mistake(
            "right class without its share",
            "the target does not sum to 1: the right class gets 1 - ε, and its own "
            "share of ε is missing",
            partial(_cross_entropy, target="others"),
        ),
        Mistake(
            "right class keeps 1",
            "the target sums to more than 1: the right class keeps the whole 1, "
            "expected 1 - ε and its share of ε",
            partial(_cross_entropy, target="added"),
        ),
        Mistake(
            "all of it to each",
            "each wrong class gets the whole of ε, expected ε shared out",
            partial(_cross_entropy, target="each"),
        ),
        Mistake(
            "summed over the classes",
            "every class gets the whole of ε: the K log-probabilities are summed, "
            "expected their mean",
            partial(_cross_entropy, target="all"),
        ),
        Mistake(
            "smoothing inverted",
            "1 - ε is spread over the classes and ε is left for the right one: the two "
            "are exchanged",
            partial(_cross_entropy, target="inverted"),
        ),
        Mistake(
            "logarithm of 0",
            "the loss is infinite where logits lie far apart: a probability has become "
            "0 before its logarithm is taken; the two belong in one step",
            partial(_cross_entropy, log="of a softmax"),
        ),
        Mistake(
            "overflow",
            "the loss is NaN for logits of 300: e³⁰⁰ is infinite in 32 bits; a softmax "
            "stays what it is when every logit is lowered by the largest",
            partial(_cross_entropy, log="of a quotient"),
        ),
        Mistake(
            "overflow of the sum",
            "the loss is infinite for logits of 300: so is e³⁰⁰ in 32 bits; take the "
            "largest logit out before the sum of the powers",
            partial(_cross_entropy, log="of a sum"),
        ),
        Mistake(
            "largest of the batch",
            "the loss is not finite where one image's logits lie hundreds below "
            "another's: the largest logit of the batch is taken out, expected each "
            "row's own",
            partial(_cross_entropy, log="largest of the batch"),
        ),
        Mistake(
            "logarithm of a little more",
            "a small number is added before the logarithm: that keeps it finite and "
            "makes the loss wrong where a probability is near 0",
            partial(_cross_entropy, log="of a little more"),
        ),
        Mistake(
            "logarithm of the mean",
            "the probabilities are averaged before the logarithm is taken, expected "
            "the mean of the logarithms",
            _log_of_mean,
        ),
    ],
    hints=(
        "Take one image: which of its K logarithms counts, and with what weight? Then "
        "the mean over the batch.",
        "The target is (1 - ε) for the right class plus ε/K for every class; the loss "
        "of an image is minus the sum of target times log-probability.",
        "log_p = logits.log_softmax(dim=1); nll = -log_p.gather(1, labels[:, None]); "
        "((1 - ε) · nll - ε · log_p.mean(dim=1, keepdim=True)).mean().",
    ),
    shape="()",
    batched=(0, 1),
)
