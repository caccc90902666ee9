"""Find code that a person should look at, without claiming that anything is wrong."""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass

from nbformat.notebooknode import NotebookNode
from nbgrader.utils import is_grade, is_solution

import vit_check
from classroom.grading.origins import Origin, Seen, Use, look
from classroom.grading.parsing import trees_of
from classroom.grading.passing import checks_named_in

ODD = {
    "the network": {"socket", "requests", "urllib", "http", "ftplib", "aiohttp"},
    "other programs": {
        *("subprocess", "ctypes", "pty", "os.system", "os.popen"),
        *("os.fork", "os.kill", "os._exit", "os.execv", "os.posix_spawn"),
    },
    "files": {
        *("builtins.open", "shutil.rmtree", "os.remove", "os.unlink", "os.listdir"),
        *("os.walk", "os.scandir"),
    },
    "Python's inner workings": {
        *("inspect", "importlib", "builtins", "sys.modules", "sys._getframe"),
        *("gc.get_objects", "gc.get_referrers", "gc.get_referents", "gc.callbacks"),
        *("__main__", "sys.settrace", "sys.setprofile", "sys.meta_path"),
        *("pkgutil", "pydoc", "runpy"),
    },
}
INNER_CALLS = {
    *("eval", "exec", "compile", "globals", "locals", "__import__"),
    *("__builtins__", "get_ipython"),
}
INNER = {
    *("__globals__", "__builtins__", "__code__", "__closure__", "__subclasses__"),
    *("__bases__", "__mro__", "__loader__", "__spec__", "__dict__", "__wrapped__"),
    *("__self__", "__func__", "__getattribute__", "__reduce__", "__defaults__"),
    *("f_globals", "f_locals", "f_back", "tb_frame", "gi_frame", "cr_frame"),
}
HARMLESS = {
    *("matplotlib", "time", "timeit", "capture", "pinfo", "pinfo2", "precision"),
    *("config", "load_ext", "autoreload", "who", "whos", "pip", "conda", "debug"),
    *("pdb", "xmode", "pwd", "cd", "ls", "html", "latex", "markdown", "history"),
    *("lsmagic", "magic", "prun", "memit", "pylab", "tensorboard"),
}
CHECKS = {"check", "vit_check"}  # names of the package: import vit_check as check
SPELLED = re.compile(r"vit_(?:steps|doctor|check)(?:\.\w+)+")
ABOUT = {"__version__", "__file__", "__name__", "__doc__"}
AIDS = ("vit_steps.data.", "vit_steps.notebook.")  # no task asks to write these
MOST, LONGEST_SENTENCE = 20, 200


@dataclass(frozen=True)
class _Set:
    """The names that an exercise set itself takes from the libraries.

    Attributes:
        needed: grade_id of a solution -> names that it uses.
        imported, used: names that any cell imports or uses.
        answers: name that a test uses -> grade_id of the solution that defines it.
        tasks: names that students have to write, in one spelling.
    """

    needed: dict[str, set[str]]
    imported: set[str]
    used: set[str]
    answers: dict[str, str]
    tasks: set[str]


def odd_source(nb: NotebookNode, source: NotebookNode) -> list[str]:
    """Return sentences about unusual code in the cells that the student wrote.

    Args:
        source: the exercise set with its solutions. A name that a solution takes from a
            library is not odd in a student's answer to the same task.
    """
    given = {cell.source.strip() for cell in source.cells}
    cells = [(n, c) for n, c in enumerate(nb.cells, 1) if c.cell_type == "code"]
    own = [
        cell.source.strip() not in given and (is_solution(cell) or not is_grade(cell))
        for _, cell in cells
    ]
    seen = look(zip(trees_of(cell.source for _, cell in cells), own, strict=True))
    of_set = _look_at_set(source)
    found: dict[str, None] = {}
    begun: set[str] = set()  # tasks whose cell has been passed
    for (number, cell), mine, one in zip(cells, own, seen, strict=True):
        begun.add(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
        if one is None:
            found[f"Cell {number} is too long or too complex to be checked."] = None
        elif mine:
            for sentence in [*_odd_in(one), *_taken_in(one, cell, of_set, begun)]:
                found[f"Cell {number} {sentence[:LONGEST_SENTENCE]}."] = None
    return list(found)[:MOST]


def _odd_in(seen: Seen) -> Iterable[str]:
    for use in seen.uses:
        verb = {"import": "imports", "called": "calls"}.get(use.role, "uses")
        for about, name in _odd_names(use.origin):
            yield f"{verb} {name} ({about})"
        if use.origin.root == "vit_check" and not _is_allowed(use):
            changes = use.role in ("setattr", "delattr")
            reaches = f"reaches into the checks ({use.origin.path})"
            yield "changes the checks" if changes else reaches
    for change in seen.changes:
        of_checks = any(origin.root == "vit_check" for origin in change.of)
        named, part = change.code in CHECKS, change.code != change.name
        if (named or (part and of_checks)) and change.value != {Origin("vit_check")}:
            yield "changes the checks"
    for name in sorted(INNER & (seen.attributes | seen.strings)):
        yield f"uses {name} (Python's inner workings)"
    for name in sorted(seen.magics - HARMLESS):
        yield f"uses the magic {name[:40]}"
    for string in sorted(seen.strings):
        if SPELLED.fullmatch(string):
            yield f"names {string[:60]} in a string"


def _odd_names(origin: Origin) -> Iterable[tuple[str, str]]:
    """Yield what is odd about an origin, also within a path: ``torch.os.system``."""
    parts = origin.path.split(".")
    for start in range(len(parts)):
        for end in range(start + 1, len(parts) + 1):
            path = ".".join(parts[start:end])
            for about, names in ODD.items():
                if path in names and path != "builtins":
                    yield about, path.removeprefix("builtins.")
    if parts[0] == "builtins" and {*parts[1:2]} & INNER_CALLS:
        yield "Python's inner workings", parts[1]


def _is_allowed(use: Use) -> bool:
    """Return whether a check is imported or called as the exercises do it."""
    path, role = use.origin.path, use.role
    if path == "vit_check":
        return role in ("import", "help", "dir")
    name = path.removeprefix("vit_check.")
    if name in ("CheckFailed", "Misused"):
        return role != "import"
    return name in vit_check.__all__ and role in ("import", "called", "help")


def _taken_in(
    seen: Seen, cell: NotebookNode, of_set: _Set, begun: set[str]
) -> Iterable[str]:
    """Yield what comes from a library though the set's own cells do without it."""
    task = cell.metadata.get("nbgrader", {}).get("grade_id", "")
    if is_solution(cell):
        allowed = of_set.needed.get(task, set())
        reference = "the solution of this task"
    else:
        allowed = of_set.used
        reference = "this exercise set"
    taken, imported = set(), set()
    for use in seen.uses:
        library, name = _library(use.origin)
        if use.role == "import":
            allowed_here = allowed | of_set.imported
            imported.add(use.origin)
        elif use.origin.made and not use.depth:
            continue  # running a library's model is not handing it in
        else:
            allowed_here = allowed
        if name == "*":
            yield f"takes everything from {library}"
        elif name and name not in allowed_here:
            taken.add(name)
            if _spelling(name) in of_set.tasks:
                yield f"takes {name} from {library} instead of writing it"
            else:
                place = f" from {library}" if library else ""
                yield f"uses {name}{place}, which {reference} does not"
        elif library and not name and use.role not in ("import", "read", "called"):
            if use.role not in ("help", "dir"):
                yield f"hands all of {library} to {use.role[:40]}"
        elif name and use.role == "setattr":
            yield f"hands {name} from {library} to setattr"
    for change in seen.changes:
        answer = of_set.answers.get(change.name)
        allowed = of_set.needed.get(answer, set()) if answer else of_set.used
        for origin in sorted(change.value, key=lambda origin: origin.path):
            library, name = _library(origin)
            if library and not name and change.code != change.name:
                yield f"hands all of {library} to {change.code}"
            if not name or name in taken:
                continue
            if answer not in begun and origin in imported and name in of_set.imported:
                continue  # the set imports it too, above the task
            part = change.code != change.name and not origin.made
            if name not in allowed if answer else part:
                yield f"makes {change.code} of {name} from {library}"


def _library(origin: Origin) -> tuple[str, str]:
    """Return the package and the name taken from it, "" for the whole package.

    For models of other libraries, the package is "" and the name is that of the
    library.
    """
    if origin.root in ("vit_steps", "vit_doctor"):
        aid = origin.path.startswith(AIDS) and origin.name != "*"
        aid = aid or origin.name in ABOUT
        return ("", "") if aid else (origin.root, origin.name)
    for other in ("timm", "transformers", "torchvision.models"):
        if f"{origin.path}.".startswith(f"{other}."):
            return "", other
    return "", ""


def _look_at_set(source: NotebookNode) -> _Set:
    cells = [cell for cell in source.cells if cell.cell_type == "code"]
    trees = list(trees_of(cell.source for cell in cells))
    of_set = _Set({}, set(), set(), {}, set())
    tested = {
        node.id
        for cell, tree in zip(cells, trees, strict=True)
        if is_grade(cell)
        for node in (ast.walk(tree) if tree else ())
        if isinstance(node, ast.Name)
    }
    for cell, seen in zip(cells, look((t, False) for t in trees), strict=True):
        assert seen is not None, "an exercise set is not too much"
        names = [(_library(use.origin)[1], use.role) for use in seen.uses]
        used = {name for name, role in names if role != "import"}
        of_set.imported.update(name for name, role in names if role == "import")
        of_set.used.update(used)
        if is_solution(cell):
            task = cell.metadata.nbgrader["grade_id"]
            of_set.needed[task] = used | {name for name, _ in names}
            made = {change.name for change in seen.changes} & tested
            of_set.answers.update(dict.fromkeys(made, task))
            of_set.tasks.update(map(_spelling, made))
        if is_grade(cell):
            of_set.tasks.update(map(_spelling, checks_named_in(cell.source)))
    return of_set


def _spelling(name: str) -> str:
    """Return one spelling for ``MultiHeadAttention`` and ``multi_head_attention``."""
    return name.replace("_", "").lower()
