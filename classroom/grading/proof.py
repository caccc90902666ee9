"""Grade the exercise set's own solutions as if a student had sent them.

If they do not get full marks, because something is not installed or the set is broken,
no student could, so no student is graded.
"""

import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path

from classroom.grading.course import Course
from classroom.grading.intake import Submission
from classroom.grading.pool import grade_all
from classroom.grading.result import Result, Terms
from classroom.grading.sandbox import run_sandboxed
from classroom.grading.versions import keep_file
from classroom.release.assignment import Assignment, labelled
from classroom.release.release import text_of
from vit_steps.checkpoint import write_whole

STUDENT = "the-solutions"
PACKAGES = ("classroom", "vit_book", "vit_check", "vit_doctor", "vit_steps")
RUNS = 3  # tries for solutions that a busy machine keeps from ending
PATIENCE = 60  # the solutions are known to end, so they may wait long for a processor


class SolutionsFail(ValueError):
    """Raised when solutions fail; the message names the set and the reason."""


def prove(assignments: list[Assignment], course: Course, terms: Terms) -> None:
    """Grade the solutions, unless the same ones have passed into this folder before.

    Raises:
        SolutionsFail: if they do not get full marks.
    """
    record = course.root / "results" / "proof.json"
    passed: dict[str, str] = {}
    with suppress(OSError, ValueError):
        passed = json.loads(record.read_text(encoding="utf-8"))
    named = {
        one.label: one
        for one in assignments
        if passed.get(one.label) != _digest(one, terms)
    }
    if not named:
        return
    sent = [
        Submission(
            *(f"{STUDENT}-{label}", STUDENT, "", one.name, str(one.path)),
            course.received / keep_file(text_of(one.source).encode(), course.received),
            seed=one.seed,
        )
        for label, one in named.items()
    ]
    aside = Course(course.root / "results" / "proof")
    aside.template.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(course.template, aside.template)
    for result in _graded(sent, named, aside, terms):
        label = labelled(result.assignment, result.seed)
        wrong = [f"{name}: {why}" for name, why in result.failures.items()]
        if _wrong(result):
            _check_imports(terms)
            if result.starved:
                raise SolutionsFail(
                    f"This machine has too much else to do: {RUNS} times it gave the "
                    f"solutions in {named[label].path} too little time "
                    f"({'; '.join([*wrong, result.sentence][:1])}). Nothing else was "
                    "found wrong with them. Give the same command again later."
                )
            raise SolutionsFail(
                f"The solutions in {named[label].path} do not pass their "
                "own tests here, so nobody's can: "
                f"{'; '.join([*wrong, result.sentence][:3])}. "
                f"{aside.log(result.student, result.assignment)} may say more."
            )
        passed[label] = _digest(named[label], terms)
        write_whole(record, json.dumps(passed).encode())
    shutil.rmtree(aside.root)


def _graded(
    sent: list[Submission],
    named: dict[str, Assignment],
    course: Course,
    terms: Terms,
) -> Iterator[Result]:
    """Yield the solutions' results, after up to ``RUNS`` runs on a busy machine."""
    patient = replace(terms.limits, patience_with_others=PATIENCE)
    for turn in range(RUNS):
        again = []
        for result in grade_all(
            sent, named, course, replace(terms, limits=patient), jobs=1
        ):
            if result.starved and _wrong(result) and turn < RUNS - 1:
                again += [s for s in sent if s.student == result.student]
            else:
                yield result
        sent = again


def _wrong(result: Result) -> bool:
    return bool(result.failures) or result.status != "graded"


def _digest(assignment: Assignment, terms: Terms) -> str:
    """Return a digest of everything on which the solutions' marks depend."""
    how = [terms.limits, terms.sandbox, terms.visible, sys.version, version("torch")]
    about = [assignment.fingerprint, _code(), *map(repr, how)]
    return hashlib.sha256("\n".join(about).encode()).hexdigest()


@cache
def _code() -> str:
    digest = hashlib.sha256()
    for package in PACKAGES:
        found = importlib.util.find_spec(package)
        for place in (found and found.submodule_search_locations) or ():
            for path in sorted(Path(place).rglob("*.*")):
                if path.suffix in (".py", ".txt"):
                    digest.update(path.read_bytes())
    return digest.hexdigest()


def _check_imports(terms: Terms) -> None:
    """Raise SolutionsFail if a notebook cannot import the packages at all."""
    command = [sys.executable, "-I", "-c", "import vit_check, vit_steps"]
    if terms.sandbox:
        done = run_sandboxed(command, terms.visible)
    else:
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise SolutionsFail(
            f"Notebooks cannot import vit_check and vit_steps here ({said[-1]}), so no "
            f"solution can pass. The environment in {sys.prefix} is that of another "
            "copy of this repository, or not whole. Remove .venv and give `make grade` "
            "again, which makes one for this copy."
        )
