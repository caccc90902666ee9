"""The result of grading a submission, and the file in which it is kept."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from classroom.grading.course import Course
from classroom.grading.intake import Submission
from classroom.grading.limits import ORDINARY, Limits
from classroom.release.assignment import Assignment
from vit_steps.checkpoint import write_whole

VERSION = 3  # of the fields of a result


@dataclass
class Result:
    """The outcome of grading one submission.

    Attributes:
        status: "graded", "unreadable" (mark 0) or "unfinished" (needs a person).
        failures: grade_id -> sentence, of the graded cells that did not pass.
        changes, tampered, odd: what had to be repaired, and what looked odd.
        code, text: what the student wrote, to be compared with other students' work.
        seconds: by the wall clock; ``computed`` is the processor time of its kernels,
            ``grader`` that of the process that graded it.
        contested: a sentence if its student is in doubt. A person decides, and until
            then no platform gets the mark.
    """

    student: str
    name: str
    lms_id: str
    assignment: str
    path: str
    late: bool
    submission: str  # digest; if this one or the next changes, it is graded again
    source: str
    status: str = "graded"
    sentence: str = ""  # the reason, if it was not graded
    failures: dict[str, str] = field(default_factory=dict)
    changes: list[str] = field(default_factory=list)
    tampered: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    contested: str = ""
    code: str = ""
    text: str = ""
    seconds: float = 0.0
    computed: float = 0.0
    grader: float = 0.0
    kernels: int = 0
    starved: bool = False  # the machine was too busy for a fair verdict
    again: str = ""  # the reason for a second run by itself
    seed: int | None = None  # of the variant of the set
    version: int = VERSION

    @classmethod
    def of(cls, submission: Submission, assignment: Assignment) -> "Result":
        return cls(
            submission.student,
            submission.name,
            submission.lms_id,
            submission.assignment,
            submission.path,
            submission.late,
            submission.digest,
            assignment.fingerprint,
            contested=submission.contested,
            seed=assignment.seed,
        )

    @classmethod
    def load(cls, path: Path) -> "Result | None":
        try:
            return cls(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def save(self, course: Course) -> None:
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
        write_whole(course.result(self.student, self.assignment), text.encode())


@dataclass(frozen=True)
class Terms:
    """The settings with which submissions are run."""

    limits: Limits = ORDINARY
    sandbox: bool = True
    prefix: tuple[str, ...] = ()  # put before a kernel's command if not sandboxed
    weak: bool = False  # grade even if the sandbox is not tight
    visible: tuple[Path, ...] = ()
    temporary: Path | None = None  # the folder for sockets
    prepared: Path | None = None  # the socket of the process that forks kernels
