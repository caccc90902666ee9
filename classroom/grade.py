"""Grades a class.

    make grade SUBMISSIONS=folder
    python -m classroom.grade export.zip --out graded --jobs 4

SUBMISSIONS is a folder or zip as Canvas or Moodle exports it, or with a folder or a
file for each student. A run that was stopped, in whatever way, goes on where it was
when the same command is given again; so it does when submissions have been added.

Ends with 0; with 1 if nothing could be graded, and a sentence why; with 3 if a
submission needs a person.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from filelock import FileLock, Timeout
from tqdm import tqdm

from classroom import gradebook
from classroom.assignment import Assignment
from classroom.course import Course
from classroom.feedback import write_feedback
from classroom.gradebook import CourseChanged
from classroom.intake import Intake, NoSubmissions, take_in
from classroom.limits import MIB, Limits
from classroom.marks import write_marks
from classroom.pool import finished, grade_all
from classroom.proof import SolutionsFail, prove
from classroom.release import SOURCES
from classroom.report import write_report
from classroom.sandbox import SandboxMissing, check_sandbox
from classroom.worker import Result, Terms

REFUSED, NEEDS_A_PERSON = 1, 3


class Refused(ValueError):
    """Nothing was graded; the message says why."""


def grade_class(
    place: Path,
    out: Path,
    sources: list[Path],
    terms: Terms,
    jobs: int = 2,
    pattern: str | None = None,
    progress: bool = True,
) -> list[Result]:
    """Grade all submissions that are there, and write all tables and pages.

    Raises:
        Refused: if that is not possible, with what to do about it.
    """
    if not sources:
        raise Refused(f"There is no exercise set in {SOURCES}; name one with --source.")
    try:
        if terms.sandbox:
            check_sandbox()
        assignments = {path.stem: Assignment(path) for path in sources}
        out.mkdir(parents=True, exist_ok=True, mode=0o700)
        course = Course(out.resolve())
        with FileLock(out / "lock", timeout=0):
            intake = take_in(
                place,
                list(assignments.values()),
                course.received,
                pattern,
                terms.limits,
            )
            used = {submission.assignment for submission in intake.submissions}
            gradebook.prepare(course, [assignments[name] for name in sorted(used)])
            return _grade(intake, assignments, course, terms, jobs, progress)
    except Timeout:
        raise Refused(f"Another run is grading into {out} right now.") from None
    except (SandboxMissing, NoSubmissions, CourseChanged, SolutionsFail) as error:
        raise Refused(str(error)) from error


def _grade(
    intake: Intake,
    assignments: dict[str, Assignment],
    course: Course,
    terms: Terms,
    jobs: int,
    progress: bool,
) -> list[Result]:
    results, todo = [], []
    for submission in intake.submissions:
        earlier = finished(submission, assignments[submission.assignment], course)
        if earlier is None:
            todo.append(submission)
        else:
            results.append(earlier)
    for result in results:
        gradebook.enter(result, course)
    bar = tqdm(
        total=len(intake.submissions),
        initial=len(results),
        unit="notebook",
        disable=not progress,
    )
    with _temporary_folder() as folder, bar:
        terms = replace(terms, temporary=folder)
        needed = sorted({submission.assignment for submission in todo})
        prove([assignments[name] for name in needed], course, terms)
        for result in grade_all(todo, assignments, course, terms, jobs):
            gradebook.enter(result, course)
            results.append(result)
            bar.update()
    shutil.rmtree(course.received, ignore_errors=True)
    results.sort(key=lambda result: (result.assignment, result.student))
    marks = gradebook.marks(course, results)
    write_marks(course, results, marks)
    write_feedback(course, results, jobs)
    write_report(course, results, assignments, intake.left_out)
    return results


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    """For the workers' sockets; what dead runs have left is removed."""
    place = Path(tempfile.gettempdir())
    for left in place.glob("grading-*-*"):
        owner = left.name.split("-")[1]
        if left.stat().st_uid == os.getuid() and not Path("/proc", owner).exists():
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"grading-{os.getpid()}-", dir=place))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def summary(results: list[Result], course: Course) -> str:
    """One sentence with all counts."""
    marks = gradebook.marks(course, results)
    status = Counter(result.status for result in results)
    waiting = sum(mark.waiting for mark in marks.values())
    odd = sum(bool(result.tampered or result.odd) for result in results)
    parts = [f"{status['graded']} notebooks were graded"]
    if status["unreadable"]:
        parts.append(f"{status['unreadable']} could not be read and got 0")
    if status["unfinished"]:
        parts.append(f"{status['unfinished']} need a person")
    if waiting:
        parts.append(f"{waiting} written answers wait for a mark")
    if odd:
        parts.append(f"{odd} have something odd in the report")
    return "; ".join(parts) + f". Everything is in {course.root}"


def main(arguments: list[str] | None = None) -> int:
    text = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m classroom.grade", description=__doc__, formatter_class=text
    )
    add = parser.add_argument
    add("submissions", type=Path, help="folder or zip")
    add("--out", type=Path, help="folder for the results; default: SUBMISSIONS-graded")
    add("--source", type=Path, action="append", help="exercise set; default: all")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="notebooks at once")
    add("--pattern", help="regular expression with a group 'name', for the paths")
    add("--cell-seconds", type=int, default=Limits.cell_seconds)
    add("--total-seconds", type=int, default=Limits.total_seconds)
    add("--memory", type=int, default=Limits.memory // MIB, help="MiB, a notebook")
    add("--visible", type=Path, action="append", help="folder that notebooks may read")
    add("--without-sandbox", action="store_true", help="run what students send as you")
    options = parser.parse_args(arguments)
    out = options.out or Path(f"{options.submissions.with_suffix('')}-graded")
    limits = Limits(
        cell_seconds=options.cell_seconds,
        total_seconds=options.total_seconds,
        memory=options.memory * MIB,
    )
    terms = Terms(
        limits=limits,
        sandbox=not options.without_sandbox,
        visible=tuple(path.resolve() for path in options.visible or ()),
    )
    sources = options.source or sorted(SOURCES.glob("*.ipynb"))
    try:
        results = grade_class(
            options.submissions, out, sources, terms, options.jobs, options.pattern
        )
    except Refused as error:
        print(f"Stopped: {error}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on from here.", file=sys.stderr)
        return REFUSED
    print(summary(results, Course(out.resolve())))
    return NEEDS_A_PERSON if any(r.status != "graded" for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
