"""The right answers that are mutated: solutions of exercises, references of checks."""

import ast
import contextlib
import copy
import functools
import hashlib
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

import vit_check as check
import vit_steps
from vit_check.engine.modules import ModuleCheck
from vit_check.engine.table import source_of
from vit_steps import variants

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ROOT / "classroom" / "source"
CHECKS = ROOT / "vit_check"
ENGINE = CHECKS / "engine"

MADE = "<mutant>"  # the file name of code that is compiled here

# All checks use the first two files. The others, with wording and time limits, cannot
# decide whether a wrong answer passes.
EVERYWHERE = (ENGINE / "functions.py", ENGINE / "modules.py")
UNCONCERNED = {ENGINE / f"{name}.py" for name in ("asking", "verdict", "watching")}


@dataclass
class Target:
    """The source code of a right answer.

    ``source`` is the part that is changed, ``before`` runs before it, and ``answer`` is
    an expression for the object that is then given to ``check``.
    """

    check: str
    where: str
    source: str
    answer: str
    before: str = ""
    globals: dict = field(default_factory=dict)

    @property
    def name(self):
        return f"{self.check} of {self.where}"

    def built(self, source):
        """Return the answer that this source defines."""
        space = {"__name__": "answers", **self.globals}
        exec(compile(f"{self.before}\n{source}", MADE, "exec"), space)
        return eval(self.answer, space)

    @property
    def of_package(self):
        return not self.where.startswith("classroom/")

    def fingerprint(self):
        """Return a digest of the answer's code and of the code that judges it."""
        whole = "\n".join([self.before, self.source, self.answer])
        return hashlib.sha256(
            (_without_docstrings(whole) + _code_of_check(self.check)).encode()
        ).hexdigest()[:16]

    def whole_check(self):
        """Return the check, in the form for this kind of answer."""
        return check.CHECKS[self.check].form_for(self.built(self.source))

    def quick_check(self):
        """Return the check without its known mistakes; it refuses the same answers.

        The package may call what a task forbids, so that is allowed here.
        """
        quick = copy.copy(self.whole_check())
        quick.mistakes = []
        quick.without = ()
        return quick


@functools.cache
def _code_of_check(name):
    """Return the code that judges, without its texts.

    It is made of the check's own file, of the files of the checks that this one
    imports, and of those that every check uses.
    """
    (own,) = CHECKS.glob(f"chapters/*/{name}.py")
    head = getattr(check.CHECKS[name], "head", None)
    ahead, files = [*EVERYWHERE, own], set()
    while ahead:
        file = ahead.pop()
        if file not in files and file not in UNCONCERNED:
            files.add(file)
            ahead += _imports(file)
    cases = [] if head is None else head.cases
    return "\n".join([*cases, *map(_without_words, sorted(files))])


@functools.cache
def _imports(path):
    """Return the files of the checks that a file imports."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        module = str(getattr(node, "module", ""))
        if module.startswith("vit_check"):
            place = ROOT / module.replace(".", "/")
            names = [name.name for name in node.names] if place.is_dir() else [""]
            found += [(place / name).with_suffix(".py") for name in names]
    return found


@functools.cache
def _without_words(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if " " in node.value:
                node.value = ""
        elif isinstance(node, ast.JoinedStr):
            node.values = []
    return ast.unparse(tree)


def _without_docstrings(source):
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            node.body[0].value.value = ""
        elif isinstance(node, ast.JoinedStr):  # unparsed differently by each Python
            node.values = []
    return ast.unparse(tree)


def targets() -> list[Target]:
    """Return everything that can be mutated, in a fixed order."""
    found = [*_solutions(), *_references()]
    names = [target.name for target in found]
    assert len(set(names)) == len(names), "two targets of one name"
    return found


def _solutions() -> Iterator[Target]:
    for path in sorted(SOURCES.glob("*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        yield from _solutions_of(path, [c for c in cells if c.cell_type == "code"])


def _solutions_of(path, cells):
    where = path.relative_to(ROOT).as_posix()
    asked = [
        (place, cell.metadata.nbgrader.grade_id, name, answer)
        for place, cell in enumerate(cells)
        if cell.metadata.get("nbgrader", {}).get("grade")
        for name, answer in _checked_in(cell.source)
    ]
    answered = {name for *_, answer in asked for name in _names(answer)}
    for number, (place, cell, name, answer) in enumerate(asked):
        earlier = cells[:place]
        given = [n for c in earlier if not _is_solution(c) for n in _definitions(c)]
        solved = [n for c in earlier if _is_solution(c) for n in _definitions(c)]
        mine = _needed(_names(answer), solved, answered)
        rest = [node for node in solved if node not in mine]
        again = any(earlier == name for _, _, earlier, _ in asked[:number])
        yield Target(
            name,
            f"{where}, {cell}" if again else where,
            _text(mine),
            ast.unparse(answer),
            before=_text([*given, *rest]),
        )


def _is_solution(cell):
    return cell.metadata.get("nbgrader", {}).get("solution", False)


def _checked_in(source):
    """Yield the checks of functions and classes in a cell, each with its argument."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            of = node.func.value
            if isinstance(of, ast.Name) and of.id == "check":
                if node.func.attr in check.CHECKS:
                    yield node.func.attr, node.args[0]
                elif node.func.attr == "answers":
                    yield from (
                        (k.arg, k.value) for k in node.keywords if k.arg in check.CHECKS
                    )


def _definitions(cell):
    """Yield the definitions of a cell that other cells can use."""
    lines = [x for x in cell.source.splitlines() if not x.startswith(("%", "!"))]
    for node in ast.parse("\n".join(lines)).body:
        if isinstance(
            node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
        ):
            yield node
        elif isinstance(node, ast.Assign) and _is_plain(node.value):
            yield node


def _is_plain(value):
    with contextlib.suppress(ValueError):
        ast.literal_eval(value)
        return True
    return False


def _names(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _needed(names, nodes, answered):
    """Return the definitions of names, except those that have a check of their own."""
    latest = {
        node.name: node
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    found, ahead = [], list(names)
    while ahead:
        node = latest.get(ahead.pop())
        if node is not None and node not in found:
            found.append(node)
            ahead += _names(node) - answered
    return [node for node in nodes if node in found]


def _text(nodes):
    return "\n\n".join(ast.unparse(node) for node in nodes)


def _references() -> Iterator[Target]:
    for name, found in check.CHECKS.items():
        if isinstance(found, ModuleCheck):
            own = _package_class(name)
            if own is not None:
                yield _taken(name, own)
            found = found.function
        # One that gives a module's weights to its class has no source to change.
        if found is not None and "<locals>" not in found.reference.__qualname__:
            yield _taken(name, found.reference)


def _package_class(name) -> type | None:
    """Return the package's class for a check, or None.

    For multi_head_attention it is MultiHeadAttention.
    """
    for place in (vit_steps, variants):
        for known in vars(place):
            if known.lower() == name.replace("_", ""):
                thing = getattr(place, known)
                if inspect.isclass(thing):
                    return thing
    return None


def _taken(name, thing):
    return Target(
        name,
        f"{thing.__module__}.{thing.__qualname__}",
        source_of(thing),
        thing.__name__,
        globals=dict(vars(sys.modules[thing.__module__])),
    )
