"""Write the sets as they are handed out into ``vit_check``, which travels with them.

A notebook in Colab has no other file of the repository. Only titles and the cells of
code are written, so no solution is among them.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbgrader.utils import is_grade, is_solution

from classroom.release.parts import Part, parts_of
from classroom.release.release import ROOT

SETS = ROOT / "vit_check" / "sets.json"


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
    parts = parts_of(released)
    exercises, _, title = parts[0].heading.partition(": ")
    tasks = [
        {
            "number": part.number,
            "title": part.title,
            "minutes": part.minutes,
            "cells": list(_cells(part)),
        }
        for part in parts
    ]
    number = int(exercises.removeprefix("Exercises "))
    return {"number": number, "title": title, "tasks": tasks}


def _cells(part: Part) -> Iterator[dict[str, str]]:
    for cell in part.cells:
        if cell.cell_type == "code":
            kind = "answer" if is_solution(cell) else "given"
            yield {"kind": "check" if is_grade(cell) else kind, "source": cell.source}
        elif is_grade(cell):
            yield {"kind": "words", "source": ""}
