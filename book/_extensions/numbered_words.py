"""The number of a chapter, a table or a task stays on the line of its word.

So do the dots that say how difficult a task is.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

WORDS = "chapter|section|appendix|table|figure|equation|case|task|step"
SPACE_BEFORE_NUMBER = re.compile(
    rf"(\b(?:{WORDS})s?) (?=\d)|(difficulty|importance) (?=[●○])", re.IGNORECASE
)
NOT_PROSE = (
    nodes.literal | nodes.FixedTextElement | nodes.raw | nodes.math | nodes.title
)


class KeepNumbers(SphinxTransform):
    default_priority = 830

    def apply(self, **kwargs: Any) -> None:
        for text in list(self.document.findall(nodes.Text)):
            kept = SPACE_BEFORE_NUMBER.sub(
                lambda found: found[0][:-1] + "\N{NO-BREAK SPACE}", text
            )
            if kept != text and not isinstance(text.parent, NOT_PROSE):
                text.parent.replace(text, nodes.Text(kept))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_transform(KeepNumbers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
