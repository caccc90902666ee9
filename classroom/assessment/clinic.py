"""Handouts of the bug clinic: a case's symptom and its code, without the answer.

They are made from the chapter, where a case is a row of cells: its story, the cell that
shows the symptom, the question, and then the folds, with the code, with what the tools
say of it, and with the name of the bug. Of the folds only the code is taken.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode

from classroom.release.release import ROOT

CLINIC = ROOT / "notebooks" / "14_bug_clinic.ipynb"
FURTHER = ROOT / "notebooks" / "side_roads" / "further_patients.ipynb"
HEAD = re.compile(r"^### (Case .+)\n", re.MULTILINE)
LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
SHOWING = ("show_code", "show_source")
TABLE = re.compile(r"<table.*?</table>", re.DOTALL)


@dataclass(frozen=True)
class Case:
    title: str
    story: str  # Markdown
    shown: tuple[str, ...]  # the symptom: code, text, tables and pictures, as HTML
    question: str  # Markdown
    code: str


def cases(path: Path = CLINIC) -> Iterator[Case]:
    """Yield the cases of the chapter in their order.

    Raises: ValueError if a case lacks its question or the code of its patient.
    """
    notebook = nbformat.read(path, as_version=4)
    defined = dict(_definitions(notebook))
    for start, cell in enumerate(notebook.cells):
        head = HEAD.search(cell.source)
        if head is None:
            continue
        row = {one.id.removeprefix(f"{cell.id}-"): one for one in _row(notebook, start)}
        if "ask" not in row or "symptom" not in row:
            raise ValueError(f"{cell.id}: got {list(row)}, expected symptom and ask")
        names = [name for one in row.values() for name in _shown_code(one)]
        if not names:
            raise ValueError(f"{cell.id}: expected a call of {SHOWING}")
        yield Case(
            title=head[1],
            story=without_links(cell.source[head.end() :].strip()),
            shown=tuple(_symptom(row["symptom"])),
            question=without_links(row["ask"].source),
            code="\n\n".join(defined[name] for name in names),
        )


def _row(notebook: NotebookNode, start: int) -> Iterator[NotebookNode]:
    case = notebook.cells[start].id
    for cell in notebook.cells[start + 1 :]:
        if not cell.id.startswith(f"{case}-"):
            return
        yield cell


def without_links(markdown: str) -> str:
    return LINK.sub(r"\1", markdown)


def _symptom(cell: NotebookNode) -> Iterator[str]:
    """Yield a cell's outputs, and its code too, unless that would give the bug away."""
    if "hide-input" not in cell.metadata.get("tags", []):
        yield f"<pre><code>{_escaped(cell.source)}</code></pre>"
    for output in cell.outputs:
        data = output.get("data", {})
        if "image/png" in data:
            picture = data["image/png"].replace("\n", "")
            alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
            source = f"data:image/png;base64,{picture}"
            yield f'<img alt="{_escaped(alt)}" src="{source}">'
        elif "text/html" in data:
            yield "".join(TABLE.findall(data["text/html"]))
        else:
            text = output.get("text") or data["text/plain"]
            yield f"<pre>{_escaped(text)}</pre>"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def _shown_code(cell: NotebookNode) -> Iterator[str]:
    """Yield the names of which a cell shows the code, such as Case2.forward."""
    if cell.cell_type != "code":
        return
    for node in ast.walk(ast.parse(cell.source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in SHOWING:
            yield from map(ast.unparse, node.args)


def _definitions(notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """Yield names of functions, classes and methods, each with its source."""
    for cell in notebook.cells:
        if cell.cell_type != "code" or cell.source.startswith("%"):
            continue
        for node in ast.parse(cell.source).body:
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            also = re.findall(rf"^(\w+) = {node.name}$", cell.source, re.MULTILINE)
            for name in (node.name, *also):
                yield name, _source(cell, node)
                for part in node.body:
                    if isinstance(part, ast.FunctionDef):
                        first = cell.source.splitlines()[node.lineno - 1]
                        yield f"{name}.{part.name}", f"{first}\n{_source(cell, part)}"


def _source(cell: NotebookNode, node: ast.FunctionDef | ast.ClassDef) -> str:
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    return "\n".join(cell.source.splitlines()[first - 1 : node.end_lineno])
