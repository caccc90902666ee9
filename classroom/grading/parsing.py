"""Parse cells that anybody may have written, within limits of time and memory."""

import ast
import re
from collections.abc import Iterable

from IPython.core.inputtransformer2 import TransformerManager

LONGEST = 300_000  # characters of code, and as many in cells with magics
MAGIC = re.compile(r"^[ \t]*[%!?/,;]|=[ \t]*[%!]|\?[ \t]*$", re.MULTILINE)
# Python copies an imported name once for each of its dots, which is quadratic time.
DOTTED = re.compile(r"(?:\.[\s\\]*\w+[\s\\]*){500}")


def trees_of(sources: Iterable[str]) -> list[ast.Module | None]:
    """Return the syntax tree of each cell of one notebook, with magics as calls.

    A cell that is not Python has an empty tree, one that would take too long has None.
    """
    reader = Reader()
    return [reader.tree_of(source) for source in sources]


class Reader:
    """Parse one cell after another, until there have been too many or too long ones."""

    def __init__(self) -> None:
        self.room = self.room_with_magics = LONGEST

    def tree_of(self, source: str) -> ast.Module | None:
        self.room -= len(source)
        if self.room < 0 or DOTTED.search(source):
            return None
        try:
            try:
                return ast.parse(source)
            except (SyntaxError, ValueError):  # IPython parses it anew for each magic
                self.room_with_magics -= len(source) * (1 + len(MAGIC.findall(source)))
                if self.room_with_magics < 0:
                    return None
                return ast.parse(TransformerManager().transform_cell(source))
        except (SyntaxError, ValueError):
            return ast.Module([], [])
        except (RuntimeError, MemoryError):  # the kernel may still be able to run it
            return None
