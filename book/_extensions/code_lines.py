"""Put each line of code into a span that carries the line's indentation.

A line that is too long for the screen then continues at its own indentation, so
that its second half does not look like another statement (``.line`` in book.css). A
word that is too long for a phone may break between its names. Tokens in the colour of
plain text (book.css) lose their spans, which saves half of a page's elements.
The text itself stays exactly that of the code.
"""

import re
from collections.abc import Iterator
from typing import Any

from pygments.formatters import HtmlFormatter
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge

TAG = re.compile(r"<[^>]+>")
SIGNS_ON_A_PHONE = 36
MAY_BREAK_AFTER = re.compile(r'<span class="(?:o">[.=]|p">[^<]*[(\[,])</span>')
PLAIN = re.compile(
    r'<span class="(?:bp|err|esc|na|nb|ne|nn|nx|n|o|pm|p|py|si|vm|w|x)">([^<]*)</span>'
)


def in_a_span(line: str) -> str:
    """Wrap one line of highlighted code; its newline stays outside the span."""
    text = TAG.sub("", line).rstrip("\n")
    if not text.strip():
        return line
    indent = len(text) - len(text.lstrip())
    style = f' style="--indent:{indent}ch"' if indent else ""
    code = line.removesuffix("\n")
    if indent + max(map(len, text.split())) > SIGNS_ON_A_PHONE:
        code = MAY_BREAK_AFTER.sub(r"\g<0><wbr>", code)
    code = PLAIN.sub(r"\1", code)
    return f'<span class="line"{style}>{code}</span>\n'


class LineFormatter(HtmlFormatter):  # type: ignore[misc] # no types there
    def wrap(self, source: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        lines = ((kind, in_a_span(html) if kind else html) for kind, html in source)
        return super().wrap(lines)


def setup(app: Sphinx) -> dict[str, Any]:
    PygmentsBridge.html_formatter = LineFormatter
    return {"parallel_read_safe": True, "parallel_write_safe": True}
