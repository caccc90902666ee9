"""Make the notebook that students get from a source: no solutions, no hidden tests.

The result depends on the source alone, to the byte.
"""

import copy
from pathlib import Path
from typing import Any

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

# nbgrader's own order for generate_assignment. The cells are saved to the gradebook
# while the hidden tests are still in them.
BEFORE_SAVING = (
    LockCells,
    Stubs,
    ClearOutput,
    CheckCellMetadata,
    ComputeChecksums,
)
AFTER_SAVING = (ClearHiddenTests, ClearMarkScheme, ComputeChecksums, CheckCellMetadata)


def released(source: NotebookNode, solutions: bool = True) -> NotebookNode:
    """Return the notebook that students get.

    Args:
        solutions: fold the solutions below the tasks; False makes an exam.
    """
    nb = with_folded_solutions(source) if solutions else copy.deepcopy(source)
    for step in (*BEFORE_SAVING, *AFTER_SAVING):
        nb, _ = step(config=Config()).preprocess(nb, {})
    return nb


def save_cells(source: NotebookNode, name: str, database: Path) -> None:
    """Save the graded cells, hidden tests included, in nbgrader's gradebook."""
    nb, about = copy.deepcopy(source), resources(name, database)
    for step in (*BEFORE_SAVING, SaveCells):
        nb, _ = step(config=Config()).preprocess(nb, about)


def resources(name: str, database: Path, **about: str) -> dict[str, Any]:
    """Return what nbgrader's steps have to know about a notebook."""
    known = {"assignment": name, "notebook": name, "db_url": url_of(database)}
    return {"nbgrader": known | about}


def url_of(database: Path) -> str:
    """Return the address of a database in the form that nbgrader expects."""
    return f"sqlite:///{database.resolve()}"


def text_of(nb: NotebookNode) -> str:
    return nbformat.writes(nb, version=4).rstrip("\n") + "\n"
