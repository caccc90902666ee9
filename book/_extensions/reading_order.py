"""Set "previous" and "next" along the path, which is not the side bar's order.

In the side bar exercises and side roads are under their chapter, and the lab stands
first. The path leads from chapter to chapter through the exercises: "previous" goes
back to a chapter and not to its exercises, and a side road leads back to the path.
Beside the exercises stands the next chapter without them, with the question that
opening.py has found, and below what else belongs to this one. A side road has its
minutes and the question that the first page says it answers, and so has every link to
a chapter or a side road: the theme shows them while it is pointed at. In the header
exercises and side roads have the way up to their chapter.
"""

import re
from functools import cache
from html import escape as escaped
from pathlib import Path
from posixpath import dirname, normpath
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

ROOT = Path(__file__).parents[2]
CHAPTER = re.compile(r"notebooks/\d\d_\w+")
EXERCISES = "notebooks/exercises/"
SIDE_ROADS = "notebooks/side_roads/"
TIMED = re.compile(rf"{CHAPTER.pattern}|{SIDE_ROADS}\w+")
STATED = re.compile(r"\b(?:Time:|It takes) about (?:(\d+) minutes|an hour)")
LINK = re.compile(r'<a class="reference internal" href="([^"#:]+)\.html(#[^"]+)?(?=")')
NUMBERED = re.compile(r"(\d+)\. ")
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


def others(app: Sphinx, page: str) -> list[tuple[str, str]]:
    """Return the pages that a reader may go on to instead, each with its kind.

    The title of exercises says that they are some.
    """
    chapter = chapter_above(app, page)
    if chapter is None:
        return []
    family = app.env.toctree_includes.get(chapter, [])
    ways = [("", one) for one in family if one.startswith(EXERCISES)]
    ways += [("Side road", one) for one in family if not one.startswith(EXERCISES)]
    there = {page, *neighbours(app, page).values()}
    return [(kind, one) for kind, one in ways if one not in there]


def html_of(text: str) -> str:
    """Turn a sentence of Markdown, which may have names in code, into HTML."""
    text = escaped(text.replace("'", "’"), quote=False)
    return re.sub("`([^`]+)`", r"<code>\1</code>", text)


@cache
def minutes_of_page(page: str) -> int | None:
    """Return the minutes that a chapter or a side road says it takes."""
    if not TIMED.fullmatch(page):
        return None
    stated = STATED.search(Path(ROOT, f"{page}.ipynb").read_text(encoding="utf-8"))
    return int(stated[1] or 60) if stated else None


def question_of(app: Sphinx, page: str) -> str:
    """Return a page's question as HTML; the first page has those of side roads."""
    told = app.env.metadata[app.config.root_doc].get("side-roads", {})
    name = page.removeprefix(SIDE_ROADS)
    return html_of(told.get(name) or app.env.metadata[page].get("question", ""))


@cache
def sections_of(app: Sphinx, page: str) -> dict[str, str]:
    """Return the titles of a page's sections by their anchors, which begin with #."""
    links = app.env.tocs[page].findall(nodes.reference)
    return {link["anchorname"]: link.astext() for link in links if link["anchorname"]}


def with_cards(app: Sphinx, page: str, body: str) -> str:
    """Let each link to another chapter or side road show what that is about.

    A link to a section shows that section's title first.

    The theme's own script shows it, also to the keyboard; book/scripts/tooltips.js lets
    Escape close it, and shows none where there is no pointer.
    """

    def card(link: re.Match[str]) -> str:
        other = normpath(f"{dirname(page)}/{link[1]}")
        if other == page or minutes_of_page(other) is None:
            return link[0]
        title = html_of(app.env.titles[other].astext())
        section = sections_of(app, other).get(link[2])
        named = f"<b>{html_of(section) if section else title}</b>"
        if section:
            named += "<br>in " + NUMBERED.sub(r"chapter \1, ", title, count=1)
        said = f"{named}<br>{question_of(app, other)}<br>"
        said = escaped(f"{said}<i>{minutes_of_page(other)} minutes</i>")
        how = 'data-bs-toggle="tooltip" data-bs-html="true" data-bs-container="main"'
        shown = f'data-bs-custom-class="about" data-bs-title="{said}"'
        return f"<a {how} {shown}{link[0].removeprefix('<a')}"

    return LINK.sub(card, body)


def lead_on(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    builder = app.builder
    if not doctree or not isinstance(builder, StandaloneHTMLBuilder):
        return

    def link_to(other: str) -> dict[str, Any]:
        title = builder.render_partial(app.env.titles[other])["title"]
        return {
            "link": builder.get_relative_uri(pagename, other),
            "title": title,
            "question": question_of(app, other),
            "minutes": minutes_of_page(other),
        }

    around = neighbours(app, pagename)
    for direction, other in around.items():
        context[direction] = link_to(other)
    after = neighbours(app, around.get("next", pagename)).get("next")
    if around.get("next", "").startswith(EXERCISES) and after:
        context["next_chapter"] = link_to(after)
    if pagename != "book/glossary":  # an entry says what its link is about
        context["body"] = with_cards(app, pagename, context["body"])
    ways = others(app, pagename)
    context["others"] = [{"kind": kind, **link_to(one)} for kind, one in ways]
    chapter = chapter_above(app, pagename)
    if chapter == pagename:
        context["chapter_title"] = link_to(chapter)["title"]
    elif chapter:
        number = int(chapter.removeprefix("notebooks/")[:2])
        context["above"] = {"number": number, **link_to(chapter)}


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", lead_on, priority=BEFORE_THE_THEME)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
