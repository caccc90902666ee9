"""Write a page for each student: what was handed in, its score, and the reasons.

A page is made from what a student sent, so each is made in a process of its own, with
limited time and memory. If that process fails, a page without the notebook is written.
"""

import os

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests, GetGrades
from traitlets.config import Config

from classroom.grading.course import Course
from classroom.grading.execute import FAILED, is_autograded
from classroom.grading.gradebook import Mark
from classroom.grading.limits import MIB
from classroom.grading.page import page
from classroom.grading.processes import run_each
from classroom.grading.result import Result
from classroom.grading.tasks import judge, tasks_of
from classroom.release.handout import with_links_to_pages
from classroom.release.release import resources
from vit_steps.checkpoint import write_whole

HIDDEN = "BEGIN HIDDEN TESTS"
CPU_SECONDS = 20  # for one page; an honest one takes less than one
SECONDS = 300
MEMORY = 2048 * MIB
LARGEST = 16 * MIB


def write_feedback(
    course: Course,
    results: list[Result],
    marks: dict[tuple[str, str], Mark],
    jobs: int,
    cpu_seconds: int = CPU_SECONDS,
) -> list[Result]:
    """Write or renew the feedback page of every student.

    Return the results whose notebook could not be shown on the page.
    """
    plain, tasks = [], []
    for result in results:
        mark = marks[result.student, result.assignment]
        if result.status == "graded":
            tasks.append((result, course, mark.unmarked, cpu_seconds))
        else:
            _write_plain(result, course, mark)
    for ended in run_each(_process, tasks, jobs, SECONDS):
        if ended.exitcode != 0:
            result, *_ = ended.arguments
            _write_plain(result, course, marks[result.student, result.assignment])
            plain.append(result)
    return sorted(plain, key=lambda result: (result.assignment, result.student))


def _write_plain(result: Result, course: Course, mark: Mark) -> None:
    text = page("plain.html", result=result, mark=mark)
    target = course.feedback(result.student, result.assignment)
    write_whole(target, text.encode("utf-8", "replace"))


def _process(
    result: Result, course: Course, unmarked: list[str], cpu_seconds: int
) -> None:
    import resource  # missing on Windows, where ``grade_class`` raises earlier

    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    log = course.log(result.student, result.assignment)
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "a", encoding="utf-8") as stream:
        os.dup2(stream.fileno(), 2)
    feedback(result, course, unmarked)


def feedback(result: Result, course: Course, unmarked: list[str]) -> None:
    """Write one page, unless the same page is there already."""
    path = course.autograded(result.student, result.assignment)
    nb = nbformat.read(path, as_version=4)
    about = resources(result.assignment, course.gradebook, student=result.student)
    GetGrades(config=Config()).preprocess(nb, about)
    for cell in nb.cells:
        cell.about = cell.metadata.get("nbgrader", {})
        cell.source = with_links_to_pages(cell.source)
    _hide_tests(nb)
    source = nbformat.read(course.source(result.assignment, result.seed), as_version=4)
    title, tasks = tasks_of(source)
    judge(tasks, nb.cells, result.failures, unmarked)
    text = page(
        "feedback.html",
        heading=title or result.assignment.replace("_", " "),
        result=result,
        mark=about["nbgrader"],
        tasks=tasks,
        next=next((task for task in tasks if task.state == "wrong"), None),
        unmarked=sum(task.unmarked for task in tasks),
        cells=nb.cells,
        failed=FAILED,
    )
    shown = f"{text}\n".encode("utf-8", "replace")
    if len(shown) > LARGEST:
        raise ValueError(f"the page has {len(shown):,} bytes, more than {LARGEST:,}")
    target = course.feedback(result.student, result.assignment)
    if not target.exists() or target.read_bytes() != shown:
        write_whole(target, shown)


def _hide_tests(nb: NotebookNode) -> None:
    """Remove the hidden tests, and the outputs that could show them.

    Students may read why a hidden test failed, but not the test. A later cell of the
    student's can print the cells that ran before it. So from the first hidden test on,
    all outputs are removed except the reason why a cell failed.
    """
    hide = ClearHiddenTests(config=Config())
    hidden = False
    for cell in nb.cells:
        hidden = hidden or (is_autograded(cell) and HIDDEN in cell.source)
        if hidden and cell.cell_type == "code":
            cell.outputs = [
                output
                for output in cell.outputs
                if output.output_type == "error" and output.ename == FAILED
            ]
        if is_autograded(cell):
            hide.preprocess_cell(cell, {}, 0)
