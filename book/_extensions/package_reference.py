"""The package's pages: tables of what a module has, and arguments as they are meant.

``module-contents`` makes a table of functions and classes, each with a link to its
description and the first sentence of it. On the page that lists everything, a row also
keeps the anchors of what it names. The package once had a single page, and an address
from then leads to the row.
"""

import inspect
import re
from importlib import import_module
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.ext.autosummary import Autosummary

LIST_OF_ALL = "book/package"
AFTER_NAPOLEON = 600
# "D." where a text begins would open a list that counts with letters
LETTER = re.compile(r"^(\s*(?::[^:]+:\s+)?[A-Za-z])\.(?=\s|$)")


def public_names(module: str) -> list[str]:
    """What a module defines and describes, in its own order."""
    of_it = import_module(module)
    return [
        f"{module}.{name}"
        for name, thing in vars(of_it).items()
        if not name.startswith("_")
        and getattr(thing, "__module__", None) == module
        and (inspect.isclass(thing) or callable(thing))
        and inspect.getdoc(thing)
    ]


class ModuleContents(Autosummary):
    """``module-contents`` with a module a line."""

    option_spec = {}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        given = self.content  # type: ignore[has-type] # no types there
        modules = [line.strip() for line in given if line.strip()]
        names = [f"~{name}" for m in modules for name in public_names(m)]
        self.content = StringList(names, source=self.env.docname)
        self.options = {"nosignatures": True}
        table = super().run()
        if self.env.docname != LIST_OF_ALL:
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


def escape_letters(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    lines[:] = [LETTER.sub(r"\1\\.", line) for line in lines]


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("sphinx.ext.autosummary")
    app.add_directive("module-contents", ModuleContents)
    app.connect("autodoc-process-docstring", escape_letters, priority=AFTER_NAPOLEON)
    app.connect("doctree-resolved", keep_the_anchors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
