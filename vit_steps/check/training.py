"""Checks of chapter 8: the loss, a step of training, and how good a model is."""

import inspect
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F

from vit_steps.check.checking import Case
from vit_steps.check.function_check import FunctionCheck
from vit_steps.check.verdict import Mistake
from vit_steps.check.watching import Trouble
from vit_steps.training import train_step as right_step


def as_number(value: Any) -> Any:
    """A tensor of one number as that number; anything else as it is."""
    if isinstance(value, Tensor) and value.ndim == 0:
        return value.item()
    return value


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

    yield [normal(7, 5), labels(7, 5)]
    yield [normal(4, 5) + 300.0, labels(4, 5), 0.2]
    apart = 160.0 * normal(5, 4).argsort(dim=1)
    yield [normal(5, 4) - apart, labels(5, 4), 0.1]  # e^-160 is 0 in 32 bits
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


def _accuracies(
    function: Callable[..., Any], logits: list[Tensor], labels: list[Tensor]
) -> dict[str, Any]:
    """The accuracy of several batches, so that none is right by chance."""
    return {
        f"the accuracy of {len(y)} images (call {number})": as_number(function(x, y))
        for number, (x, y) in enumerate(zip(logits, labels, strict=True), start=1)
    }


def _fraction(logits: Tensor, labels: Tensor) -> float:
    return (logits.argmax(dim=1) == labels).double().mean().item()


def _accuracy_inputs(generator: Generator) -> Iterator[Case]:
    for sizes in ([(11, 7), (8, 6), (13, 7)], [(7, 7), (9, 9), (6, 6)]):
        logits, labels = [], []
        for B, K in sizes:
            x = torch.randn(B, K, generator=generator)
            # Ranks of the right class, 0 for the highest logit: some right, some last.
            ranks = torch.tensor([0, 1, K - 1, 0, 3, 0, 1, 5, 0, 2, 4, 1, 2])[:B]
            order = x.argsort(dim=1, descending=True)
            labels.append(order.gather(1, ranks[:, None])[:, 0])
            logits.append(x)
        yield [logits, labels]


accuracy = FunctionCheck(
    "accuracy",
    "accuracy(logits, labels) -> a float from 0 to 1",
    _fraction,
    _accuracy_inputs,
    [
        Mistake(
            "a count",
            "the right answers are counted, expected their share, from 0 to 1",
            lambda x, y: (x.argmax(dim=1) == y).sum().item(),
        ),
        Mistake(
            "percent",
            "the share is in per cent, expected from 0 to 1",
            lambda x, y: 100 * _fraction(x, y),
        ),
        Mistake(
            "the share of wrong answers",
            "the share of wrong answers is returned, expected that of right ones",
            lambda x, y: 1 - _fraction(x, y),
        ),
        Mistake(
            "lowest logit",
            "the class with the lowest logit is taken for the answer",
            lambda x, y: _fraction(-x, y),
        ),
        Mistake(
            "argmax over the batch",
            "the largest logit is looked for along the batch: each class gets an "
            "image, and each image should get a class",
            lambda x, y: (x.argmax(dim=0) == y).double().mean().item(),
        ),
        Mistake(
            "divided by K",
            "the count is divided by the number of classes, expected by the number of "
            "images",
            lambda x, y: (x.argmax(dim=1) == y).sum().item() / x.shape[1],
        ),
        Mistake(
            "among the best five",
            "an answer counts as right if it is among the five highest logits, "
            "expected the highest alone",
            lambda x, y: (x.topk(5).indices == y[:, None]).any(1).double().mean(),
        ),
        Mistake(
            "probability of the right class",
            "the mean probability of the right class is returned: an answer is right "
            "or wrong, whatever its probability",
            lambda x, y: x.softmax(1).gather(1, y[:, None]).mean(),
        ),
        Mistake(
            "all or nothing",
            "one wrong answer makes the whole batch wrong, expected the share of right "
            "ones",
            lambda x, y: (x.argmax(dim=1) == y).all().double(),
        ),
        Mistake(
            "for each image",
            "there is a True or False for each image, expected their mean",
            lambda x, y: x.argmax(dim=1) == y,
        ),
    ],
    hints=(
        "What does the model answer for image 0: which of its K logits is the highest?",
        "argmax over the classes gives B answers; compare them with the B labels and "
        "take the mean.",
        "(logits.argmax(dim=1) == labels).float().mean().item().",
    ),
    gradients=False,
    scenario=_accuracies,
)


class _Network(nn.Module):
    """Two linear layers; what is between them tells training from evaluation.

    As a batch norm does, it takes off the mean of the batch in training mode alone.
    PyTorch's own would set all processors to work on its few numbers.
    """

    def __init__(self, weights: list[Tensor]) -> None:
        super().__init__()
        own = (nn.Parameter(weight.clone()) for weight in weights)
        self.first, self.scale, self.shift, self.last = own

    def forward(self, images: Tensor) -> Tensor:
        hidden = images.flatten(1) @ self.first.T  # (B, hidden)
        if self.training:
            hidden = hidden - hidden.mean(dim=0)
        return (hidden * self.scale + self.shift).tanh() @ self.last.T  # (B, K)


def _steps(
    step: Callable[..., Any],
    weights: list[Tensor],
    images: list[Tensor],
    labels: list[Tensor],
    kind: str,
    lr: float,
    *clip_norm: float,
) -> dict[str, Any]:
    """Steps on one batch after the other; what they return, and the weights."""
    model = _Network(weights)
    kinds: dict[str, Any] = {"SGD": torch.optim.SGD, "AdamW": torch.optim.AdamW}
    optimizer = kinds[kind](model.parameters(), lr=lr)
    calls = _listen(model, optimizer)
    more = {"clip_norm": clip_norm[0]} if clip_norm else {}
    seen: dict[str, Any] = {}
    for number, (x, y) in enumerate(zip(images, labels, strict=True), start=1):
        calls.clear()
        before = [w.detach().clone() for w in model.parameters()]
        arguments = _in_its_order(step, model, optimizer, x, y)
        try:
            loss = step(*arguments, **more)
        except RuntimeError as error:
            if "modified by an inplace operation" not in str(error):
                raise
            raise Trouble(
                "weights changed too soon",
                "the weights change between the forward pass and backward(), which "
                "then finds others than it needs: the step comes too soon",
            ) from None
        attached = isinstance(loss, Tensor) and loss.requires_grad
        seen[f"the loss of step {number}"] = as_number(loss)
        seen["the loss returned"] = "with its graph" if attached else "a number alone"
        after = [w.detach().clone() for w in model.parameters()]
        moved = any(not torch.equal(a, b) for a, b in zip(after, before, strict=True))
        if moved and not any(call.startswith("step") for call in calls):
            raise Trouble(
                "another optimizer",
                "the weights change, but not by the optimizer that is passed in: one "
                "that is made anew in each step forgets its averages and does not know "
                "the learning rate that was chosen",
            )
        seen[f"what moved the weights in step {number}"] = (
            "backward, step" if moved else f"nothing ({', '.join(calls)})"
        )
        seen[f"weights after step {number}"] = after
    return seen


def _listen(model: nn.Module, optimizer: torch.optim.Optimizer) -> list[str]:
    """A list that will tell when gradients arrive, and with which a step is taken."""
    calls: list[str] = []

    def arrived(_: Tensor) -> None:
        if calls[-1:] != ["backward"]:
            calls.append("backward")

    def stepping(*_: Any) -> None:
        there = any(w.grad is not None and w.grad.any() for w in model.parameters())
        calls.append("step" if there else "step without a gradient")

    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(arrived)
    optimizer.register_step_pre_hook(stepping)
    return calls


def _in_its_order(
    step: Callable[..., Any], model: Any, optimizer: Any, images: Any, labels: Any
) -> tuple[Any, ...]:
    """The arguments, the optimizer last if that is where the function has it."""
    try:
        names = list(inspect.signature(step).parameters)
    except (TypeError, ValueError):
        names = []
    if len(names) > 3 and names[3].startswith("opt"):
        return model, images, labels, optimizer
    return model, optimizer, images, labels


def _step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    images: Tensor,
    labels: Tensor,
    clip_norm: float | None = None,
    order: str = "zero backward clip step",
    loss: str = "rightly",
    clip: str = "whole",
    says: str = "a number",
) -> Any:
    """A step with a place for each usual mistake; ``order`` has a word a line."""
    if order.startswith("step"):
        optimizer.step()
    logits = model(images)  # (B, K)
    value = {
        "rightly": lambda: F.cross_entropy(logits, labels),
        "softmax": lambda: F.cross_entropy(logits.softmax(dim=1), labels),
        "sum": lambda: F.cross_entropy(logits, labels, reduction="sum"),
        "squares": lambda: F.mse_loss(logits, F.one_hot(labels, logits.shape[1]) * 1.0),
        "uphill": lambda: -F.cross_entropy(logits, labels),
    }[loss]()
    for line in order.removeprefix("step ").split():
        if line == "zero":
            optimizer.zero_grad()
        elif line == "backward":
            value.backward()
        elif line == "step":
            optimizer.step()
        elif line == "eval":
            model.eval()
        elif line == "clip" and clip_norm is not None:
            parameters = list(model.parameters())
            if clip == "whole":
                nn.utils.clip_grad_norm_(parameters, clip_norm)
            elif clip == "values":
                nn.utils.clip_grad_value_(parameters, clip_norm)
            elif clip == "each":
                for parameter in parameters:
                    nn.utils.clip_grad_norm_([parameter], clip_norm)
            elif clip == "stretch":
                norm = nn.utils.clip_grad_norm_(parameters, math.inf)
                for parameter in parameters:
                    assert parameter.grad is not None
                    parameter.grad *= clip_norm / norm
    if says == "graph":
        return value
    if says == "afterwards":
        return F.cross_entropy(model(images), labels).item()
    return -value.item() if loss == "uphill" else value.item()


def _in_eval(model: nn.Module, *arguments: Any, **named: Any) -> Any:
    model.eval()
    return _step(model, *arguments, **named)


def _right_step(model: Any, optimizer: Any, x: Any, y: Any, **clip: Any) -> Tensor:
    return right_step(model, optimizer, x, y, **clip)


def _step_inputs(generator: Generator, clips: bool) -> Iterator[Case]:
    C, H, W, hidden, K = 1, 2, 3, 5, 4
    for kind, lr, limit in (
        ("SGD", 0.4, "shorter"),
        ("AdamW", 0.05, "shorter"),
        ("SGD", 0.2, "longer"),
    ):
        weights = [
            torch.randn(hidden, C * H * W, generator=generator),
            1 + 0.3 * torch.randn(hidden, generator=generator),
            0.3 * torch.randn(hidden, generator=generator),
            0.7 * torch.randn(K, hidden, generator=generator),
        ]
        sizes = (6, 9, 7)
        images = [torch.randn(B, C, H, W, generator=generator) for B in sizes]
        labels = [torch.randint(K, (B,), generator=generator) for B in sizes]
        case: Case = [weights, images, labels, kind, lr]
        if clips:
            model = _Network(weights)
            loss = F.cross_entropy(model(images[0]), labels[0])
            found = torch.autograd.grad(loss, list(model.parameters()))
            gradient = torch.cat([g.flatten() for g in found])
            lengths = {"shorter": gradient.abs().max() / 3, "longer": gradient.norm()}
            case.append(1.5 * lengths[limit].item())
        yield case


_OF_STEPS = [
    Mistake(
        "gradients pile up",
        "the gradients of earlier batches are still there: PyTorch adds each new "
        "gradient to the old ones until they are cleared",
        partial(_step, order="backward clip step"),
    ),
    Mistake(
        "no step",
        "the weights do not change: the gradients are there, but the optimizer is not "
        "asked for a step",
        partial(_step, order="zero backward clip"),
    ),
    Mistake(
        "no backward",
        "the weights do not change: the optimizer takes its step, but no gradient has "
        "arrived; backward() is missing, or the loss is cut off from the weights",
        partial(_step, order="zero step"),
    ),
    Mistake(
        "cleared too late",
        "the weights do not change: the gradients are cleared between backward() and "
        "the step, which finds none",
        partial(_step, order="backward clip zero step"),
    ),
    Mistake(
        "step before backward",
        "the step comes before backward(): there is no gradient yet for it to follow",
        partial(_step, order="zero step backward"),
    ),
    Mistake(
        "a batch late",
        "the step comes before backward(): it follows the gradient of the batch before",
        partial(_step, order="step zero backward"),
    ),
    Mistake(
        "two steps",
        "two steps are taken with one gradient",
        partial(_step, order="zero backward clip step step"),
    ),
    Mistake(
        "softmax before the loss",
        "a softmax stands before the cross-entropy, which has one of its own and "
        "expects logits",
        partial(_step, loss="softmax"),
    ),
    Mistake(
        "summed",
        "the losses of the batch are summed, expected their mean: the step would grow "
        "with the batch",
        partial(_step, loss="sum"),
    ),
    Mistake(
        "squared error",
        "the loss is the squared difference to a one-hot target, expected the "
        "cross-entropy of logits and labels",
        partial(_step, loss="squares"),
    ),
    Mistake(
        "uphill",
        "the step goes uphill: it follows the gradient of minus the loss",
        partial(_step, loss="uphill"),
    ),
    Mistake(
        "eval mode",
        "the model is put into eval mode before the step: batch norm and dropout then "
        "do not train",
        _in_eval,
    ),
    Mistake(
        "left in eval mode",
        "the model is in eval mode when the step is done, and the next step trains it "
        "so",
        partial(_step, order="zero backward clip step eval"),
    ),
    Mistake(
        "loss with its graph",
        "the loss is returned with the graph it was computed by, which keeps a batch's "
        "memory for as long as somebody keeps the loss: return the number alone",
        partial(_step, says="graph"),
    ),
    Mistake(
        "loss afterwards",
        "the loss returned is that of the new weights, which costs another pass; "
        "expected the one the step was taken from",
        partial(_step, says="afterwards"),
    ),
]

train_step = FunctionCheck(
    "train_step",
    "train_step(model, optimizer, images, labels) -> the loss, a number",
    _right_step,
    partial(_step_inputs, clips=False),
    _OF_STEPS,
    hints=(
        "Five things happen: logits, loss, old gradients cleared, new gradients, a "
        "step. Which is missing, or in the wrong place?",
        "Old gradients may be cleared anywhere before backward() or after the step, "
        "and never between the two.",
        "loss = F.cross_entropy(model(images), labels); optimizer.zero_grad(); "
        "loss.backward(); optimizer.step(); return loss.item().",
    ),
    gradients=False,
    scenario=_steps,
)

clipped_train_step = FunctionCheck(
    "clipped_train_step",
    "train_step(model, optimizer, images, labels, clip_norm) -> the loss, a number",
    _right_step,
    partial(_step_inputs, clips=True),
    [
        Mistake(
            "not clipped",
            "the gradient is not clipped: where it is longer than clip_norm the step "
            "is too long",
            partial(_step, order="zero backward step"),
        ),
        Mistake(
            "clipped by value",
            "each number of the gradient is cut off at clip_norm, which turns the "
            "direction; shorten the whole instead",
            partial(_step, clip="values"),
        ),
        Mistake(
            "each parameter alone",
            "each parameter's gradient is clipped by itself; the length meant is that "
            "of all of them as one long arrow",
            partial(_step, clip="each"),
        ),
        Mistake(
            "always at the limit",
            "a gradient that is shorter than clip_norm is stretched to it, expected "
            "left alone",
            partial(_step, clip="stretch"),
        ),
        *_OF_STEPS,
    ],
    hints=(
        "At which moment is there a gradient to shorten, and when is it too late?",
        "Between backward() and the step; nn.utils.clip_grad_norm_ takes all "
        "parameters of the model at once.",
        "nn.utils.clip_grad_norm_(model.parameters(), clip_norm), one line above "
        "optimizer.step().",
    ),
    gradients=False,
    scenario=_steps,
)


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
            "PyTorch keeps a graph for gradients that nobody asks for, which costs "
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
