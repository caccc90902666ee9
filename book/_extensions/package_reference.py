"""Make the package's reference pages: tables of a module's contents, and arguments.

The directive ``module-contents`` makes a table of the functions and classes of the
modules that its page describes, or of those that another page describes, whose name it
is given::

    .. module-contents:: package/model

Each has a link to its description and the first sentence of it. Functions that are
named in no notebook, no page and no interface of the package are left out, as are the
commands, which have a page of their own. On the page that lists everything, a row also
carries the anchor of its function or class: the package once had a single page, and old
links to it lead to the row.
"""

import ast
import inspect
import json
import re
from contextlib import suppress
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from posixpath import dirname, join
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.ext.autosummary import Autosummary

ROOT = Path(__file__).resolve().parents[2]
LIST_OF_ALL = "book/package"
FIRST, BEFORE_NAPOLEON, AFTER_NAPOLEON = 300, 400, 600
# The package's docstrings give these in one line; napoleon expects a heading.
SHAPE = re.compile(r"^Shape: ")
RAISES = re.compile(r"^Raises: ([A-Z]\w+(?:, [A-Z]\w+)*)[:,]? ")
# A field of a dataclass, and the comment beside it.
FIELD = re.compile(r"^    (\w+): [^#\n]+?  # (.+)$", re.MULTILINE)
NAME_IN_A_SENTENCE = re.compile(r"`(?:[\w.]+\.)?(\w+)(?:\([^`]*\))?`")
DESCRIBED = re.compile(r"^\.\. automodule:: (\S+)", re.MULTILINE)
COMMAND, CHECKS = "main", "check_"
# "D." at the start of a text would open a list numbered with letters
LETTER = re.compile(r"^(\s*(?::[^:]+:\s+)?[A-Za-z])\.(?=\s|$)")


@cache
def named_to_readers() -> set[str]:
    """Return the names that a reader meets: in notebooks, pages and interfaces.

    From code these are definitions, imports and attributes; from prose the names that
    are set as code.
    """
    pages = [p.read_text("utf-8") for p in (ROOT / "book").rglob("*.md")]
    code = [p.read_text("utf-8") for p in ROOT.glob("vit_*/**/__init__.py")]
    for path in (ROOT / "notebooks").rglob("*.ipynb"):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            texts = code if cell["cell_type"] == "code" else pages
            texts.append("".join(cell["source"]))
    named = {name for text in pages for name in NAME_IN_A_SENTENCE.findall(text)}
    for text in code:
        with suppress(SyntaxError):  # a cell with a magic is not Python
            named |= {
                name for node in ast.walk(ast.parse(text)) for name in names(node)
            }
    return named


def names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    if isinstance(node, ast.Attribute):
        return [node.attr]
    if isinstance(node, ast.ImportFrom):
        return [one.name for one in node.names]
    return []


def is_inner(thing: Any) -> bool:
    """Return whether a function is internal, checks arguments, or is a command."""
    if not inspect.isfunction(thing):
        return False
    name = thing.__name__
    return name == COMMAND or name.startswith(CHECKS) or name not in named_to_readers()


def public_names(module: str) -> list[str]:
    """Return the documented names that a module defines, in the order of the source."""
    of_it = import_module(module)
    return [
        f"{module}.{name}"
        for name, thing in vars(of_it).items()
        if not name.startswith("_")
        and getattr(thing, "__module__", None) == module
        and (inspect.isclass(thing) or callable(thing))
        and inspect.getdoc(thing)
        and not is_inner(thing)
    ]


class ModuleContents(Autosummary):
    """The directive ``module-contents``, with the name of another page or without."""

    option_spec = {}  # noqa: RUF012
    optional_arguments = 1
    has_content = False

    def run(self) -> list[nodes.Node]:
        here = self.env.docname
        page = join(dirname(here), *self.arguments) if self.arguments else here
        source = Path(self.env.doc2path(page))
        self.env.note_dependency(str(source))
        modules = DESCRIBED.findall(source.read_text("utf-8"))
        names = [f"~{name}" for m in modules for name in public_names(m)]
        self.content = StringList(names, source=here)
        self.options = {"nosignatures": True}
        table = super().run()
        if here != LIST_OF_ALL:
            return table
        return [nodes.container("", *table, ids=[f"module-{m}" for m in modules])]

    def get_table(self, items: list[tuple[str, str, str, str]]) -> list[nodes.Node]:
        columns, table = super().get_table(items)
        rows = table.findall(nodes.row)
        for row, (_, _, _, name) in zip(rows, items, strict=True):
            next(row.findall(nodes.paragraph))["named"] = name
        return [columns, table]


def keep_the_anchors(app: Sphinx, document: nodes.document, page: str) -> None:
    if page != LIST_OF_ALL:
        return
    known = [name for name, _, kind, *_ in app.env.domains["py"].get_objects()]
    for entry in document.findall(nodes.paragraph):
        if name := entry.get("named"):
            entry["ids"] += [n for n in known if f"{n}.".startswith(f"{name}.")]


def leave_out_inner(
    app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any
) -> bool | None:
    return True if what == "module" and is_inner(thing) else None


def describe_fields(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Turn the comments beside the fields of a dataclass into its ``Args:``."""
    described = inspect.isclass(thing) and is_dataclass(thing)
    fields = FIELD.findall(inspect.getsource(thing)) if described else []
    if fields:
        others = (i for i, line in enumerate(lines) if re.match("Shape:|Raises:", line))
        at = next(others, len(lines))
        arguments = [f"    {field}: {words}" for field, words in fields]
        lines[at:at] = ["Args:", *arguments, ""]


def open_lines(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Turn ``Shape: …`` and ``Raises: ValueError if …`` into sections.

    Indented lines that follow ``Raises:`` belong to its section.
    """
    opened = []
    raises = False
    for line in lines:
        raises = raises and line.startswith(" ")
        if found := RAISES.match(line):
            opened += ["Raises:", f"    {found[1]}: {line[found.end() :]}"]
            raises = True
        elif found := SHAPE.match(line):
            opened += ["Shape:", f"    {line[found.end() :]}"]
        else:
            opened.append(f"    {line}" if raises else line)
    lines[:] = opened


def escape_letters(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    lines[:] = [LETTER.sub(r"\1\\.", line) for line in lines]


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("sphinx.ext.autosummary")
    app.add_directive("module-contents", ModuleContents)
    app.connect("autodoc-skip-member", leave_out_inner)
    app.connect("autodoc-process-docstring", describe_fields, priority=FIRST)
    app.connect("autodoc-process-docstring", open_lines, priority=BEFORE_NAPOLEON)
    app.connect("autodoc-process-docstring", escape_letters, priority=AFTER_NAPOLEON)
    app.connect("doctree-resolved", keep_the_anchors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
