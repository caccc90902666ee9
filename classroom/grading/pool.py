"""Grades many submissions at once, each in a process that may end as it likes."""

from collections.abc import Iterable, Iterator

from classroom.grading import worker
from classroom.grading.course import Course
from classroom.grading.intake import Submission
from classroom.grading.processes import run_each
from classroom.grading.result import VERSION, Result, Terms
from classroom.release.assignment import Assignment

SPARE = 120  # seconds, beyond what the notebook itself may take
ATTEMPTS = 2


def grade_all(
    submissions: Iterable[Submission],
    assignments: dict[str, Assignment],
    course: Course,
    terms: Terms,
    jobs: int,
) -> Iterator[Result]:
    """Results, in the order in which they come.

    A submission whose process dies is tried once more, after all others; then its
    result says that a person has to look at it.
    """
    seconds = terms.limits.total_seconds + SPARE
    waiting = list(submissions)
    for attempt in range(1, ATTEMPTS + 1):
        tasks = [(s, assignments[s.assignment], course, terms) for s in waiting]
        waiting = []
        for ended in run_each(worker.main, tasks, jobs, seconds):
            submission, assignment, _, _ = ended.arguments
            # What the process has written, if it is about this very submission.
            result = finished(submission, assignment, course)
            if result is not None:
                yield result
            elif attempt < ATTEMPTS:
                waiting.append(submission)
            else:
                yield _unfinished(submission, assignment, course, ended.exitcode)


def finished(
    submission: Submission, assignment: Assignment, course: Course
) -> Result | None:
    """The result of an earlier run, if nothing has changed since."""
    found = Result.load(course.result(submission.student, assignment.name))
    if found is None or found.version != VERSION:
        return None
    same = found.submission == submission.digest
    same = same and found.source == assignment.fingerprint
    return found if same and found.status != "unfinished" else None


def _unfinished(
    submission: Submission, assignment: Assignment, course: Course, exitcode: int | None
) -> Result:
    result = Result.of(submission, assignment)
    result.status = "unfinished"
    result.sentence = (
        f"Grading it ended {ATTEMPTS} times with {exitcode}; "
        f"{course.log(submission.student, submission.assignment)} may say why."
    )
    result.save(course)
    return result
