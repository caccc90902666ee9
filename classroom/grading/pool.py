"""Grades many submissions at once, each in a process that may end as it likes."""

import multiprocessing
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.process import BaseProcess

from classroom.grading import worker
from classroom.grading.course import Course
from classroom.grading.intake import Submission
from classroom.grading.result import VERSION, Result, Terms
from classroom.release.assignment import Assignment

SPARE = 120  # seconds, beyond what the notebook itself may take
ATTEMPTS = 2


@dataclass
class _Running:
    process: BaseProcess
    submission: Submission
    until: float
    attempt: int


def grade_all(
    submissions: Iterable[Submission],
    assignments: dict[str, Assignment],
    course: Course,
    terms: Terms,
    jobs: int,
) -> Iterator[Result]:
    """Results, in the order in which they come.

    A submission whose process dies is tried once more; then its result says that a
    person has to look at it.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([worker.__name__, "vit_check.judge"])
    waiting = [(submission, 1) for submission in submissions][::-1]
    running: list[_Running] = []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                submission, attempt = waiting.pop()
                assignment = assignments[submission.assignment]
                process = context.Process(
                    target=worker.main, args=(submission, assignment, course, terms)
                )
                process.start()
                until = time.monotonic() + terms.limits.total_seconds + SPARE
                running.append(_Running(process, submission, until, attempt))
            connection.wait([one.process.sentinel for one in running], timeout=1.0)
            for one in [one for one in running if _ended(one)]:
                running.remove(one)
                result = _result(one, assignments, course)
                if result is not None:
                    yield result
                elif one.attempt < ATTEMPTS:
                    waiting.append((one.submission, one.attempt + 1))
                else:
                    yield _unfinished(one, assignments, course)
    finally:
        for one in running:
            one.process.kill()


def _ended(one: _Running) -> bool:
    if one.process.is_alive() and time.monotonic() > one.until:
        one.process.kill()
        one.process.join()
    return not one.process.is_alive()


def _result(
    one: _Running, assignments: dict[str, Assignment], course: Course
) -> Result | None:
    """What the process has written, if it is about this very submission."""
    submission = one.submission
    return finished(submission, assignments[submission.assignment], course)


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
    one: _Running, assignments: dict[str, Assignment], course: Course
) -> Result:
    submission = one.submission
    result = Result.of(submission, assignments[submission.assignment])
    result.status = "unfinished"
    result.sentence = (
        f"Grading it ended {ATTEMPTS} times with {one.process.exitcode}; "
        f"{course.log(submission.student, submission.assignment)} may say why."
    )
    result.save(course)
    return result
