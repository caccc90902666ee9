"""The check of ``soft_distillation_loss``, chapter 13."""

from collections.abc import Callable, Iterator
from typing import Any

from torch import Generator, Tensor
from torch.nn import functional as F

from vit_check.chapters.swin_and_deit.distilling import distilling, distilling_inputs
from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake
from vit_steps.variants import distillation


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
    for case, setting in zip(distilling_inputs(generator), settings, strict=True):
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
            "the divergence is not multiplied by τ²: the teacher's gradient fades as "
            "the temperature grows",
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
            "the divergence is divided by τ²; it should be multiplied",
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
            "the comparison should be",
            _softly(of_student=1.0),
        ),
        Mistake(
            "temperature of the student alone",
            "only the student's logits are divided by the temperature; both sides of "
            "the comparison should be",
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
            "the divergence is the wrong way round: it should be weighed by the "
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
            "the divergence is summed over the images, so that the teacher weighs more "
            "in a larger batch; take the mean",
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
            "the softmax runs over the images; the shares of one image's classes "
            "should sum to 1",
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
    scenario=distilling,
)
