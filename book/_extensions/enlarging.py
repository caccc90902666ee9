"""Add ``book/enlarge.js``, which opens a figure, to pages with figures.

On a phone a figure is half as wide as on a desk, and some of its labels are too small.
"""

from typing import Any

from sphinx.application import Sphinx


def add_script(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    if "image-reference" in context.get("body", ""):
        app.add_js_file("book/enlarge.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
