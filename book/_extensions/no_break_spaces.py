"""Keep on one line what is read as one: 4.1 %, 2 GiB, chapter 7, ●●○○○, ViT-B/16.

A number gets a no-break space before its unit. A name with a hyphen gets an element, so
that its letters stay those that a reader searches for. Code of a few letters gets the
class ``short``. In a page's title no word is divided at its hyphen. CSS cannot do that,
because it does not know what a word means.
"""

import re
from itertools import cycle
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

UNITS = r"%|‰|[kKMGT]i?B|ms|µs|ns|px|mm|cm|kWh|W|Hz|GHz|TFLOPS"
WORDS = r"chapter|section|appendix|table|figure|equation|case|task|step"
SPACE_BEFORE_UNIT = rf"(?<=\d) (?=(?:{UNITS})(?!\w))"
SPACE_BEFORE_NUMBER = rf"(?i:(\b(?:{WORDS})s?) (?=\d)|(difficulty|importance) (?=[●○]))"
DIVIDED = re.compile(f"{SPACE_BEFORE_UNIT}|{SPACE_BEFORE_NUMBER}")
NAME = re.compile(r"(\b\w+(?:-[A-Z0-9][\w/]*)+)")
HEADING = re.compile(r"(?<=<h1>)[^<]+")
WITH_HYPHEN = re.compile(r"\w+-\w+")
LETTERS_OF_SHORT_CODE = 24  # that fit on a phone, in a list too
NOT_PROSE = (
    nodes.literal | nodes.FixedTextElement | nodes.raw | nodes.math | nodes.title
)


class NoBreakSpaces(SphinxTransform):
    default_priority = 830

    def apply(self, **kwargs: Any) -> None:
        for text in list(self.document.findall(nodes.Text)):
            if not isinstance(text.parent, NOT_PROSE):
                parts = NAME.split(kept_together(text))  # the odd ones are names
                if parts != [text]:
                    text.parent.replace(text, [*map(unbroken, parts, cycle((0, 1)))])
        for code in self.document.findall(nodes.literal):
            if len(code.astext()) <= LETTERS_OF_SHORT_CODE:
                code["classes"].append("short")


def unbroken(part: str, is_name: int) -> nodes.Node:
    if is_name:
        return nodes.inline("", part, classes=["unbroken"])
    return nodes.Text(part)


def kept_together(text: str) -> str:
    return DIVIDED.sub(lambda found: found[0][:-1] + "\N{NO-BREAK SPACE}", text)


def with_whole_words(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    whole = r'<span class="unbroken">\g<0></span>'
    context["body"] = HEADING.sub(
        lambda heading: WITH_HYPHEN.sub(whole, heading[0]), context.get("body", "")
    )


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_transform(NoBreakSpaces)
    app.connect("html-page-context", with_whole_words)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
