"""From a source to the notebook that students get: no solutions, no hidden tests.

The result depends on the source alone, to the byte.
"""

import copy
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearMarkScheme,
    ClearOutput,
    ComputeChecksums,
    LockCells,
    SaveCells,
)
from traitlets.config import Config

from classroom.release.student_notebook import Stubs, with_folded_solutions

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "classroom" / "source"
RELEASED = ROOT / "notebooks" / "exercises"

# nbgrader's own order for generate_assignment; what saves into the gradebook must see
# the hidden tests.
BEFORE_SAVING = (
    LockCells,
    Stubs,
    ClearOutput,
    CheckCellMetadata,
    ComputeChecksums,
)
AFTER_SAVING = (ClearHiddenTests, ClearMarkScheme, ComputeChecksums, CheckCellMetadata)


def released(source: NotebookNode, solutions: bool = True) -> NotebookNode:
    """The notebook that students get.

    Args:
        solutions: folded below the tasks; without them it is for an exam.
    """
    nb = with_folded_solutions(source) if solutions else copy.deepcopy(source)
    for step in (*BEFORE_SAVING, *AFTER_SAVING):
        nb, _ = step(config=Config()).preprocess(nb, {})
    return nb


def save_cells(source: NotebookNode, name: str, database: Path) -> None:
    """Write what is graded, with the hidden tests, into nbgrader's gradebook."""
    nb = copy.deepcopy(source)
    about = {"assignment": name, "notebook": name, "db_url": f"sqlite:///{database}"}
    for step in (*BEFORE_SAVING, SaveCells):
        nb, _ = step(config=Config()).preprocess(nb, {"nbgrader": about})


def text_of(nb: NotebookNode) -> str:
    return nbformat.writes(nb, version=4).rstrip("\n") + "\n"
