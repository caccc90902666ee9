"""nbgrader's gradebook: created from the sources, filled from the results.

Only one process writes to it. Every entry can be written twice without harm, so a run
that was killed in between loses nothing and counts nothing twice.
"""

import hashlib
import json
import logging
import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors import SaveAutoGrades
from sqlalchemy.exc import SAWarning
from traitlets.config import Config

from classroom.grading.course import Course
from classroom.grading.result import VERSION, Result
from classroom.release.assignment import Assignment
from classroom.release.release import resources, save_cells, text_of, url_of
from vit_steps.checkpoint import write_whole


class CourseChanged(ValueError):
    """Raised when a folder belongs to another class or exercise set; it is named."""


@dataclass
class Mark:
    """One student's current mark in the gradebook."""

    score: float
    maximum: float
    unmarked: list[str] = field(default_factory=list)  # answers, by their grade_id


def refuse_without(course: Course, assignments: list[Assignment]) -> None:
    """Refuse to grade a folder again without a variant that was graded into it."""
    for name in {one.name for one in assignments}:
        given = {one.seed for one in assignments if one.name == name}
        found = [Result.load(path) for path in course.results(name)]
        graded = {one.seed for one in found if one and one.version == VERSION}
        if graded <= given:
            continue
        seeds = " ".join(sorted(str(one) for one in graded | given if one is not None))
        raise CourseChanged(
            f"{course.root} has other variants of {name}, and its tables would lose "
            f'them. Give all seeds at once, SEED="{seeds}", or another folder with '
            "--out."
        )


def prepare(course: Course, assignments: list[Assignment]) -> None:
    """Enter the exercise sets into the gradebook, all variants of a set as one.

    Raises:
        CourseChanged: if an exercise set has changed since the folder was made.
    """
    record = course.template.with_suffix(".json")
    known: dict[str, str] = {}
    with suppress(OSError, ValueError):
        known = json.loads(record.read_text(encoding="utf-8"))
    for assignment in assignments:
        before = known.get(assignment.label)
        if before == assignment.fingerprint:
            continue
        graded = any(course.results(assignment.name))
        if before is not None and graded:
            raise CourseChanged(
                f"{assignment.path.name} has changed since {course.root} was graded. "
                "Give another folder with --out, so that no mark gets lost."
            )
        text = text_of(assignment.source)
        write_whole(course.source(assignment.name, assignment.seed), text.encode())
        _enter_assignment(assignment, assignment.label, course.template)
        if not graded:  # a variant that comes later has the same tasks and points
            _enter_assignment(assignment, assignment.name, course.gradebook)
        known[assignment.label] = assignment.fingerprint
        write_whole(record, json.dumps(known).encode())
    settings = course.root / "nbgrader_config.py"
    if not settings.exists():
        write_whole(settings, b'c = get_config()\nc.CourseDirectory.course_id = ""\n')


def _enter_assignment(assignment: Assignment, name: str, database: Path) -> None:
    fresh = database.with_suffix(".new")
    if database.exists():
        shutil.copyfile(database, fresh)
    else:
        fresh.parent.mkdir(parents=True, exist_ok=True)
        fresh.unlink(missing_ok=True)
    with _programs_of_this_environment(), Gradebook(url_of(fresh)) as book:
        with suppress(MissingEntry):
            book.remove_assignment(name)  # an old version, without grades
        book.update_or_create_assignment(name)
    save_cells(assignment.source, name, fresh.resolve())
    fresh.replace(database)


@contextmanager
def _programs_of_this_environment() -> Iterator[None]:
    """Put this environment's programs on PATH: nbgrader calls alembic by its name."""
    before = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{before}"
    try:
        yield
    finally:
        os.environ["PATH"] = before


def enter(result: Result, course: Course) -> None:
    """Enter a result into the gradebook, unless it is there already."""
    path = course.result(result.student, result.assignment)
    stamp = hashlib.sha256(path.read_bytes()).hexdigest()
    entered = path.with_suffix(".entered")
    if entered.exists() and entered.read_text(encoding="utf-8") == stamp:
        return
    with warnings.catch_warnings(), Gradebook(url_of(course.gradebook)) as book:
        # nbgrader leaves some objects out of the session on purpose; SQLAlchemy warns.
        warnings.filterwarnings("ignore", "Object of type", SAWarning)
        book.update_or_create_student(result.student, last_name=result.name)
        book.update_or_create_submission(result.assignment, result.student)
        if result.status != "graded":
            submission = book.find_submission_notebook(
                result.assignment, result.assignment, result.student
            )
            for grade in submission.grades:
                grade.auto_score, grade.needs_manual_grade = 0, False
            book.db.commit()
    if result.status == "graded":
        notebook = course.autograded(result.student, result.assignment)
        nb = nbformat.read(notebook, as_version=4)
        save = SaveAutoGrades(config=Config())
        save.log.setLevel(logging.ERROR)
        about = resources(result.assignment, course.gradebook, student=result.student)
        save.preprocess(nb, about)
    write_whole(entered, stamp.encode())


def marks(course: Course, results: list[Result]) -> dict[tuple[str, str], Mark]:
    """Return (student, assignment) -> mark, with what people have entered since."""
    found = {}
    with Gradebook(url_of(course.gradebook)) as book:
        for result in results:
            key = (result.student, result.assignment)
            with suppress(MissingEntry):
                submission = book.find_submission_notebook(
                    result.assignment, result.assignment, result.student
                )
                unmarked = [g.name for g in submission.grades if g.needs_manual_grade]
                score, most = float(submission.score), float(submission.max_score)
                found[key] = Mark(score, most, unmarked)
    return found
