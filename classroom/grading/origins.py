"""Find where the names in a notebook's code come from, through imports and aliases.

No code is run. A name is assumed to come from every name in the statement that binds
it, so origins may be found that it does not have. The value that a function returns is
not followed.
"""

import ast
import builtins
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import vit_doctor
import vit_steps
from classroom.grading.parsing import Reader

MOST_STRINGS = 50  # strings of code in one cell
MOST_STEPS = 20  # for each node of a cell's tree; honest work takes three
LONGEST_PATH = 200
DEEPEST = 8  # attributes in a row that are kept
OPTIONS = re.compile(r"(\s*-\w+(\s+\d+)?)*\s*")  # of a magic
TIMING = {"time", "timeit", "capture", "prun", "memit"}  # magics that run code
INSTALL = re.compile(r"(python3? -m )?(pip3?|conda) install [\w\s.,<>=~\[\]+-]*")
BUILTINS = {*dir(builtins), "__builtins__", "get_ipython"}
COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
MODULES = {
    ".".join(file.relative_to(folder.parent).with_suffix("").parts).removesuffix(
        ".__init__"
    )
    for folder in (Path(vit_steps.__file__).parent, Path(vit_doctor.__file__).parent)
    for file in folder.rglob("*.py")
}


class _TooMuch(Exception):
    pass


class Origin(NamedTuple):
    """An object that is imported, or built into Python.

    Attributes:
        path: ``vit_steps.attention.MultiHeadAttention``, ``builtins.eval``; with ``*``
            for a part that is known only at run time.
        made: whether it is an instance of that class rather than the class itself.
    """

    path: str
    made: bool = False

    @property
    def root(self) -> str:
        return self.path.partition(".")[0]

    @property
    def name(self) -> str:
        """The name taken from a package, without its modules; "" for a module."""
        parts = self.path.split(".")
        for number, part in enumerate(parts[1:], 2):
            if ".".join(parts[:number]) not in MODULES:
                return part
        return ""


Origins = frozenset[Origin]
NOTHING: Origins = frozenset()


class Use(NamedTuple):
    """A name, or a chain of attributes, that is read."""

    origin: Origin
    role: str  # "import", "read", "called", or the function that has it as an argument
    depth: int  # number of functions and classes around it, whose code may run later


class Change(NamedTuple):
    """A name, attribute or item that is assigned or deleted, except local variables."""

    code: str  # the name, attribute or item as it is written
    name: str  # the name, or the first one of the chain
    of: Origins  # of the object that is changed
    value: Origins  # of the value that it gets


@dataclass
class Seen:
    """The uses, changes, attributes, strings and magics of one cell."""

    uses: list[Use] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    attributes: set[str] = field(default_factory=set)
    strings: set[str] = field(default_factory=set)
    magics: set[str] = field(default_factory=set)


def look(cells: Iterable[tuple[ast.Module | None, bool]]) -> list[Seen | None]:
    """Return what each cell does, in their order; None for a cell that is too complex.

    Args:
        cells: the tree of each cell, and whether the student wrote it.
    """
    notebook, cells = _Notebook(), list(cells)
    for _ in range(2):  # a function may use an alias that is defined below it
        seen = [notebook.run(tree, own) if tree else None for tree, own in cells]
    return seen


class _Notebook:
    """Follow names from cell to cell."""

    def __init__(self) -> None:
        self.known: dict[str, Origins] = {}
        self.later: dict[str, Origins] = {}  # from all of the student's cells together
        self.reader = Reader()

    def run(self, tree: ast.Module, own: bool) -> Seen | None:
        self.seen, self.own = Seen(), own
        self.scopes: list[dict[str, Origins]] = []  # of functions, innermost first
        self.depth = self.calls = 0
        self.member = ""  # name of the class around it
        self.strings: list[str] = []  # code in strings, visited after the cell
        self.steps = 0
        trees: list[ast.Module | None] = [tree]
        try:
            for part in trees:
                if part is None or len(trees) > MOST_STRINGS:
                    return None
                self.steps += MOST_STEPS * sum(1 for _ in ast.walk(part))
                self._block(part.body)
                trees += map(self.reader.tree_of, self.strings)
                self.strings.clear()
        except (RecursionError, _TooMuch):
            return None
        return self.seen

    def _spend(self, steps: int) -> None:
        self.steps -= steps
        if self.steps < 0:
            raise _TooMuch

    # statements

    def _block(self, body: Iterable[ast.stmt]) -> None:
        for node in body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._import(node)
            elif isinstance(node, DEFINITIONS):
                value = self._value([node])
                self._bind(ast.Name(node.name), NOTHING if self.member else value)
            else:
                reads, targets, inner = _parts(node)
                value = self._value(reads)
                for target in targets:
                    self._bind(target, value)
                self._block(inner)

    def _value(self, nodes: list[ast.AST]) -> Origins:
        """Visit the nodes, and return the origins of a name bound to their value."""
        start, before = len(self.seen.uses), self.calls
        for node in nodes:
            self._visit(node)
        calls = self.calls > before
        found = set()
        for use in self.seen.uses[start:]:
            origin, called = use.origin, use.role == "called"
            if use.depth > self.depth or not (called or (calls and origin.made)):
                found.add(origin)
            elif called and origin.name[:1].isupper() and not origin.made:
                found.add(Origin(origin.path, made=True))
        return frozenset(found)

    def _bind(self, target: ast.AST, value: Origins) -> None:
        self._spend(1 + len(value))
        if isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._bind(part, value)
        elif isinstance(target, ast.Starred):
            self._bind(target.value, value)
        elif isinstance(target, ast.Name):
            scope = next((s for s in self.scopes if target.id in s), None)
            if scope is None:
                of = self.known.get(target.id, NOTHING)
                self._change(target.id, target.id, of, value)
                self._remember(target.id, value)
            else:
                scope[target.id] = value
                if self.member and scope is self.scopes[0]:
                    code = f"{self.member}.{target.id}"
                    self._change(code, self.member, NOTHING, value)
        elif isinstance(target, ast.Attribute | ast.Subscript):
            self._bind_part(target, value)

    def _bind_part(self, target: ast.Attribute | ast.Subscript, value: Origins) -> None:
        of, before = self._chain(target.value), len(self.seen.uses)
        for child in ast.iter_child_nodes(target):
            self._visit(child)
        self.seen.uses[before:] = [  # assigning to an attribute is not reading it
            use for use in self.seen.uses[before:] if use.origin not in of
        ]
        code = _spelled(target)
        name = re.split(r"\W", code)[0]
        self._change(code, name, of, value)
        if not any(name in scope for scope in self.scopes):
            self._remember(name, self.known.get(name, NOTHING) | value)

    def _change(self, code: str, name: str, of: Origins, value: Origins) -> None:
        self.seen.changes.append(Change(code, name, of, value))

    def _remember(self, name: str, value: Origins) -> None:
        self.known[name] = value
        if self.own:
            self._spend(len(self.later.get(name, NOTHING)))
            self.later[name] = self.later.get(name, NOTHING) | value

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                origin = bound = _origin(f"{node.module}.{alias.name}")
                name = alias.asname or alias.name
            else:
                origin = _origin(alias.name)
                bound = origin if alias.asname else Origin(origin.root)
                name = alias.asname or origin.root
            self.seen.uses.append(Use(origin, "import", self.depth))
            self._bind(ast.Name(name), frozenset({bound}))

    # expressions

    def _visit(self, node: ast.AST, role: str = "read") -> None:
        self._spend(1)
        if isinstance(node, FUNCTIONS):
            self._function(node)
        elif isinstance(node, ast.ClassDef):
            self._class(node)
        elif isinstance(node, COMPREHENSIONS):
            self._comprehension(node)
        elif isinstance(node, ast.NamedExpr):
            self._bind(node.target, self._value([node.value]))
        elif isinstance(node, ast.Call):
            self._call(node, role)
        elif isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            self._read(node, role)
        elif isinstance(node, ast.Compare) and _asks_whether_defined(node):
            self._visit(node.left)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            self.seen.strings.add(node.value)
        else:
            for child in ast.iter_child_nodes(node):
                self._visit(child, role)

    def _read(self, node: ast.expr, role: str) -> None:
        self._note(node, role)
        while isinstance(node, ast.Attribute):
            self.seen.attributes.add(node.attr)
            node = node.value
        if isinstance(node, ast.Subscript):
            self._visit(node.value)
            self._visit(node.slice)
        elif not isinstance(node, ast.Name):
            self._visit(node)

    def _note(self, node: ast.expr, role: str) -> None:
        for origin in self._chain(node):
            self.seen.uses.append(Use(origin, role, self.depth))

    def _call(self, node: ast.Call, role: str) -> None:
        self.calls += 1
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        if self._chain(node):
            self._note(node, role)
            arguments = arguments[1:]
        if isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_magic"):
            self._magic(node.args)
            return
        if _installs(node):
            self.seen.magics.add("pip")
            return
        self._visit(node.func, "called")
        paths = {origin.path for origin in self._chain(node.func)}
        called = min(paths, default=_spelled(node.func)).removeprefix("builtins.")
        for argument in arguments:
            if called != "str" or not _asks_for_the_shell(argument):
                self._visit(argument, called)
        if paths & {"builtins.eval", "builtins.exec", "builtins.compile"}:
            self.strings += filter(None, map(_text, node.args[:1]))

    def _magic(self, arguments: list[ast.expr]) -> None:
        name, *given = map(_text, arguments) if arguments else [""]
        self.seen.magics.add(name)
        if name in TIMING:
            self.strings += [OPTIONS.sub("", text, count=1) for text in given[-1:]]

    def _function(self, node: FUNCTIONS) -> None:
        given = node.args
        named = [*given.posonlyargs, *given.args]
        defaults = [
            *zip(named[::-1], given.defaults[::-1], strict=False),
            *zip(given.kwonlyargs, given.kw_defaults, strict=True),
        ]
        named += [*given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
        body: Iterable[ast.stmt]
        body = [ast.Expr(node.body)] if isinstance(node, ast.Lambda) else node.body
        own = dict.fromkeys(_own_names(body) | {n.arg for n in named}, NOTHING)
        for decorator in getattr(node, "decorator_list", []):
            self._visit(decorator)
        for argument, default in defaults:
            if default:
                own[argument.arg] = self._value([default])
        self._within(own, body)

    def _class(self, node: ast.ClassDef) -> None:
        for outside in [*node.decorator_list, *node.bases, *node.keywords]:
            self._visit(outside)
        own = {name: self._find(name) for name in _own_names(node.body)}
        self._within(own, node.body, node.name)

    def _within(
        self, own: dict[str, Origins], body: Iterable[ast.stmt], member: str = ""
    ) -> None:
        """Visit the body of a function or class; methods do not see a class's names."""
        before = self.scopes, self.depth, self.member
        around = self.scopes[1:] if self.member else self.scopes
        self.scopes, self.depth, self.member = [own, *around], self.depth + 1, member
        self._spend(len(self.scopes))
        self._block(body)
        self.scopes, self.depth, self.member = before

    def _comprehension(self, node: COMPREHENSIONS) -> None:
        own = dict.fromkeys(_own_names(g.target for g in node.generators), NOTHING)
        before = self.scopes, self.member
        for generator in node.generators:
            value = self._value([generator.iter])
            if generator is node.generators[0]:
                self.scopes, self.member = [own, *self.scopes], ""
            self._bind(generator.target, value)
        for child in ast.iter_child_nodes(node):
            for part in getattr(child, "ifs", [child]):
                self._visit(part)
        self.scopes, self.member = before

    # origins

    def _chain(self, node: ast.AST) -> Origins:
        found = self._origins(node)
        self._spend(1 + len(found))
        return found

    def _origins(self, node: ast.AST) -> Origins:
        if isinstance(node, ast.Name):
            return self._find(node.id)
        if isinstance(node, ast.Attribute):
            return _parts_of(self._chain(node.value), node.attr)
        if isinstance(node, ast.Subscript):
            return self._item(node.value, _text(node.slice) or "*")
        if not isinstance(node, ast.Call):
            return NOTHING
        of = self._chain(node.func)
        called = {origin.path for origin in of}
        first, second = [*node.args, None, None][:2]
        if first and second and "builtins.getattr" in called:
            return _parts_of(self._chain(first), _text(second) or "*")
        if first and "builtins.vars" in called:
            return _parts_of(self._chain(first), "__dict__")
        imports = {"builtins.__import__", "importlib.import_module"}
        if first and called & imports and _text(first):
            return frozenset({_origin(_text(first))})
        return frozenset(o for o in of if o.path in MODULES)  # returned by a function

    def _item(self, of: ast.expr, key: str) -> Origins:
        found = set()
        for origin in self._chain(of):
            if origin.path == "sys.modules":
                found.add(_origin(key))
            elif origin.path.endswith(".__dict__"):
                path = origin.path.removesuffix("__dict__") + key
                found.add(_origin(path, origin.made))
            else:
                found.add(origin)
        if isinstance(of, ast.Call) and isinstance(of.func, ast.Name):
            if of.func.id in ("globals", "locals", "vars") and not of.args:
                found |= self._find(key)
        return frozenset(found)

    def _find(self, name: str) -> Origins:
        for scope in self.scopes:
            if name in scope:
                return scope[name]
        found = self.known.get(name)
        if self.depth and name in self.later:
            found = (found or NOTHING) | self.later[name]
        if found is None and name in BUILTINS:
            return frozenset({Origin(f"builtins.{name}")})
        return found or NOTHING


def _origin(path: str, made: bool = False) -> Origin:
    parts = path[:LONGEST_PATH].split(".")
    return Origin(".".join(parts[: DEEPEST + 1]), made)


def _parts_of(origins: Origins, name: str) -> Origins:
    return frozenset(_origin(f"{o.path}.{name}", o.made) for o in origins)


def _text(node: ast.AST) -> str:
    """Return the string of a constant, or "" for any other node."""
    value = node.value if isinstance(node, ast.Constant) else ""
    return value if isinstance(value, str) else ""


def _asks_whether_defined(node: ast.Compare) -> bool:
    """Return whether this is a harmless test such as ``"x" in globals()``."""
    (*_, of), (*_, how) = node.comparators, node.ops
    is_in = len(node.ops) == 1 and isinstance(how, ast.In | ast.NotIn)
    return is_in and _spelled(of) in ("globals()", "locals()", "sys.modules")


def _asks_for_the_shell(node: ast.expr) -> bool:
    """Return whether this is a call of ``get_ipython()``."""
    return isinstance(node, ast.Call) and _spelled(node) == "get_ipython()"


def _installs(node: ast.Call) -> bool:
    """Return whether this is ``!pip install`` of some packages and does no more."""
    text = _text(node.args[0]) if len(node.args) == 1 else ""
    return bool(INSTALL.fullmatch(text)) and _spelled(node.func).endswith(".system")


def _spelled(node: ast.AST) -> str:
    """Return ``a.b[…].c`` for ``a.b[0].c``, without a start that is not a name."""
    words: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        if isinstance(node, ast.Attribute):
            words.append(f".{node.attr}")
        else:
            words.append("[…]" if isinstance(node, ast.Subscript) else "()")
        node = node.func if isinstance(node, ast.Call) else node.value
    start = node.id if isinstance(node, ast.Name) else ""
    return "".join([start, *words[: -DEEPEST - 1 : -1]])[:LONGEST_PATH]


def _parts(node: ast.AST) -> tuple[list[ast.AST], list[ast.AST], list[ast.stmt]]:
    """Return what a statement reads, what it binds, and the statements inside it."""
    reads: list[ast.AST] = []
    targets: list[ast.AST] = []
    body: list[ast.stmt] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            body.append(child)
        elif isinstance(child, ast.withitem | ast.ExceptHandler | ast.match_case):
            for parts, more in zip((reads, targets, body), _parts(child), strict=True):
                parts += more  # type: ignore[operator]
        elif isinstance(child, ast.pattern):
            names = [getattr(part, "name", None) for part in ast.walk(child)]
            targets += [ast.Name(name) for name in names if name]
        elif isinstance(getattr(child, "ctx", None), ast.Store | ast.Del):
            targets.append(child)
        else:
            reads.append(child)
    return reads, targets, body


def _own_names(body: Iterable[ast.AST]) -> set[str]:
    """Return the local variables of a function with this body."""
    found, elsewhere, waiting = set(), set(), list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            elsewhere |= {*node.names}
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = (alias.asname or alias.name for alias in node.names)
            found |= {name.partition(".")[0] for name in names}
        elif isinstance(node, DEFINITIONS):
            found.add(node.name)
        elif not isinstance(node, COMPREHENSIONS | ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return found - elsewhere
