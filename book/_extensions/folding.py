"""Fold the lines of a code cell that are not part of the lesson.

Docstrings, imports and guards (an ``if`` that only raises) fold by themselves. A
function or a method folds whole where the cell's metadata name it, as in
``"fold": ["from_pretrained"]``, and neighbours fold together. A button at the code's
own indentation names the folded lines and opens them. A single line is not folded: the
button would be as long. The page holds all lines, and ``folding.js`` folds them, so
that they are there without scripts and for the copy button.

The fold of a whole cell, tagged ``hide-input``, is named by its content: imports (found
by the cell's id), checks of the text (tagged ``guard``), or the code of an output. Code
that is folded in this way is put below its output, as a small mark at its corner.
Neighbours that have no output share one fold.
Checks and imports are not on the page until a reader switches all code on, with the
button that ``folding.js`` puts into the page's head. Without scripts they are there,
folded.
"""

import ast
import json
import re
from collections.abc import Collection, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode, HideInputCells
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.writers.html5 import HTML5Translator

FOLDED_WHOLE = {
    "hide-input",
    "hide-cell",
    "remove-input",
    "remove_input",
    "remove-cell",
}
IDS_OF_IMPORTS = {"setup", "imports"}
PROMPT_OF_NO_ONE = "Show code cell {type}"
CODE_OF = "Code of this "
LINES = re.compile(r"Code, (\d+|one) lines?")
NAMED = "named"
NOT_LESSONS = "notebooks/exercises/"
BUTTON = '<button type="button" class="unfold" aria-expanded="false">… {}</button>'


class Fold(NamedTuple):
    """Lines ``first`` to ``last`` of a cell, counted from 1, and their kind."""

    first: int
    last: int
    what: str
    indent: int

    @property
    def words(self) -> str:
        return f"{self.what}, {self.last - self.first + 1} lines"


def is_docstring(owner: ast.AST, node: ast.stmt) -> bool:
    owners = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return (
        isinstance(owner, owners)
        and node is owner.body[0]
        and isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def kind_of(owner: ast.AST, node: ast.stmt, named: Collection[str]) -> str | None:
    """Return the words for a statement's fold; None if it stays open."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in named:
        return NAMED
    if isinstance(node, ast.Import | ast.ImportFrom):
        return "imports"
    if isinstance(node, ast.If) and not node.orelse:
        if all(isinstance(step, ast.Raise) for step in node.body):
            return "checks" if isinstance(owner, ast.Module) else "checks of the input"
    return "docstring" if is_docstring(owner, node) else None


def first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def has_its_lines_alone(node: ast.stmt, lines: list[bytes]) -> bool:
    """Return whether a statement has its lines to itself; False for an ``elif``."""
    line = lines[node.lineno - 1]
    before, begins = line[: node.col_offset], line[node.col_offset :]
    after = lines[(node.end_lineno or node.lineno) - 1][node.end_col_offset :].strip()
    if before.strip() or begins.startswith(b"elif"):
        return False
    return not after or after.startswith(b"#")


def candidates(tree: ast.AST, source: str, named: Collection[str]) -> Iterator[Fold]:
    lines = source.encode().split(b"\n")
    for owner in ast.walk(tree):
        for _, body in ast.iter_fields(owner):
            if not isinstance(body, list):
                continue
            statements = [node for node in body if isinstance(node, ast.stmt)]
            kinds = [
                (kind_of(owner, n, named) if has_its_lines_alone(n, lines) else None, n)
                for n in statements
            ]
            for what, together in groupby(kinds, key=lambda kind: kind[0]):
                run = [node for _, node in together]
                if what is not None:
                    if what is NAMED:
                        what = ", ".join(str(getattr(node, "name", "")) for node in run)
                    last = run[-1].end_lineno or run[-1].lineno
                    yield Fold(first_line(run[0]), last, what, run[0].col_offset)


def folds(source: str, named: Collection[str] = ()) -> list[Fold]:
    """Return the folds of a cell, from top to bottom.

    Args:
        source: source of the cell. A cell that is not Python, for instance with a
            magic, has no folds.
        named: functions and methods that fold whole, with their decorators.

    Raises:
        ValueError: the cell defines nothing under one of the names.
    """
    try:
        tree: ast.AST = ast.parse(source)
    except SyntaxError:
        tree = ast.Module([], [])
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    defined = {node.name for node in ast.walk(tree) if isinstance(node, kinds)}
    if unknown := [name for name in named if name not in defined]:
        raise ValueError(
            f'"fold" names {", ".join(unknown)}, and the cell defines '
            f"{', '.join(sorted(defined)) or 'no function'}"
        )
    found: list[Fold] = []
    for fold in sorted(
        candidates(tree, source, named), key=lambda f: (f.first, -f.last)
    ):
        inside = found and fold.last <= found[-1].last
        if fold.last > fold.first and not inside:
            found.append(fold)
    return found


def visible_lines(source: str, named: Collection[str] = ()) -> int:
    """Count the lines of a cell, empty ones left out, that show while it is folded."""
    folded = {
        number
        for fold in folds(source, named)
        for number in range(fold.first, fold.last + 1)
    }
    return sum(
        bool(line.strip())
        for number, line in enumerate(source.split("\n"), 1)
        if number not in folded
    )


def with_folds(html: str, source: str, found: list[Fold]) -> str:
    """Insert a button before each fold into the HTML of highlighted code.

    This works line by line: Pygments closes its spans at the end of each line, even
    inside a token that goes over several lines.
    """
    start = html.index("<pre>") + len("<pre>")
    stop = html.rindex("</pre>")
    lines = [f"{line}\n" for line in html[start:stop].removesuffix("\n").split("\n")]
    left_out = len(source) - len(source.lstrip("\n"))  # Pygments drops lines at the top
    for fold in reversed(found):
        place = slice(fold.first - 1 - left_out, fold.last - left_out)
        inside = "".join(lines[place])
        if inside.count("<span") != inside.count("</span>"):
            raise ValueError(f"line {fold.first}: a token continues after the fold")
        button = f"{' ' * fold.indent}{BUTTON.format(fold.words)}\n"
        lines[place] = [
            f'<span class="unfold-line">{button}</span>'
            f'<span class="folded">{inside}</span>'
        ]
    return html[:start] + "".join(lines) + html[stop:]


class folding_code(nodes.literal_block):  # type: ignore[misc] # no types there
    """A code block with lines that fold."""


def write_folding_code(translator: HTML5Translator, node: folding_code) -> None:
    language = node.get("language", "default")
    html = translator.highlighter.highlight_block(
        node.rawsource, language, location=node, **node.get("highlight_args", {})
    )
    folded = with_folds(html, node.rawsource, node["folds"])
    start = translator.starttag(
        node, "div", suffix="", CLASS=f"highlight-{language} notranslate"
    )
    translator.body.append(f"{start}{folded}</div>\n")
    raise nodes.SkipNode


class FoldCells(SphinxPostTransform):
    default_priority = 198  # just before MyST-NB folds whole cells
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        page = self.env.docname
        source = Path(self.env.doc2path(page))
        if source.suffix != ".ipynb":
            return
        cells = json.loads(source.read_text("utf-8"))["cells"]
        is_lesson = page.startswith("notebooks/") and not page.startswith(NOT_LESSONS)
        for cell in list(self.document.findall(nodes.container)):
            if cell.get("nb_element") != "cell_code":
                continue
            identity = cells[cell["cell_index"]].get("id", "")
            if identity in IDS_OF_IMPORTS:
                cell["hide_mode"] = "input"
            if "hide_mode" in cell or FOLDED_WHOLE & set(
                cell["cell_metadata"].get("tags", [])
            ):
                say_what_folds(cell, identity)
            elif is_lesson:
                fold_cell(cell, f"{source.name}, cell {identity}")


def say_what_folds(cell: nodes.container, identity: str) -> None:
    """Name the fold of a whole cell by the cell's content."""
    if identity in IDS_OF_IMPORTS:
        cell["classes"].append("imports")
    if "guard" in cell["cell_metadata"].get("tags", []):
        name_the_fold(cell, "Checks of what the text says")
    elif identity in IDS_OF_IMPORTS:
        name_the_fold(cell, "Imports")
    elif cell.get("prompt_show") == PROMPT_OF_NO_ONE:
        name_the_fold(cell, name_of_code(cell))


def fold_cell(cell: nodes.container, where: str) -> None:
    """Fold the lines of a cell's code that are not part of the lesson."""
    named = cell["cell_metadata"].get("fold", [])
    for code in list(cell.findall(nodes.literal_block)):
        if code.parent.get("nb_element") != "cell_code_source":
            continue
        try:
            found = folds(code.rawsource, named)
        except ValueError as error:
            raise ExtensionError(f"{where}: {error}") from None
        if found:
            block = folding_code(code.rawsource, code.rawsource, **code.attributes)
            block["folds"] = found
            code.replace_self(block)


def code_of(lines: int) -> str:
    return f"Code, {lines} lines" if lines > 1 else "Code, one line"


def name_of_code(cell: nodes.container) -> str:
    """Name a cell's code by its output: a figure, a table, another output, or none."""
    outputs = [
        part for part in cell.children if part.get("nb_element") == "cell_code_output"
    ]
    if not any(output.children for output in outputs):
        code = next(iter(cell.findall(nodes.literal_block))).rawsource
        return code_of(code.count("\n") + 1)
    shown = {type(node) for output in outputs for node in output.findall()}
    html = "".join(
        raw.astext() for output in outputs for raw in output.findall(nodes.raw)
    )
    if nodes.figure in shown or nodes.image in shown or "<svg" in html:
        return f"{CODE_OF}figure"
    return f"{CODE_OF}{'table' if '<table' in html else 'output'}"


class CodeBelowItsOutput(SphinxPostTransform):
    """Move folded code below its output, which a reader wants to see first."""

    default_priority = HideInputCells.default_priority + 1
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for code in list(self.document.findall(HideCodeCellNode)):
            cell = code.parent
            if cell is None:
                continue  # a cell that is folded with its output
            shows = cell.children[-1].get("nb_element") == "cell_code_output"
            if shows and code["prompt_show"].startswith(CODE_OF):
                cell.append(cell.pop(0))
                cell["classes"].append("code-below")


class OneBarForARow(SphinxPostTransform):
    """Join folded cells without an output that follow each other into one fold."""

    default_priority = CodeBelowItsOutput.default_priority + 1
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for code in list(self.document.findall(HideCodeCellNode)):
            cell = code.parent
            if (lines := lines_alone(cell)) is None:
                continue
            row, place = cell.parent, cell.parent.index(cell)
            before = row[place - 1] if place else None
            if before is not None and (more := lines_alone(before)) is not None:
                row.remove(cell)
                before[0].extend(code.children)
                words = code_of(more + lines)
                before[0]["prompt_show"] = before[0]["prompt_hide"] = words


def lines_alone(cell: nodes.Node | None) -> int | None:
    """Return the lines of a cell that is nothing but a fold of code, else None."""
    if not isinstance(cell, nodes.container) or len(cell) != 1:
        return None
    if not isinstance(cell[0], HideCodeCellNode):
        return None
    found = LINES.fullmatch(cell[0]["prompt_show"])
    return found and (1 if found[1] == "one" else int(found[1]))


def name_the_fold(cell: nodes.container, words: str) -> None:
    if "hide_mode" in cell:
        cell["prompt_show"] = cell["prompt_hide"] = words


def add_script(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Add the script undeferred, so that lines are folded before the page is drawn."""
    if page.startswith("notebooks/") and not page.startswith(NOT_LESSONS):
        app.add_js_file("book/folding.js")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_node(folding_code, html=(write_folding_code, None))
    app.add_post_transform(FoldCells)
    app.add_post_transform(CodeBelowItsOutput)
    app.add_post_transform(OneBarForARow)
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
