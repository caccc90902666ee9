"""Grade many submissions at once, each in a process that may end in any way."""

import errno
from collections.abc import Iterable, Iterator

from classroom.grading import worker
from classroom.grading.course import Course
from classroom.grading.disk import DISK_FULL
from classroom.grading.intake import Submission
from classroom.grading.processes import run_each
from classroom.grading.result import VERSION, Result, Terms
from classroom.release.assignment import Assignment

SPARE = 120  # seconds, in addition to the time that the notebook itself may take


def grade_all(
    submissions: Iterable[Submission],
    assignments: dict[str, Assignment],
    course: Course,
    terms: Terms,
    jobs: int,
) -> Iterator[Result]:
    """Yield the results in the order in which the processes end.

    A submission had no fair run if its process died or the machine was too busy. Such
    submissions are run once more after all others, one at a time. If the process dies
    again, the result says that a person has to look at the submission.
    """
    limits = terms.limits
    seconds = limits.patience_with_others * limits.total_seconds + SPARE
    first = [(s, assignments[s.label], course, terms, "") for s in submissions]
    second = []
    for ended in run_each(worker.main, first, jobs, seconds):
        submission, assignment, *_ = ended.arguments
        # An old result in the folder may be of another version of the submission.
        result = finished(submission, assignment, course)
        if ended.exitcode == DISK_FULL:
            raise OSError(errno.ENOSPC, "No space left on device")
        if result is not None:
            yield result
        else:
            starved = ended.exitcode == 0
            why = "The machine was too busy" if starved else "Its process had ended"
            why += f" ({ended.exitcode})" if not starved else ""
            why += ", so it was run again by itself."
            second.append((submission, assignment, course, terms, why))
    for ended in run_each(worker.main, second, 1, seconds):
        submission, assignment, *_ = ended.arguments
        if ended.exitcode == DISK_FULL:
            raise OSError(errno.ENOSPC, "No space left on device")
        yield finished(submission, assignment, course) or _unfinished(
            submission, assignment, course, ended.exitcode
        )


def finished(
    submission: Submission, assignment: Assignment, course: Course
) -> Result | None:
    """Return the result of an earlier run, if it was fair and is still valid."""
    found = Result.load(course.result(submission.student, assignment.name))
    if found is None or found.version != VERSION:
        return None
    same = found.submission == submission.digest
    same = same and found.source == assignment.fingerprint
    fair = bool(found.again) or not (found.starved and found.failures)
    return found if same and fair and found.status != "unfinished" else None


def _unfinished(
    submission: Submission, assignment: Assignment, course: Course, exitcode: int | None
) -> Result:
    result = Result.of(submission, assignment)
    result.status = "unfinished"
    result.sentence = (
        f"Grading it ended twice, with {exitcode}; "
        f"{course.log(submission.student, submission.assignment)} may say why."
    )
    result.save(course)
    return result
