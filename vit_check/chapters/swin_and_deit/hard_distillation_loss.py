"""The check of ``hard_distillation_loss``, chapter 13."""

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.nn import functional as F

from vit_check.chapters.swin_and_deit.distilling import distilling, distilling_inputs
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake
from vit_steps.variants import distillation


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
    distilling_inputs,
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
            "both tokens are compared with the labels; what the teacher says is not "
            "used",
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
            "takes only its choice, as if it were a label",
            _hard(
                lambda c, d, y, t, _: _entropy(c, y),
                lambda c, d, y, t, said: _entropy(d, said.softmax(dim=1)),
            ),
        ),
        Mistake(
            "teacher's logits",
            "the teacher's logits are the target as they are, as if they were shares; "
            "hard distillation takes only its choice, as if it were a label",
            _hard(
                lambda c, d, y, t, _: _entropy(c, y),
                lambda c, d, y, t, said: _entropy(d, said),
            ),
        ),
        Mistake(
            "own choice",
            "the distillation token's own choice is its target; the teacher's choice "
            "is wanted",
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
            "there is a softmax before the cross-entropy, which takes logits and has "
            "its own",
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
    scenario=distilling,
)
