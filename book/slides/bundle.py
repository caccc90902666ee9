"""Put all figures of the book into a zip, as SVG and as PNG: `make figures`.

    python -m book.slides.bundle [NOTEBOOK ...]     all of them, or only these

The notebooks are run, because a plot's SVG is not in them. What has been run stays in
``_build/figures`` and is run again only after a change, so the work may be interrupted.
"""

import base64
import csv
import io
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import nbformat
from nbclient import NotebookClient
from playwright.sync_api import Page, sync_playwright

from book.chromium import launch
from book.slides.figures import Figure, figure_of

FOLDER = Path("_build/figures")
ZIP = Path("_build/slides/figures.zip")
NOTEBOOKS = ("notebooks", "notebooks/side_roads", "book")
SVG_TOO = ["--InlineBackend.figure_format=svg"]  # the book's style adds the PNG
LICENCE = "CC BY 4.0; photographs keep their own, see LICENSE-TEXT"


def run(notebook: Path) -> Path:
    """Run a notebook so that its plots are SVGs, too, and return the copy's path."""
    print(notebook, flush=True)
    copy = FOLDER / notebook.name
    if not copy.exists() or copy.stat().st_mtime < notebook.stat().st_mtime:
        content = nbformat.read(notebook, as_version=4)
        NotebookClient(
            content,
            timeout=1800,
            resources={"metadata": {"path": str(notebook.parent)}},
            extra_arguments=SVG_TOO,
        ).execute()
        FOLDER.mkdir(parents=True, exist_ok=True)
        nbformat.write(content, copy)
    return copy


def figures_in(notebook: Path, tab: Page) -> Iterator[tuple[str, Figure]]:
    """Yield the figures of a notebook that was run, each as SVG and as PNG."""
    for cell in nbformat.read(notebook, as_version=4).cells:
        drawn = figure_of(notebook.stem, cell, ["image/svg+xml"])
        if drawn is None:
            continue
        plotted = figure_of(notebook.stem, cell, ["image/png"])
        yield drawn.file, drawn
        yield drawn.file.replace(".svg", ".png"), plotted or photograph(tab, drawn)


def photograph(tab: Page, drawing: Figure) -> Figure:
    """Return a drawing as PNG, in twice its pixels."""
    data = base64.b64encode(drawing.data).decode()
    tab.set_content(
        f'<img src="data:image/svg+xml;base64,{data}" width="{drawing.width}">',
        wait_until="load",
    )
    return replace(drawing, data=tab.locator("img").screenshot(type="png"))


def main(asked: list[str]) -> None:
    folders = [sorted(Path(folder).glob("*.ipynb")) for folder in NOTEBOOKS]
    notebooks = [Path(name) for name in asked] or [f for fs in folders for f in fs]
    index = io.StringIO()
    table = csv.writer(index)
    table.writerow(["file", "alternative text", "caption", "licence"])
    ZIP.parent.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = launch(playwright)
        if browser is None:
            sys.exit("Stopped: no Chromium, Chrome or Edge is installed.")
        tab = browser.new_page(device_scale_factor=2)
        copies = [run(notebook) for notebook in notebooks]  # before there is a zip
        with ZipFile(ZIP, "w", ZIP_DEFLATED) as bundle:
            for copy in copies:
                for name, figure in figures_in(copy, tab):
                    bundle.writestr(name, figure.data)
                    table.writerow([name, figure.alt, figure.caption, LICENCE])
            bundle.writestr("index.csv", index.getvalue())
            bundle.write("LICENSE-TEXT")
        browser.close()
    print(ZIP)


if __name__ == "__main__":
    main(sys.argv[1:])
