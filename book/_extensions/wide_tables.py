"""Keep table cells with sentences wide enough for some words on each line.

On a phone the table then scrolls in its own box (book.css), instead of breaking a
sentence into one word a line. A shape, (B, 197, 768), stays on one line. CSS cannot
count the letters of a cell.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

LETTERS_OF_A_PHRASE, LETTERS_OF_A_SENTENCE = 24, 60
SHAPE = re.compile(r"\([^()]*,[^()]*\)(?: each)?")


def keep_room(app: Sphinx, document: nodes.document) -> None:
    for cell in document.findall(nodes.entry):
        text = cell.astext()
        if SHAPE.fullmatch(text):
            cell["classes"].append("shape")
        elif len(text) >= LETTERS_OF_A_PHRASE and " " in text:
            long = len(text) >= LETTERS_OF_A_SENTENCE
            cell["classes"].append("sentence" if long else "phrase")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", keep_room)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
