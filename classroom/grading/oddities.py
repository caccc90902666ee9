"""What a person should look at: not proof of anything."""

import ast
import re
from collections.abc import Iterable

from IPython.core.inputtransformer2 import TransformerManager
from nbformat.notebooknode import NotebookNode
from nbgrader.utils import is_grade, is_solution

MODULES = {
    "the network": {"socket", "requests", "urllib", "http", "ftplib", "aiohttp"},
    "other programs": {"subprocess", "multiprocessing", "ctypes", "pty"},
    "Python's inner workings": {"gc", "inspect", "importlib", "builtins"},
}
CALLS = {
    "other programs": {"os.system", "os.popen", "os.fork", "os.kill", "os._exit"},
    "files": {"open", "shutil.rmtree", "os.remove", "os.unlink", "os.listdir"},
    "Python's inner workings": {"eval", "exec", "sys._getframe", "get_ipython"},
}
CHECKS = {"check", "vit_check"}  # import vit_check as check
LONGEST = 300_000  # characters of code that are looked at in one notebook
MOST_MAGICS = 50  # of one cell; IPython reads the whole cell again for each
LONGEST_NAME = 200


def odd_source(nb: NotebookNode, source: NotebookNode) -> list[str]:
    """What stands out in the cells that the student wrote."""
    given = {cell.source.strip() for cell in source.cells}
    wanted = _names_to_write(source)
    code = {
        number: cell.source
        for number, cell in enumerate(nb.cells, 1)
        if cell.cell_type == "code"
    }
    found: dict[str, None] = {}
    trees: dict[int, ast.AST] = {}
    for number, tree in zip(code, trees_of(code.values()), strict=True):
        if tree is None:
            found[f"Cell {number} is too much to be looked at."] = None
        else:
            trees[number] = tree
    known = _imported(trees.values())
    for number, tree in trees.items():
        cell = nb.cells[number - 1]
        locked = is_grade(cell) and not is_solution(cell)
        if locked or cell.source.strip() in given:
            continue
        for sentence in _odd_in(tree, wanted, known):
            found[f"Cell {number} {sentence}."] = None
    return list(found)[:20]


def _odd_in(tree: ast.AST, wanted: set[str], known: dict[str, str]) -> Iterable[str]:
    for node in ast.walk(tree):
        taken = _taken(node)
        for about, modules in MODULES.items():
            for module in sorted({name.split(".")[0] for name in taken} & modules):
                yield f"imports {module} ({about})"
        if isinstance(node, ast.Attribute):
            taken = [_full(node, known)]
        for name in taken:
            *place, last = name.split(".")
            if place[:1] == ["vit_steps"] and last == "*":
                yield f"takes everything from {'.'.join(place)}"
            elif place[:1] == ["vit_steps"] and last in wanted:
                yield f"takes {last} from the package instead of writing it"
        if isinstance(node, ast.Call):
            called = _called(node.func)
            for about, calls in CALLS.items():
                if called in calls or called.split("()")[0] in calls:
                    yield f"calls {called} ({about})"
            if called == "setattr" and node.args and _of_checks(node.args[0], known):
                yield "changes the checks"
        if _changes_checks(node, known):
            yield "changes the checks"


def _taken(node: ast.AST) -> list[str]:
    """The full names of what an import asks for; ``module.*`` for all of a module."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def _imported(trees: Iterable[ast.AST]) -> dict[str, str]:
    """Name in the notebook -> full name of what was imported, or given a second name.

    In the whole notebook at once: an import serves all cells below it.
    """
    known: dict[str, str] = {}
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias, full in zip(node.names, _taken(node), strict=False):
                if alias.asname or isinstance(node, ast.ImportFrom):
                    known[alias.asname or alias.name] = full
                else:
                    known[full.split(".")[0]] = full.split(".")[0]
        elif isinstance(node, ast.Assign) and _full(node.value, known):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    known.setdefault(target.id, _full(node.value, known))
    return known


def _full(node: ast.AST, known: dict[str, str]) -> str:
    """``vit_steps.patchify`` for ``v.patchify`` after ``import vit_steps as v``.

    Empty for what does not begin with an imported name.
    """
    names: list[str] = []
    while isinstance(node, ast.Attribute) and len(names) < LONGEST_NAME:
        names.append(node.attr)
        node = node.value
    start = known.get(node.id, "") if isinstance(node, ast.Name) else ""
    full = ".".join([start, *reversed(names)])
    return full if start and len(full) < LONGEST_NAME else ""


def _called(node: ast.AST) -> str:
    """``get_ipython().system`` for what is called in ``get_ipython().system("ls")``.

    Empty for what does not begin with a name.
    """
    words: list[str] = []
    while len(words) < LONGEST_NAME:
        if isinstance(node, ast.Attribute):
            words.append(f".{node.attr}")
            node = node.value
        elif isinstance(node, ast.Call):
            words.append("()")
            node = node.func
        else:
            break
    start = node.id if isinstance(node, ast.Name) else ""
    return "".join([start, *reversed(words)])[:60] if start else ""


def _of_checks(node: ast.AST, known: dict[str, str]) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    name = known.get(node.id, node.id) if isinstance(node, ast.Name) else ""
    return name.split(".")[0] in CHECKS


def _changes_checks(node: ast.AST, known: dict[str, str]) -> bool:
    """Whether ``check``, or something in it, is made to be something else."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return any(
            (alias.asname or alias.name) in CHECKS and full != "vit_check"
            for alias, full in zip(node.names, _taken(node), strict=False)
        )
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name in CHECKS
    if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        return _of_checks(node.value, known)
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return node.id in CHECKS
    return False


def _names_to_write(source: NotebookNode) -> set[str]:
    return {
        node.name
        for cell in source.cells
        if cell.cell_type == "code" and is_solution(cell)
        for node in ast.walk(_tree(cell.source))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


def trees_of(sources: Iterable[str]) -> Iterable[ast.AST | None]:
    """Of one notebook's cells; None for those that would take too long."""
    room = LONGEST
    for source in sources:
        room -= len(source)
        yield None if room < 0 or _many_magics(source) else _tree(source)


def _tree(source: str) -> ast.AST:
    try:
        return ast.parse(TransformerManager().transform_cell(source))
    except (SyntaxError, ValueError, RuntimeError, MemoryError):
        return ast.Module([], [])


def _many_magics(source: str) -> bool:
    return len(re.findall(r"^\s*[%!?]|=\s*[%!]|\?\s*$", source, re.M)) > MOST_MAGICS
