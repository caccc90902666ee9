"""Grade a class.

    make grade SUBMISSIONS=folder
    make grade SUBMISSIONS=folder SEED=2027      a variant that was handed out
    make grade SUBMISSIONS=folder SEED="1 2"     two of them
    python -m classroom.grading export.zip --out graded --jobs 4

SUBMISSIONS is a folder or zip as Canvas, Moodle, Blackboard or Brightspace exports it,
or one with a folder or a file for each student. If a run was stopped, in whatever way,
the same command continues it; the same command also grades submissions that have been
added since.

The exit status is 0; 1 if nothing could be graded, with a sentence that gives the
reason; 3 if a submission needs a person.
"""

import argparse
import os
import sys
from collections import Counter
from pathlib import Path

from classroom.grading import gradebook
from classroom.grading.course import Course
from classroom.grading.grade import Refused, grade_class
from classroom.grading.limits import MIB, Limits
from classroom.grading.marks import read_class_list
from classroom.grading.result import Result, Terms
from classroom.release.release import SOURCES

REFUSED, NEEDS_A_PERSON = 1, 3


def main(arguments: list[str] | None = None) -> int:
    text = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m classroom.grading", description=__doc__, formatter_class=text
    )
    add = parser.add_argument
    add("submissions", type=Path, help="folder or zip")
    add("--out", type=Path, help="folder for the results; default: SUBMISSIONS-graded")
    add("--source", type=Path, action="append", help="exercise set; default: all")
    add("--seed", type=int, nargs="+", default=[None], help="of each variant")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="notebooks at once")
    add("--class-list", type=read_class_list, help="grades that Brightspace exported")
    add("--pattern", help="regular expression: its group 'name' or 'id' is the student")
    add("--cell-seconds", type=int, default=Limits.cell_seconds)
    add("--total-seconds", type=int, default=Limits.total_seconds)
    add("--memory", type=int, default=Limits.memory // MIB, help="MiB per notebook")
    add("--visible", type=Path, action="append", help="folder that notebooks may read")
    add("--weak-sandbox", action="store_true", help="accept one that leaks")
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
        weak=options.weak_sandbox,
        visible=tuple(path.resolve() for path in options.visible or ()),
    )
    sources = options.source or sorted(SOURCES.glob("*.ipynb"))
    try:
        results = grade_class(
            options.submissions,
            out,
            sources,
            terms,
            options.jobs,
            options.pattern,
            seeds=options.seed,
            class_list=options.class_list,
        )
    except Refused as error:
        print(f"Stopped: {error}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on from here.", file=sys.stderr)
        return REFUSED
    print(summary(results, Course(out.resolve())))
    for_a_person = any(r.status != "graded" or r.contested for r in results)
    return NEEDS_A_PERSON if for_a_person else 0


def summary(results: list[Result], course: Course) -> str:
    """Return one sentence with all counts."""
    marks = gradebook.marks(course, results)
    status = Counter(result.status for result in results)
    waiting = sum(len(mark.unmarked) for mark in marks.values())
    odd = sum(bool(result.tampered or result.odd) for result in results)
    parts = [f"{status['graded']} notebooks were graded"]
    if status["unreadable"]:
        parts.append(f"{status['unreadable']} could not be read and got 0")
    if status["unfinished"]:
        parts.append(f"{status['unfinished']} need a person")
    contested = sum(bool(result.contested) for result in results)
    if contested:
        parts.append(
            f"{contested} are in no import file, for it is in doubt whose they are"
        )
    if waiting:
        parts.append(f"{waiting} written answers wait for a mark")
    if odd:
        parts.append(f"{odd} have something odd in the report")
    return "; ".join(parts) + f". Everything is in {course.root}"


if __name__ == "__main__":
    sys.exit(main())
