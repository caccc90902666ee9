"""Draw the questions to ask of a model that seems to work: test and usual causes."""

import math

from book.drawings.kit import Drawing, Word

CLASSES = 10
LOWEST = math.log(math.e + CLASSES - 1) - 1  # lowest loss if softmax is applied twice

# Question, the test that answers it, the answer of a sound model; then, for the other
# answer, symptoms and their usual causes. A number in brackets is a case of the chapter
# or, from 10 on, of the side road.
QUESTIONS = (
    (
        ("Does it learn one", "batch by heart?"),
        "overfit_one_batch",
        "yes",
        (
            (
                "stays at the labels’ entropy:",
                "a part not connected (5), or,",
                "if two blocks do learn it,",
                "a missing residual (10)",
            ),
            (
                f"stays at {LOWEST:.2f} for ten classes:",
                "a softmax before the loss (9)",
            ),
        ),
    ),
    (
        ("Asked again, does it", "say the same?"),
        "repeat_effect",
        "yes",
        (("it says something else:", "a dropout that stays on"),),
    ),
    (
        ("Alone, does an image", "get the same logits?"),
        "batch_effect",
        "yes",
        (("it gets others:", "batch_first left out (7),", "a batch size built in"),),
    ),
    (
        ("Do shuffled patches", "change the logits?"),
        "order_effect",
        "yes",
        (("they do not:", "positions missing, or one", "position for all (6)"),),
    ),
    (
        ("Do they still, with", "positions set to 0?"),
        "order_effect",
        "no",
        (("they do:", "patches by view (1),", "heads by reshape (2)"),),
    ),
    (
        ("Does each parameter", "get a gradient?"),
        "silent_parameters",
        "yes",
        (("some get none:", "a layer that isn’t called,", "a block left over"),),
    ),
    (
        ("Does each parameter", "have one name?"),
        "shared_parameters",
        "yes",
        (("some have two names:", "one block three times (8)"),),
    ),
    (
        ("Is it equal to a sound", "model, place by place?"),
        "first_difference",
        "yes",
        (
            (
                "they part at some place:",
                "softmax over queries (3),",
                "residual of normed x (4)",
            ),
        ),
    ),
)

LEFT, WIDE, HIGH = 4, 148, 52
RIGHT, RIGHT_WIDE = 174, 182
LINE, GAP = 14.3, 26


def draw() -> Drawing:
    sentences = " ".join(
        f"{' '.join(question)} If {sound}, go on; if not, "
        f"{'; '.join(' '.join(lines) for lines in causes)}."
        for question, _, sound, causes in QUESTIONS
    )
    drawing = Drawing(
        "Eight questions for a model that seems to work",
        f"A decision tree from top to bottom, a question in each box. {sentences} "
        "A number in brackets is the case in the chapter, and 10 is in the side road.",
    )
    drawing.text(LEFT, 15, "ask", size=12.5, bold=True)
    drawing.text(RIGHT, 15, "if not as it should be", size=12.5, bold=True)
    top = 26.0
    for number, (question, test, sound, causes) in enumerate(QUESTIONS):
        heights = [len(lines) * LINE + 9 for lines in causes]
        needed = sum(heights) + 6 * (len(heights) - 1)
        high = max(HIGH, needed)
        box = drawing.box(LEFT, top, WIDE, high, colour="query", thick=1.75)
        middle = box.middle
        for place, line in enumerate(question):
            drawing.text(
                middle, top + 16 + 14 * place, line, size=11, bold=True, anchor="middle"
            )
        drawing.text(
            middle, top + 45, test, size=10.5, colour="soft", anchor="middle", code=True
        )
        start = top
        for lines, height in zip(causes, heights, strict=True):
            drawing.box(RIGHT, start, RIGHT_WIDE, height, colour="asking")
            for place, line in enumerate(lines):
                drawing.text(
                    RIGHT + 7,
                    start + 14.5 + LINE * place,
                    Word(line, bold=place > 0, colour="ink" if place else "soft"),
                    size=10.5,
                )
            y = min(start + height / 2, top + high - 10)
            drawing.arrow((box.right, y), (RIGHT, y), colour="asking")
            start += height + 6
        last = number == len(QUESTIONS) - 1
        top += high + GAP + (10 if last else 0)
        end = (middle, top - (8 if last else 0))
        drawing.arrow((middle, box.bottom), end, colour="query", thick=1.75)
        drawing.text(
            middle + 8, end[1] - 9, f"{sound}: go on", size=10.5, colour="soft"
        )
    drawing.lines(
        LEFT,
        top + 6,
        [Word("Nothing found, or no sound model at hand?", bold=True, colour="ink")],
        "Give each piece to check.",
        size=11,
    )
    return drawing
