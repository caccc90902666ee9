"""Keep table cells with sentences wide enough for some words on each line.

On a phone the table then scrolls in its own box (book.css), instead of breaking a
sentence into one word a line. A shape, (B, 197, 768), stays on one line. A cell that is
one link is marked, so that it can be made large enough for a finger. CSS cannot count
the letters of a cell.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx

LETTERS_OF_A_PHRASE, LETTERS_OF_A_SENTENCE = 24, 60
SHAPE = re.compile(r"\([^()]*,[^()]*\)(?: each)?")
PAIR = re.compile(r"<td(?= [^>]*>\([^()<]*,[^()<]*\)</td>)")  # in a table of a cell


def keep_room(app: Sphinx, document: nodes.document) -> None:
    for cell in document.findall(nodes.entry):
        text = cell.astext()
        if any(is_link(part) for part in cell.findall(nodes.paragraph)):
            cell["classes"].append("link")
        if SHAPE.fullmatch(text):
            cell["classes"].append("shape")
        elif len(text) >= LETTERS_OF_A_PHRASE and " " in text:
            long = len(text) >= LETTERS_OF_A_SENTENCE
            cell["classes"].append("sentence" if long else "phrase")
    for table in document.findall(nodes.raw):
        if "vit-table" in table.astext():
            table[:] = [nodes.Text(PAIR.sub('<td class="shape"', table.astext()))]
            table.rawsource = table.astext()


def is_link(paragraph: nodes.paragraph) -> bool:
    kinds = nodes.reference | pending_xref
    return len(paragraph) == 1 and isinstance(paragraph[0], kinds)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", keep_room)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
