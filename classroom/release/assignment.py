"""An exercise set in the form that the grader uses."""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.utils import is_grade, is_locked, is_solution, is_task

from classroom.release.release import released
from classroom.release.variant import varied

STRING = re.compile(rb'[^"]{3,}')


@dataclass(frozen=True)
class Assignment:
    """A source notebook with solutions and hidden tests, and its derived values.

    Attributes:
        seed: that of the variant that was handed out; None is the book's own set.
    """

    path: Path
    seed: int | None = None

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def label(self) -> str:
        """The name of the set with that of its variant, if it is one."""
        return labelled(self.name, self.seed)

    @cached_property
    def source(self) -> NotebookNode:
        source = nbformat.read(self.path, as_version=4)
        return varied(source, self.name, self.seed)

    @cached_property
    def release(self) -> NotebookNode:
        return released(self.source)

    @cached_property
    def fingerprint(self) -> str:
        """A digest that changes with anything on which a mark may depend."""
        cells = [[c.cell_type, c.source, c.metadata] for c in self.source.cells]
        return hashlib.sha256(json.dumps(cells).encode()).hexdigest()

    @cached_property
    def points(self) -> dict[str, float]:
        """The points of each cell: grade_id -> points, in the notebook's order."""
        return {
            cell.metadata.nbgrader["grade_id"]: float(cell.metadata.nbgrader["points"])
            for cell in self.release.cells
            if is_grade(cell) or is_task(cell)
        }

    @cached_property
    def signs(self) -> frozenset[bytes]:
        """Strings by which a notebook is recognised as this set without parsing it."""
        names = [
            c.metadata.nbgrader["grade_id"] for c in self.release.cells if known(c)
        ]
        names += [cell.id for cell in self.release.cells if "id" in cell]
        lines = [
            line
            for cell in self.release.cells
            if cell.cell_type == "markdown"
            for line in cell.source.splitlines()
            if len(line.strip()) > 40 and line.isascii()
        ]
        return frozenset(_strings(json.dumps([*names, *lines]).encode()))


def labelled(name: str, seed: int | None) -> str:
    return name if seed is None else f"{name}-{seed}"


def likeness(data: bytes, assignments: list[Assignment]) -> dict[str, float]:
    """Return for each set, by its label, the share of its release in the bytes, 0 to 1.

    The bytes are read once, in time proportional to their number.
    """
    signs = frozenset[bytes]().union(*(one.signs for one in assignments))
    found = signs.intersection(_strings(data))
    return {
        one.label: len(one.signs & found) / max(1, len(one.signs))
        for one in assignments
    }


def _strings(data: bytes) -> Iterator[bytes]:
    """Yield the text between quotes in JSON, line by line, whatever the bytes are."""
    lines = data.replace(rb"\r", b'"').replace(rb"\n", b'"')
    return (found[0].strip() for found in STRING.finditer(lines))


def known(cell: NotebookNode) -> bool:
    """Return whether nbgrader has a name for the cell."""
    return bool(is_grade(cell) or is_solution(cell) or is_locked(cell) or is_task(cell))
