"""A set with other numbers, letters and orders, drawn by a seed."""

import copy
import re

from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell

from vit_check.drawn import variant_of

SEED = re.compile(rb"check\.variant\((\d{1,18})\)")
LOCKED = {
    "grade": False,
    "grade_id": "variant",
    "locked": True,
    "schema_version": 3,
    "solution": False,
    "task": False,
}


def varied(source: NotebookNode, name: str, seed: int | None) -> NotebookNode:
    """Return a set with its solutions as a seed draws it; None is the book's own.

    Args:
        name: of the set, as ``"01_why_patches"``.
    """
    if seed is None:
        return source
    variant, nb = variant_of(name, seed), copy.deepcopy(source)
    for cell in nb.cells:
        cell.source = variant.text(cell.source)
        image = cell.metadata.get("mystnb", {}).get("image", {})
        if "alt" in image:
            image["alt"] = variant.text(image["alt"])
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    first = next(n for n, cell in enumerate(nb.cells) if cell.source[:3] == "## ")
    nb.cells.insert(first, _cell(seed))
    return nb


def _cell(seed: int) -> NotebookNode:
    """Return the cell that tells checks and graders which variant it is."""
    text = (
        "# The questions of this set were drawn for your course. Leave this cell.\n"
        f"import vit_check as check\n\ncheck.variant({seed})"
    )
    return new_code_cell(text, id="variant", metadata={"nbgrader": dict(LOCKED)})


def seed_of(notebook: bytes) -> int | None:
    """Return the seed that a notebook was drawn with, from the cell that has it."""
    found = SEED.search(notebook)
    return int(found[1]) if found else None
