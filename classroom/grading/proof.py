"""The exercise set's own solutions, graded as if a student had sent them.

Where they do not get full marks, because something is not installed or the set is
broken, nobody would; so nobody is graded.
"""

import shutil

from classroom.grading.course import Course
from classroom.grading.intake import Submission, keep_file
from classroom.grading.pool import grade_all
from classroom.grading.result import Terms
from classroom.release.assignment import Assignment
from classroom.release.release import text_of

STUDENT = "the-solutions"


class SolutionsFail(ValueError):
    """The message says which, and why."""


def prove(assignments: list[Assignment], course: Course, terms: Terms) -> None:
    """Grade the solutions.

    Raises:
        SolutionsFail: if they do not get full marks.
    """
    sent = [
        Submission(STUDENT, STUDENT, "", a.name, str(a.path), course.received / digest)
        for a in assignments
        for digest in [keep_file(text_of(a.source).encode(), course.received)]
    ]
    named = {assignment.name: assignment for assignment in assignments}
    aside = Course(course.root / "results" / "proof")
    aside.template.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(course.template, aside.template)
    for result in grade_all(sent, named, aside, terms, 1):
        wrong = [f"{name}: {why}" for name, why in result.failures.items()]
        if wrong or result.status != "graded":
            raise SolutionsFail(
                f"The solutions in {named[result.assignment].path} do not pass their "
                "own tests here, so nobody's can: "
                f"{'; '.join([*wrong, result.sentence][:3])}. "
                f"{aside.log(STUDENT, result.assignment)} may say more."
            )
    shutil.rmtree(aside.root)
