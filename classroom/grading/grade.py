"""Grade a class, from the submissions to the tables and pages."""

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from multiprocessing.util import Finalize
from pathlib import Path

import psutil
from filelock import FileLock, Timeout
from tqdm import tqdm

from classroom.grading import door, feedback, gradebook
from classroom.grading.course import Course
from classroom.grading.disk import is_full_disk
from classroom.grading.gradebook import CourseChanged
from classroom.grading.intake import Intake, NoSubmissions, state_of, take_in
from classroom.grading.marks import ClassList, write_marks
from classroom.grading.pool import finished, grade_all
from classroom.grading.processes import start_server
from classroom.grading.proof import SolutionsFail, prove
from classroom.grading.report import write_report
from classroom.grading.result import Result, Terms
from classroom.grading.returned import write_returned
from classroom.grading.sandbox import (
    SandboxMissing,
    check_sandbox,
    compile_packages,
)
from classroom.release.assignment import Assignment
from classroom.release.release import SOURCES

ROUNDS = 3  # of taking in what others change at the same time
LONGEST_PLACE = 46  # bytes; the sockets' names below it take 57 more


class Refused(ValueError):
    """Raised when nothing was graded; the message gives the reason."""


def grade_class(
    place: Path,
    out: Path,
    sources: list[Path],
    terms: Terms,
    jobs: int = 2,
    pattern: str | None = None,
    progress: bool = True,
    seeds: Sequence[int | None] = (None,),
    class_list: ClassList | None = None,
) -> list[Result]:
    """Grade all submissions in a folder or zip, and write all tables and pages.

    Args:
        seeds: those of the variants that were handed out; None is the book's own sets.
        class_list: of ``read_class_list``, for the table for Brightspace.

    Raises:
        Refused: if that is not possible, with advice on what to do about it.
    """
    if not sources:
        raise Refused(f"There is no exercise set in {SOURCES}; name one with --source.")
    if sys.platform != "linux":
        raise Refused(
            "Grading needs what only Linux has. On Windows install WSL 2, which is a "
            "Linux inside Windows, on a Mac a virtual machine with Linux, and give the "
            "same command there."
        )
    try:
        if terms.sandbox:
            check_sandbox(terms.weak)
        sets = [Assignment(path, seed) for path in sources for seed in seeds]
        assignments = {one.label: one for one in sets}
        out.mkdir(parents=True, exist_ok=True, mode=0o700)
        course = Course(out.resolve())
        with FileLock(out / "lock", timeout=0):
            for _ in range(ROUNDS):
                before = state_of(place)
                intake = take_in(place, sets, course.received, pattern, terms.limits)
                used = {submission.label for submission in intake.submissions}
                gradebook.refuse_without(course, sets)
                gradebook.prepare(
                    course, [assignments[label] for label in sorted(used)]
                )
                results = _grade(
                    intake, assignments, course, terms, jobs, progress, class_list or {}
                )
                if before <= state_of(place):
                    return results
        raise Refused(
            f"Files in {place} were changed while they were read, {ROUNDS} times, so "
            "some marks may be those of earlier versions. Give the same command again "
            "when nothing writes there any more."
        )
    except Timeout:
        raise Refused(f"Another run is grading into {out} right now.") from None
    except (SandboxMissing, NoSubmissions, CourseChanged, SolutionsFail) as error:
        raise Refused(str(error)) from error
    except Exception as error:  # nbgrader's and the database's, too
        if not is_full_disk(error):
            raise
        raise Refused(
            f"There is no room left on the disk of {out} or {tempfile.gettempdir()}. "
            "What was graded is kept. Make room, and give the same command again."
        ) from error


def _grade(
    intake: Intake,
    assignments: dict[str, Assignment],
    course: Course,
    terms: Terms,
    jobs: int,
    progress: bool,
    class_list: ClassList,
) -> list[Result]:
    results, todo = [], []
    for submission in intake.submissions:
        earlier = finished(submission, assignments[submission.label], course)
        if earlier is None:
            todo.append(submission)
        else:
            results.append(
                replace(
                    earlier,
                    path=submission.path,
                    late=submission.late,
                    contested=submission.contested,
                )
            )
    for result in results:
        gradebook.enter(result, course)
    bar = tqdm(
        total=len(intake.submissions),
        initial=len(results),
        unit="notebook",
        disable=not progress,
    )
    compile_packages()
    folder = _temporary_folder()
    start_server(folder, ["classroom.grading.preloaded"])
    terms = replace(
        terms,
        temporary=folder,
        prepared=door.start(folder) if terms.sandbox and todo else None,
    )
    with bar:
        needed = sorted({submission.label for submission in todo})
        prove([assignments[label] for label in needed], course, terms)
        for result in grade_all(todo, assignments, course, terms, jobs):
            gradebook.enter(result, course)
            results.append(result)
            bar.update()
    shutil.rmtree(course.received, ignore_errors=True)
    results.sort(key=lambda result: (result.assignment, result.student))
    marks = gradebook.marks(course, results)
    write_marks(course, results, marks, class_list)
    plain = feedback.write_feedback(course, results, marks, jobs)
    write_returned(course, results)
    used = {submission.label for submission in intake.submissions}
    sets = [assignments[label] for label in sorted(used)]
    write_report(course, results, intake.left_out, plain, sets)
    return results


@cache
def _temporary_folder() -> Path:
    """Return a folder for the sockets of this process and its workers.

    It is removed when the process ends, and the folders of dead runs are removed now. A
    socket's path has at most 103 bytes, and the system's temporary folder can have a
    longer one; then the folder is made in /tmp.
    """
    place = Path(tempfile.gettempdir())
    if len(os.fsencode(place)) > LONGEST_PLACE:
        place = Path("/tmp")
    for left in place.glob("grading-*-*"):
        owner = left.name.split("-")[1]
        ours = owner.isdigit() and left.stat().st_uid == os.getuid()
        if ours and not psutil.pid_exists(int(owner)):
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"grading-{os.getpid()}-", dir=place))
    after = -101  # runs after multiprocessing's -100, which uses the folder
    Finalize(None, shutil.rmtree, (folder,), {"ignore_errors": True}, after)
    return folder
