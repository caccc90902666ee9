"""Write the drawings that ship with the package: `make drawings`.

    python -m book.drawings [NAME ...]     all, or only these

Each file here except the kit has a function ``draw`` that returns its drawing.
"""

import argparse
import importlib
from pathlib import Path

from book.drawings.kit import Drawing
from vit_book.drawings import FOLDER

HERE = Path(__file__).parent
NAMES = sorted(f.stem for f in HERE.glob("[!_]*.py") if f.stem != "kit")


def drawn(name: str) -> str:
    """Return the SVG that the file of this name draws."""
    drawing: Drawing = importlib.import_module(f"book.drawings.{name}").draw()
    return drawing.svg(name)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m book.drawings", description="Writes the book's drawings."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    names = parser.parse_args().names
    if unknown := set(names) - set(NAMES):
        parser.error(f"{', '.join(sorted(unknown))}: expected {', '.join(NAMES)}")
    FOLDER.mkdir(exist_ok=True)
    for name in names or NAMES:
        file = FOLDER / f"{name}.svg"
        file.write_text(drawn(name), encoding="utf-8", newline="\n")
        print(f"{name}.svg: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
