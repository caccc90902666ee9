"""One submission, in a process of its own, from the file to the result.

Whatever goes wrong in here, another process goes on with the next submission. What is
done is on the disk: first the graded notebook, then, as the last thing and in one
piece, the result that says so.
"""

import json
import logging
import os
import resource
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from multiprocessing import connection, parent_process
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import (
    CheckCellMetadata,
    DeduplicateIds,
    LimitOutput,
    OverwriteCells,
    OverwriteKernelspec,
)
from traitlets.config import Config

from classroom.assignment import Assignment
from classroom.course import Course
from classroom.execute import SandboxedExecute
from classroom.intake import Submission
from classroom.limits import MIB, ORDINARY, Limits
from classroom.oddities import odd_source
from classroom.restore import Unreadable, read, restore
from classroom.verdict import socket_of

VERSION = 1  # of what is in a result


@dataclass
class Result:
    """What became of one submission.

    Attributes:
        status: "graded", "unreadable" (mark 0) or "unfinished" (needs a person).
        sentence: why, if it was not graded.
        failures: grade_id -> sentence, of the graded cells that did not pass.
        changes, tampered, odd: what had to be put right, and what looked odd.
    """

    student: str
    name: str
    lms_id: str
    assignment: str
    path: str
    late: bool
    submission: str  # digests, by which to know whether it has to be graded again
    source: str
    status: str = "graded"
    sentence: str = ""
    failures: dict[str, str] = field(default_factory=dict)
    changes: list[str] = field(default_factory=list)
    tampered: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    seconds: float = 0.0
    kernels: int = 0
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
        )

    @classmethod
    def load(cls, path: Path) -> "Result | None":
        try:
            return cls(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None


@dataclass(frozen=True)
class Terms:
    """How submissions are run."""

    limits: Limits = ORDINARY
    sandbox: bool = True
    judge: bool = True
    visible: tuple[Path, ...] = ()
    temporary: Path | None = None  # the folder for sockets


def grade(
    submission: Submission, assignment: Assignment, course: Course, terms: Terms
) -> Result:
    """Grade one submission, and write down what came out."""
    started = time.monotonic()
    result = Result.of(submission, assignment)
    write(course.submitted(submission.student, assignment.name), submission.data)
    try:
        cells = read(submission.data, terms.limits)
        restored = restore(cells, assignment.release)
    except Unreadable as error:
        result.status, result.sentence = "unreadable", str(error)
    else:
        result.changes, result.tampered = restored.changes, restored.tampered
        result.odd = odd_source(restored.nb, assignment.source)
        execute = run(restored.nb, assignment, course, terms)
        result.failures = execute.failures
        result.kernels = execute.starts
        result.odd += [
            f"The notebook changed {name} in its kernel."
            for name in sorted(execute.odd)
        ]
        nb = limited(restored.nb)
        text = nbformat.writes(nb, version=4).encode()
        write(course.autograded(submission.student, assignment.name), text)
    result.seconds = round(time.monotonic() - started, 3)
    save(result, course)
    return result


def run(
    nb: NotebookNode, assignment: Assignment, course: Course, terms: Terms
) -> SandboxedExecute:
    """nbgrader's own steps, with the sandbox in place of its execution."""
    about = {
        "assignment": assignment.name,
        "notebook": assignment.name,
        "db_url": course.template_url,
    }
    resources = {"nbgrader": about}
    for step in (
        DeduplicateIds,
        OverwriteKernelspec,
        OverwriteCells,
        CheckCellMetadata,
    ):
        nb, _ = step(config=Config()).preprocess(nb, resources)
    with ExitStack() as stack:
        judge = socket = None
        if terms.judge:
            from vit_check.judge import Judge

            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="judge-"))
            socket = socket_of(Path(folder))
            judge = stack.enter_context(Judge(socket))
        execute = SandboxedExecute(
            limits=terms.limits,
            visible=terms.visible,
            sandbox=terms.sandbox,
            judge=judge,
            judge_socket=socket,
        )
        execute.preprocess(nb, resources)
    return execute


def limited(nb: NotebookNode) -> NotebookNode:
    nb, _ = LimitOutput(config=Config()).preprocess(nb, {})
    return nb


def save(result: Result, course: Course) -> None:
    path = course.result(result.student, result.assignment)
    write(path, json.dumps(asdict(result), indent=1, ensure_ascii=False).encode())


def write(path: Path, data: bytes) -> None:
    """In one piece, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(descriptor)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def main(
    submission: Submission, assignment: Assignment, course: Course, terms: Terms
) -> None:
    """The worker process."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if terms.temporary is not None:
        tempfile.tempdir = str(terms.temporary)
    memory = 4096 * MIB  # what a kernel sends is read in here
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    log = course.log(submission.student, assignment.name)
    log.parent.mkdir(parents=True, exist_ok=True)
    stream = open(log, "w", encoding="utf-8")
    os.dup2(stream.fileno(), 1)
    os.dup2(stream.fileno(), 2)
    sys.stdout = sys.stderr = stream
    logging.basicConfig(stream=stream, level=logging.WARNING, force=True)
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)
    grade(submission, assignment, course, terms)
    stream.flush()
    os._exit(0)  # threads that still wait are not waited for


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
