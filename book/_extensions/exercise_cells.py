"""Mark the cells that a student writes in, so that they differ from the checks.

nbgrader names these cells in metadata, which do not reach the page.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def mark_what_a_student_writes(app: Sphinx, document: nodes.document) -> None:
    for cell in document.findall(nodes.container):
        if cell.get("cell_metadata", {}).get("nbgrader", {}).get("solution"):
            cell["classes"].append("cell-to-write")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", mark_what_a_student_writes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
