"""The lab's loader and style sheet, on the pages that have a place for the lab.

The page whose place is ``data-whole`` is the lab's own: there the stage is as wide as
the window.
"""

from typing import Any

from sphinx.application import Sphinx

PLACE = 'class="vit-lab"'
WHOLE = "data-whole"


def add_scripts(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    if PLACE in context.get("body", ""):
        app.add_js_file("lab/load.js", loading_method="defer")
        app.add_css_file("lab/lab.css")
    if PLACE in context.get("body", "") and WHOLE in context["body"]:
        app.add_css_file("lab/stage.css")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
