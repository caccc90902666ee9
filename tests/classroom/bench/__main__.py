"""Grade many made-up submissions of every sort, and check that each gets its mark.

    make bench-grade
    python -m tests.classroom.bench --count 200 --jobs 2 --source private/02_x.ipynb

The times are written to _build/bench-grade.json. The exit status is 1 if a mark is
wrong, or if anything outside the sandboxes has changed.
"""

import argparse
import hashlib
import json
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from classroom.grading import gradebook
from classroom.grading.course import Course
from classroom.grading.grade import grade_class
from classroom.grading.limits import Limits
from classroom.grading.result import Terms
from classroom.release.assignment import Assignment
from classroom.release.release import ROOT, SOURCES
from tests.classroom.bench.adversaries import kinds

REPORT = ROOT / "_build" / "bench-grade.json"
WATCHED = ("classroom", "notebooks", "tests", "vit_check", "vit_doctor", "vit_steps")
WATCHED += ("Makefile",)


def fingerprint(places: list[Path]) -> str:
    """Return one digest of all the contents of these files and folders."""
    digest = hashlib.sha256()
    for place in places:
        for path in sorted([place, *place.rglob("*")]):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(str(path).encode() + path.read_bytes())
    return digest.hexdigest()


def measure(source: Path, count: int, jobs: int, limits: Limits) -> dict[str, Any]:
    """Make the submissions, grade them and compare the marks."""
    assignment, sorts = Assignment(source), kinds()
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        sent = {}
        for number in range(count):
            kind = sorts[number % len(sorts)]
            student = f"s{number:03}"
            sent[student] = kind
            path = folder / "submissions" / student / source.name
            path.parent.mkdir(parents=True)
            path.write_bytes(kind.make(assignment))
        watched = [folder / "submissions", *(ROOT / place for place in WATCHED)]
        before = fingerprint(watched)
        started = time.monotonic()
        results = grade_class(
            folder / "submissions",
            folder / "graded",
            [source],
            Terms(limits=limits),
            jobs,
        )
        seconds = time.monotonic() - started
        changed = fingerprint(watched) != before
        marks = gradebook.marks(Course(folder / "graded"), results)
        wrong, times = [], defaultdict(list)
        for result in results:
            kind = sent[result.student]
            times[kind.name].append(result.seconds)
            got = marks[result.student, result.assignment].score
            expected = kind.expected(assignment)
            status = "graded" if kind.readable else "unreadable"
            if got != expected or result.status != status:
                why = [result.sentence, *result.failures.values()]
                wrong.append(f"{kind.name}: {got:g} for {expected:g}; {why[:2]}")
    return {
        "source": source.name,
        "submissions": count,
        "jobs": jobs,
        "seconds": round(seconds, 1),
        "seconds_a_submission": round(seconds / count, 2),
        "processor_seconds_a_submission": {
            "kernels": round(statistics.mean(r.computed for r in results), 2),
            "grader": round(statistics.mean(r.grader for r in results), 2),
        },
        "median_seconds_of_a_kind": {
            name: round(statistics.median(of_kind), 2)
            for name, of_kind in sorted(times.items())
        },
        "lost": count - len(results),
        "wrong": wrong,
        "changed_outside": changed,
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.classroom.bench")
    parser.add_argument("--source", type=Path, help="default: the first there is")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cell-seconds", type=int, default=10)
    options = parser.parse_args(arguments)
    source = options.source or min(SOURCES.glob("*.ipynb"))
    limits = Limits(cell_seconds=options.cell_seconds)
    report = measure(source.resolve(), options.count, options.jobs, limits)
    REPORT.parent.mkdir(exist_ok=True)
    text = json.dumps(report, indent=1)
    REPORT.write_text(text + "\n", encoding="utf-8")
    print(text)
    return int(bool(report["wrong"] or report["lost"] or report["changed_outside"]))


if __name__ == "__main__":
    sys.exit(main())
