"""Show the package's signatures and docstrings as they are written in the source.

Python prints some defaults, and the signature of a protocol, in a form that Sphinx
cannot parse; it then shows the whole text with full type names. Napoleon reads the
words before a colon as a type, in the first line of a property and in a shape.
"""

import re
from typing import Any

from sphinx.application import Sphinx

AFTER_NAPOLEON = 600
TYPE_OF_A_PROPERTY = ":type: "
SHAPE_WITH_A_TYPE = re.compile(r"^:Shape: \*(.+)\* -- (.+)$")
COMMAND = re.compile(r"^python -m .+$")


def readable(
    app: Sphinx,
    what: str,
    name: str,
    thing: Any,
    options: Any,
    signature: str | None,
    returned: str | None,
) -> tuple[str | None, str | None]:
    if signature == "(*args, **kwargs)":  # Python's signature of a protocol
        signature = None
    return signature and signature.replace("<factory>", "..."), returned


def as_written(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    filled = [line for line in lines if line]
    if what == "property" and filled and filled[-1].startswith(TYPE_OF_A_PROPERTY):
        before = filled.pop().removeprefix(TYPE_OF_A_PROPERTY)
        lines[:] = [f"{before}: {' '.join(filled)}"]
    if what == "module":
        lines[:] = [COMMAND.sub(r"``\g<0>``", line) for line in lines]
    lines[:] = [SHAPE_WITH_A_TYPE.sub(r":Shape: \1: \2", line) for line in lines]


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-signature", readable)
    app.connect("autodoc-process-docstring", as_written, priority=AFTER_NAPOLEON)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
