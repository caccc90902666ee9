"""Keeping what a long run measured, where the book reads it."""

import json
from pathlib import Path
from typing import Any

import torch

from vit_steps.notebook.results import FOLDER


def write_results(
    name: str,
    command: str,
    *,
    folder: Path | None = None,
    **runs: list[dict[str, Any]],
) -> None:
    """Keep what a long run measured on one thread, for ``read_results``.

    Args:
        command: what makes it again.
        folder: where to; None for where ``read_results`` looks.
        **runs: lists by name, of which each item gets a line.
    """
    made = {"command": command, "torch": torch.__version__.split("+")[0], "threads": 1}
    lists = []
    for key, items in runs.items():
        lines = ",\n".join(json.dumps(item) for item in items)
        lists.append(f'"{key}": [\n{lines}\n]')
    text = f'{{"made": {json.dumps(made)}, ' + ",\n".join(lists) + "}\n"
    ((folder or FOLDER) / f"{name}.json").write_text(text, encoding="utf-8")
