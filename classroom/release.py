"""Makes the students' notebooks from the sources: without solutions and hidden tests.

    python -m classroom.release                  all of classroom/source
    python -m classroom.release --check          changes nothing, tells what is stale

The result depends on the source alone, to the byte.
"""

import argparse
import copy
import sys
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

from classroom.student_notebook import Stubs, with_folded_solutions

ROOT = Path(__file__).resolve().parents[1]
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


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m classroom.release")
    parser.add_argument("sources", nargs="*", type=Path, help="default: all")
    parser.add_argument("--out", type=Path, default=RELEASED)
    parser.add_argument(
        "--without-solutions", action="store_true", help="leave out the folded ones"
    )
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    stale = []
    for path in options.sources or sorted(SOURCES.glob("*.ipynb")):
        source = nbformat.read(path, as_version=4)
        text = text_of(released(source, solutions=not options.without_solutions))
        target = options.out / path.name
        if target.exists() and target.read_text(encoding="utf-8") == text:
            continue
        stale.append(target)
        if not options.check:
            options.out.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    for target in stale:
        print(f"{'stale' if options.check else 'written'}: {target}")
    return int(options.check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
