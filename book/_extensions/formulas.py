"""Set formulas as MathML when the book is built, so that a page needs no script.

Temml, an npm package of ``book/scripts``, makes MathML of LaTeX in Node.js, once for
all formulas of a page. A browser sets it with the letters and signs of ``math.css``,
and a screen reader reads it. The LaTeX stays beside it for the search.
"""

import json
import re
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from book.node import answer_of

TYPESET = Path(__file__).with_name("typeset.mjs")
STYLES = "fonts/math.css"
NAME = re.compile(r"<mi>(?=[A-Za-z]{2,}</mi>)")  # such as softmax, in upright letters

logger = logging.getLogger(__name__)


def typeset(formulas: list[tuple[str, bool]]) -> list[dict[str, str]]:
    """Return the MathML of formulas, or what is wrong with them.

    Args:
        formulas: for each its LaTeX, and whether it has a line of its own.
    """
    found: list[dict[str, str]] = json.loads(answer_of(TYPESET, formulas))
    return found


def set_formulas(app: Sphinx, document: nodes.document, page: str) -> None:
    if app.builder.format != "html":
        return
    kinds = nodes.math | nodes.math_block
    found = [node for node in document.findall() if isinstance(node, kinds)]
    asked = [(node.astext(), isinstance(node, nodes.math_block)) for node in found]
    answers = typeset(asked) if asked else []
    for node, (latex, _), answer in zip(found, asked, answers, strict=True):
        if "error" in answer:
            logger.warning("formula %r: %s", latex, answer["error"], location=node)
        html = NAME.sub('<mi class="name">', answer.get("mathml", escape(latex)))
        node["mathml"] = html


def write(writer: Any, node: nodes.Element, tag: str) -> None:
    latex = {"data-latex": " ".join(node.astext().split())}
    classes = "math notranslate nohighlight"
    start = writer.starttag(node, tag, "", CLASS=classes, **latex)
    writer.body.append(f"{start}{node['mathml']}</{tag}>")
    raise nodes.SkipNode


def write_inline(writer: Any, node: nodes.math) -> None:
    write(writer, node, "span")


def write_block(writer: Any, node: nodes.math_block) -> None:
    write(writer, node, "div")


def add_styles(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    if "<math" in context.get("body", ""):
        app.add_css_file(STYLES)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("formulas", (write_inline, None), (write_block, None))
    app.connect("doctree-resolved", set_formulas)
    app.connect("html-page-context", add_styles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
