"""Add the scripts and the style sheet of moving drawings to the pages that show one.

Such a drawing carries a name (book/drawings/kit.py), and the script of that name in
``book/scripts/figures/`` moves it.
"""

import re
from typing import Any

from sphinx.application import Sphinx

NAME = re.compile(r'<svg\b[^>]*\bdata-figure="(\w+)"')


def add_scripts(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    names = sorted(set(NAME.findall(context.get("body", ""))))
    for name in names:
        app.add_js_file(f"book/figures/{name}.js", loading_method="defer")
    if names:
        app.add_css_file("figures/figures.css")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
