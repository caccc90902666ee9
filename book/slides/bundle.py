"""Put all figures of the book into a zip, as SVG and as PNG: `make figures`.

    python -m book.slides.bundle [NOTEBOOK ...]     all of them, or only these

The notebooks are run, because a plot's SVG is not in them. What has been run stays in
``_build/figures`` and is run again only after a change, so the work may be interrupted.
"""

import base64
import csv
import io
import sys
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
STYLE = "use_book_style()"
SVG_TOO = """

from io import StringIO as _StringIO
from matplotlib.figure import Figure as _Figure

def _svg(figure):
    svg = _StringIO()
    figure.savefig(svg, format="svg", bbox_inches="tight")
    return svg.getvalue()

_formatters = get_ipython().display_formatter.formatters
_formatters["image/svg+xml"].for_type(_Figure, _svg)
"""


def run(notebook: Path) -> Path:
    """Run a notebook so that its plots are SVGs, too, and return the copy's path."""
    copy = FOLDER / notebook.name
    if copy.exists() and copy.stat().st_mtime > notebook.stat().st_mtime:
        return copy
    content = nbformat.read(notebook, as_version=4)
    for cell in content.cells:
        if cell.cell_type == "code" and STYLE in cell.source:
            cell.source += SVG_TOO
    place = {"metadata": {"path": str(notebook.parent)}}
    NotebookClient(content, timeout=1800, resources=place).execute()
    FOLDER.mkdir(parents=True, exist_ok=True)
    nbformat.write(content, copy)
    return copy


def photograph(tab: Page, figure: Figure) -> bytes:
    """Return a drawing as PNG, in twice its pixels."""
    tab.set_viewport_size({"width": int(figure.width), "height": int(figure.height)})
    data = base64.b64encode(figure.data).decode()
    image = f'<img src="data:image/svg+xml;base64,{data}" width="100%">'
    tab.set_content(f"<body style='margin: 0'>{image}", wait_until="load")
    return tab.screenshot(type="png")


def files(notebook: Path, tab: Page) -> dict[str, tuple[bytes, Figure]]:
    """Return the two files of each figure of a notebook that was run, by name."""
    found = {}
    for cell in nbformat.read(notebook, as_version=4).cells:
        drawn = figure_of(notebook.stem, cell)
        if drawn is None:
            continue
        name = f"{notebook.stem}-{cell.id}"
        plotted = figure_of(notebook.stem, cell, kind="image/png")
        png = plotted.data if plotted else photograph(tab, drawn)
        found[f"{name}.svg"] = drawn.data, drawn
        found[f"{name}.png"] = png, drawn
    return found


def index(figures: dict[str, Figure]) -> str:
    """Return a table of the files, their captions and alternative texts, as CSV."""
    table = io.StringIO()
    rows = csv.writer(table)
    rows.writerow(["file", "alternative text", "caption", "licence"])
    for name, figure in figures.items():
        licence = "CC BY 4.0; photographs keep their own, see LICENSE-TEXT"
        rows.writerow([name, figure.alt, figure.caption, licence])
    return table.getvalue()


def main(asked: list[str]) -> None:
    notebooks = [Path(name) for name in asked] or [
        file for folder in NOTEBOOKS for file in sorted(Path(folder).glob("*.ipynb"))
    ]
    figures = {}
    ZIP.parent.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, ZipFile(ZIP, "w", ZIP_DEFLATED) as bundle:
        browser = launch(playwright)
        if browser is None:
            sys.exit("Stopped: no Chromium, Chrome or Edge is installed.")
        tab = browser.new_page(device_scale_factor=2)
        for notebook in notebooks:
            print(notebook, flush=True)
            for name, (data, figure) in files(run(notebook), tab).items():
                bundle.writestr(name, data)
                figures[name] = figure
        bundle.writestr("index.csv", index(figures))
        bundle.write("LICENSE-TEXT")
        browser.close()
    print(f"{ZIP}: {len(figures)} files")


if __name__ == "__main__":
    main(sys.argv[1:])
