"""The syntax trees of cells that anybody may have written, within bounds."""

import ast
import re
from collections.abc import Iterable

from IPython.core.inputtransformer2 import TransformerManager

LONGEST = 300_000  # characters of code, and as many in cells with magics
MAGIC = re.compile(r"^[ \t]*[%!?/,;]|=[ \t]*[%!]|\?[ \t]*$", re.MULTILINE)
# Python copies an imported name for each of its dots.
DOTTED = re.compile(r"(?:\.[\s\\]*\w+[\s\\]*){500}")


def trees_of(sources: Iterable[str]) -> list[ast.Module | None]:
    """The code of one notebook's cells, with magics as calls, empty where it is not
    Python; None for those that would take too long."""
    reader = Reader()
    return [reader.tree_of(source) for source in sources]


class Reader:
    """Reads cells until there have been too many, or too long ones."""

    def __init__(self) -> None:
        self.room = self.room_with_magics = LONGEST

    def tree_of(self, source: str) -> ast.Module | None:
        self.room -= len(source)
        if self.room < 0 or DOTTED.search(source):
            return None
        try:
            try:
                return ast.parse(source)
            except (SyntaxError, ValueError):  # IPython reads it again for each magic
                self.room_with_magics -= len(source) * (1 + len(MAGIC.findall(source)))
                if self.room_with_magics < 0:
                    return None
                return ast.parse(TransformerManager().transform_cell(source))
        except (SyntaxError, ValueError):
            return ast.Module([], [])
        except (RuntimeError, MemoryError):  # in the kernel there may be more room
            return None
