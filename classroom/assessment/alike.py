"""The points that a published solution still gets in a variant of its set."""

from functools import cache

from nbformat.notebooknode import NotebookNode
from nbgrader.utils import is_grade

import vit_check
from classroom.grading.passing import checks_named_in
from classroom.release.assignment import Assignment
from vit_check.chapters.questions import QUESTIONS
from vit_check.engine.values import ValueCheck

SEED = 2027  # any one; what is drawn for one set differs with every seed


def points_alike(assignment: Assignment) -> int:
    """Return the points for which a variant asks nothing new."""
    cells = [cell for cell in assignment.source.cells if is_grade(cell)]
    return int(
        sum(cell.metadata.nbgrader["points"] for cell in cells if is_alike(cell))
    )


def is_alike(cell: NotebookNode) -> bool:
    """Return whether the published solution passes a graded cell of a variant.

    The answers in words are the same in all variants.
    """
    if cell.cell_type != "code":
        return True
    return set(checks_named_in(cell.source)) <= _alike()


@cache
def _alike() -> set[str]:
    """Return the names of the checks and questions that a variant does not change.

    The names are those that a judge knows; a question is unchanged if its published
    answer is still right. Afterwards the checks are the book's own.
    """
    vit_check.variant(None)
    checks = dict(vit_check.CHECKS)
    published = {n: one.expected() for n, one in QUESTIONS.items() if one.expected}
    try:
        vit_check.variant(SEED)
        found = {name for name, one in checks.items() if vit_check.CHECKS[name] is one}
        found |= {
            one.asked_as
            for name, one in QUESTIONS.items()
            if name not in published or _is_right(one, published[name])
        }
    finally:
        vit_check.variant(None)
    return found


def _is_right(question: ValueCheck, value: object) -> bool:
    return question.judge([], question.observe(value, [])) is None
