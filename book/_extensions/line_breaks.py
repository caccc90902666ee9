"""A number stays on the line of its unit, and of the word it is the number of.

"92 %", "80 GB" and "chapter 7" are not divided. In the notebooks they have plain
spaces, which a writer can see.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

UNITS = r"%|[kKMGT]i?B|[kMGT]?FLOPs?(?:/s)?|ms|px|percentage points"
NUMBERED = "chapter|section|appendix|table|figure|equation|case|task|exercise|step"
UNDIVIDED = re.compile(
    rf"(?<=\d) (?=(?:{UNITS})(?!\w))|(?<!\w)((?:{NUMBERED})s?) (?=\d)", re.IGNORECASE
)
AS_WRITTEN = nodes.FixedTextElement, nodes.literal, nodes.math, nodes.raw, nodes.title


def undivided(text: str) -> str:
    return UNDIVIDED.sub(lambda found: (found[1] or "") + "\N{NO-BREAK SPACE}", text)


def is_prose(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Text) and not isinstance(node.parent, AS_WRITTEN)


def keep_numbers_with_words(app: Sphinx, document: nodes.document) -> None:
    for text in list(document.findall(is_prose)):
        if (kept := undivided(text.astext())) != text.astext():
            text.parent.replace(text, nodes.Text(kept))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", keep_numbers_with_words)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
