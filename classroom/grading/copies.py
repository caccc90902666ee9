"""Find students who handed in nearly the same work: a reason to ask, not a proof."""

import ast
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from nbformat.notebooknode import NotebookNode
from nbgrader.utils import is_grade, is_solution
from rapidfuzz import fuzz, process

from classroom.grading.parsing import trees_of
from classroom.release.assignment import Assignment

LONGEST = 20_000  # characters of one student that are compared
# Shorter work, in characters, and less similar work, in percent, is not reported: all
# right answers to a short task are alike.
SHORTEST = {"code": 400, "text": 150}
SAME = {"code": 97.0, "text": 88.0}


@dataclass(frozen=True)
class Work:
    """The work of one student, as ``own_work`` returns it."""

    student: str
    file: str  # the notebook's digest
    code: str
    text: str


@dataclass(frozen=True)
class Copies:
    """A group of at least two students, and what they have in common."""

    students: tuple[str, ...]
    what: str


def own_work(nb: NotebookNode, release: NotebookNode) -> tuple[str, str]:
    """Return a student's own code and text, with every variable named alike."""
    given = {cell.source.strip() for cell in release.cells}
    own = [
        cell
        for cell in nb.cells
        if cell.source.strip() not in given
        and (is_solution(cell) or not is_grade(cell))
    ]
    trees = trees_of(c.source for c in own if c.cell_type == "code")
    code = "\n".join(_renamed(tree) for tree in trees if tree is not None)
    text = "\n".join(c.source for c in own if c.cell_type == "markdown")
    return code[:LONGEST], " ".join(text.split())[:LONGEST]


def published_work(assignment: Assignment) -> list[Work]:
    """Return the code of a set's own solutions, and of the book's if it is a variant.

    The solutions of the book are public, and a variant's can be drawn by anybody.
    """
    work = []
    for seed in dict.fromkeys([None, assignment.seed]):
        one = replace(assignment, seed=seed)
        name = (
            "the published solution" if seed is None else f"the solution of SEED={seed}"
        )
        code, _ = own_work(one.source, one.release)
        work.append(Work(name, name, code, ""))
    return work


def _renamed(tree: ast.AST) -> str:
    """Return the code without comments, and with one name for every variable."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = "v"
        elif isinstance(node, ast.arg):
            node.arg = "v"
    try:
        return ast.unparse(tree)
    except (RecursionError, ValueError):
        return ""


def copies(everyone: list[Work]) -> list[Copies]:
    """Return all groups, the largest first.

    A group is built from pairs that are alike, so its first and last member may be less
    alike. Of the students who handed in the same file, only one is listed in the other
    groups. Those who wrote nothing have copied nothing.
    """
    files: dict[str, list[str]] = {}
    everyone = [work for work in everyone if work.code or work.text]
    for work in everyone:
        files.setdefault(work.file, []).append(work.student)
    found = {tuple(s): ["the same file"] for s in files.values() if len(s) > 1}
    firsts = list({work.file: work for work in reversed(everyone)}.values())[::-1]
    for kind in ("code", "text"):
        for students, what in _alike(firsts, kind):
            found.setdefault(students, []).append(what)
    made = [Copies(students, ", ".join(what)) for students, what in found.items()]
    return sorted(made, key=lambda copies: -len(copies.students))


def _alike(everyone: list[Work], kind: str) -> Iterable[tuple[tuple[str, ...], str]]:
    authors = defaultdict[str, list[str]](list)
    for work in everyone:
        written = getattr(work, kind)
        if len(written) >= SHORTEST[kind]:
            authors[written].append(work.student)
    texts = list(authors)
    groups: list[tuple[set[str], set[int]]] = []  # alike texts, and by how many %
    for number, text in enumerate(texts):
        pairs = process.extract_iter(
            text, texts[:number], scorer=fuzz.ratio, score_cutoff=SAME[kind]
        )
        near = {other: int(score) for other, score, _ in pairs}
        alike = [group for group in groups if group[0] & near.keys()]
        groups = [group for group in groups if group not in alike]
        same, percents = {text}, set(near.values())
        groups.append((same.union(*(g[0] for g in alike)), percents))
        percents.update(*(group[1] for group in alike))
    for same, percents in groups:
        students = tuple(sorted(student for one in same for student in authors[one]))
        if percents:
            span = " to ".join(map(str, sorted({min(percents), max(percents)})))
            yield students, f"{kind} {span} % the same"
        elif len(students) > 1:
            yield students, f"the same {kind}"
