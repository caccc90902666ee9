"""What a teacher should look at, on one page."""

from html import escape

import nbformat

from classroom.grading.course import Course
from classroom.grading.oddities import Written, nearly_identical, written
from classroom.grading.result import Result
from classroom.release.assignment import Assignment
from vit_steps.checkpoint import write_whole

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
STYLE = "body{font:16px/1.5 sans-serif;max-width:50em;margin:2em auto;padding:0 1em}"


def write_report(
    course: Course,
    results: list[Result],
    assignments: dict[str, Assignment],
    left_out: list[str],
) -> None:
    """Write oddities.html."""
    sections = {
        "Needs a person": [
            (r.student, [r.sentence]) for r in results if r.status == "unfinished"
        ],
        "Could not be read, mark 0": [
            (r.student, [r.sentence]) for r in results if r.status == "unreadable"
        ],
        "Changed what is locked": [
            (r.student, r.tampered) for r in results if r.tampered
        ],
        "Unusual code": [(r.student, r.odd) for r in results if r.odd],
        "Nearly the same": _alike(course, results, assignments),
        "Put right without harm": [
            (r.student, r.changes) for r in results if r.changes
        ],
        "Not graded": [("", left_out)] if left_out else [],
    }
    body = "".join(
        f"<h2>{escape(title)}</h2>{''.join(_item(*row) for row in rows)}"
        for title, rows in sections.items()
        if rows
    )
    page = (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>Oddities</title><style>{STYLE}</style></head><body><h1>Oddities</h1>"
        "<p>What follows is a reason to look, not proof of anything.</p>"
        f"{body or '<p>Nothing.</p>'}</body></html>"
    )
    write_whole(course.root / "oddities.html", page.encode("utf-8", "replace"))


def _item(student: str, sentences: list[str]) -> str:
    lines = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<h3>{escape(student)}</h3><ul>{lines}</ul>"


def _alike(
    course: Course, results: list[Result], assignments: dict[str, Assignment]
) -> list[tuple[str, list[str]]]:
    rows = []
    for name in sorted({result.assignment for result in results}):
        everyone: list[Written] = []
        files: dict[str, list[str]] = {}
        for result in results:
            if result.assignment != name or result.status != "graded":
                continue
            files.setdefault(result.submission, []).append(result.student)
            nb = nbformat.read(course.autograded(result.student, name), as_version=4)
            everyone.append(written(result.student, nb, assignments[name].release))
        sentences = [
            f"The same file: {', '.join(students)}."
            for students in files.values()
            if len(students) > 1
        ]
        sentences += [
            f"{one} and {other}: {kind} {score:.0f} % the same."
            for score, kind, one, other in nearly_identical(everyone)[:200]
        ]
        if sentences:
            rows.append((name, sentences))
    return rows
