"""Search from a folder without the excerpts, which are read from a server only."""

from typing import Any

from sphinx.application import Sphinx

NO_EXCERPTS = """
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
"""


def leave_out_excerpts(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    if pagename == "search":
        app.add_js_file(None, body=NO_EXCERPTS)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", leave_out_excerpts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
