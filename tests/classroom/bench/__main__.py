"""Grade many made-up submissions of every sort, and check that each gets its mark.

    make bench-grade
    python -m tests.classroom.bench --count 200 --jobs 2 --source private/02_x.ipynb
    python -m tests.classroom.bench --count 1000 --honest 12     a large class

The times are written to _build/bench-grade.json. The exit status is 1 if a mark is
wrong, if a row or page is missing, or if anything outside the sandboxes has changed.
"""

import argparse
import hashlib
import json
import statistics
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import psutil

from classroom.grading import gradebook
from classroom.grading.course import Course
from classroom.grading.grade import grade_class
from classroom.grading.limits import MIB, Limits
from classroom.grading.procfs import Procfs
from classroom.grading.result import Terms
from classroom.release.assignment import Assignment
from classroom.release.release import ROOT, SOURCES
from tests.classroom.bench.adversaries import cheats, damaged, honest, nuisances
from tests.classroom.bench.edited import edited

REPORT = ROOT / "_build" / "bench-grade.json"
WATCHED = ("classroom", "notebooks", "tests", "vit_check", "vit_doctor", "vit_steps")
WATCHED += ("Makefile",)
BETWEEN_LOOKS = 2  # seconds between two looks at the memory in use


def fingerprint(places: list[Path]) -> str:
    """Return one digest of all the contents of these files and folders."""
    digest = hashlib.sha256()
    for place in places:
        for path in sorted([place, *place.rglob("*")]):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(str(path).encode() + path.read_bytes())
    return digest.hexdigest()


class Peak(threading.Thread):
    """The most memory that this process and its children hold, sandboxes too."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.ended = threading.Event()
        self.bytes = 0

    def run(self) -> None:
        procfs = Procfs(Path("/proc"))
        while not self.ended.wait(BETWEEN_LOOKS):
            everyone = psutil.Process().children(recursive=True)
            held = 0
            for process in [psutil.Process(), *everyone]:
                held += procfs.share(process.pid) or 0
            self.bytes = max(self.bytes, held)


def measure(
    source: Path, count: int, jobs: int, limits: Limits, often: int
) -> dict[str, Any]:
    """Make the submissions, grade them and compare the marks.

    Args:
        often: how many submissions of each honest sort come for one of each other.
    """
    assignment = Assignment(source)
    sorts = [*damaged(), *nuisances(), *cheats(), *often * [*honest(), *edited()]]
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        made = {kind: kind.make(assignment) for kind in sorts[:count]}
        sent = {}
        for number in range(count):
            kind = sorts[number % len(sorts)]
            student = f"s{number:04}"
            sent[student] = kind
            path = folder / "submissions" / student / source.name
            path.parent.mkdir(parents=True)
            path.write_bytes(made[kind])
        watched = [folder / "submissions", *(ROOT / place for place in WATCHED)]
        before = fingerprint(watched)
        peak = Peak()
        peak.start()
        started = time.monotonic()
        results = grade_class(
            folder / "submissions",
            folder / "graded",
            [source],
            Terms(limits=limits),
            jobs,
        )
        seconds = time.monotonic() - started
        peak.ended.set()
        out = Course(folder / "graded")
        disk = sum(p.stat().st_size for p in out.root.rglob("*") if p.is_file())
        rows = (out.root / "marks.csv").read_text("utf-8-sig").count(source.stem)
        pages = sum(out.feedback(s, assignment.name).is_file() for s in sent)
        changed = fingerprint(watched) != before
        marks = gradebook.marks(out, results)
        wrong = []
        times = defaultdict(list)
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
        "median_seconds": round(statistics.median(r.seconds for r in results), 2),
        "median_processor_seconds": {
            "kernels": round(statistics.median(r.computed for r in results), 2),
            "grader": round(statistics.median(r.grader for r in results), 2),
        },
        "peak_of_memory_in_MiB": peak.bytes // MIB,
        "disk_a_submission_in_kB": disk // 1000 // count,
        "run_again": sum(bool(r.again) for r in results),
        "median_seconds_of_a_kind": {
            name: round(statistics.median(of_kind), 2)
            for name, of_kind in sorted(times.items())
        },
        "lost": 3 * count - len(results) - rows - pages,
        "wrong": wrong,
        "changed_outside": changed,
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.classroom.bench")
    parser.add_argument("--source", type=Path, help="default: the first there is")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--honest", type=int, default=1, help="of each, for one other")
    parser.add_argument("--cell-seconds", type=int, default=10)
    options = parser.parse_args(arguments)
    source = options.source or min(SOURCES.glob("*.ipynb"))
    limits = Limits(cell_seconds=options.cell_seconds)
    report = measure(
        source.resolve(), options.count, options.jobs, limits, options.honest
    )
    REPORT.parent.mkdir(exist_ok=True)
    text = json.dumps(report, indent=1)
    REPORT.write_text(text + "\n", encoding="utf-8")
    print(text)
    return int(bool(report["wrong"] or report["lost"] or report["changed_outside"]))


if __name__ == "__main__":
    sys.exit(main())
