"""Set "previous" and "next" on pages where the sidebar's order would mislead.

"Previous" leads from a chapter to the chapter before it, not to that chapter's
exercises. The lab is near the top of the sidebar, but is not on the way from chapter to
chapter.
"""

import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

CHAPTER = re.compile(r"notebooks/\d\d_\w+")
BEFORE_THE_THEME = 400


def chapters_of(app: Sphinx) -> list[str]:
    return sorted(page for page in app.env.found_docs if CHAPTER.fullmatch(page))


def neighbour(app: Sphinx, page: str, other: str) -> dict[str, str]:
    builder = app.builder
    assert isinstance(builder, StandaloneHTMLBuilder)  # has pages for a browser
    title = builder.render_partial(app.env.titles[other])["title"]
    return {"link": builder.get_relative_uri(page, other), "title": title}


def lead_on(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    chapters = chapters_of(app)
    if pagename not in chapters:
        return
    at = chapters.index(pagename)
    if at > 0:
        context["prev"] = neighbour(app, pagename, chapters[at - 1])
    if at == 0:  # chapter 0 has no exercises, and the lab follows it in the sidebar
        context["next"] = neighbour(app, pagename, chapters[1])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", lead_on, priority=BEFORE_THE_THEME)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
