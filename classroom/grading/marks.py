"""Tables of marks: for Canvas, for Moodle, and for people.

A mark whose student is in doubt appears only in the table for people: a platform would
give it to the student whom the upload names.
"""

import csv
import io
import re
from collections.abc import Iterable
from typing import Any

from classroom.grading.course import Course
from classroom.grading.gradebook import Mark
from classroom.grading.result import Result
from vit_steps.checkpoint import write_whole

# A sign that begins a formula in a spreadsheet, at the start or after a character at
# which some spreadsheets begin a new cell, whatever separator the table uses.
FORMULA = re.compile(r"(^|[;,|\t\r\n])(?=\s*[=+\-@＝＋－＠﹦﹢﹣﹫])")

Marks = dict[tuple[str, str], Mark]


def write_marks(course: Course, results: list[Result], marks: Marks) -> list[str]:
    """Write all tables, and return their names."""
    tables = {"marks.csv": _for_people(results, marks)}
    for name in sorted({result.assignment for result in results}):
        of_one = [result for result in results if result.assignment == name]
        maximum = max(marks[r.student, name].maximum for r in of_one)
        sure = [result for result in of_one if not result.contested]
        tables[f"canvas-{name}.csv"] = _canvas(name, sure, marks, maximum)
        tables[f"moodle-{name}.csv"] = _moodle(sure, marks)
    for file, rows in tables.items():
        write_whole(course.root / file, _csv(rows))
    return list(tables)


def cell(value: Any) -> str:
    """Return a value as one line of text that no spreadsheet takes for a formula."""
    if isinstance(value, float):
        return f"{value:g}"
    text = "".join(c if c.isprintable() or c in "\t\r\n" else " " for c in str(value))
    return re.sub(r"\s", " ", FORMULA.sub(r"\1'", text))


def _csv(rows: Iterable[Iterable[Any]]) -> bytes:
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows([cell(value) for value in row] for row in rows)
    return stream.getvalue().encode("utf-8-sig")  # Excel needs the byte order mark


def _for_people(results: list[Result], marks: Marks) -> Iterable[Iterable[Any]]:
    yield (
        *("Student", "Name", "ID", "Exercise set", "Score", "Maximum", "To be marked"),
        *("Late", "Status", "Seed", "Remark"),
    )
    for r in results:
        mark = marks[r.student, r.assignment]
        yield (
            *(r.student, r.name, r.lms_id, r.assignment, mark.score, mark.maximum),
            *(mark.waiting, "late" if r.late else "", r.status),
            "" if r.seed is None else r.seed,
            " ".join(filter(None, (r.contested, r.sentence))),
        )


def _canvas(
    name: str, results: list[Result], marks: Marks, maximum: float
) -> Iterable[Iterable[Any]]:
    yield "Student", "ID", "SIS User ID", "SIS Login ID", "Section", name
    yield "    Points Possible", "", "", "", "", maximum
    for r in results:
        score = marks[r.student, r.assignment].score
        yield r.name, r.lms_id, "", "" if r.lms_id else r.student, "", score


def _moodle(results: list[Result], marks: Marks) -> Iterable[Iterable[Any]]:
    yield (
        *("Identifier", "Full name", "Email address", "Status", "Grade"),
        *("Maximum Grade", "Grade can be changed", "Last modified (submission)"),
        *("Last modified (grade)", "Feedback comments"),
    )
    for r in results:
        mark = marks[r.student, r.assignment]
        identifier = f"Participant {r.lms_id}" if r.lms_id else r.student
        status = "Submitted for grading" + (" - late" if r.late else "")
        yield (
            *(identifier, r.name, "", status, mark.score, mark.maximum, "Yes"),
            *("", "", r.sentence),
        )
