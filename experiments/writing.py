"""Writing the results of a long run to where the book reads them."""

import json
from pathlib import Path
from typing import Any

import torch

from vit_book.results import FOLDER


def write_results(
    name: str,
    command: str,
    *,
    folder: Path | None = None,
    **runs: list[dict[str, Any]],
) -> None:
    """Write the results of a long run on one thread, for ``read_results``.

    Args:
        command: the command that makes them again.
        folder: to write to; None for the one that ``read_results`` reads.
        **runs: lists by name; each item is written on a line of its own.
    """
    made = {"command": command, "torch": torch.__version__.split("+")[0], "threads": 1}
    lists = []
    for key, items in runs.items():
        lines = ",\n".join(json.dumps(item) for item in items)
        lists.append(f'"{key}": [\n{lines}\n]')
    text = f'{{"made": {json.dumps(made)}, ' + ",\n".join(lists) + "}\n"
    ((folder or FOLDER) / f"{name}.json").write_text(text, encoding="utf-8")
