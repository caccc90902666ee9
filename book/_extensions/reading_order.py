"""Set "previous" and "next" along the path, which is not the side bar's order.

In the side bar exercises and side roads are under their chapter, and the lab stands
first. The path leads from chapter to chapter through the exercises: "previous" goes
back to a chapter and not to its exercises, and a side road leads back to the path.
"""

import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

CHAPTER = re.compile(r"notebooks/\d\d_\w+")
EXERCISES = "notebooks/exercises/"
BEFORE_THE_THEME = 400


def chapter_above(app: Sphinx, page: str) -> str | None:
    """Return the chapter above a page in the side bar; for a chapter, the page."""
    of = {
        below: page for page, all in app.env.toctree_includes.items() for below in all
    }
    above: str | None = page
    while above and not CHAPTER.fullmatch(above):
        above = of.get(above)
    return above


def neighbours(app: Sphinx, page: str) -> dict[str, str]:
    """Return the pages before and after a page, where they may differ from Sphinx's."""
    pages = app.env.found_docs
    path = [app.config.root_doc, *sorted(filter(CHAPTER.fullmatch, pages))]
    if page == app.config.root_doc:
        return {"next": path[1]}
    chapter = chapter_above(app, page)
    if chapter is None:
        return {}
    at = path.index(chapter)
    on = {"next": path[at + 1]} if at + 1 < len(path) else {}
    if page != chapter:
        return {"prev": chapter, **on}
    exercises = page.replace("notebooks/", EXERCISES)
    if exercises in pages:
        on = {"next": exercises}
    return {"prev": path[at - 1], **on}


def lead_on(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    builder = app.builder
    if not doctree or not isinstance(builder, StandaloneHTMLBuilder):
        return
    for direction, other in neighbours(app, pagename).items():
        title = builder.render_partial(app.env.titles[other])["title"]
        link = builder.get_relative_uri(pagename, other)
        context[direction] = {"link": link, "title": title}


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", lead_on, priority=BEFORE_THE_THEME)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
