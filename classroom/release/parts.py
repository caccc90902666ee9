"""Cut an exercise set into its tasks."""

import re
from dataclasses import dataclass

from nbformat.notebooknode import NotebookNode

TITLE = re.compile(r"# (.+)")
HEAD = re.compile(r"## ((?:(\d+)\. )?(.+))(?:\n\n\*[^·\n]+ · (\d+) minutes)?")


@dataclass(frozen=True)
class Part:
    """A task or, with the number 0, what stands before the first one."""

    heading: str  # of that part, the title of the set
    number: int
    title: str
    minutes: int
    cells: list[NotebookNode]


def parts_of(notebook: NotebookNode) -> list[Part]:
    """Return what stands before the first task, and the tasks in their order."""
    texts = [c.source for c in notebook.cells if c.cell_type == "markdown"]
    title = next((found[1] for found in map(TITLE.match, texts) if found), "")
    parts = [Part(title, 0, "", 0, [])]
    for cell in notebook.cells:
        head = HEAD.match(cell.source) if cell.cell_type == "markdown" else None
        if head:
            heading, number, title, minutes = head.groups()
            number = number or parts[-1].number + 1
            parts.append(Part(heading, int(number), title, int(minutes or 0), []))
        parts[-1].cells.append(cell)
    return parts
