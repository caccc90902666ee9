"""Grade the submission in front of us, in one of Gradescope's containers.

Docker lets no bubblewrap run inside. So the container is the wall around a submission,
the notebook runs as a user who can neither read nor write what belongs to the grader,
and as everywhere the judge is another process. Only the network stays open.
"""

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

from classroom.gradescope.results import results
from classroom.grading import worker
from classroom.grading.course import Course
from classroom.grading.identity import Claim, Label
from classroom.grading.intake import Submission
from classroom.grading.limits import MIB, ORDINARY, Limits
from classroom.grading.result import Result, Terms
from classroom.grading.sandbox import leave_root
from classroom.grading.uploads import in_folder
from classroom.grading.versions import Reader, Version
from classroom.release.assignment import Assignment
from vit_steps.checkpoint import write_whole

PLACE = Path("/autograder")
# The defaults are 768 MB of memory, half a processor and 10 minutes, as is said in
# https://gradescope-autograders.readthedocs.io/en/latest/troubleshooting/.
CONTAINER = 768 * MIB
GRADER = 300 * MIB  # of these for this process, the judge and the libraries
# Seconds on the notebook's own clock; by the wall clock at most six times as many, 9
# minutes. The sets take 2 to 20 s.
SECONDS = 90
AGAIN = 150  # seconds; after a longer first run there is no time for a second
BUSY = (
    "The machine was too busy to be fair to what did not pass: hand the same file in "
    "once more."
)
ALLOCATOR = (
    *("env", "-u", "THP_MEM_ALLOC_ENABLE", "MALLOC_ARENA_MAX=1"),
    *("MALLOC_TRIM_THRESHOLD_=131072", "MALLOC_MMAP_THRESHOLD_=131072"),
)


def room(given: Path = Path("/sys/fs/cgroup/memory.max")) -> int:
    """Return the bytes of memory in this container; a teacher can give it more."""
    try:
        return int(given.read_text())
    except (OSError, ValueError):  # "max", or an older kernel
        return CONTAINER


def assignment_in(source: Path) -> Assignment:
    """Return the set, or the variant of it, for which the autograder was made."""
    (path,) = (source / "set").glob("*.ipynb")
    seed = (source / "seed.txt").read_text()
    return Assignment(path, int(seed) if seed else None)


def newest(
    place: Path, assignment: Assignment, keep: Path
) -> tuple[Version | None, list[str]]:
    """Return the notebook that counts, with sentences about the other files."""
    reader = Reader([assignment], keep, ORDINARY)
    for file in in_folder(place):
        reader.add(Label(Claim("")), file)
    reader.read()
    found = max(reader.versions.get(assignment.name, []), default=None)
    said = reader.sentences("What you handed in")
    if found is not None and not found.recognised:
        said.append(f"{found.path} has little of this set in it. Is it the right one?")
    return found, said


def grade(
    version: Version, assignment: Assignment, course: Course, memory: int
) -> Result:
    """Grade it; once more if the machine was too busy, and there is time for that."""
    submission = Submission(
        *("student", "student", "", assignment.name, version.path),
        course.received / version.digest,
        seed=assignment.seed,
    )
    limits = Limits(
        total_seconds=SECONDS,
        memory=min(memory - GRADER, ORDINARY.memory),
    )
    prefix = (*leave_root(), *ALLOCATOR)
    terms = Terms(limits=limits, sandbox=False, prefix=prefix)
    started = time.monotonic()
    result = worker.grade(submission, assignment, course, terms)
    if result.starved and result.failures and time.monotonic() - started < AGAIN:
        result = worker.grade(submission, assignment, course, terms, "busy")
    return result


def main(place: Path = PLACE) -> int:
    assignment = assignment_in(place / "source")
    with tempfile.TemporaryDirectory(dir=place) as folder:
        course = Course(Path(folder))
        course.template.parent.mkdir()
        shutil.copyfile(place / "source" / "assignments.db", course.template)
        version, said = newest(place / "submission", assignment, course.received)
        if version is None:
            told = results(assignment, {}, "No notebook was found.", said)
        else:
            result = grade(version, assignment, course, room())
            said += [BUSY] * bool(result.starved and result.failures)
            told = results(assignment, result.failures, result.sentence, said)
            told["output"] = "\n".join([*result.changes, told["output"]])
            print("\n".join([*result.tampered, *result.odd]))  # the teacher sees this
    text = json.dumps(told, indent=1, ensure_ascii=False)
    write_whole(place / "results" / "results.json", text.encode("utf-8", "replace"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
