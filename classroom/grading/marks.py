"""Tables of marks: for platforms, and for people.

A mark whose student is in doubt appears only in the table for people: a platform would
give it to the student whom the upload names. A table in which nobody is left, because
a platform does not know these names, is not written.
"""

import csv
import io
import re
import unicodedata
from argparse import ArgumentTypeError
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from classroom.grading.course import Course
from classroom.grading.gradebook import Mark
from classroom.grading.identity import BLACKBOARD
from classroom.grading.result import Result
from vit_steps.checkpoint import write_whole

# A sign that begins a formula in a spreadsheet, at the start or after a character at
# which some spreadsheets begin a new cell, whatever separator the table uses.
FORMULA = re.compile(r"(^|[;,|\t\r\n])(?=\s*[=+\-@＝＋－＠﹦﹢﹣﹫])")

Marks = dict[tuple[str, str], Mark]
ClassList = Mapping[str, tuple[str, str]]
Rows = Iterable[Iterable[Any]]


def write_marks(
    course: Course, results: list[Result], marks: Marks, class_list: ClassList
) -> None:
    """Write all tables."""
    tables: dict[str, Rows] = {"marks.csv": _for_people(results, marks)}
    for name in sorted({result.assignment for result in results}):
        of_one = [result for result in results if result.assignment == name]
        maximum = max(marks[r.student, name].maximum for r in of_one)
        sure = [result for result in of_one if not result.contested]
        tables[f"canvas-{name}.csv"] = _canvas(name, sure, marks, maximum)
        tables[f"moodle-{name}.csv"] = _moodle(sure, marks)
        imports = {
            "blackboard": _blackboard(name, sure, marks, maximum),
            "brightspace": _brightspace(name, sure, marks, maximum, class_list),
        }
        for platform, lines in imports.items():
            head, *students = lines
            file = f"{platform}-{name}.csv"
            if students:
                tables[file] = [head, *students]
            else:
                (course.root / file).unlink(missing_ok=True)
    for file, rows in tables.items():
        write_whole(course.root / file, _csv(rows))


def read_class_list(path: str) -> ClassList:
    """Return name -> OrgDefinedId and Username, from grades that Brightspace exported.

    Names that two students share are left out.

    Raises:
        ArgumentTypeError: if it is no such table; the message says what it must be.
    """
    found = defaultdict[str, list[tuple[str, str]]](list)
    try:
        with open(path, encoding="utf-8-sig", newline="") as stream:
            for row in csv.DictReader(stream):
                name = _simple(f"{row['First Name']} {row['Last Name']}")
                found[name].append((row["OrgDefinedId"], row["Username"]))
    except (OSError, ValueError, KeyError, csv.Error) as error:
        raise ArgumentTypeError(
            f"{path} cannot be read ({error}). It has to be a CSV of "
            "grades that Brightspace exported with both key fields and with first and "
            "last names."
        ) from error
    return {name: ids[0] for name, ids in found.items() if len(ids) == 1}


def _simple(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def cell(value: Any) -> str:
    """Return a value as one line of text that no spreadsheet takes for a formula."""
    if isinstance(value, float):
        return f"{value:g}"
    text = "".join(c if c.isprintable() or c in "\t\r\n" else " " for c in str(value))
    return re.sub(r"\s", " ", FORMULA.sub(r"\1'", text))


def _csv(rows: Rows) -> bytes:
    stream = io.StringIO(newline="")
    lines = csv.writer(stream, quoting=csv.QUOTE_ALL)  # Blackboard wants it
    lines.writerows([cell(value) for value in row] for row in rows)
    return stream.getvalue().encode("utf-8-sig")  # Excel needs the byte order mark


def _for_people(results: list[Result], marks: Marks) -> Rows:
    yield (
        *("Student", "Name", "ID", "Exercise set", "Score", "Maximum", "To be marked"),
        *("Late", "Status", "Seed", "Remark"),
    )
    for r in results:
        mark = marks[r.student, r.assignment]
        yield (
            *(r.student, r.name, r.lms_id, r.assignment, mark.score, mark.maximum),
            *(len(mark.unmarked), "late" if r.late else "", r.status),
            "" if r.seed is None else r.seed,
            " ".join(filter(None, (r.contested, r.sentence))),
        )


def _canvas(name: str, results: list[Result], marks: Marks, maximum: float) -> Rows:
    yield "Student", "ID", "SIS User ID", "SIS Login ID", "Section", name
    yield "    Points Possible", "", "", "", "", maximum
    for r in results:
        score = marks[r.student, r.assignment].score
        yield r.name, r.lms_id, "", "" if r.lms_id else r.student, "", score


def _moodle(results: list[Result], marks: Marks) -> Rows:
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


def _blackboard(name: str, results: list[Result], marks: Marks, maximum: float) -> Rows:
    """Yield a table that finds students by their user names.

    Blackboard makes a new column of it, or fills the one whose heading, with its
    number, the teacher copies here from an export. A user name with an underline is
    read in part, and then what stands before it is longer than others have.
    http://library.blackboard.com/ref/3ea64795-6ecc-4abd-b595-0a9a8dfdec94/Content/_instructor_grade_center/grade_center_upload_download.htm
    """
    yield "Last Name", "First Name", "Username", f"{name} [Total Pts: {maximum:g}]"
    before = {}
    for r in results:
        found = BLACKBOARD.fullmatch(r.path.split("/", 1)[0])
        before[r.student] = r.path[: found.start("name")] if found else ""
    shortest = min(before.values(), key=len, default="")
    for r in results:
        if not r.lms_id and before[r.student] == shortest:
            yield "", "", r.name, marks[r.student, name].score


def _brightspace(
    name: str,
    results: list[Result],
    marks: Marks,
    maximum: float,
    class_list: ClassList,
) -> Rows:
    """Yield a table that finds students by their user names.

    The number in a download's names is known to no import, so there the class list has
    to tell whose a name is.
    https://community.d2l.com/brightspace/kb/articles/3538-importing-grades
    """
    grade = f"{name} Points Grade <Numeric MaxPoints:{maximum:g}>"
    yield "OrgDefinedId", "Username", grade, "End-of-Line Indicator"
    names = Counter(_simple(r.name) for r in results)
    for r in results:
        own = "" if r.lms_id else r.name
        number, user = class_list.get(_simple(r.name), ("", own))
        if (number or user) and names[_simple(r.name)] == 1:
            yield number, user, marks[r.student, name].score, "#"
