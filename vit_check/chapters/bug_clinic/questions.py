"""What the exercises of chapter 14 ask."""

import math

from vit_check.engine.values import Slip, ValueCheck

_SEEN = {
    "A": "shuffled",
    "B": "alone",
    "C": "shared",
    "D": "positions off",
    "E": "none",
}
_FOUND = {
    "A": "images mixed",
    "B": "drawn at random",
    "C": "tokens mixed",
    "D": "not connected",
    "E": "nothing seen",
}


def _entropy() -> float:
    return -sum(share * math.log(share) for share in (0.5, 0.25, 0.25))


def _lowest() -> float:
    return math.log(math.e + 4) - 1


QUESTIONS = [
    ValueCheck(
        "tests_that_see_five_bugs",
        "a dictionary from the bugs A to E to the name of a test, or 'none'",
        lambda: _SEEN,
        [
            Slip(
                _SEEN | {"A": "positions off"},
                "has the wrong test at A: positions that are never added are not there "
                "to be switched off; what should move and does not?",
            ),
            Slip(
                _SEEN | {"A": "silent"},
                "has another test at A than the one asked for: it is true that they "
                "get no gradient, but here they are not parameters",
            ),
            Slip(
                _SEEN | {"B": "again"},
                "has the wrong test at B: asked again with the same batch, the answer "
                "is the same",
            ),
            Slip(
                _SEEN | {"D": "shuffled"},
                "has the wrong test at D: with positions, shuffled patches move the "
                "logits anyway, as they should",
            ),
            Slip(
                _SEEN | {"E": "one batch"},
                "has a test at E that sees nothing: training can work around it",
            ),
            Slip(
                _SEEN | {"E": "positions off"},
                "has a test at E that sees nothing: it treats all tokens alike",
            ),
        ],
        hints=(
            "For each test, ask what must stay and what must move, and whether the bug "
            "changes that.",
            "What does an image's answer depend on, in each case: the order of its "
            "patches, the other images, the place in the row?",
            "One of them treats all images and all tokens alike, every time; and one "
            "is not in the numbers but in the names.",
        ),
    ),
    ValueCheck(
        "loss_of_a_constant_answer",
        "the lowest loss of a model that gives every image of that batch the same "
        "answer",
        _entropy,
        [
            Slip(math.log(3), "is that of three classes that are equally frequent"),
            Slip(math.log(10), "is that of ten classes that are equally frequent"),
            Slip(
                _entropy() / math.log(2),
                "is in bits; the loss is in natural logarithms",
            ),
            Slip(-_entropy(), "has the wrong sign: a loss is not negative"),
            Slip(
                -math.log(0.5),
                "is the loss of the images of class 0 alone; take the mean over all",
            ),
        ],
        hints=(
            "The best constant answer gives each class its share of the batch.",
            "An image of a class with share p then costs −ln p, and there are p of "
            "these.",
            "Add −p · ln p over the shares 1/2, 1/4 and 1/4.",
        ),
        rounding=2e-3,
    ),
    ValueCheck(
        "lowest_loss_after_a_softmax",
        "the lowest loss of a model with five classes that ends in a softmax",
        _lowest,
        [
            Slip(0.0, "cannot be reached: what the loss gets are at most 1 and 0"),
            Slip(math.log(math.e + 9) - 1, "is that of ten classes"),
            Slip(math.log(math.e + 5) - 1, "counts the right class twice"),
            Slip(math.log(5), "is where it starts, not where it ends"),
            Slip(
                math.log(math.e + 4),
                "leaves out the logit of the right class, which is 1",
            ),
        ],
        hints=(
            "At best the model puts out a 1 and four zeros.",
            "The softmax of these gives the right class e / (e + 4).",
            "−ln(e / (e + 4)).",
        ),
        rounding=2e-3,
    ),
    ValueCheck(
        "first_loss_after_a_softmax",
        "the loss of that model while it gives all five classes the same probability",
        lambda: math.log(5),
        [
            Slip(math.log(10), "is that of ten classes"),
            Slip(math.log(math.e + 4) - 1, "is where it can end, not where it starts"),
            Slip(0.2, "is the probability; the loss is minus its logarithm"),
        ],
        hints=(
            "Five equal numbers go into the loss, whatever they are.",
            "The softmax of five equal numbers gives each 1/5.",
            "−ln(1/5).",
        ),
        rounding=2e-3,
    ),
    ValueCheck(
        "findings_on_five_patients",
        "a dictionary from the patients A to E to one of the six findings",
        lambda: _FOUND,
        [
            Slip(
                _FOUND | {"B": "images mixed"},
                "has the wrong finding at B: it fails alone, too, but ask it again "
                "with the same images first",
            ),
            Slip(
                _FOUND | {"B": "tokens mixed"},
                "has the wrong finding at B: it moves whatever you do; which of the "
                "tests changes nothing at all between two calls?",
            ),
            Slip(
                _FOUND | {"D": "no positions"},
                "has the wrong finding at D: shuffled patches do not move its logits, "
                "but nothing else does either",
            ),
            Slip(
                _FOUND | {"A": "tokens mixed"},
                "has the wrong finding at A: what moves its logits is the other "
                "images in the batch",
            ),
            Slip(
                _FOUND | {"C": "images mixed"},
                "has the wrong finding at C: alone it answers as in the batch",
            ),
        ],
        hints=(
            "Make a table: a row for each patient, a column for each test.",
            "Begin with asking again: what draws at random fails other tests as well.",
            "One patient has silent parameters in all its blocks, and one shows no "
            "symptom.",
        ),
    ),
    ValueCheck(
        "place_where_patient_e_parts",
        "the name of the first place where patient E differs from the sound model",
        lambda: "blocks.0.attn.proj",
        [
            Slip(
                "blocks.0.attn.v",
                "is the last place where they agree; where do they first differ?",
            ),
            Slip("logits", "is the end, where they differ of course"),
            Slip("blocks.0.attn", "comes after the place where they part"),
            Slip("blocks.0", "is a whole block; the place is inside it"),
        ],
        hints=(
            "first_difference needs both models in eval mode, and images.",
            "Its answer has a place, and the last place before it where both agree.",
            "first_difference(sound, patients['E'], images).place",
        ),
    ),
]
