"""Write the sets as they are handed out into ``vit_check``, which travels with them.

A notebook in Colab has no other file of the repository. Only titles and the cells of
code are written, so no solution is among them.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbgrader.utils import is_grade, is_solution

from classroom.release.release import ROOT

SETS = ROOT / "vit_check" / "sets.json"
TITLE = re.compile(r"# Exercises (\d+): (.+)")
TASK = re.compile(r"## (\d+)\. (.+)\n\n\*[^·]+ · (\d+) minutes")


def sets_text(releases: Iterable[NotebookNode]) -> str:
    """Return the text of ``vit_check/sets.json``."""
    return json.dumps([_set(one) for one in releases], indent=1, ensure_ascii=False)


def stale_sets(releases: Iterable[NotebookNode], write: bool = True) -> list[Path]:
    """Write the file of the sets if it was out of date, and return it in a list."""
    text = sets_text(releases) + "\n"
    if SETS.exists() and SETS.read_text(encoding="utf-8") == text:
        return []
    if write:
        SETS.write_text(text, encoding="utf-8")
    return [SETS]


def _set(released: NotebookNode) -> dict[str, Any]:
    number, title = _read(TITLE, released.cells[0].source)
    # the part before the first task is a task without a title
    tasks: list[dict[str, Any]] = [
        {"number": 0, "title": "", "minutes": 0, "cells": []}
    ]
    for cell in released.cells:
        if cell.cell_type == "code":
            kind = "answer" if is_solution(cell) else "given"
            kind = "check" if is_grade(cell) else kind
            tasks[-1]["cells"].append({"kind": kind, "source": cell.source})
        elif is_grade(cell):
            tasks[-1]["cells"].append({"kind": "words", "source": ""})
        elif cell.source.startswith("## "):
            task, name, minutes = _read(TASK, cell.source)
            tasks.append(
                {
                    "number": int(task),
                    "title": name,
                    "minutes": int(minutes),
                    "cells": [],
                }
            )
    return {"number": int(number), "title": title, "tasks": tasks}


def _read(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    found = pattern.match(text)
    if found is None:
        raise ValueError(f"got {text[:60]!r}, expected {pattern.pattern!r}")
    return found.groups()
