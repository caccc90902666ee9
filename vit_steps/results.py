"""Numbers from runs that are too long for a notebook, with how they were made.

The scripts in the repository's ``experiments/`` write them.
"""

import json
from pathlib import Path
from typing import Any

import torch

FOLDER = Path(__file__).with_name("measured")


def read_results(name: str) -> dict[str, Any]:
    """What a long run measured: a dictionary, whose "made" says how.

    Raises:
        ValueError: if there is no result of that name.
    """
    path = FOLDER / f"{name}.json"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in FOLDER.glob("*.json")))
        raise ValueError(f"name: got {name!r}, expected one of {known}")
    results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return results


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
