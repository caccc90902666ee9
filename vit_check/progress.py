"""A student's progress in a set of exercises, and the cells as they were handed out.

``sets.json`` holds the cells; ``make exercises`` writes it.
"""

import ast
import difflib
import json
import symtable
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

from vit_check.engine.said import SAID, Said
from vit_check.engine.verdict import Misused


@dataclass(frozen=True)
class Cell:
    """A cell of a set, as it was handed out; one for an answer in words is empty."""

    kind: Literal["given", "answer", "check", "words"]
    source: str

    @cached_property
    def defines(self) -> frozenset[str]:
        """The names of functions, classes and values at the top of the cell."""
        names = symtable.symtable(self.source, "cell", "exec").get_symbols()
        own = (n for n in names if n.is_assigned() and not n.is_imported())
        return frozenset(name.get_name() for name in own)

    @cached_property
    def asked(self) -> list[tuple[str, str]]:
        """The checks that are called here, each with the variable that it is given."""
        return list(_asked_in(self.source)) if self.kind == "check" else []


def _asked_in(source: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(ast.Attribute(ast.Name("check"), "answers"), _, given):
                yield from ((each.arg or "", _variable(each.value)) for each in given)
            case ast.Call(ast.Attribute(ast.Name("check"), "answer"), [asked, value]):
                yield ast.literal_eval(asked), _variable(value)
            case ast.Call(ast.Attribute(ast.Name("check"), name), [value]):
                yield name, _variable(value)


def _variable(value: ast.expr) -> str:
    return value.id if isinstance(value, ast.Name) else ""


@dataclass(frozen=True)
class Task:
    """A task of a set; number 0 is the part before the first."""

    number: int
    title: str
    minutes: int
    cells: list[Cell]

    @property
    def asked(self) -> list[tuple[str, str]]:
        return [asked for cell in self.cells for asked in cell.asked]

    @property
    def in_words(self) -> bool:
        return any(cell.kind == "words" for cell in self.cells)

    def answer_to(self, check: str) -> list[Cell]:
        """Return the cells for the answers that a check of this name is given.

        These are above its call, after any earlier check; several may share a cell.
        """
        found: list[Cell] = []
        above: list[Cell] = []
        before = ""
        for cell in self.cells:
            if cell.kind == "answer":
                above = [cell] if before == "check" else [*above, cell]
            elif cell.kind == "check" and check in [name for name, _ in cell.asked]:
                found += above
            before = cell.kind if cell.kind in ("answer", "check") else before
        return found


@dataclass(frozen=True)
class ExerciseSet:
    """A set as it was handed out."""

    number: int
    title: str
    tasks: list[Task]

    @property
    def cells(self) -> list[tuple[Task, Cell]]:
        return [(task, cell) for task in self.tasks for cell in task.cells]

    def named(self, name: str) -> list[tuple[Task, Cell]]:
        """Return the cells that a name may mean: those of an answer first."""
        defining = [(task, cell) for task, cell in self.cells if name in cell.defines]
        return (
            [(task, cell) for task, cell in defining if cell.kind == "answer"]
            or [(task, cell) for task in self.tasks for cell in task.answer_to(name)]
            or defining
        )

    @cached_property
    def sources(self) -> frozenset[str]:
        return frozenset(cell.source.strip() for _, cell in self.cells if cell.source)

    @cached_property
    def checks(self) -> list[str]:
        return [name for task in self.tasks for name, _ in task.asked]

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(self.checks).union(*(cell.defines for _, cell in self.cells))

    def said_of(self, task: Task) -> list[list[Said]]:
        """Return the findings on each answer of a task, the latest last."""
        return [
            [
                said
                for said in SAID
                if said.check.removeprefix("answer:") == name
                and (self.checks.count(name) == 1 or said.given == variable)
            ]
            for name, variable in task.asked
        ]


_DRAWN: dict[int, Callable[[str], str]] = {}


def as_handed_out(drawn: dict[int, Callable[[str], str]]) -> None:
    """Take the sets of a variant.

    Args:
        drawn: for a set's number, a function from its cells to the variant's.
    """
    _DRAWN.clear()
    _DRAWN.update(drawn)
    _sets.cache_clear()


@cache
def _sets() -> dict[int, ExerciseSet]:
    text = Path(__file__).with_name("sets.json").read_text(encoding="utf-8")
    return {one["number"]: _read(one) for one in json.loads(text)}


def _read(one: dict[str, Any]) -> ExerciseSet:
    drawn = _DRAWN.get(one["number"], str)
    tasks = []
    for task in one["tasks"]:
        cells = [Cell(cell["kind"], drawn(cell["source"])) for cell in task["cells"]]
        tasks.append(Task(task["number"], drawn(task["title"]), task["minutes"], cells))
    return ExerciseSet(one["number"], one["title"], tasks)


def status(exercises: int | None = None) -> None:
    """Print which tasks of a set are right, which hints were shown, and what is next.

    It only knows what the checks found since the kernel started, and runs nothing.

    >>> check.status()
    >>> check.status(4)

    Args:
        exercises: the number of the set; by default the one that is being worked on.

    Raises:
        Misused: if there is no set by that number.
    """
    one = _set_by(exercises)
    if one is None:
        print(
            "No cell of a set has been run in this notebook yet. Run its cells first, "
            "or say which set you mean, as in check.status(4)."
        )
        return
    tasks = [task for task in one.tasks if task.number]
    width = max(len(task.title) for task in tasks)
    print(f"Exercises {one.number}: {one.title}\n")
    for task in tasks:
        print(f"{task.number:3}  {task.title:{width}}  {_state(one, task)}")
    print()
    for line in _next(one, tasks):
        print(line)


def _state(one: ExerciseSet, task: Task) -> str:
    """Return the state of a task in a few words."""
    said = one.said_of(task)
    last = [each[-1].finding for each in said if each]
    right = last.count(None)
    written = [f for f in last if f is None or f.mistake != "unwritten"]
    parts = []
    if said and right == len(said):
        parts.append("right")
    elif right:
        parts.append(f"{right} of {len(said)} answers right")
    elif written:
        parts.append("not right yet")
    elif said:
        parts.append("open")
    hint = max((each.hint for all_of_one in said for each in all_of_one), default=0)
    if hint:
        parts.append(f"hint {hint} read")
    if task.in_words:
        parts.append("an answer in words, which no check reads")
    return ", ".join(parts)


def _next(one: ExerciseSet, tasks: Sequence[Task]) -> Iterator[str]:
    """Yield lines that say how much is right, and what to do now."""
    checked = [task for task in tasks if task.asked]
    left = [
        task
        for task in checked
        if not all(each and each[-1].finding is None for each in one.said_of(task))
    ]
    right = len(checked) - len(left)
    if not any(each for task in checked for each in one.said_of(task)):
        yield "Nothing has been checked since the kernel started."
    else:
        number = "none" if not right else "each" if not left else str(right)
        verb = "is" if right < 2 or not left else "are"
        yield (
            f"By what the checks said last, {number} of the {len(checked)} tasks that "
            f"have a check {verb} right."
        )
    if not left:
        for task in tasks:
            if task.in_words:
                yield f"Left for you to judge is task {task.number}, {task.title}"
        return
    task = left[0]
    yield f"Next: task {task.number}, {task.title} ({task.minutes} minutes)."
    findings = [each[-1] for each in one.said_of(task) if each and each[-1].finding]
    if not findings:
        return
    first = findings[0]
    assert first.finding is not None
    name = first.check.removeprefix("answer:")
    yield f"Its check said: {name}: {first.finding.sentence}"
    asked = max(said.hint for said in SAID if said.check == first.check)
    if asked < 3:
        yield f"A hint? Write hint={asked + 1} in the check's brackets, at the end."
    else:
        yield f'A new start? check.handed_out("{name}") prints the cell as it was.'


def handed_out(cell: str | int, exercises: int | None = None) -> None:
    """Print a cell of a set as it was handed out, to begin it again.

    Your own cell stays as it is until you copy the printed one over it.

    >>> check.handed_out("softmax")
    >>> check.handed_out(6)  # all cells of task 6

    Args:
        cell: the name of a function, class or value in it, or of its check; or the
            number of a task.
        exercises: the number of the set; by default the one that is being worked on.

    Raises:
        Misused: if there is no such cell, or several sets have one.
    """
    one = _set_by(exercises)
    if isinstance(cell, str):
        one = _with_name(cell, one, told=exercises is not None)
        found = one.named(cell)
    elif type(cell) is not int:
        raise Misused(
            f"handed_out: got {_shown(cell)}, expected a name in quotes, as in "
            'check.handed_out("softmax"), or the number of a task'
        )
    elif one is None:
        raise Misused(f"handed_out: of which set? As in check.handed_out({cell}, 4)")
    else:
        found = [(task, each) for task, each in one.cells if task.number == cell != 0]
        found = [(task, each) for task, each in found if each.source]
        if not found:
            raise Misused(
                f"cell: got {cell}, but exercises {one.number} have no code in a task "
                "of this number"
            )
    print("# As it was handed out. Your cell is not changed: copy this over it if you")
    print("# want to begin again.")
    for task, each in found:
        print(f"\n# Exercises {one.number}, task {task.number}\n")
        print(each.source)


def _with_name(name: str, one: ExerciseSet | None, told: bool) -> ExerciseSet:
    """Return the set with a cell of this name: the one worked on, or the only one.

    Args:
        told: whether the student has named the set, so that only this one is meant.
    """
    if one is not None and one.named(name):
        return one
    others = [] if told else [each for each in _sets().values() if each.named(name)]
    if len(others) == 1:
        return others[0]
    if others:
        *most, last = [str(each.number) for each in others]
        raise Misused(
            f"{name}: exercises {', '.join(most)} and {last} have a cell by this name; "
            f'say which, as in check.handed_out("{name}", {last})'
        )
    searched = _sets().values() if one is None else [one]
    names = sorted(set().union(*(each.names for each in searched)))
    near = difflib.get_close_matches(name, names, n=3)
    said = f"; did you mean {' or '.join(near)}?" if near else ""
    where = "the exercises have" if one is None else f"exercises {one.number} have"
    raise Misused(f"cell: got {_shown(name)}, but {where} no cell by this name{said}")


def _set_by(number: int | None) -> ExerciseSet | None:
    """Return the set of this number; by default, the one that is being worked on.

    That is the set of the last cell in the notebook that is in one set alone or, if all
    cells were changed, of the last check that one set alone calls.
    """
    if number is not None:
        if type(number) is not int or number not in _sets():
            raise Misused(
                f"exercises: got {_shown(number)}, expected the number of a set, "
                f"{min(_sets())} to {max(_sets())}"
            )
        return _sets()[number]
    sets = _sets().values()
    names = [said.check.removeprefix("answer:") for said in reversed(SAID)]
    known_by = [[s for s in sets if run in s.sources] for run in reversed(_run_cells())]
    known_by += [[s for s in sets if name in s.checks] for name in names]
    return next((having[0] for having in known_by if len(having) == 1), None)


def _run_cells() -> list[str]:
    """Return the cells that were run in this notebook; elsewhere none."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    history = getattr(getattr(shell, "history_manager", None), "input_hist_raw", [])
    return [str(cell).strip() for cell in history]


def _shown(value: object) -> str:
    return repr(value)[:60]
