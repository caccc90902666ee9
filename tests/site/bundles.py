"""Scripts of tests, bundled as those of the pages are."""

import tempfile
from functools import cache
from pathlib import Path

from book._extensions.scripts import bundle

LAB = Path(__file__).parent / "lab"


@cache
def bundled(name: str) -> str:
    """Return a module of ``tests/site/lab``, with all that it imports, as a script."""
    with tempfile.TemporaryDirectory() as folder:
        bundle(Path(folder), [LAB / name], LAB)
        return (Path(folder) / name).read_text(encoding="utf-8")
