"""Repair a submission: put back what uploads, other programs or students have changed.

The result is always a notebook of the current format in which each cell of the release
has its place, its name and, if it is locked, its text. Of the submitted file only the
types and sources of its cells are kept.
"""

import copy
import json
import logging
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell
from nbgrader.utils import is_solution
from rapidfuzz import fuzz

from classroom.grading.limits import ORDINARY, Limits
from classroom.release.assignment import known

NEW_CELL = {"code": new_code_cell, "markdown": new_markdown_cell, "raw": new_raw_cell}
ALIKE = 60.0  # percent; less similar cells are taken to be unrelated


class Unreadable(ValueError):
    """Raised for a file that is not a notebook; the message is for the student."""


@dataclass
class Cell:
    """The parts of a submitted cell that are kept."""

    kind: str
    source: str
    names: tuple[str, ...] = ()  # its grade_id and its ids
    claims: dict[str, Any] = field(default_factory=dict)  # points and tags it claims


@dataclass
class Restored:
    """A submission that can be graded.

    Attributes:
        changes: what had to be repaired, one sentence each.
        tampered: repairs of damage that only a person can have done.
    """

    nb: NotebookNode
    changes: list[str] = field(default_factory=list)
    tampered: list[str] = field(default_factory=list)


def read(data: bytes, limits: Limits = ORDINARY) -> list[Cell]:
    """Return the cells of a notebook file of any version.

    Raises:
        Unreadable: if the file is not a notebook, or too large.
    """
    if len(data) > limits.notebook:
        raise Unreadable(
            f"The file has {len(data) / 1e6:.0f} MB; at most "
            f"{limits.notebook / 1e6:.0f} MB are read. Clear the outputs and save it."
        )
    if not data.strip():
        raise Unreadable("The file is empty.")
    raw = _json(data)
    if not isinstance(raw, dict) or not ("cells" in raw or "worksheets" in raw):
        raise Unreadable("The file is JSON, but not a notebook: it has no cells.")
    if not isinstance(raw.get("cells"), list):
        raw = _upgraded(raw)
    cells = [cell for cell in map(_cell, raw["cells"]) if cell is not None]
    if len(cells) > limits.cells:
        raise Unreadable(
            f"The notebook has {len(cells)} cells; at most {limits.cells} are graded."
        )
    return cells


def restore(cells: list[Cell], release: NotebookNode) -> Restored:
    """Return the notebook to grade, with a list of what had to be repaired."""
    place = match(cells, release)
    changes, tampered = [], []
    renamed = sum(
        1
        for index, target in place.items()
        if known(target)
        and target.metadata.nbgrader["grade_id"] not in cells[index].names
    )
    if renamed:
        changes.append(f"{renamed} cells had lost their names and were recognised.")
    built: list[tuple[NotebookNode | None, NotebookNode]] = []
    for index, cell in enumerate(cells):
        target = place.get(index)
        if target is None:
            built.append((None, NEW_CELL[cell.kind](cell.source)))
            continue
        whole = copy.deepcopy(target)
        name = whole.metadata.get("nbgrader", {}).get("grade_id")
        if not known(target):
            whole = NEW_CELL[cell.kind](cell.source)
            whole.metadata = copy.deepcopy(target.metadata)
        elif is_solution(target):
            whole.source = cell.source
            if cell.kind != target.cell_type:
                changes.append(f"{name}: was a {cell.kind} cell.")
        elif cell.kind != target.cell_type:
            tampered.append(f"{name}: a locked cell had become {cell.kind}.")
        elif _plain(cell.source) != _plain(target.source):
            tampered.append(f"{name}: a locked cell was changed; it was put back.")
        built.append((target, whole))
        tampered += [f"{name}: {what}." for what in _claimed(cell, target)]
    missing = _put_back_missing(built, release)
    tampered += [f"{name}: the cell was deleted; it was put back." for name in missing]
    nb = new_notebook(cells=[cell for _, cell in built])
    nb.metadata = copy.deepcopy(release.metadata)
    _number(nb)
    return Restored(nb, changes, tampered)


def match(cells: list[Cell], release: NotebookNode) -> dict[int, NotebookNode]:
    """Find the cell of the release for each submitted cell: index -> cell.

    A cell is found by its name if it has one, else by the same text, else by a
    similar text between the same neighbours.
    """
    targets = [cell for cell in release.cells if cell.source.strip() or known(cell)]
    free = dict(enumerate(targets))
    found: dict[int, int] = {}

    def take(index: int, target: int) -> None:
        found[index] = target
        del free[target]

    by_name: dict[str, int] = {}
    for number, target in free.items():
        by_name[target.metadata.get("nbgrader", {}).get("grade_id", target.id)] = number
        by_name.setdefault(target.id, number)
    claims: dict[int, list[int]] = {}
    for index, cell in enumerate(cells):
        numbers = [by_name[name] for name in cell.names if name in by_name]
        if numbers:
            claims.setdefault(numbers[0], []).append(index)
    for number, indices in claims.items():
        take(_best_claim(indices, cells, targets[number]), number)
    texts = {_plain(target.source): number for number, target in free.items()}
    for index, cell in enumerate(cells):
        same = texts.get(_plain(cell.source))
        if index not in found and same in free and cell.source.strip():
            take(index, same)
    for index, cell in enumerate(cells):
        if index in found or not cell.source.strip():
            continue
        low, high = _between(index, found, len(targets))
        near = [n for n in free if low < n < high and is_solution(targets[n])]
        scored = [(_likeness(cell, targets[n]), -n) for n in near]
        if scored and max(scored)[0] >= ALIKE:
            take(index, -max(scored)[1])
    # A cell that is left may have been written anew, and only one place is left for it.
    for number, target in list(free.items()):
        if is_solution(target):
            left = _left_at(number, cells, found, target)
            if left:
                take(left[0], number)
    return {index: targets[number] for index, number in sorted(found.items())}


def _left_at(
    number: int, cells: list[Cell], found: dict[int, int], target: NotebookNode
) -> list[int]:
    """Return the unknown cells at the place of a cell of the release."""
    before = max((i for i, n in found.items() if n < number), default=-1)
    after = min((i for i, n in found.items() if n > number), default=len(cells))
    return [
        i
        for i in range(before + 1, after)
        if i not in found and cells[i].kind == target.cell_type and cells[i].source
    ]


def _best_claim(indices: list[int], cells: list[Cell], target: NotebookNode) -> int:
    """Return, of several cells with one name, the last that the student changed."""
    worked = [
        i
        for i in indices
        if cells[i].source.strip() and _plain(cells[i].source) != _plain(target.source)
    ]
    return (worked or indices)[-1] if is_solution(target) else indices[-1]


def _between(index: int, found: dict[int, int], count: int) -> tuple[int, int]:
    before = [found[i] for i in found if i < index]
    after = [found[i] for i in found if i > index]
    return max(before, default=-1), min(after, default=count)


def _likeness(cell: Cell, target: NotebookNode) -> float:
    if cell.kind != target.cell_type:
        return 0.0
    mine, its = _defined(cell.source), _defined(target.source)
    if mine & its:
        return 100.0
    return float(fuzz.partial_ratio(target.source[:5000], cell.source[:5000]))


def _defined(source: str) -> set[str]:
    return set(re.findall(r"^(?:def|class) +(\w+)", source, re.MULTILINE))


def _claimed(cell: Cell, target: NotebookNode) -> Iterable[str]:
    """Yield the changes to points and tags that would have given more marks."""
    points = target.metadata.get("nbgrader", {}).get("points")
    if cell.claims.get("points", points) != points:
        yield "its points had been changed"
    tags = cell.claims.get("tags")
    if isinstance(tags, list) and known(target):
        for tag in tags:
            if tag not in target.metadata.get("tags", []):
                yield f"it had been given the tag {str(tag)[:40]!r}"


def _put_back_missing(
    built: list[tuple[NotebookNode | None, NotebookNode]], release: NotebookNode
) -> list[str]:
    """Insert each missing named cell after its predecessor, and return their names."""
    there = {id(target) for target, _ in built}
    missing = []
    for number, target in enumerate(release.cells):
        if not known(target) or id(target) in there:
            continue
        earlier = {id(cell) for cell in release.cells[:number]}
        places = [i for i, (t, _) in enumerate(built) if id(t) in earlier]
        built.insert(max(places, default=-1) + 1, (target, copy.deepcopy(target)))
        there.add(id(target))
        missing.append(target.metadata.nbgrader["grade_id"])
    return missing


def _number(nb: NotebookNode) -> None:
    """Give every cell an id of its own, and clear the outputs."""
    taken = set()
    for number, cell in enumerate(nb.cells):
        if "nbgrader" not in cell.metadata or cell.id in taken:
            cell.id = f"cell-{number}"
        taken.add(cell.id)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None


def _plain(source: str) -> str:
    """Return the text without the white space that editors change."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


def _json(data: bytes) -> Any:
    try:
        text = data.decode(
            "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        )
        return json.loads(text)
    except UnicodeDecodeError:
        raise Unreadable("The file is not text; it may have been damaged.") from None
    except RecursionError:
        raise Unreadable("The file is nested too deeply to be a notebook.") from None
    except ValueError as error:
        raise Unreadable(f"The file is not a whole notebook: {error}.") from None


def _upgraded(raw: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook of version 3 or earlier in the format of version 4."""
    logging.getLogger("traitlets").setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return dict(nbformat.reads(json.dumps(raw), as_version=4))
    except Exception as error:
        raise Unreadable(f"The notebook is damaged: {error}".splitlines()[0]) from None


def _cell(raw: Any) -> Cell | None:
    if not isinstance(raw, dict) or raw.get("cell_type") not in NEW_CELL:
        return None
    source = raw.get("source", "")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    if not isinstance(source, str):
        return None
    metadata = raw.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    named = metadata.get("nbgrader")
    names = [named.get("grade_id")] if isinstance(named, dict) else []
    claims = {"tags": metadata.get("tags")}
    if isinstance(named, dict) and "points" in named:
        claims["points"] = named["points"]
    names += [raw.get("id"), metadata.get("id")]
    source = source.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")
    kept = tuple(name for name in names if isinstance(name, str))
    return Cell(raw["cell_type"], source, kept, claims)
