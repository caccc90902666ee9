"""Read submitted cells: what each defines, and whether cells were joined or moved.

Students join cells, cut them and move them, and some editors write code in a form of
their own. None of that may cost a mark, wherever an answer has got to.
"""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbgrader.utils import is_grade, is_solution

from classroom.grading.parsing import MAGIC, trees_of

DEFINED = re.compile(
    r"^(?:(?:def|class) +(\w+)|(\w+) *(?::[^=\n]*)?=(?!=))", re.MULTILINE
)

Built = list[tuple[NotebookNode | None, NotebookNode]]  # cell of the release, cell


@dataclass
class Cell:
    """The parts of a submitted cell that are kept."""

    kind: str
    source: str
    names: tuple[str, ...] = ()  # its grade_id and its ids
    claims: dict[str, Any] = field(default_factory=dict)  # points and tags it claims


def plain(source: str) -> str:
    """Return the text without the white space that editors change."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


def form(source: str) -> str:
    """Return one text for all forms of the same code, with or without ``hint=1``."""
    (tree,) = trees_of([source])
    if tree is None or not tree.body:
        return " ".join(source.split())
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            node.keywords = [k for k in node.keywords if k.arg != "hint"]
    return _code(tree) or " ".join(source.split())


def _code(node: ast.AST) -> str:
    """Return one text for all forms of some code, "" if it is nested too deeply."""
    try:
        return ast.dump(node)
    except RecursionError:
        return ""


def defined(source: str) -> set[str]:
    """Return the names that a cell defines at its left margin."""
    return {name for pair in DEFINED.findall(source) for name in pair if name}


def is_python(source: str) -> bool:
    (tree,) = trees_of([source])
    return tree is not None and bool(tree.body)


def defined_anew(built: Built) -> list[set[str]]:
    """Return for each cell the names that the student defined in it.

    What a given cell defines, or the empty answer that was given, does not count.
    """
    sources = []
    for target, cell in built:
        own = target is None or is_solution(target)
        sources.append(cell.source if own and cell.cell_type == "code" else "")
    stubs = trees_of("" if target is None else target.source for target, _ in built)
    found = []
    for tree, stub in zip(trees_of(sources), stubs, strict=True):
        given = _statements(stub)
        mine = (pair for pair in _statements(tree) if pair not in given)
        found.append({name for name, _ in mine})
    return found


def _statements(tree: ast.Module | None) -> list[tuple[str, str]]:
    """Return each name that a cell defines, with the code that defines it."""
    found = []
    for node in tree.body if tree else ():
        names: list[str] = []
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            inside = (part for target in targets for part in ast.walk(target))
            names = [part.id for part in inside if isinstance(part, ast.Name)]
        found += [(name, _code(node)) for name in names]
    return found


def separated(cells: list[Cell], release: NotebookNode) -> tuple[list[Cell], int]:
    """Return the cells, and the number of those that had been joined to others.

    A given cell that is missing, but whose lines are a part of another cell, becomes a
    cell of its own again. So does each answer, of several in one cell.
    """
    there = {plain(cell.source) for cell in cells}
    missing = [
        target
        for target in sorted(release.cells, key=lambda cell: -len(cell.source))
        if not is_solution(target)
        and target.source.strip()
        and plain(target.source) not in there
    ]
    tasks = _tasks_by_name(release.cells)
    waiting, apart, joined = cells[::-1], list[Cell](), 0
    while waiting:
        cell = waiting.pop()
        text = f"\n{plain(cell.source)}\n"
        target = next((t for t in missing if _lines_of(t) in text), None)
        if target is None:
            parts = _answers(cell, tasks)
            apart += _with_names(parts, cell.names, release)
            joined += len(parts) > 1
            continue
        missing.remove(target)
        joined += 1
        name = target.metadata.get("nbgrader", {}).get("grade_id", target.id)
        given = Cell(target.cell_type, target.source, (name, target.id))
        before, _, after = text.partition(_lines_of(target))
        blank = "\n" if cell.kind == "code" else None
        rests = [replace(cell, source=part.strip(blank)) for part in (before, after)]
        names = () if {name, target.id} & {*cell.names} else cell.names
        rests = _with_names(rests, names, release)
        whole = [rests[0], given, rests[1]]
        waiting += [part for part in reversed(whole) if part.source.strip()]
    return apart, joined


def _tasks_by_name(targets: Iterable[NotebookNode | None]) -> dict[str, int]:
    """Return, for each name that one task alone asks for, the number of its cell."""
    asked: dict[str, list[int]] = {}
    for number, target in enumerate(targets):
        if target is not None and is_solution(target) and target.cell_type == "code":
            for name in defined(target.source):
                asked.setdefault(name, []).append(number)
    return {name: numbers[0] for name, numbers in asked.items() if len(numbers) == 1}


def _answers(cell: Cell, tasks: dict[str, int]) -> list[Cell]:
    """Return the cell cut where the answer to another task begins."""
    names = defined(cell.source) if cell.kind == "code" else set()
    if len({tasks[name] for name in names if name in tasks}) < 2:
        return [cell]
    if MAGIC.search(cell.source):  # its tree may have other line numbers
        return [cell]
    (tree,) = trees_of([cell.source])
    lines = cell.source.split("\n")
    starts, task = [0], -1
    for node in tree.body if tree else ():
        found = {
            tasks[name]
            for name, _ in _statements(ast.Module([node], []))
            if name in tasks
        }
        if len(found) == 1 and task not in (-1, *found):
            start = min([node, *getattr(node, "decorator_list", [])], key=_line).lineno
            while lines[start - 2].startswith("#"):
                start -= 1
            starts.append(start - 1)
        task = found.pop() if len(found) == 1 else task
    ends = [*starts[1:], len(lines)]
    texts = ["\n".join(lines[a:b]) for a, b in zip(starts, ends, strict=True)]
    return [replace(cell, source=text.strip("\n")) for text in texts]


def _line(node: ast.stmt | ast.expr) -> int:
    return node.lineno


def _lines_of(target: NotebookNode) -> str:
    """Return its whole lines; words may follow on the last line of a text."""
    end = "\n" if target.cell_type == "code" else ""
    return f"\n{plain(target.source)}{end}"


def _with_names(
    parts: list[Cell], names: tuple[str, ...], release: NotebookNode
) -> list[Cell]:
    """Return the parts of a cell, and give its names to one of them."""
    if len(parts) < 2:
        return parts
    wanted = set[str]()
    for target in release.cells:
        if {target.id, target.metadata.get("nbgrader", {}).get("grade_id")} & {*names}:
            wanted |= defined(target.source)
    named = max(
        parts, key=lambda p: (len(defined(p.source) & wanted), bool(p.source.strip()))
    )
    return [
        Cell(part.kind, part.source, names if part is named else ()) for part in parts
    ]


def tests_after_answers(built: Built) -> tuple[Built, int]:
    """Return the cells with each test after its answers, and how many were moved."""
    there, elsewhere = dict[str, int](), dict[str, int]()  # name -> place of an answer
    for place, ((target, _), names) in enumerate(
        zip(built, defined_anew(built), strict=True)
    ):
        task = set() if target is None else defined(target.source)
        there |= dict.fromkeys(names & task, place)
        elsewhere |= dict.fromkeys(names, place)
    tasks = _tasks_by_name(target for target, _ in built)
    answers = {name: there.get(name, elsewhere.get(name, -1)) for name in tasks}
    moved: dict[int, Built] = {}
    for place, (target, cell) in enumerate(built):
        if target is not None and cell.cell_type == "code" and is_grade(target):
            (tree,) = trees_of([cell.source])
            parts = ast.walk(tree) if tree else ()
            used = {part.id for part in parts if isinstance(part, ast.Name)}
            after = max((answers.get(name, -1) for name in used), default=-1)
            if after > place:
                moved.setdefault(after, []).append(built[place])
    waiting = {id(cell) for cells in moved.values() for _, cell in cells}
    whole: Built = []
    for place, (target, cell) in enumerate(built):
        if id(cell) not in waiting:
            whole += [(target, cell), *moved.get(place, [])]
    return whole, len(waiting)
