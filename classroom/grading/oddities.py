"""What a person should look at: not proof of anything."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from IPython.core.inputtransformer2 import TransformerManager
from nbformat.notebooknode import NotebookNode
from nbgrader.utils import is_grade, is_solution
from rapidfuzz import fuzz, process

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
SHORTEST_CODE = 400  # characters; right answers to a short task are all alike
SHORTEST_TEXT = 150
SAME_CODE = 97.0  # percent
SAME_TEXT = 88.0


def odd_source(nb: NotebookNode, source: NotebookNode) -> list[str]:
    """What stands out in the cells that the student wrote."""
    given = {cell.source.strip() for cell in source.cells}
    wanted = _names_to_write(source)
    found: dict[str, None] = {}
    for number, cell in enumerate(nb.cells, 1):
        locked = is_grade(cell) and not is_solution(cell)
        if cell.cell_type != "code" or locked or cell.source.strip() in given:
            continue
        for sentence in _odd_in(_tree(cell.source), wanted):
            found[f"Cell {number} {sentence}."] = None
    return list(found)[:20]


def _odd_in(tree: ast.AST, wanted: set[str]) -> Iterable[str]:
    for node in ast.walk(tree):
        for module, names in _imports(node):
            for about, modules in MODULES.items():
                if module.split(".")[0] in modules:
                    yield f"imports {module} ({about})"
            if module.split(".")[0] == "vit_steps":
                for name in sorted(names & wanted):
                    yield f"takes {name} from the package instead of writing it"
        if isinstance(node, ast.Attribute) and node.attr in wanted:
            if ast.unparse(node).startswith("vit_steps."):
                yield f"takes {node.attr} from the package instead of writing it"
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)[:60]
            for about, calls in CALLS.items():
                if called in calls or called.split("()")[0] in calls:
                    yield f"calls {called} ({about})"
            if called == "setattr" and "check" in ast.unparse(node)[:60]:
                yield "changes the checks"
        for name in _bound(node):
            if name == "check" or name.startswith("check."):
                yield "changes the checks"


def _imports(node: ast.AST) -> Iterable[tuple[str, set[str]]]:
    if isinstance(node, ast.Import):
        yield from ((alias.name, set()) for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module, {alias.name for alias in node.names}


def _bound(node: ast.AST) -> Iterable[str]:
    if isinstance(node, ast.Assign):
        yield from (ast.unparse(target) for target in node.targets)
    elif isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name


def _names_to_write(source: NotebookNode) -> set[str]:
    return {
        node.name
        for cell in source.cells
        if cell.cell_type == "code" and is_solution(cell)
        for node in ast.walk(_tree(cell.source))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


def _tree(source: str) -> ast.AST:
    try:
        return ast.parse(TransformerManager().transform_cell(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


@dataclass(frozen=True)
class Written:
    """What one student wrote, in a form that renaming does not change."""

    student: str
    code: str
    text: str


def written(student: str, nb: NotebookNode, release: NotebookNode) -> Written:
    given = {cell.source.strip() for cell in release.cells}
    own = [
        cell
        for cell in nb.cells
        if cell.source.strip() not in given
        and (is_solution(cell) or not is_grade(cell))
    ]
    code = "\n".join(_normal(c.source) for c in own if c.cell_type == "code")
    text = "\n".join(c.source for c in own if c.cell_type == "markdown")
    return Written(student, code[:20_000], " ".join(text.split())[:20_000])


def nearly_identical(everyone: list[Written]) -> list[tuple[float, str, str, str]]:
    """(percent, "code" or "text", student, student), the most alike first."""
    pairs = []
    for kind, shortest, same in (
        ("code", SHORTEST_CODE, SAME_CODE),
        ("text", SHORTEST_TEXT, SAME_TEXT),
    ):
        long = [w for w in everyone if len(getattr(w, kind)) >= shortest]
        texts = [getattr(w, kind) for w in long]
        for number, text in enumerate(texts[:-1]):
            rest = texts[number + 1 :]
            for _, score, offset in process.extract_iter(
                text, rest, scorer=fuzz.ratio, score_cutoff=same
            ):
                pairs.append(
                    (
                        score,
                        kind,
                        long[number].student,
                        long[number + 1 + offset].student,
                    )
                )
    return sorted(pairs, reverse=True)


def _normal(source: str) -> str:
    """Without comments, and with every name of the student's own called the same."""
    tree = _tree(source)
    own = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in own:
            node.id = "v"
        elif isinstance(node, ast.arg):
            node.arg = "v"
    try:
        return ast.unparse(tree)
    except (RecursionError, ValueError):
        return ""
