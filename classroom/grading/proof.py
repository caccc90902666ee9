"""Grade the exercise set's own solutions as if a student had sent them.

If they do not get full marks, because something is not installed or the set is broken,
no student could, so no student is graded.
"""

import shutil
import subprocess
import sys
from dataclasses import replace

from classroom.grading.course import Course
from classroom.grading.intake import Submission
from classroom.grading.pool import grade_all
from classroom.grading.result import Terms
from classroom.grading.sandbox import run_sandboxed
from classroom.grading.versions import keep_file
from classroom.release.assignment import Assignment, labelled
from classroom.release.release import text_of

STUDENT = "the-solutions"
PATIENCE = 60  # the solutions are known to end, so they may wait long for a processor


class SolutionsFail(ValueError):
    """Raised when solutions fail; the message names the set and the reason."""


def prove(assignments: list[Assignment], course: Course, terms: Terms) -> None:
    """Grade the solutions, and raise SolutionsFail if they do not get full marks."""
    if not assignments:
        return
    named = {one.label: one for one in assignments}
    sent = [
        Submission(
            *(f"{STUDENT}-{label}", STUDENT, "", one.name, str(one.path)),
            course.received / keep_file(text_of(one.source).encode(), course.received),
            seed=one.seed,
        )
        for label, one in named.items()
    ]
    aside = Course(course.root / "results" / "proof")
    shutil.rmtree(aside.root, ignore_errors=True)
    aside.template.parent.mkdir(parents=True)
    shutil.copyfile(course.template, aside.template)
    limits = replace(terms.limits, patience_with_others=PATIENCE)
    patient = replace(terms, limits=limits)
    for result in grade_all(sent, named, aside, patient, jobs=1):
        if not result.failures and result.status == "graded":
            continue
        _check_imports(terms)
        path = named[labelled(result.assignment, result.seed)].path
        wrong = [f"{name}: {why}" for name, why in result.failures.items()]
        if result.starved:
            raise SolutionsFail(
                f"This machine has too much else to do: it gave the solutions in "
                f"{path} too little time, twice ({[*wrong, result.sentence][0]}). "
                "Nothing else was found wrong with them. Give the same command again "
                "later."
            )
        raise SolutionsFail(
            f"The solutions in {path} do not pass their own tests here, so nobody's "
            f"can: {'; '.join([*wrong, result.sentence][:3])}. "
            f"{aside.log(result.student, result.assignment)} may say more."
        )
    shutil.rmtree(aside.root)


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
