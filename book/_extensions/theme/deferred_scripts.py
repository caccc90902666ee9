"""Defer the scripts of a page; leave out the one for tabs where a page has no tabs.

Deferred scripts also leave the way to the style sheets and the first picture.
"""

from typing import Any

from sphinx.application import Sphinx

AT_ONCE = ("documentation_options.js", "folding.js")  # run before the page is drawn
FOR_TABS = "design-tabs.js"


def defer(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    scripts = context["script_files"]
    if "sd-tab-set" not in context.get("body", ""):
        scripts[:] = [s for s in scripts if FOR_TABS not in str(s.filename)]
    for script in scripts:
        if script.filename and not str(script.filename).endswith(AT_ONCE):
            script.attributes.setdefault("defer", "defer")
            script.attributes.setdefault("fetchpriority", "low")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", defer, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
