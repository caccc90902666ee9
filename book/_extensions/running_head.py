"""Print the title of the page and its address on the web in the margins of paper."""

import re
from html import unescape
from typing import Any

from sphinx.application import Sphinx

NOT_IN_A_STRING = re.compile(r'["\\<\n]')


def quoted(text: str) -> str:
    """Quote a text as a CSS string that is also safe inside an element of HTML."""
    safe = NOT_IN_A_STRING.sub(lambda sign: f"\\{ord(sign[0]):x} ", text)
    return f'"{safe}"'


def running_head(title: str, address: str, named: str = "") -> str:
    """Return a CSS rule for the margins of all pages of paper, or of the named pages.

    The position and type of the words are set in ``print.css``.
    """
    address = address.removeprefix("https://").rstrip("/")
    return (
        f"@page {named} {{ @top-right {{ content: {quoted(title)} }} "
        f"@bottom-left {{ content: {quoted(address)} }} }}"
    )


def add_head(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    if doctree:
        title = unescape(re.sub("<[^>]*>", "", context["title"]))
        address = f"{app.config.html_baseurl}{app.builder.get_target_uri(pagename)}"
        style = f"<style media='print'>{running_head(title, address)}</style>\n"
        context["metatags"] = context.get("metatags", "") + style


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", add_head)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
