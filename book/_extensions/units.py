"""A number and its unit, 4.1 % or 2 GiB, are never divided between two lines."""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

UNITS = r"%|‰|[kKMGT]i?B|ms|µs|ns|px|mm|cm|kWh|W|Hz|GHz|TFLOPS"
SPACE_BEFORE_UNIT = re.compile(rf"(?<=\d) (?=(?:{UNITS})(?!\w))")
NOT_PROSE = nodes.literal | nodes.FixedTextElement | nodes.raw | nodes.math


class KeepUnits(SphinxTransform):
    default_priority = 830

    def apply(self, **kwargs: Any) -> None:
        for part in list(self.document.findall(nodes.TextElement)):
            if isinstance(part, NOT_PROSE):
                continue
            for place, text in enumerate(part.children):
                if isinstance(text, nodes.Text):
                    kept = SPACE_BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", text)
                    part[place] = nodes.Text(kept)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_transform(KeepUnits)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
