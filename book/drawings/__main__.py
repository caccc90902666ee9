"""Write the drawings that ship with the package: `make drawings`.

    python -m book.drawings [NAME ...]     all, or only these

Each file here except the kit has a function ``draw`` that returns its drawing. The
outputs of notebooks that show a drawing get it as well, without being run.
"""

import argparse
import importlib
from pathlib import Path

import nbformat

from book.drawings.kit import Drawing
from vit_book.drawings import FOLDER

HERE = Path(__file__).parent
NOTEBOOKS = HERE.parents[1] / "notebooks"
NAMES = sorted(f.stem for f in HERE.glob("[!_]*.py") if f.stem != "kit")


def drawn(name: str) -> str:
    """Return the SVG that the file of this name draws."""
    drawing: Drawing = importlib.import_module(f"book.drawings.{name}").draw()
    return drawing.svg(name)


def put_into_notebooks(svgs: dict[str, str]) -> None:
    """Replace the drawings, by name, in the outputs of all notebooks."""
    for file in sorted(NOTEBOOKS.rglob("*.ipynb")):
        notebook = nbformat.read(file, 4)
        before = nbformat.writes(notebook)
        for cell in notebook.cells:
            for output in cell.get("outputs", ()):
                data = output.get("data", {})
                _, _, name = data.get("text/plain", "").partition("drawing: ")
                if name in svgs and "image/svg+xml" in data:
                    data["image/svg+xml"] = svgs[name]
        text = nbformat.writes(notebook)
        if text != before:
            file.write_text(text + "\n", encoding="utf-8", newline="\n")
            print(file.name)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m book.drawings", description="Writes the book's drawings."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    names = parser.parse_args().names
    if unknown := set(names) - set(NAMES):
        parser.error(f"{', '.join(sorted(unknown))}: expected {', '.join(NAMES)}")
    FOLDER.mkdir(exist_ok=True)
    svgs = {name: drawn(name) for name in names or NAMES}
    for name, svg in svgs.items():
        file = FOLDER / f"{name}.svg"
        file.write_text(svg, encoding="utf-8", newline="\n")
        print(f"{name}.svg: {file.stat().st_size:,} bytes")
    put_into_notebooks(svgs)


if __name__ == "__main__":
    main()
