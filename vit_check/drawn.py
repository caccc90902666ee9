"""The variants of the sets, and their questions and checks in a variant.

A table is a text in ``variants``, by the name of its set; ``engine.variant`` reads it.
"""

import linecache
import sys
from pathlib import Path
from types import ModuleType

from vit_check.engine.variant import Variant

TABLES = Path(__file__).with_name("variants")


def variant_of(exercises: str, seed: int) -> Variant:
    """Return what a seed draws for a set.

    Args:
        exercises: the name of the set, as ``"01_why_patches"``.

    Raises: ValueError if its table cannot be read, with its name.
    """
    path = TABLES / f"{exercises}.txt"
    table = path.read_text(encoding="utf-8") if path.exists() else ""
    try:
        return Variant(table, f"{seed} {exercises}")
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


def variants(seed: int) -> dict[str, Variant]:
    """Return what a seed draws for each set that has a table, by the set's name."""
    names = sorted(path.stem for path in TABLES.glob("*.txt"))
    return {name: variant_of(name, seed) for name in names}


def as_drawn(module: ModuleType, variant: Variant) -> ModuleType:
    """Return a module as a variant has it; itself if nothing in it is drawn."""
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    text = variant.text(source)
    if text == source:
        return module
    name = f"{module.__name__}, drawn"
    file = f"<{name}>"
    drawn = ModuleType(name)
    drawn.__file__ = file
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    sys.modules[name] = drawn  # where ``inspect`` looks for the source of a class
    exec(compile(text, file, "exec"), vars(drawn))
    return drawn
