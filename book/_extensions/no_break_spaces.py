"""Keep a number with its unit or word on one line: 4.1 %, 2 GiB, chapter 7, ●●○○○.

CSS cannot do that, because it does not know what a word means.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

UNITS = r"%|‰|[kKMGT]i?B|ms|µs|ns|px|mm|cm|kWh|W|Hz|GHz|TFLOPS"
WORDS = r"chapter|section|appendix|table|figure|equation|case|task|step"
SPACE_BEFORE_UNIT = rf"(?<=\d) (?=(?:{UNITS})(?!\w))"
SPACE_BEFORE_NUMBER = rf"(?i:(\b(?:{WORDS})s?) (?=\d)|(difficulty|importance) (?=[●○]))"
DIVIDED = re.compile(f"{SPACE_BEFORE_UNIT}|{SPACE_BEFORE_NUMBER}")
NOT_PROSE = (
    nodes.literal | nodes.FixedTextElement | nodes.raw | nodes.math | nodes.title
)


class NoBreakSpaces(SphinxTransform):
    default_priority = 830

    def apply(self, **kwargs: Any) -> None:
        for text in list(self.document.findall(nodes.Text)):
            if not isinstance(text.parent, NOT_PROSE) and DIVIDED.search(text):
                text.parent.replace(text, nodes.Text(kept_together(text)))


def kept_together(text: str) -> str:
    return DIVIDED.sub(lambda found: found[0][:-1] + "\N{NO-BREAK SPACE}", text)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_transform(NoBreakSpaces)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
