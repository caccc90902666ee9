"""The results of a submission, in the form that Gradescope reads.

The form is in https://gradescope-autograders.readthedocs.io/en/latest/specs/.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nbgrader.utils import is_grade

from classroom.grading.execute import is_autograded
from classroom.release.assignment import Assignment
from classroom.release.parts import parts_of

RIGHT = "Right: the checks of this cell found nothing wrong."


@dataclass(frozen=True)
class Test:
    """A cell that is worth points; Gradescope lists it as a test."""

    number: str
    title: str
    name: str  # its grade_id
    points: float
    by_hand: bool


def tests(assignment: Assignment) -> Iterator[Test]:
    """Yield the graded cells in the set's order, numbered within their task."""
    for part in parts_of(assignment.release):
        for number, cell in enumerate(filter(is_grade, part.cells), 1):
            yield Test(
                f"{part.number}.{number}",
                part.title,
                cell.metadata.nbgrader["grade_id"],
                float(cell.metadata.nbgrader["points"]),
                not is_autograded(cell),
            )


def in_words(assignment: Assignment) -> dict[str, float]:
    """Return the points of each answer that a person marks, by its title."""
    return {test.title: test.points for test in tests(assignment) if test.by_hand}


def _whole(wrong: str) -> str:
    """Return what a check says of an answer as a sentence that can stand alone."""
    end = "" if wrong.endswith((".", "!", "?")) else "."
    return f"{'Not right yet: ' * wrong[:1].islower()}{wrong}{end}"


def results(
    assignment: Assignment, failures: dict[str, str], trouble: str, said: list[str]
) -> dict[str, Any]:
    """Return what goes into results.json.

    Args:
        failures: grade_id -> sentence, of the cells that did not pass.
        trouble: a sentence if nothing could be run; then there are no points.
        said: sentences about the submission as a whole.
    """
    found = []
    for test in tests(assignment):
        if test.by_hand:
            continue
        wrong = failures.get(test.name)
        sentence = trouble or (wrong and _whole(wrong))
        found.append(
            {
                "number": test.number,
                "name": test.title,
                "score": 0.0 if sentence else test.points,
                "max_score": test.points,
                "output": sentence or RIGHT,
            }
        )
    by_hand = [
        f"“{title}” is answered in words; your teacher gives its {points:g} points."
        for title, points in in_words(assignment).items()
    ]
    text = "\n".join([trouble] * bool(trouble) + said + by_hand)
    return {"output": text, "output_format": "text", "tests": found}
