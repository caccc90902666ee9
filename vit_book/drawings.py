"""The book's drawings: SVGs in the colours of the theme that they are shown in."""

from pathlib import Path

from vit_steps.sizes import check_choice

FOLDER = Path(__file__).with_name("drawings")


class Drawing:
    """A drawing that a notebook shows as a picture, and ``print`` as its name."""

    def __init__(self, name: str, svg: str) -> None:
        self.name = name
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"drawing: {self.name}"


def drawing(name: str) -> Drawing:
    """Return a drawing that ``book/drawings/`` made; ValueError if it has no such name.

    The last line of a cell shows it.
    """
    check_choice(name, "name", sorted(file.stem for file in FOLDER.glob("*.svg")))
    return Drawing(name, (FOLDER / f"{name}.svg").read_text(encoding="utf-8"))
