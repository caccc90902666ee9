"""Run a chapter with its long runs, and keep their results.

    python -m experiments.recorded notebooks/14_bug_clinic.ipynb bug-clinic
    python -m experiments.recorded notebooks/14_bug_clinic.ipynb bug-clinic --only KEY

A chapter reads results that take long from a record: ``recorded(name, key, run)``. This
command runs the chapter's cells from top to bottom, calls every such ``run``, and
writes the results to vit_book/measured/NAME.json. With ``--only`` it stops after these
keys and keeps the record's other results.
"""

import argparse
import json
import linecache
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import matplotlib
import nbformat
import torch

import vit_book
from vit_book.results import FOLDER, read_results, recorded


class AllFound(Exception):
    """Raised when the cells have made every result that was asked for."""


def run(path: Path, name: str, only: Collection[str] = ()) -> dict[str, Any]:
    """Return the results of a chapter's long runs by key, as read back from JSON."""
    found: dict[str, Any] = {}

    def recorder(
        record: str, key: str, run: Callable[[], Any], again: bool = False
    ) -> Any:
        if record != name or (only and key not in only):
            return recorded(record, key, run, again=False)
        found[key] = json.loads(json.dumps(run()))
        print(f"{key}: {str(found[key])[:2000]}", flush=True)
        if only and found.keys() >= set(only):
            raise AllFound
        return found[key]

    space: dict[str, Any] = {"__name__": "__main__"}
    with patch.object(vit_book, "recorded", recorder), suppress(AllFound):
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
    parser.add_argument("--only", nargs="+", default=[], metavar="KEY")
    options = parser.parse_args()
    matplotlib.use("Agg")
    kept = read_results(options.name)["runs"] if options.only else {}
    found = kept | run(options.chapter, options.name, options.only)
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
