"""Numbers of runs that are too long for a notebook, which ``experiments/`` writes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vit_steps.optional import book_file

FOLDER = Path(__file__).with_name("measured")


def read_results(name: str) -> dict[str, Any]:
    """Return what a long run measured; under "made" is the command that did.

    Raises: ValueError if there is no result of that name.
    """
    path = book_file(FOLDER / f"{name}.json")
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in FOLDER.glob("*.json")))
        raise ValueError(f"name: got {name!r}, expected one of {known}")
    return json.loads(path.read_text(encoding="utf-8"))


def recorded(name: str, key: str, run: Callable[[], Any], again: bool = False) -> Any:
    """Return what ``run()``, which takes too long for a cell, returned before.

    With ``again`` it is run now, and the record is not changed.

    Raises: ValueError if there is no record of that name, or nothing in it by that key.
    """
    if again:
        return run()
    runs = read_results(name)["runs"]
    if key not in runs:
        raise ValueError(f"key: got {key!r}, expected one of {', '.join(runs)}")
    return runs[key]
