"""Repair a submission: put back what uploads, other programs or students have changed.

The result is always a notebook of the current format in which each cell of the release
has its place, its name and, if it is locked, its text. Of the submitted file only the
types and sources of its cells are kept.
"""

import copy
import json
import logging
import warnings
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell
from nbgrader.utils import is_solution
from rapidfuzz import fuzz

from classroom.grading.cells import (
    Built,
    Cell,
    defined,
    defined_anew,
    form,
    is_python,
    plain,
    separated,
    tests_after_answers,
)
from classroom.grading.limits import ORDINARY, Limits
from classroom.release.assignment import known
from classroom.release.handout import as_published

NEW_CELL = {"code": new_code_cell, "markdown": new_markdown_cell, "raw": new_raw_cell}
ELSEWHERE = "# The answer is in another cell."
CODE_PAGES = ("gb18030", "cp1252")  # of Windows; the first rarely fits by chance
ALIKE = 60.0  # percent; less similar cells are taken to be unrelated


class Unreadable(ValueError):
    """Raised for a file that is not a notebook; the message is for the student."""


@dataclass
class Restored:
    """A submission that can be graded, with a sentence about each repair."""

    nb: NotebookNode
    changes: list[str] = field(default_factory=list)
    tampered: list[str] = field(
        default_factory=list
    )  # what only a person can have done


def read(data: bytes, limits: Limits = ORDINARY) -> list[Cell]:
    """Return the cells of a notebook file of any version, or raise Unreadable."""
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
    changes, tampered = [], []
    cells, joined = separated(cells, release)
    if joined:
        changes.append(
            f"{joined} cells had been joined to others; they were taken apart again."
            if joined > 1
            else "A cell had been joined to others; it was taken apart again."
        )
    place = match(cells, release)
    renamed = sum(
        1
        for index, target in place.items()
        if known(target)
        and target.metadata.nbgrader["grade_id"] not in cells[index].names
    )
    if renamed:
        changes.append(
            f"{renamed} cells had lost their names and were recognised."
            if renamed > 1
            else "A cell had lost its name and was recognised."
        )
    stubs = _stubs(release)
    built: Built = []
    for index, cell in enumerate(cells):
        target = place.get(index)
        if target is None:
            if not cell.source.strip() or plain(cell.source) not in stubs:
                built.append((None, NEW_CELL[cell.kind](cell.source)))
            continue
        whole = copy.deepcopy(target)
        name = whole.metadata.get("nbgrader", {}).get("grade_id")
        same = form(cell.source) == form(target.source)
        if not known(target):
            if not same:
                whole = NEW_CELL[cell.kind](cell.source)
                whole.metadata = copy.deepcopy(target.metadata)
        elif is_solution(target):
            whole.source = cell.source
            if cell.kind != target.cell_type:
                changes.append(f"{name}: was a {cell.kind} cell.")
        elif cell.kind != target.cell_type:
            tampered.append(f"{name}: a locked cell had become {cell.kind}.")
        elif not same:
            tampered.append(f"{name}: a locked cell was changed; it was put back.")
            if defined(cell.source) & _tasks(release):  # an answer was written into it
                built.append((None, new_code_cell(cell.source)))
        elif plain(cell.source) != plain(target.source):
            changes.append(f"{name}: was written in another form; it was put back.")
        built.append((target, whole))
        tampered += [f"{name}: {what}." for what in _claimed(cell, target)]
    missing = _put_back_missing(built, release)
    changes += [f"{name}: was not there; it was put back." for name in missing]
    built, moved = tests_after_answers(built)
    if moved:
        changes.append(
            f"{moved} tests stood above the answers they test, and were run after them."
            if moved > 1
            else "A test stood above the answer it tests, and was run after it."
        )
    nb = new_notebook(cells=[cell for _, cell in built])
    nb.metadata = copy.deepcopy(release.metadata)
    _number(nb)
    return Restored(nb, changes, tampered)


def match(cells: list[Cell], release: NotebookNode) -> dict[int, NotebookNode]:
    """Find the cell of the release for each submitted cell: index -> cell.

    A cell is found by its name if it has one, else by the same text, else by what it
    defines, else by a similar text between the same neighbours. A cell in which nothing
    was written waits until the others have their places, because the answer to its task
    may be in another cell.
    """
    targets = [cell for cell in release.cells if cell.source.strip() or known(cell)]
    free = dict(enumerate(targets))
    found: dict[int, int] = {}
    stubs = _stubs(release)
    empty = [i for i, cell in enumerate(cells) if plain(cell.source) in stubs]
    written = [i for i in range(len(cells)) if i not in {*empty}]

    def take(index: int, target: int) -> None:
        found[index] = target
        del free[target]

    by_name: dict[str, int] = {}
    for number, target in free.items():
        by_name[target.metadata.get("nbgrader", {}).get("grade_id", target.id)] = number
        by_name.setdefault(target.id, number)

    def take_named(indices: list[int]) -> None:
        claims: dict[int, list[int]] = {}
        for index in indices:
            numbers = [by_name[n] for n in cells[index].names if n in by_name]
            if numbers and numbers[0] in free:
                claims.setdefault(numbers[0], []).append(index)
        for number, of_one in claims.items():
            take(_best_claim(of_one, cells, targets[number]), number)

    def take_same(indices: list[int]) -> None:
        texts = {plain(targets[number].source): number for number in reversed(free)}
        for index in indices:
            same = texts.get(plain(cells[index].source))
            if index not in found and same in free:
                take(index, same)

    take_named(written)
    take_same(written)
    for index in written:
        cell = cells[index]
        if index in found or not cell.source.strip():
            continue
        low, high = _between(index, found, len(targets))
        tasks = [n for n in free if is_solution(targets[n])]
        is_code = cell.kind == "code" or is_python(cell.source)
        names = defined(cell.source) if is_code else set()
        scored = [
            (likeness, low < n < high, -n)
            for n in tasks
            for likeness in [_likeness(cell, names, targets[n], low < n < high)]
        ]
        if scored and max(scored)[0] >= ALIKE:
            take(index, -max(scored)[2])
    # An unknown cell beside a free solution's neighbours may be that one, rewritten.
    for number, target in list(free.items()):
        if is_solution(target):
            left = _left_at(number, cells, found, target, stubs)
            if left:
                take(left[0], number)
    take_named(empty)
    take_same(empty)
    return {index: targets[number] for index, number in sorted(found.items())}


def _stubs(release: NotebookNode) -> set[str]:
    """Return the texts of cells in which nothing has been written."""
    return {plain(cell.source) for cell in release.cells if is_solution(cell)} | {""}


def _tasks(release: NotebookNode) -> set[str]:
    """Return the names that the students' code has to define."""
    code = (c for c in release.cells if is_solution(c) and c.cell_type == "code")
    return set().union(*(defined(cell.source) for cell in code))


def _left_at(
    number: int,
    cells: list[Cell],
    found: dict[int, int],
    target: NotebookNode,
    stubs: set[str],
) -> list[int]:
    """Return the unknown cells beside the neighbours of a cell of the release."""
    places = {n: i for i, n in found.items()}
    before = max((n for n in places if n < number), default=None)
    after = min((n for n in places if n > number), default=None)
    near: list[int] = []
    start = 0 if before is None else places[before] + 1
    near += takewhile(lambda i: i not in found, range(start, len(cells)))
    end = len(cells) if after is None else places[after]
    near += takewhile(lambda i: i not in found, range(end - 1, -1, -1))
    return [
        i
        for i in near
        if cells[i].kind == target.cell_type and plain(cells[i].source) not in stubs
    ]


def _best_claim(indices: list[int], cells: list[Cell], target: NotebookNode) -> int:
    """Return, of several cells with one name, the last that the student changed."""
    worked = [
        i
        for i in indices
        if cells[i].source.strip() and plain(cells[i].source) != plain(target.source)
    ]
    return (worked or indices)[-1] if is_solution(target) else indices[-1]


def _between(index: int, found: dict[int, int], count: int) -> tuple[int, int]:
    before = [found[i] for i in found if i < index]
    after = [found[i] for i in found if i > index]
    return max(before, default=-1), min(after, default=count)


def _likeness(cell: Cell, names: set[str], target: NotebookNode, near: bool) -> float:
    if target.cell_type == "code" and names & defined(target.source):
        return 100.0
    if cell.kind != target.cell_type or not near:
        return 0.0
    return float(fuzz.partial_ratio(target.source[:5000], cell.source[:5000]))


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


def _put_back_missing(built: Built, release: NotebookNode) -> list[str]:
    """Insert each missing named cell after its predecessor, and return their names.

    An empty answer is not put back after one that was written into another cell.
    """
    there = {id(target) for target, _ in built}
    written = set().union(*defined_anew(built))
    missing = []
    for number, target in enumerate(release.cells):
        if not known(target) or id(target) in there:
            continue
        earlier = {id(cell) for cell in release.cells[:number]}
        places = [i for i, (t, _) in enumerate(built) if id(t) in earlier]
        whole = copy.deepcopy(target)
        if is_solution(target) and defined(target.source) & written:
            whole.source = ELSEWHERE
        built.insert(max(places, default=-1) + 1, (target, whole))
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


def _json(data: bytes) -> Any:
    try:
        return json.loads(data.decode(encoding_of(data)), strict=False)
    except RecursionError:
        raise Unreadable("The file is nested too deeply to be a notebook.") from None
    except ValueError as error:
        raise Unreadable(f"The file is not a whole notebook: {error}.") from None


def encoding_of(data: bytes) -> str:
    """Return the encoding of a text: Unicode of any kind, or an old code page."""
    unicode = json.detect_encoding(data)
    with suppress(UnicodeDecodeError):
        data.decode(unicode)
        return unicode
    for encoding in CODE_PAGES:
        with suppress(UnicodeDecodeError):
            text = data.decode(encoding)
            if text.lstrip().startswith("{") and "\0" not in text:
                return encoding
    raise Unreadable("The file is not text; it may have been damaged.")


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
    kind = raw.get("cell_type") if isinstance(raw, dict) else None
    if not isinstance(kind, str) or kind not in NEW_CELL:
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
    source = as_published(source.replace("\r\n", "\n").replace("\r", "\n"))
    kept = tuple(name for name in names if isinstance(name, str))
    return Cell(kind, source, kept, claims)
