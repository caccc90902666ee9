"""Report each task as right or wrong, with what is wrong and what may help."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from nbformat.notebooknode import NotebookNode
from nbgrader.utils import is_grade, is_solution, is_task

from classroom.release.parts import parts_of

HINT = re.compile(
    r"<details><summary>(Hint[^<\n]{0,20})</summary>\s*(.*?)\s*</details>", re.DOTALL
)


@dataclass
class Task:
    """A task of the exercise set, with its result."""

    title: str
    hints: list[tuple[str, str]] = field(default_factory=list)  # a title and a text
    names: list[str] = field(default_factory=list)  # grade_id of cells with points
    score: float = 0.0
    points: float = 0.0
    wrong: list[str] = field(default_factory=list)  # why it did not pass
    unmarked: float = 0.0  # points that a person has not given yet

    @property
    def state(self) -> str:
        if self.score >= self.points:
            return "right"
        if self.wrong or not self.unmarked:
            return "wrong"
        return "waiting"


def tasks_of(source: NotebookNode) -> tuple[str, list[Task]]:
    """Return the title of an exercise set, and its tasks."""
    parts, tasks = parts_of(source), []
    for part in parts:
        task = Task(part.heading if part.number else "Before the first task")
        for cell in part.cells:
            if cell.cell_type == "markdown" and not is_solution(cell):
                task.hints += HINT.findall(cell.source)
            if is_grade(cell) or is_task(cell):
                task.names.append(cell.metadata.nbgrader["grade_id"])
        tasks.append(task)
    return parts[0].heading, [task for task in tasks if task.names]


def judge(
    tasks: Iterable[Task],
    cells: Iterable[NotebookNode],
    failures: dict[str, str],
    unmarked: Iterable[str],
) -> None:
    """Enter the results into the tasks.

    Args:
        cells: with nbgrader's score and points in their metadata.
        unmarked: grade_id of each answer that a person still has to mark.
    """
    about = {
        found["grade_id"]: found
        for cell in cells
        if "points" in (found := cell.metadata.get("nbgrader", {}))
    }
    waiting = {*unmarked}
    for task in tasks:
        for name in task.names:
            if name not in about:
                continue
            task.score += about[name]["score"]
            task.points += about[name]["points"]
            if name in waiting:
                task.unmarked += about[name]["points"]
            elif name in failures:
                task.wrong.append(failures[name])
