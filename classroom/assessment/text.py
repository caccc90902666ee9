"""Turn the Markdown of questions and handouts into HTML."""

import re
from functools import cache

from markdown_it import MarkdownIt

FORMULA = re.compile(r"\$([^$\n]+)\$")
COMMANDS = {
    r"\cdot": "·",
    r"\times": "×",
    r"\sqrt{d}": "√d",
    r"\ln": "ln ",
    r"\tau": "τ",
    "{,}": ",",
}


def blocks(markdown: str) -> str:
    """Return Markdown as HTML, each paragraph in its tags."""
    text: str = _markdown().render(FORMULA.sub(_typed, markdown))
    return text


def html(markdown: str) -> str:
    """Return Markdown as HTML; a single paragraph comes without its tags."""
    text = blocks(markdown).strip()
    inside = text.removeprefix("<p>").removesuffix("</p>")
    return text if "<p>" in inside or not text.endswith("</p>") else inside


def _typed(formula: re.Match[str]) -> str:
    r"""Return a formula of one line as it would be typed: $T = 6\cdot D$ as T = 6·D."""
    text = formula[1]
    for command, sign in COMMANDS.items():
        text = text.replace(command, sign)
    if "\\" in text:
        raise ValueError(f"formula: got {formula[0]}, expected commands of {COMMANDS}")
    return re.sub(r"([A-Za-z])(?![A-Za-z])", r"*\1*", text)


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")
