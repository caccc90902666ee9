"""Write an archive of all notebooks beside the pages, with the same bytes each time.

It is for readers without git, and says how to run what it holds.
"""

import textwrap
import tomllib
import zipfile
from pathlib import Path

from sphinx.application import Sphinx

from vit_steps.optional import INSTALL, INSTALL_BOOK, INSTALL_D2L

ARCHIVE = "downloads/vit-steps-notebooks.zip"
FOLDER = "vit-steps-notebooks"
FIRST_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can hold
FOLDERS = ("notebooks", "notebooks/exercises", "notebooks/side_roads", "book")
LICENCES = ("LICENSE", "LICENSE-TEXT")


def readme(root: Path) -> str:
    """Return the archive's README: how to run the notebooks, and what they need."""
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    needed = project["dependencies"] + project["optional-dependencies"]["book"]
    brought = textwrap.fill(f"The first brings vit_steps, {', '.join(needed)}.", 80)
    return f"""\
Vision Transformer, Step by Step: the notebooks

notebooks/             the chapters, in order
notebooks/exercises/   a set of exercises for each chapter
notebooks/side_roads/  what no later chapter needs
book/                  claims about Vision Transformers, checked

They need Python 3.11 to 3.14, git, and what these three lines install:

    {INSTALL} jupyterlab
    {INSTALL_BOOK}
    {INSTALL_D2L}

{brought}

On Linux without a GPU, PyTorch brings gigabytes of CUDA along. This line before the
others leaves them out:

    pip install torch torchvision --index-url https://download.pytorch.org/whl/cpu

Then start with

    jupyter lab notebooks/00_before_you_start.ipynb

Code is under the MIT licence (LICENSE), text and figures are under CC BY 4.0
(LICENSE-TEXT).
"""


def contents(root: Path) -> dict[str, bytes]:
    files = [*(root / name for name in LICENCES)]
    for folder in FOLDERS:
        files += sorted((root / folder).glob("*.ipynb"))
    packed = {str(f.relative_to(root).as_posix()): f.read_bytes() for f in files}
    return {"README.txt": readme(root).encode(), **packed}


def write_archive(root: Path, archive: Path) -> None:
    archive.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(archive, "w") as pack:
        for name, data in contents(root).items():
            entry = zipfile.ZipInfo(f"{FOLDER}/{name}", FIRST_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            entry.create_system = 3  # Unix on every system, for the same bytes
            pack.writestr(entry, data)


def write_downloads(app: Sphinx, exception: Exception | None) -> None:
    if not exception and app.builder.format == "html":
        write_archive(Path(app.srcdir), Path(app.outdir) / ARCHIVE)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", write_downloads)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
