"""Checks of chapter 12: what a student loses to labels and to a teacher."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn import functional as F

from vit_steps.check.checking import Case
from vit_steps.check.function_check import FunctionCheck
from vit_steps.check.verdict import Mistake
from vit_steps.variants import distillation


def _distilling(loss: Callable[..., Any], *arguments: Any) -> Any:
    """The teacher is given as numbers: whether a loss lets it learn is left open."""
    answers, labels, teacher_logits, *rest = arguments
    return loss(answers, labels, teacher_logits.detach(), *rest)


def _distilling_inputs(generator: Generator) -> Iterator[Case]:
    for B, K, dtype in (
        (4, 7, torch.float32),
        (6, 3, torch.float64),
        (5, 5, torch.float32),
    ):

        def logits(wide: float, B: int = B, K: int = K, d: Any = dtype) -> Tensor:
            drawn = torch.randn(B, K, generator=generator, dtype=torch.float64)
            return (wide * drawn).to(d)

        labels = torch.randint(K, (B,), generator=generator)
        teacher = logits(2.0)
        # Labels, the teacher and both tokens have each their own favourite.
        for row in range(B):
            teacher[row, (labels[row] + 1) % K] += 5.0
        yield [(logits(1.5), logits(1.0)), labels, teacher]


def _hard(
    first: Callable[..., Tensor], second: Callable[..., Tensor] | None = None
) -> Callable[..., Any]:
    """Half a sum of two parts of ``(answers, labels, teacher's choice, teacher)``."""

    def loss(answers: Any, labels: Tensor, teacher: Tensor) -> Tensor:
        known = (*answers, labels, teacher.argmax(dim=1), teacher)
        parts = first(*known)
        return parts if second is None else (parts + second(*known)) / 2

    return loss


_entropy = F.cross_entropy

hard_distillation_loss = FunctionCheck(
    "hard_distillation_loss",
    "hard_distillation_loss(answers, labels, teacher_logits) -> one number",
    distillation.hard_distillation_loss,
    _distilling_inputs,
    [
        Mistake(
            "heads swapped",
            "the tokens are swapped: the class token learns from the teacher here and "
            "the distillation token from the labels",
            _hard(
                lambda c, d, y, t, _: _entropy(d, y),
                lambda c, d, y, t, _: _entropy(c, t),
            ),
        ),
        Mistake(
            "labels for both",
            "both tokens are compared with the labels; the teacher is not heard",
            _hard(
                lambda c, d, y, t, _: _entropy(c, y),
                lambda c, d, y, t, _: _entropy(d, y),
            ),
        ),
        Mistake(
            "teacher for both",
            "both tokens are compared with the teacher; the labels are not used",
            _hard(
                lambda c, d, y, t, _: _entropy(c, t),
                lambda c, d, y, t, _: _entropy(d, t),
            ),
        ),
        Mistake(
            "class token for both",
            "the class token's answer is taken twice; the teacher's choice belongs to "
            "the distillation token",
            _hard(
                lambda c, d, y, t, _: _entropy(c, y),
                lambda c, d, y, t, _: _entropy(c, t),
            ),
        ),
        Mistake(
            "distillation token for both",
            "the distillation token's answer is taken twice; the labels belong to the "
            "class token",
            _hard(
                lambda c, d, y, t, _: _entropy(d, y),
                lambda c, d, y, t, _: _entropy(d, t),
            ),
        ),
        Mistake(
            "answers averaged first",
            "the two answers are averaged before the losses; that is for use, in "
            "training each token is taught on its own",
            _hard(
                lambda c, d, y, t, _: _entropy((c + d) / 2, y),
                lambda c, d, y, t, _: _entropy((c + d) / 2, t),
            ),
        ),
        Mistake(
            "labels alone",
            "the teacher's part is missing",
            _hard(lambda c, d, y, t, _: _entropy(c, y)),
        ),
        Mistake(
            "teacher alone",
            "the labels' part is missing",
            _hard(lambda c, d, y, t, _: _entropy(d, t)),
        ),
        Mistake(
            "not halved",
            "the two parts are added and not halved: each counts one half",
            _hard(lambda c, d, y, t, _: _entropy(c, y) + _entropy(d, t)),
        ),
        Mistake(
            "teacher's shares",
            "the teacher's shares of all classes are the target; hard distillation "
            "takes its choice alone, as if it were a label",
            _hard(
                lambda c, d, y, t, _: _entropy(c, y),
                lambda c, d, y, t, said: _entropy(d, said.softmax(dim=1)),
            ),
        ),
        Mistake(
            "own choice",
            "the distillation token's own choice is its target; ask the teacher",
            _hard(
                lambda c, d, y, t, _: _entropy(c, y),
                lambda c, d, y, t, _: _entropy(d, d.argmax(dim=1)),
            ),
        ),
        Mistake(
            "choice of an image",
            "argmax runs over the images of the batch: it says for each class which "
            "image has most of it; for each image its class is wanted",
            _hard(
                lambda c, d, y, t, _: _entropy(c, y),
                lambda c, d, y, t, said: _entropy(d, said.argmax(dim=0)),
            ),
        ),
        Mistake(
            "softmax twice",
            "a softmax stands before the cross-entropy, which takes logits and has its "
            "own",
            _hard(
                lambda c, d, y, t, _: _entropy(c.softmax(1), y),
                lambda c, d, y, t, _: _entropy(d.softmax(1), t),
            ),
        ),
        Mistake(
            "no softmax",
            "the logits themselves are taken for logarithms of shares: a log_softmax "
            "is missing",
            _hard(
                lambda c, d, y, t, _: F.nll_loss(c, y),
                lambda c, d, y, t, _: F.nll_loss(d, t),
            ),
        ),
        Mistake(
            "summed over the batch",
            "the losses are summed over the images, so that a larger batch takes "
            "larger steps; take the mean",
            _hard(
                lambda c, d, y, t, _: _entropy(c, y, reduction="sum"),
                lambda c, d, y, t, _: _entropy(d, t, reduction="sum"),
            ),
        ),
        Mistake(
            "a loss for each image",
            "a loss for each image is returned, (B,), expected one number, their mean",
            _hard(
                lambda c, d, y, t, _: _entropy(c, y, reduction="none"),
                lambda c, d, y, t, _: _entropy(d, t, reduction="none"),
            ),
        ),
        Mistake(
            "two losses",
            "the two parts are returned side by side, expected one number",
            lambda answers, y, said: (
                _entropy(answers[0], y),
                _entropy(answers[1], said.argmax(dim=1)),
            ),
        ),
    ],
    hints=(
        "Who teaches whom? Write the pairs down: which answer goes with which target?",
        "The teacher's choice is its largest logit in each row, used like a label. Two "
        "cross-entropies, half of each.",
        "(F.cross_entropy(from_class, labels) + F.cross_entropy(from_teacher, "
        "teacher_logits.argmax(dim=1))) / 2.",
    ),
    shape="one number",
    scenario=_distilling,
)


def _soft(
    answers: Any,
    labels: Tensor,
    teacher: Tensor,
    tau: float,
    share: float,
    power: int = 2,
    swapped: bool = False,
    divergence: Callable[[Tensor, Tensor], Tensor] | None = None,
    of_student: float | None = None,
    of_teacher: float | None = None,
    labels_too: bool = False,
    axis: int = 1,
    weights: Callable[[float], tuple[float, float]] = lambda share: (1 - share, share),
) -> Tensor:
    """The soft loss with a place for each usual mistake."""
    from_class, from_teacher = answers[::-1] if swapped else answers
    said = (from_teacher / (of_student or tau)).log_softmax(dim=axis)
    wanted = (teacher / (of_teacher or tau)).log_softmax(dim=axis)
    if divergence is not None:
        apart = divergence(said, wanted)
    else:
        apart = F.kl_div(said, wanted, reduction="batchmean", log_target=True)
    label, other = weights(share)
    labelled = F.cross_entropy(from_class / (tau if labels_too else 1), labels)
    return label * labelled + other * tau**power * apart


def _softly(**changes: Any) -> Callable[..., Tensor]:
    return lambda *arguments: _soft(*arguments, **changes)


def _soft_with_averaged_answers(
    answers: Any, labels: Tensor, teacher: Tensor, tau: float, share: float
) -> Tensor:
    mean = (answers[0] + answers[1]) / 2
    return _soft((mean, mean), labels, teacher, tau, share)


def _soft_without_softmax(
    answers: Any, labels: Tensor, teacher: Tensor, tau: float, share: float
) -> Tensor:
    apart = F.kl_div(
        answers[1] / tau, teacher / tau, reduction="batchmean", log_target=True
    )
    label = (1 - share) * F.cross_entropy(answers[0], labels)
    return label + share * tau**2 * apart


def _soft_inputs(generator: Generator) -> Iterator[Case]:
    settings = ((3.0, 0.1), (2.0, 0.3), (4.0, 0.6))
    for case, setting in zip(_distilling_inputs(generator), settings, strict=True):
        yield [*case, *setting]


soft_distillation_loss = FunctionCheck(
    "soft_distillation_loss",
    "soft_distillation_loss(answers, labels, teacher_logits, temperature, share) -> "
    "one number",
    distillation.soft_distillation_loss,
    _soft_inputs,
    [
        Mistake(
            "no τ²",
            "the divergence is not multiplied by τ²: the teacher falls silent as the "
            "temperature grows",
            _softly(power=0),
        ),
        Mistake(
            "τ once",
            "the divergence is multiplied by τ, expected τ²: its gradient shrinks with "
            "the square",
            _softly(power=1),
        ),
        Mistake(
            "divided by τ²",
            "the divergence is divided by τ²; it is to be multiplied",
            _softly(power=-2),
        ),
        Mistake(
            "no temperature",
            "the logits are not divided by the temperature",
            _softly(of_student=1.0, of_teacher=1.0),
        ),
        Mistake(
            "neither temperature nor τ²",
            "the temperature has no effect",
            _softly(of_student=1.0, of_teacher=1.0, power=0),
        ),
        Mistake(
            "temperature of the teacher alone",
            "only the teacher's logits are divided by the temperature; both sides of "
            "the comparison are to be",
            _softly(of_student=1.0),
        ),
        Mistake(
            "temperature of the student alone",
            "only the student's logits are divided by the temperature; both sides of "
            "the comparison are to be",
            _softly(of_teacher=1.0),
        ),
        Mistake(
            "temperature multiplied",
            "the logits are multiplied by the temperature; dividing brings the shares "
            "closer to each other",
            lambda answers, y, said, tau, share: _soft(
                answers, y, said, tau, share, of_student=1 / tau, of_teacher=1 / tau
            ),
        ),
        Mistake(
            "temperature for the labels",
            "the class token's logits are divided by the temperature too; the labels' "
            "part has none",
            _softly(labels_too=True),
        ),
        Mistake(
            "KL the other way round",
            "the divergence is the wrong way round: it is to be weighed by the "
            "teacher's shares, and here it is by the student's",
            _softly(
                divergence=lambda said, wanted: F.kl_div(
                    wanted, said, reduction="batchmean", log_target=True
                )
            ),
        ),
        Mistake(
            "cross-entropy for KL",
            "the teacher's part is a cross-entropy: it has the teacher's own entropy "
            "in it and does not become 0 where both agree; the divergence does",
            _softly(
                divergence=lambda said, wanted: -(wanted.exp() * said).sum(1).mean()
            ),
        ),
        Mistake(
            "mean over classes",
            "the divergence is averaged over images and classes; it is a sum over the "
            "classes, averaged over the images",
            _softly(
                divergence=lambda said, wanted: F.kl_div(
                    said, wanted, reduction="none", log_target=True
                ).mean()
            ),
        ),
        Mistake(
            "summed over the batch",
            "the divergence is summed over the images, so that a larger batch hears "
            "the teacher louder; take the mean",
            _softly(
                divergence=lambda said, wanted: F.kl_div(
                    said, wanted, reduction="sum", log_target=True
                )
            ),
        ),
        Mistake(
            "logarithms taken for shares",
            "the divergence is NaN: the second argument of kl_div is taken for shares "
            "unless log_target=True says that it is logarithms",
            _softly(
                divergence=lambda said, wanted: F.kl_div(
                    said, wanted, reduction="batchmean"
                )
            ),
        ),
        Mistake(
            "shares taken for logarithms",
            "the first argument of kl_div is the student's shares; it takes their "
            "logarithms",
            _softly(
                divergence=lambda said, wanted: F.kl_div(
                    said.exp(), wanted.exp(), reduction="batchmean"
                )
            ),
        ),
        Mistake(
            "difference of logarithms",
            "the differences of the logarithms are summed without the teacher's shares "
            "before them",
            _softly(divergence=lambda said, wanted: (wanted - said).sum(1).mean()),
        ),
        Mistake(
            "no softmax",
            "there is no softmax: the logits themselves are taken for logarithms of "
            "shares",
            _soft_without_softmax,
        ),
        Mistake(
            "softmax over the batch",
            "the softmax runs over the images; the shares of one image's classes are "
            "to sum to 1",
            _softly(axis=0),
        ),
        Mistake(
            "share of the labels",
            "λ weighs the labels here; it is the teacher's share, and the labels get "
            "1 - λ",
            _softly(weights=lambda share: (share, 1 - share)),
        ),
        Mistake(
            "labels in full",
            "the labels' part is not multiplied by 1 - λ",
            _softly(weights=lambda share: (1.0, share)),
        ),
        Mistake(
            "teacher in full",
            "the teacher's part is not multiplied by λ",
            _softly(weights=lambda share: (1 - share, 1.0)),
        ),
        Mistake(
            "no shares",
            "the two parts are added without their weights, 1 - λ and λ",
            _softly(weights=lambda share: (1.0, 1.0)),
        ),
        Mistake(
            "labels alone",
            "the teacher's part is missing",
            _softly(weights=lambda share: (1 - share, 0.0)),
        ),
        Mistake(
            "teacher alone",
            "the labels' part is missing",
            _softly(weights=lambda share: (0.0, share)),
        ),
        Mistake(
            "heads swapped",
            "the tokens are swapped: the class token learns from the teacher here and "
            "the distillation token from the labels",
            _softly(swapped=True),
        ),
        Mistake(
            "class token for both",
            "the class token's answer is taken twice; what the teacher says belongs to "
            "the distillation token",
            lambda answers, *a: _soft((answers[0], answers[0]), *a),
        ),
        Mistake(
            "distillation token for both",
            "the distillation token's answer is taken twice; the labels belong to the "
            "class token",
            lambda answers, *a: _soft((answers[1], answers[1]), *a),
        ),
        Mistake(
            "answers averaged first",
            "the two answers are averaged before the losses; that is for use, in "
            "training each token is taught on its own",
            _soft_with_averaged_answers,
        ),
    ],
    hints=(
        "Compute it for one image and three classes by hand: the shares of both at τ, "
        "then the sum of p·ln(p/q), with p the teacher's.",
        "Both sets of logits are divided by τ before the softmax, the labels' part is "
        "not. The divergence is a sum over classes and a mean over images.",
        "(1 - share) * F.cross_entropy(from_class, labels) + share * temperature**2 * "
        "F.kl_div(said, wanted, reduction='batchmean', log_target=True).",
    ),
    shape="one number",
    scenario=_distilling,
)
