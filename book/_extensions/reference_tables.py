"""The directives ``value-table`` and ``check-table`` of the package's pages.

``value-table`` shows the fields of the objects in a dictionary, or of those that some
methods of a class return; a constant of the module names these methods. It also shows
each field in which the returned objects differ::

    .. value-table:: vit_steps.vision_transformer.ViTConfig
       :rows: PRESETS
       :columns: embed_dim depth num_heads

``check-table`` shows the arguments of each check of the exercises. Written by hand, the
tables would differ from the code after the next change.
"""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import vit_check
from vit_check import chapters

EXERCISES = Path(__file__).resolve().parents[2] / "notebooks" / "exercises"


def list_table(rows: Iterable[Sequence[str]], options: Iterable[str]) -> str:
    """Return a table in reStructuredText."""
    lines = [".. list-table::", "   :widths: auto"]
    lines += [f"   :{option}" for option in options]
    lines.append("")
    for row in rows:
        for place, cell in enumerate(row):
            lines.append(f"   {'* -' if place == 0 else '  -'} {cell}")
    return "\n".join(lines)


def written(value: Any) -> str:
    if isinstance(value, float):
        value = float(f"{value:.4g}")
    is_large = isinstance(value, int | float) and value >= 10_000
    return f"{value:,.0f}" if is_large else str(value)


def differing(objects: list[Any], besides: list[str]) -> list[str]:
    """Return the fields in which dataclasses of one kind differ, other than some."""
    others = [field.name for field in fields(objects[0]) if field.name not in besides]
    return [name for name in others if len({getattr(o, name) for o in objects}) > 1]


class ValueTable(SphinxDirective):
    required_arguments = 1
    option_spec = {  # noqa: RUF012
        "rows": directives.unchanged_required,
        "columns": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        module, _, name = self.arguments[0].rpartition(".")
        holder = import_module(module)
        thing = getattr(holder, name)
        columns = self.options["columns"].split()
        if "rows" in self.options:
            makers = getattr(holder, self.options["rows"])
            thing = {maker: getattr(thing, maker)() for maker in makers}
            columns += differing(list(thing.values()), columns)
        rows = [["name", *(f"``{column}``" for column in columns)]]
        for key, value in thing.items():
            values = (written(getattr(value, column)) for column in columns)
            rows.append([f"``{key}``", *values])
        return self.parse_text_to_nodes(list_table(rows, ["header-rows: 1"]))


def checks() -> Iterable[tuple[Path, list[str]]]:
    """Yield each chapter's exercises and the names of its checks."""
    for path in sorted(EXERCISES.glob("[0-9][0-9]_*.ipynb")):
        folder = f"{chapters.__name__}.{path.stem[3:]}"
        yield path, [n for n in vit_check.__all__ if find_spec(f"{folder}.{n}")]


class CheckTable(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        rows = []
        for path, names in checks():
            address = f"/notebooks/exercises/{path.stem}"
            link = f":doc:`exercises {int(path.stem[:2])} <{address}>`"
            for name in names:
                given = getattr(vit_check, name).signature
                rows.append([f"``{name}``", f"``{given}`` ({link})"])
        options = ["class: autosummary checks"]
        return self.parse_text_to_nodes(list_table(rows, options))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("value-table", ValueTable)
    app.add_directive("check-table", CheckTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
