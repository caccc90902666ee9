"""Make honest submissions with what editors, drives, platforms and hands do to them.

None of it may cost a mark, and none may bring an accusation.
"""

import copy
import json
import re
from collections.abc import Callable

from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell
from nbgrader.utils import is_grade, is_solution

from classroom.grading.execute import is_autograded
from classroom.release.assignment import Assignment
from tests.classroom.bench.submissions import Kind, all_of, dump, solved, with_cell


def edited() -> list[Kind]:
    """Return right answers in notebooks that something has changed."""
    kinds = [
        Kind(name, lambda a, change=change: _changed(a, change), all_of)
        for name, change in CHANGES.items()
    ]
    kinds += [
        Kind(name, lambda a, write=write: write(_text(solved(a))), all_of)
        for name, write in WRITTEN.items()
    ]
    return kinds + [
        Kind(name, lambda a, source=source: dump(with_cell(solved(a), source)), all_of)
        for name, source in HABITS.items()
    ]


def _changed(
    assignment: Assignment, change: Callable[[NotebookNode, NotebookNode], None]
) -> bytes:
    nb = solved(assignment)
    change(nb, copy.deepcopy(assignment.release))
    return json.dumps(nb, ensure_ascii=False).encode()


def _text(nb: NotebookNode) -> str:
    return json.dumps(nb, ensure_ascii=False)


def _with_line_ends(text: str, end: str) -> bytes:
    return text.replace("\\n", end).encode()


WRITTEN: dict[str, Callable[[str], bytes]] = {
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16 without a mark": lambda text: text.encode("utf-16-le"),
    "UTF-32": lambda text: text.encode("utf-32"),
    "a mark before UTF-8": lambda text: text.encode("utf-8-sig"),
    "a code page of the West": lambda text: _marked(text, "é à").encode("cp1252"),
    "a code page of China": lambda text: _marked(text, "图像").encode("gb18030"),
    "line ends of Windows": lambda text: _with_line_ends(text, "\\r\\n"),
    "line ends of an old Mac": lambda text: _with_line_ends(text, "\\r"),
}


def _marked(text: str, words: str) -> str:
    """Return the text with these words in its written answer."""
    plain = text.encode("ascii", "replace").decode()
    return plain.replace("mix", f"mix · {words}")


def _solutions(nb: NotebookNode) -> list[NotebookNode]:
    return [c for c in nb.cells if is_solution(c) and c.cell_type == "code"]


def _cells_above(nb: NotebookNode, release: NotebookNode) -> None:
    """Join each answer to the code cell above it, under the upper cell's name."""
    above = None
    kept = []
    for cell in nb.cells:
        if above is not None and is_solution(cell) and cell.cell_type == "code":
            above.source += f"\n\n{cell.source}"
            continue
        kept.append(cell)
        above = cell if cell.cell_type == "code" else above
    nb.cells = kept


def _cells_below(nb: NotebookNode, release: NotebookNode) -> None:
    """Join each test to the answer above it, under the answer's name."""
    kept: list[NotebookNode] = []
    for cell in nb.cells:
        if is_autograded(cell) and is_solution(kept[-1]):
            kept[-1].source += f"\n\n{cell.source}"
        else:
            kept.append(cell)
    nb.cells = kept


def _questions(nb: NotebookNode, release: NotebookNode) -> None:
    """Join each written answer to its question, on the question's last line."""
    kept: list[NotebookNode] = []
    for cell in nb.cells:
        if cell.cell_type == "markdown" and is_solution(cell):
            kept[-1].source += f" {cell.source}"
        else:
            kept.append(cell)
    nb.cells = kept


def _first_answer(nb: NotebookNode, release: NotebookNode) -> None:
    first, *others = _solutions(nb)
    first.source = "\n\n\n".join(cell.source for cell in (first, *others))
    nb.cells = [c for c in nb.cells if c not in others]


def _one_cell(nb: NotebookNode, release: NotebookNode) -> None:
    code = [c for c in nb.cells if c.cell_type == "code"]
    code[0].source = "\n\n".join(cell.source for cell in code)
    nb.cells = [c for c in nb.cells if c not in code[1:]]


def _above_the_heading(nb: NotebookNode, release: NotebookNode) -> None:
    """Delete each stub, and write its answer into a cell above the task."""
    kept: list[NotebookNode] = []
    for cell in nb.cells:
        if is_solution(cell) and cell.cell_type == "code":
            kept.insert(-1, new_code_cell(cell.source))
        else:
            kept.append(cell)
    nb.cells = kept


def _at_the_end(nb: NotebookNode, release: NotebookNode) -> None:
    """Leave every stub as it is, and write answers and copies of tests at the end."""
    stubs = {c.metadata.nbgrader.grade_id: c.source for c in _solutions(release)}
    added = []
    for cell in nb.cells:
        if cell.cell_type != "code" or not (is_solution(cell) or is_grade(cell)):
            continue
        added.append(new_code_cell(cell.source))
        name = cell.metadata.nbgrader.grade_id
        cell.source = stubs.get(name, cell.source)
    nb.cells += added


def _below_the_test(nb: NotebookNode, release: NotebookNode) -> None:
    kept: list[NotebookNode] = []
    for cell in nb.cells:
        place = len(kept) - 1 if is_autograded(cell) else len(kept)
        kept.insert(place, cell)
    nb.cells = kept


def _cut_out(nb: NotebookNode, release: NotebookNode) -> None:
    """Cut the answers out of their cells, which stay empty, and put all at the top.

    That is below the imports, without which an answer such as a torch.tensor fails.
    """
    place = nb.cells.index(_solutions(nb)[0])
    answers = []
    for cell in _solutions(nb):
        answers.append(new_code_cell(cell.source))
        cell.source = ""
    nb.cells[place:place] = answers


def _reformatted(nb: NotebookNode, release: NotebookNode) -> None:
    """Write the given code as another program formats it."""
    for cell in nb.cells:
        if cell.cell_type == "code" and not is_solution(cell):
            cell.source = re.sub(r"\(([^()\n]+)\)", r"( \1 )", cell.source) + " \n\n"


def _hinted(nb: NotebookNode, release: NotebookNode) -> None:
    for cell in nb.cells:
        if is_autograded(cell):
            cell.source = re.sub(r"(check\.\w+\(\w+)\)", r"\1, hint=2)", cell.source)


def _listed_types(nb: NotebookNode, release: NotebookNode) -> None:
    nb.cells.append({"cell_type": ["code"], "metadata": {}, "source": "x"})


def _debugged(nb: NotebookNode, release: NotebookNode) -> None:
    """Leave breakpoints in the answers, and an error that was debugged."""
    for source in ("%pdb off", "%debug", "%pdb on\n1 / 0"):
        nb.cells.insert(2, new_code_cell(source))
    for number, cell in enumerate(_solutions(nb)):
        stop = ("breakpoint()", "import pdb; pdb.set_trace()")[number % 2]
        cell.source = re.sub(
            r"(?m)^(def .*:\n)( +)", rf"\1\2{stop}\n\2", cell.source, count=1
        )
        if stop not in cell.source:
            cell.source += f"\n{stop}"


CHANGES: dict[str, Callable[[NotebookNode, NotebookNode], None]] = {
    "joined to the cells above": _cells_above,
    "joined to the tests": _cells_below,
    "joined to the questions": _questions,
    "all in the first answer": _first_answer,
    "all in one cell": _one_cell,
    "above the heading": _above_the_heading,
    "at the end": _at_the_end,
    "below the tests": _below_the_test,
    "cut out": _cut_out,
    "another form of the given cells": _reformatted,
    "hints left in the tests": _hinted,
    "a list as a cell's type": _listed_types,
    "breakpoints in the answers": _debugged,
}

HABITS = {
    "installs": "%pip install einops\n!pip install -q einops",
    "a form of Colab": """
#@title Set up { display-mode: "form" }
import sys
size = 5 #@param {type: "slider"}
IN_COLAB = "google.colab" in sys.modules or "google.colab" in str(get_ipython())
""",
    "looks into an error": "%xmode Verbose\n1 / 0",
    "times its work": "%%time\n%timeit -n 1 -r 1 sum(range(10))",
    "a pool and a loop": """
import asyncio
from multiprocessing import Pool

async def double(x):
    return 2 * x

print(await double(2))
with Pool(2) as pool:
    print(pool.map(abs, [-1, 2]))
""",
    "tidies up": "import gc\ngc.collect()",
}
