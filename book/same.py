"""Write the package's definitions into the notebooks: `make same`.

    python -m book.same [NOTEBOOK ...]     all chapters and pages, or only these

The package is the only source. A function or class that a notebook defines under a name
of the package is replaced by the package's definition, character for character, with
its decorators. The rest of the cell, ids, metadata and outputs stay as they are;
`make outputs` brings outputs up to date.
"""

import ast
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]


class Definition(NamedTuple):
    """A top-level function or class; its source is ``lines[start:stop]``."""

    name: str
    source: str
    start: int
    stop: int


def definitions(source: str) -> Iterator[Definition]:
    """Yield the top-level definitions of a cell or a module, decorators included."""
    lines = source.split("\n")
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            start = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
            stop = node.end_lineno or node.lineno
            yield Definition(node.name, "\n".join(lines[start:stop]), start, stop)


def package_definitions(*packages: Path) -> dict[str, set[str]]:
    """Return the sources of each function and class; several if they share a name."""
    found = defaultdict(set)
    folders = packages or (ROOT / "vit_steps", ROOT / "vit_doctor")
    for path in sorted(path for folder in folders for path in folder.rglob("*.py")):
        if not path.stem.startswith("__"):
            for definition in definitions(path.read_text("utf-8")):
                found[definition.name].add(definition.source)
    return found


def notebooks() -> list[Path]:
    folders = ("notebooks", "notebooks/side_roads", "book")
    return [p for folder in folders for p in sorted((ROOT / folder).glob("*.ipynb"))]


def make_same(path: Path, package: dict[str, set[str]]) -> list[str]:
    """Rewrite the definitions of a notebook that differ, and return their names."""
    notebook = json.loads(path.read_text("utf-8"))
    changed = []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        source = "".join(cell["source"])
        lines = source.split("\n")
        for definition in reversed(list(definitions(source))):
            name = definition.name
            wanted = package.get(definition.name)
            if wanted is None or definition.source in wanted:
                continue
            if len(wanted) > 1:
                raise SystemExit(f"{path.name}: {name} is defined twice in the package")
            lines[definition.start : definition.stop] = next(iter(wanted)).split("\n")
            cell["source"] = "\n".join(lines).splitlines(keepends=True)
            changed.append(name)
    if changed:
        text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
        path.write_text(text, "utf-8", newline="\n")
    return changed


def main(arguments: list[str]) -> None:
    package = package_definitions()
    for path in [Path(a).resolve() for a in arguments] or notebooks():
        for name in make_same(path, package):
            print(f"{path.name}: {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
