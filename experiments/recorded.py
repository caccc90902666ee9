"""Run a chapter with its long runs, and keep their results.

    python -m experiments.recorded notebooks/14_bug_clinic.ipynb bug-clinic

A chapter reads results that take long from a record: ``recorded(name, key, run)``. This
command runs the chapter's cells from top to bottom, calls every such ``run``, and
writes the results to vit_book/measured/NAME.json.
"""

import argparse
import json
import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import matplotlib
import nbformat
import torch

import vit_book
from vit_book.results import FOLDER, recorded


def run(path: Path, name: str) -> dict[str, Any]:
    """Return the results of a chapter's long runs by key, as read back from JSON."""
    found: dict[str, Any] = {}

    def recorder(
        record: str, key: str, run: Callable[[], Any], again: bool = False
    ) -> Any:
        if record != name:
            return recorded(record, key, run, again)
        found[key] = json.loads(json.dumps(run()))
        print(f"{key}: {found[key]}", flush=True)
        return found[key]

    space: dict[str, Any] = {"__name__": "__main__"}
    with patch.object(vit_book, "recorded", recorder):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code" and "skip-execution" not in cell.metadata.get(
                "tags", []
            ):
                name_of_cell = f"<cell {cell.id}>"
                lines = cell.source.splitlines(keepends=True)
                # a chapter may print the source of a function that it defines
                linecache.cache[name_of_cell] = (0, None, lines, name_of_cell)
                exec(compile(cell.source, name_of_cell, "exec"), space)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chapter", type=Path)
    parser.add_argument("name", help="of the record")
    options = parser.parse_args()
    matplotlib.use("Agg")
    found = run(options.chapter, options.name)
    made = {
        "command": f"python -m experiments.recorded {options.chapter} {options.name}",
        "torch": torch.__version__.split("+")[0],
        "threads": torch.get_num_threads(),
    }
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items())
    text = f'{{"made": {json.dumps(made)}, "runs": {{\n{lines}\n}}}}\n'
    (FOLDER / f"{options.name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
