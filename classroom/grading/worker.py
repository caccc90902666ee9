"""Grade one submission in a process of its own, from the file to the result.

Whatever goes wrong here, other processes continue with other submissions. Finished work
is on the disk: first the graded notebook, and last, written in one piece, the result.
"""

import logging
import os
import sys
import tempfile
import time
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

from classroom.grading.copies import own_work
from classroom.grading.course import Course
from classroom.grading.disk import DISK_FULL, is_full_disk
from classroom.grading.execute import SandboxedExecute
from classroom.grading.intake import Submission
from classroom.grading.limits import MIB
from classroom.grading.oddities import odd_source
from classroom.grading.restore import CODE_PAGES, Unreadable, encoding_of, read, restore
from classroom.grading.result import Result, Terms
from classroom.grading.sandbox import hand_over
from classroom.release.assignment import Assignment
from classroom.release.release import resources
from vit_steps.checkpoint import write_whole

LARGEST_FILE = 256 * MIB
LONGEST_RECORD = 4000  # characters of a record in the log


class _Short(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return super().format(record)[:LONGEST_RECORD]


def grade(
    submission: Submission,
    assignment: Assignment,
    course: Course,
    terms: Terms,
    again: str = "",
) -> Result:
    """Grade one submission, and write the result."""
    started, computed = time.monotonic(), time.process_time()
    result = Result.of(submission, assignment)
    result.again = again
    write_whole(course.submitted(submission.student, assignment.name), submission.data)
    try:
        cells = read(submission.data, terms.limits)
        restored = restore(cells, assignment.release)
    except Unreadable as error:
        result.status, result.sentence = "unreadable", str(error)
    else:
        result.changes, result.tampered = restored.changes, restored.tampered
        encoding = encoding_of(submission.data)
        if encoding in CODE_PAGES:
            result.changes.append(
                f"The file was saved in an old code page and read as {encoding}; "
                "letters that are not English may be wrong in it."
            )
        result.odd = odd_source(restored.nb, assignment.source)
        result.code, result.text = own_work(restored.nb, assignment.release)
        execute = run(restored.nb, assignment, course, terms)
        result.failures = execute.failures
        result.kernels = execute.starts
        result.computed = round(execute.computed, 3)
        result.starved = execute.starved
        result.odd += [
            f"The notebook changed {name} in its kernel."
            for name in sorted(execute.odd)
        ]
        result.odd += execute.taken
        nb = limited(restored.nb)
        text = nbformat.writes(nb, version=4).encode()
        write_whole(course.autograded(submission.student, assignment.name), text)
    result.seconds = round(time.monotonic() - started, 3)
    result.grader = round(time.process_time() - computed, 3)
    result.save(course)
    return result


def run(
    nb: NotebookNode, assignment: Assignment, course: Course, terms: Terms
) -> SandboxedExecute:
    """Run nbgrader's own steps, with the sandbox in place of its execution."""
    about = resources(assignment.label, course.template)
    for step in (
        DeduplicateIds,
        OverwriteKernelspec,
        OverwriteCells,
        CheckCellMetadata,
    ):
        nb, _ = step(config=Config()).preprocess(nb, about)
    import vit_check  # imports torch, which only workers need
    from vit_check.judge import Judge

    if assignment.seed is not None:
        vit_check.variant(assignment.seed)

    with tempfile.TemporaryDirectory(prefix="judge-") as folder:
        with Judge(Path(folder, "judge")) as judge:
            hand_over(Path(folder))
            os.chmod(judge.path, 0o666)  # no other user can enter its folder
            execute = SandboxedExecute(terms=terms, judge=judge)
            execute.preprocess(nb, about)
    return execute


def limited(nb: NotebookNode) -> NotebookNode:
    nb, _ = LimitOutput(config=Config()).preprocess(nb, {})
    return nb


def main(
    submission: Submission,
    assignment: Assignment,
    course: Course,
    terms: Terms,
    again: str,
) -> None:
    """Run a worker process.

    Args:
        again: the reason for a second run by itself, or "".
    """
    if terms.temporary is not None:
        tempfile.tempdir = str(terms.temporary)
    import resource  # missing on Windows, where ``grade_class`` raises earlier

    memory = 4096 * MIB  # the messages of a kernel are read in this process
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    # A kernel's messages end up in the notebook and in the log, and may be endless.
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    # A kernel may open so many connections that none would be left to watch it with.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    log = course.log(submission.student, assignment.name)
    log.parent.mkdir(parents=True, exist_ok=True)
    stream = open(log, "w", encoding="utf-8")
    os.dup2(stream.fileno(), 1)
    os.dup2(stream.fileno(), 2)
    sys.stdout = sys.stderr = stream
    logging.basicConfig(stream=stream, level=logging.WARNING, force=True)
    logging.getLogger().handlers[0].setFormatter(_Short(logging.BASIC_FORMAT))
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)
    try:
        grade(submission, assignment, course, terms, again)
        stream.flush()
    except Exception as error:
        if is_full_disk(error):
            os._exit(DISK_FULL)
        raise
    os._exit(0)  # threads that are still blocked must not keep the process alive
