"""Put stubs in the place of solutions, and fold the solutions below them."""

import copy
import re

from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.preprocessors import ClearSolutions
from nbgrader.utils import is_grade, is_solution

MARKER = re.compile(r"^\s*### (BEGIN|END) (SOLUTION|HIDDEN TESTS)\s*$")
STUB = "...  # your code here"  # nbgrader inserts it at any indentation


class Stubs(ClearSolutions):  # type: ignore[misc]
    """nbgrader's ClearSolutions, with stubs that let a notebook run to its end.

    Inside a function the stub raises NotImplementedError. At the top of a cell it is a
    comment: the names there are set to None already, and the next check reports that.
    """

    def _replace_solution_region(self, cell: NotebookNode, language: str) -> bool:
        if cell.cell_type != "code":
            self.text_stub = "*Your answer here.*"
        # nbgrader has one stub for all regions, so each is replaced afterwards.
        self.code_stub = {language: STUB}
        replaced: bool = super()._replace_solution_region(cell, language)
        for where, stub in (("[ \t]+", "raise NotImplementedError  "), ("", "")):
            cell.source = re.sub(
                rf"(?m)^({where}){re.escape(STUB)}",
                rf"\1{stub}# your code here",
                cell.source,
            )
        return replaced


def with_folded_solutions(source: NotebookNode) -> NotebookNode:
    """Return the source with each solution repeated, folded, below its check.

    A model answer in words is folded below the cell for the student's answer, with the
    rubric by which it is marked.
    """
    notebook = copy.deepcopy(source)
    cells: list[NotebookNode] = []
    waiting: list[NotebookNode] = []
    for cell in notebook.cells:
        if waiting and not (cell.cell_type == "code" and is_grade(cell)):
            cells += waiting
            waiting = []
        cells.append(cell)
        if is_solution(cell):
            waiting.append(_folded(cell))
    notebook.cells = [*cells, *waiting]
    return notebook


def _folded(cell: NotebookNode) -> NotebookNode:
    body = "\n".join(x for x in cell.source.split("\n") if not MARKER.match(x))
    summary = "An answer, and how it is marked"
    if cell.cell_type == "code":
        summary, body = "Solution", f"```python\n{body}\n```"
    text = f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"
    return new_markdown_cell(text, id=f"{cell.id}-solution"[:64])
