"""Numbers from runs that are too long for a notebook, with how they were made.

The scripts in the repository's ``experiments/`` write them.
"""

import json
from pathlib import Path
from typing import Any

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
