"""The folder in which a class is graded, laid out as nbgrader's own tools expect it.

submitted/STUDENT/SET/SET.ipynb    as it was handed in
autograded/STUDENT/SET/SET.ipynb   restored and run
feedback/STUDENT/SET/SET.html      for the student
source/SET/SET.ipynb               with solutions: never give this folder away;
                                   of a variant SET-2027.ipynb
gradebook.db                       nbgrader's, for its form grader
results/, logs/                    a file for each submission, to continue a stopped run
marks.csv, PLATFORM-SET.csv, feedback-SET.zip, oddities.html
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from classroom.release.assignment import labelled


@dataclass(frozen=True)
class Course:
    root: Path

    @property
    def gradebook(self) -> Path:
        return self.root / "gradebook.db"

    @property
    def template(self) -> Path:
        """A gradebook with the sets and no students; workers only read it.

        In it each variant of a set has a name of its own, its label.
        """
        return self.root / "results" / "assignments.db"

    @property
    def received(self) -> Path:
        """The folder for notebooks that wait to be graded, named by their digests."""
        return self.root / "received"

    def source(self, assignment: str, seed: int | None = None) -> Path:
        file = f"{labelled(assignment, seed)}.ipynb"
        return self.root / "source" / assignment / file

    def submitted(self, student: str, assignment: str) -> Path:
        return self._notebook("submitted", student, assignment)

    def autograded(self, student: str, assignment: str) -> Path:
        return self._notebook("autograded", student, assignment)

    def feedback(self, student: str, assignment: str) -> Path:
        return self._notebook("feedback", student, assignment).with_suffix(".html")

    def result(self, student: str, assignment: str) -> Path:
        return self.root / "results" / assignment / f"{student}.json"

    def results(self, assignment: str) -> Iterable[Path]:
        """Return the result files of all students graded so far."""
        return (self.root / "results" / assignment).glob("*.json")

    def log(self, student: str, assignment: str) -> Path:
        return self.root / "logs" / assignment / f"{student}.log"

    def _notebook(self, step: str, student: str, assignment: str) -> Path:
        return self.root / step / student / assignment / f"{assignment}.ipynb"
