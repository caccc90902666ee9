"""Notebooks and package are one: a public name means the same in both."""

import ast
import importlib
import inspect
from collections import defaultdict

import pytest

import vit_steps
from tests.conftest import CHAPTERS, NOTEBOOKS, ROOT, code_cells

MODULES = [
    importlib.import_module(f"vit_steps.{path.stem}")
    for path in sorted((ROOT / "vit_steps").glob("*.py"))
    if not path.stem.startswith("__")
]


def public_source():
    """Source of every function and class that the package defines, by name."""
    source = {}
    for module in MODULES:
        for name, thing in vars(module).items():
            defined = inspect.isfunction(thing) or inspect.isclass(thing)
            if defined and thing.__module__ == module.__name__:
                source[name] = inspect.getsource(thing).rstrip()
    return source


def definitions(path):
    """Top-level definitions of a notebook: name and source, decorators included."""
    for cell in code_cells(path):
        lines = cell.source.splitlines()
        for node in ast.parse(cell.source).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                yield node.name, "\n".join(lines[first - 1 : node.end_lineno])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_what_is_defined_under_a_public_name_is_the_packages(path):
    source = public_source()
    for name, text in definitions(path):
        if name in source:
            assert text == source[name], f"{path.name}: {name} is not the package's"


def test_each_public_name_is_taught_in_exactly_one_chapter():
    taught = defaultdict(list)
    for path in CHAPTERS:
        for name, _ in definitions(path):
            taught[name].append(path.stem)
    assert {n: taught[n] for n in vit_steps.__all__ if len(taught[n]) != 1} == {}
    twice = {n: where for n, where in taught.items() if len(where) > 1}
    assert twice == {}, "import it, or give what is done by hand its own name"


def test_a_module_is_taught_in_the_chapter_of_its_topic():
    home = {
        "cost": "01",
        "patch_embedding": "02",
        "embedding": "03",
        "encoder": "06",
        "vision_transformer": "07",
    }
    chapter = {n: p.stem[:2] for p in CHAPTERS for n, _ in definitions(p)}
    for name in vit_steps.__all__:
        module = getattr(vit_steps, name).__module__.split(".")[1]
        if module == "attention":
            assert chapter[name] == ("05" if name == "MultiHeadAttention" else "04")
        else:
            assert chapter[name] == home[module], name
