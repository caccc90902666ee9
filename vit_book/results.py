"""Numbers of runs that are too long for a notebook, which ``experiments/`` writes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vit_steps.sizes import check_choice

FOLDER = Path(__file__).with_name("measured")


def read_results(name: str) -> dict[str, Any]:
    """Return what a long run measured; ValueError if nothing has that name.

    Under "made" is the command that measured it.
    """
    check_choice(name, "name", sorted(file.stem for file in FOLDER.glob("*.json")))
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def recorded(name: str, key: str, run: Callable[[], Any], again: bool = False) -> Any:
    """Return the recorded result of ``run()``, which takes too long for a cell.

    With ``again`` it is run now, and the record is not changed. ValueError if there is
    no record of that name, or nothing in it by that key.
    """
    if again:
        return run()
    runs = read_results(name)["runs"]
    return runs[check_choice(key, "key", runs)]
