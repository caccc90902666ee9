"""The sheets for teachers, one a chapter, and the calendars of courses.

What only a teacher says is in ``classroom/lessons.toml``. Sections, minutes, cells, the
bet, the numbers on the board, tasks and the closing question are read from the
notebooks, the exercise sets and the quiz when the book is built, and a name that is no
longer there is an error. On a page, ``<!-- lessons: sheets -->`` is replaced by the
sheets, ``<!-- lessons: day -->`` and ``<!-- lessons: weeks -->`` by the calendars.
"""

import ast
import fnmatch
import json
import math
import re
import symtable
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from mdit_py_plugins.anchors.index import slugify
from sphinx.application import Sphinx

from book.minutes import pieces
from classroom.assessment.forms import LETTERS, Question, forms

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "classroom" / "lessons.toml"
LESSON = BLOCK = 90  # minutes
BET = 5  # minutes to write it down and count hands
LEFT_OUT = {"recap", "further-reading", "exercises"}
SKIPPED = {"skip-execution"}
GUARD = "guard"  # a cell that is run only for what it makes
PLACE = re.compile(r"<!-- lessons: (\w+) -->")
TASK = re.compile(r"^## (\d+)\. (.+)\n\n\*[\w ]+ · (\d+) minutes ·", re.MULTILINE)
TABLE_OR_FENCE = re.compile(r"(?:^\|.*\n?)+|^```text\n(?:.*\n)*?```", re.MULTILINE)


@dataclass
class Section:
    """The content between one heading and the next, of any level."""

    title: str
    anchor: str
    of: str  # the anchor of the section of level 2 that it belongs to
    minutes: float = 0.0
    cells: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Step:
    minutes: int
    what: str  # "bet", "exit", "class", "task 2", or anchors of sections
    note: str = ""

    @property
    def anchors(self) -> list[str]:
        words = self.what.split()
        return [] if words[0] in {"bet", "exit", "task", "class"} else words

    @property
    def task(self) -> int | None:
        return int(self.what.split()[1]) if self.what.startswith("task") else None


class Lesson:
    """A chapter with its exercise set and with what a teacher says of it.

    Raises: ValueError if the chapter lacks what the lesson names, or if its minutes do
        not add up.
    """

    def __init__(self, number: int, said: dict[str, Any]) -> None:
        (self.path,) = (ROOT / "notebooks").glob(f"{number:02}_*.ipynb")
        self.number, self.said = number, said
        self.cells = json.loads(self.path.read_text("utf-8"))["cells"]
        self.by_id = {cell["id"]: cell for cell in self.cells}
        self.sections = {one.anchor: one for one in self._sections()}
        self.tasks = tasks(number)
        self.plan = [Step(*step) for step in said["plan"]]
        self.taken = [one for step in self.plan for one in self.of(step)]
        self._check()

    def _sections(self) -> Iterator[Section]:
        found, above = Section("", "", ""), ""
        for cell in self.cells:
            skipped = cell["id"] in self.said.get("skip", [])
            for level, heading, minutes in pieces({"cells": [cell]}):
                if level:
                    yield found
                    above = slugify(heading) if level <= 2 else above
                    found = Section(heading, slugify(heading), above)
                found.minutes += 0.0 if skipped else minutes
            if cell["cell_type"] == "code" and not skipped:
                found.cells.append(cell)
        yield found

    def of(self, step: Step) -> list[Section]:
        """Return the sections of a step."""
        found = [fnmatch.filter(self.sections, anchor) for anchor in step.anchors]
        for anchor, those in zip(step.anchors, found, strict=True):
            if not those:
                raise self.error(f"no section #{anchor}, only {list(self.sections)}")
        return [self.sections[anchor] for those in found for anchor in those]

    def cell(self, cell_id: str) -> dict[str, Any]:
        if cell_id not in self.by_id:
            raise self.error(f"no cell {cell_id}")
        return self.by_id[cell_id]

    def error(self, text: str) -> ValueError:
        return ValueError(f"lesson {self.number} ({self.path.name}): {text}")

    def _check(self) -> None:
        total = sum(step.minutes for step in self.plan)
        if total != LESSON:
            raise self.error(f"got {total} minutes, expected {LESSON}")
        for step in self.plan:
            reading = sum(one.minutes for one in self.of(step))
            if step.task and step.task not in self.tasks:
                raise self.error(f"the set has no {step.what}")
            least = self.tasks[step.task][1] if step.task else reading
            if step.minutes < least:
                raise self.error(
                    f"{step.what}: got {step.minutes} minutes, takes {least:.1f}"
                )
        for cell_id in self.said.get("skip", []):
            if self.cell(cell_id) in self.to_run():
                raise self.error(f"skip: a cell that is run needs {cell_id}")
        bet = self.said["bet"]
        if bet["says"] not in shown(self.cell(bet["answer"])):
            raise self.error(f"{bet['answer']} does not say {bet['says']!r}")

    def question(self) -> str:
        """Return the bet as the chapter puts it."""
        bet = self.said["bet"]
        source = "".join(self.cell(bet["cell"])["source"])
        start = source.find(bet["from"])
        if start < 0:
            raise self.error(f"{bet['cell']} does not say {bet['from']!r}")
        asked = re.match(r"[^?\n]*\?|[^.\n]*\.", source[start:])
        if asked is None:
            raise self.error(f"{bet['cell']}: no question after {bet['from']!r}")
        words = f"{asked[0][0].upper()}{asked[0][1:]}"
        return f"{bet.get('setting', '')} {words}".strip()

    def to_run(self) -> list[dict[str, Any]]:
        """Return the cells of the lesson's sections, and those that they need."""
        in_class = [cell for one in self.taken for cell in one.cells]
        wanted = {cell["id"] for cell in in_class if GUARD not in tags(cell)}
        wanted.add("colab")
        chosen: list[dict[str, Any]] = []
        needed: set[str] = set()
        for cell in reversed(self.cells):
            if cell["cell_type"] != "code" or SKIPPED & tags(cell):
                continue
            makes, takes = names("".join(cell["source"]))
            if cell["id"] in wanted or makes & needed:
                chosen.insert(0, cell)
                needed = needed - makes | takes
        return chosen

    def at_home(self) -> list[Section]:
        """Return what remains to be read, with a section that remains whole as one."""
        left: dict[str, Section] = {}
        begun = {one.of for one in self.taken}
        first = next(iter(self.sections))
        for one in list(self.sections.values())[2:]:  # without what is above the title
            if one in self.taken or one.of in LEFT_OUT or one.anchor == first:
                continue
            if one.anchor in LEFT_OUT:
                continue
            key = one.anchor if one.of in begun else one.of
            whole = left.setdefault(key, Section(one.title, one.anchor, one.of))
            whole.minutes += one.minutes
        return [one for one in left.values() if one.minutes >= 0.5]

    def reading(self) -> int:
        return math.ceil(sum(one.minutes for one in self.at_home()))

    def tasks_at_home(self) -> dict[int, tuple[str, int]]:
        done = {step.task for step in self.plan}
        return {n: task for n, task in self.tasks.items() if n not in done}

    def exercises(self) -> int:
        return sum(minutes for _, minutes in self.tasks_at_home().values())

    def closing(self) -> Question:
        """Return the question of the quiz with which the lesson ends."""
        for question in forms()[0].questions:
            if (question.chapter, question.name) == (self.number, self.said["exit"]):
                return question
        raise self.error(f"the quiz has no question {self.said['exit']}")

    # The contents of a sheet, as Markdown for a page in book/.

    @property
    def title(self) -> str:
        return next(one.title for one in self.sections.values() if one.title)

    def link(self, one: Section) -> str:
        title = one.title.removeprefix("By hand: ").removeprefix("What breaks: ")
        target = f"../notebooks/{self.path.name}#{one.anchor}"
        return f"[{title[0].upper()}{title[1:]}]({target})"

    def own_link(self) -> str:
        return f"[{self.title}](lessons.md#{slugify(self.title)})"

    def sheet(self) -> str:
        rows = [
            f"| {start}–{start + step.minutes} | {self.told(step)} |"
            for start, step in zip(self.starts(), self.plan, strict=True)
        ]
        bet = self.said["bet"]
        ask = "".join(f'- {who}. *Ask:* "{q}"\n' for who, q in self.said.get("ask", []))
        closing = self.closing()
        options = [option.text for option in closing.options]
        chapter = f"[chapter {self.number}](../notebooks/{self.path.name})"
        parts = [
            f"## {self.title}",
            f"After {chapter} a student can {self.said['goal']}.",
            "\n".join([head("minutes", "in class"), *rows]),
            f"**At home.** {self.homework()}",
            f"**Run** {spans(self.to_run())}. The other cells can wait.",
            self.board(),
            f"**The bet.** {self.question()}",
            listed(bet["options"]),
            f"*{bet['right']}.* It brings out a belief: {bet['belief']}.",
            f"**They also believe:**\n\n{ask}" if ask else "",
            f"**To leave with** (question {closing.number} of the "
            f"[quiz](assessment.md#the-quiz), form A). {closing.text}",
            listed(options),
            f"*{closing.letter}.* {closing.answer.comment}",
        ]
        return "\n\n".join(part for part in parts if part) + "\n"

    def starts(self) -> list[int]:
        return [sum(s.minutes for s in self.plan[:n]) for n in range(len(self.plan))]

    def told(self, step: Step) -> str:
        if step.task:
            path = f"../notebooks/exercises/{self.path.name}"
            name = self.tasks[step.task][0]
            what = f"In pairs: task {step.task} of [the set]({path}), *{name}*"
        elif step.anchors:
            what = ", ".join(
                self.link(self.sections[a]) for a in step.anchors if "*" not in a
            )
        else:
            what = {"bet": "The bet", "exit": "The closing question", "class": ""}[
                step.what
            ]
        return ". ".join(part for part in (what, step.note.rstrip(".")) if part) + "."

    def homework(self) -> str:
        read = ", ".join(map(self.link, self.at_home()))
        text = f"{self.reading()} minutes of reading: {read}."
        if self.exercises():
            numbers = ", ".join(map(str, self.tasks_at_home()))
            text += f" {self.exercises()} minutes of exercises: tasks {numbers}."
        return text

    def board(self) -> str:
        cells = [self.cell(cell_id) for cell_id in self.said["board"]]
        places = {self.section_of(cell).anchor: cell for cell in cells}
        links = ", ".join(self.link(self.sections[anchor]) for anchor in places)
        parts = [part for cell in cells for part in written(cell)]
        return "\n\n".join([f"**On the board**, from {links}:", *parts])

    def section_of(self, cell: dict[str, Any]) -> Section:
        """Return the section of a cell; of a text with headings, the last section."""
        until = self.cells[: self.cells.index(cell) + 1]
        texts = ["".join(one["source"]) for one in until if one["cell_type"] != "code"]
        heading = re.findall(r"^#{1,3} (.+)$", "\n".join(texts), re.MULTILINE)[-1]
        return self.sections[slugify(heading)]


def tags(cell: dict[str, Any]) -> set[str]:
    return set(cell["metadata"].get("tags", []))


def tasks(number: int) -> dict[int, tuple[str, int]]:
    """Return title and minutes of a set's tasks by their numbers."""
    found: dict[int, tuple[str, int]] = {}
    for path in (ROOT / "notebooks" / "exercises").glob(f"{number:02}_*.ipynb"):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells)
        found |= {int(n): (title, int(m)) for n, title, m in TASK.findall(text)}
    return found


def shown(cell: dict[str, Any]) -> str:
    """Return the text of a cell and of its outputs."""
    return "\n".join(["".join(cell["source"]), *printed(cell)])


def printed(cell: dict[str, Any]) -> Iterator[str]:
    for output in cell.get("outputs", []):
        text = output.get("text") or output.get("data", {}).get("text/plain", [])
        yield "".join(text).rstrip("\n")


def written(cell: dict[str, Any]) -> Iterator[str]:
    """Yield a cell's parts for the board: tables of a text, outputs of code."""
    if cell["cell_type"] == "markdown":
        found = TABLE_OR_FENCE.findall("".join(cell["source"]))
        yield from (part.strip() for part in found)
    else:
        yield from (f"```text\n{text}\n```" for text in printed(cell))


def names(source: str) -> tuple[set[str], set[str]]:
    """Return the names that a cell makes and those that it takes from earlier cells."""
    code = "\n".join(line for line in source.split("\n") if line[:1] not in {"%", "!"})
    makes: set[str] = set()
    takes: set[str] = set()
    for statement in ast.parse(code).body:
        top = symtable.symtable(ast.unparse(statement), "cell", "exec")
        made = {s.get_name() for s in top.get_symbols() if s.is_assigned()}
        made |= {s.get_name() for s in top.get_symbols() if s.is_imported()}
        taken = {s.get_name() for s in top.get_symbols() if s.is_referenced()}
        taken |= {name for inner in top.get_children() for name in read_inside(inner)}
        taken = taken if isinstance(statement, ast.Assign) else taken - made
        for node in ast.walk(statement):  # symtable does not count a += as reading a
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                taken.add(node.target.id)
        takes |= taken - makes
        makes |= made
    return makes, takes


def read_inside(scope: symtable.SymbolTable) -> Iterator[str]:
    """Yield the global names that a function or a class reads."""
    yield from (s.get_name() for s in scope.get_symbols() if s.is_global())
    for inner in scope.get_children():
        yield from read_inside(inner)


def spans(cells: Iterable[dict[str, Any]]) -> str:
    """Return the numbers that Jupyter shows beside cells, as [1]–[3], [5]."""
    numbers = sorted(cell["execution_count"] for cell in cells)
    ends = [n for n in numbers if n + 1 not in numbers]
    starts = [n for n in numbers if n - 1 not in numbers]
    return ", ".join(
        f"[{a}]" if a == b else f"[{a}]–[{b}]"
        for a, b in zip(starts, ends, strict=True)
    )


def head(*columns: str) -> str:
    return f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|"


def listed(options: Iterable[str]) -> str:
    lines = [f"**{a}** {b}" for a, b in zip(LETTERS, options, strict=True)]
    return "\\\n".join(lines)


# The calendars, and what puts all of it into the pages.


@cache
def said() -> dict[str, Any]:
    return tomllib.loads(DATA.read_text("utf-8"))


@cache
def lessons() -> dict[int, Lesson]:
    return {int(n): Lesson(int(n), one) for n, one in said()["lessons"].items()}


def sheets() -> str:
    return "\n".join(lesson.sheet() for lesson in lessons().values())


def hours(minutes: int) -> str:
    """Return a time in quarters of an hour, rounded up, such as 4¼."""
    whole, quarters = divmod(math.ceil(minutes / 15), 4)
    return f"{whole}{['', '¼', '½', '¾'][quarters]}"


def weeks() -> str:
    """Return the table of the course: ten lessons, and the time at home."""
    rows = [head("week", "in class", "reading", "exercises", "hours at home")]
    for week, numbers in enumerate(said()["weeks"], start=1):
        both = [lessons()[number] for number in numbers]
        reading = sum(one.reading() for one in both)
        exercises = sum(one.exercises() for one in both)
        links = ", ".join(
            f"[{one.title}](lessons.md#{slugify(one.title)})" for one in both
        )
        rows.append(
            f"| {week} | {links} | {reading} min | {exercises} min "
            f"| {hours(reading + exercises)} |"
        )
    return "\n".join(rows)


def day() -> str:
    """Return the table of the day: four blocks of 90 minutes on the three-hour route.

    Raises: ValueError if a block has more than fits.
    """
    intro = (ROOT / "book" / "intro.md").read_text("utf-8")
    route = re.findall(r"^\| (\d+)\. .*\| (\d+) \|$", intro, re.MULTILINE)
    minutes = {int(chapter): int(number) for chapter, number in route}
    rows = [head("block", "chapters", "sections", "bets", "tasks", "to spare")]
    for block, part in enumerate(said()["day"], start=1):
        read = sum(minutes[chapter] for chapter in part["chapters"])
        bets = BET * len(part["chapters"])
        done = [(s, n, *tasks(s)[n]) for s, n in part["tasks"]]
        spare = BLOCK - read - bets - sum(one[-1] for one in done)
        if spare < 0:
            raise ValueError(f"day, block {block}: {-spare} minutes too long")
        listed_tasks = ", ".join(f"{s}.{n} *{title}* ({m})" for s, n, title, m in done)
        chapters = " and ".join(map(str, part["chapters"]))
        rows.append(
            f"| {block} | {chapters} | {read} | {bets} | {listed_tasks} | {spare} |"
        )
    return "\n".join(rows)


def put_in(app: Sphinx, page: str, source: list[str]) -> None:
    if not PLACE.search(source[0]):
        return
    makers = {"sheets": sheets, "day": day, "weeks": weeks}
    source[0] = PLACE.sub(lambda place: makers[place[1]](), source[0])
    for path in [DATA, *(lesson.path for lesson in lessons().values())]:
        app.env.note_dependency(str(path))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", put_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
