"""Solve an exercise set in part, and state the mark that a submission deserves."""

import copy
from collections.abc import Callable
from dataclasses import dataclass

import nbformat
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell
from nbgrader.utils import is_grade, is_solution

from classroom.grading.execute import is_autograded
from classroom.release.assignment import Assignment

# Runs after a successful attack, and destroys the attacker's own marks to reveal it.
SPOIL = "vars(__import__('vit_check')).clear()"


@dataclass(frozen=True)
class Kind:
    """One sort of submission.

    Args:
        make: assignment -> the bytes of a notebook.
        solved: number of tasks -> how many of them are solved. Only tasks that tests
            grade count.
        readable: whether it can be graded at all.
    """

    name: str
    make: Callable[[Assignment], bytes]
    solved: Callable[[int], int]
    readable: bool = True

    def expected(self, assignment: Assignment) -> float:
        """Return the mark it deserves, before a person marks the written answers."""
        tasks = tasks_of(assignment)
        points = assignment.points
        solved = tasks[: self.solved(len(tasks))]
        return sum(points[name] for task in solved for name in task.tests)


@dataclass(frozen=True)
class Task:
    """The cells to fill in, and the cells that test them."""

    solutions: tuple[str, ...]
    tests: tuple[str, ...]


def tasks_of(assignment: Assignment) -> list[Task]:
    """Return each run of solution cells with the test cells that follow it."""
    tasks: list[Task] = []
    solutions: list[str] = []
    for cell in assignment.release.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if is_autograded(cell) and solutions:
            tasks.append(Task(tuple(solutions), (name,)))
            solutions = []
        elif is_autograded(cell) and tasks:
            last = tasks.pop()
            tasks.append(Task(last.solutions, (*last.tests, name)))
        elif is_solution(cell) and not is_grade(cell):
            solutions.append(name)
    return tasks


def solved(assignment: Assignment, tasks: int | None = None) -> NotebookNode:
    """Return the students' notebook with the first tasks solved, by default all."""
    nb = copy.deepcopy(assignment.release)
    groups = tasks_of(assignment)
    count = len(groups) if tasks is None else tasks
    names = {name for group in groups[:count] for name in group.solutions}
    answers = {
        cell.metadata.nbgrader["grade_id"]: cell.source
        for cell in assignment.source.cells
        if is_solution(cell)
    }
    for cell in nb.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in names or (is_grade(cell) and is_solution(cell) and count):
            cell.source = answers[name]
    return nb


def with_cell(nb: NotebookNode, source: str) -> NotebookNode:
    """Insert one more cell, before the first that has to be filled in."""
    source = source.replace("SPOIL", SPOIL)
    first = next(i for i, cell in enumerate(nb.cells) if is_solution(cell))
    nb.cells.insert(first, new_code_cell(source.strip(), id="one-more"))
    return nb


def dump(nb: NotebookNode) -> bytes:
    return nbformat.writes(nb, version=4).encode()


def all_of(count: int) -> int:
    return count


def none_of(count: int) -> int:
    return 0
