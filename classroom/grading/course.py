"""The folder in which a class is graded, laid out as nbgrader's own tools expect it.

submitted/STUDENT/SET/SET.ipynb    as it came
autograded/STUDENT/SET/SET.ipynb   restored and run
feedback/STUDENT/SET/SET.html      for the student
source/SET/SET.ipynb               with solutions: never give this folder away
gradebook.db                       nbgrader's, for its form grader
results/, logs/                    one file each, by which a broken run goes on
marks.csv, canvas-SET.csv, moodle-SET.csv, oddities.html
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Course:
    root: Path

    @property
    def gradebook(self) -> Path:
        return self.root / "gradebook.db"

    @property
    def gradebook_url(self) -> str:
        return url_of(self.gradebook)

    @property
    def template(self) -> Path:
        """What is graded, without students; workers only read it."""
        return self.root / "results" / "assignments.db"

    @property
    def template_url(self) -> str:
        return url_of(self.template)

    @property
    def received(self) -> Path:
        """Notebooks on their way, under the names of their digests."""
        return self.root / "received"

    def source(self, assignment: str) -> Path:
        return self.root / "source" / assignment / f"{assignment}.ipynb"

    def submitted(self, student: str, assignment: str) -> Path:
        return self._notebook("submitted", student, assignment)

    def autograded(self, student: str, assignment: str) -> Path:
        return self._notebook("autograded", student, assignment)

    def feedback(self, student: str, assignment: str) -> Path:
        return self._notebook("feedback", student, assignment).with_suffix(".html")

    def result(self, student: str, assignment: str) -> Path:
        return self.root / "results" / assignment / f"{student}.json"

    def results(self, assignment: str) -> Iterable[Path]:
        """Of everybody who has been graded so far."""
        return (self.root / "results" / assignment).glob("*.json")

    def log(self, student: str, assignment: str) -> Path:
        return self.root / "logs" / assignment / f"{student}.log"

    def _notebook(self, step: str, student: str, assignment: str) -> Path:
        return self.root / step / student / assignment / f"{assignment}.ipynb"


def url_of(database: Path) -> str:
    """As nbgrader wants it."""
    return f"sqlite:///{database.resolve()}"
