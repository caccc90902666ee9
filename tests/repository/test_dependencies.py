"""Test that all imports are declared, and that all declared packages are pinned."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

import pytest

from book._extensions.downloads import readme
from tests.conftest import NOTEBOOKS, ROOT, code_cells
from vit_steps.optional import INSTALL_D2L

DISTRIBUTIONS = packages_distributions()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
OURS = {path.name for path in ROOT.iterdir() if path.is_dir()}
OURS |= {path.stem for path in (ROOT / "book" / "_extensions").glob("*.py")}


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def named(requirements):
    """Return the names in lines like ``torch>=2.6`` and ``Sphinx==7.4.7``."""
    found = (re.match(r"[\w.-]+", line) for line in requirements)
    return {normal(match[0]) for match in found if match}


def lines(file):
    return (ROOT / file).read_text(encoding="utf-8").splitlines()


DECLARED = named(PROJECT["dependencies"])
EXTRA = {k: named(v) for k, v in PROJECT["optional-dependencies"].items()}
CLASSROOM = named(lines("classroom/requirements.txt"))
PINNED = named(lines("requirements.txt"))
BEHIND_THEM = {"transformers", "onnxscript"}


def modules(tree):
    """Yield the modules that are imported, at the top or inside a function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module


def from_others(source):
    """Return the distributions that code imports, except Python's and ours."""
    tops = {name.split(".")[0] for name in modules(ast.parse(source))}
    return {
        normal(DISTRIBUTIONS.get(top, [top])[0])
        for top in tops - sys.stdlib_module_names - OURS
    }


def imported(folder):
    """Return the distributions that a folder's files import, each with one file."""
    found = {}
    for path in sorted((ROOT / folder).rglob("*.py")):
        if path.name == "setup.py":  # needs what its pyproject.toml requires
            continue
        for name in from_others(path.read_text(encoding="utf-8")):
            found.setdefault(name, path.relative_to(ROOT).as_posix())
    return found


def imported_by_notebooks():
    """Return the distributions that notebooks import, also through d2l or PyTorch."""
    exercises = sorted((ROOT / "notebooks" / "exercises").glob("*.ipynb"))
    cells = [cell for path in [*NOTEBOOKS, *exercises] for cell in code_cells(path)]
    code = [cell.source for cell in cells]
    d2l = Path(find_spec("d2l").origin).with_name("torch.py")
    for node in ast.parse(d2l.read_text(encoding="utf-8")).body:  # only at the top
        if isinstance(node, ast.Import | ast.ImportFrom):
            code.append(ast.unparse(node))
    return set().union(*map(from_others, code)) - {"d2l"} | BEHIND_THEM


@pytest.mark.parametrize(
    ("folder", "declared"),
    [
        ("vit_steps", DECLARED | EXTRA["book"]),
        ("vit_doctor", DECLARED | EXTRA["book"]),
        ("vit_book", DECLARED | EXTRA["book"]),
        ("vit_check", DECLARED),
        ("classroom", DECLARED | EXTRA["book"] | CLASSROOM),
        ("book", PINNED),
        ("experiments", PINNED),
    ],
)
def test_what_is_imported_is_declared(folder, declared):
    used = imported(folder)
    assert used
    missing = {name: where for name, where in used.items() if name not in declared}
    assert not missing


def test_the_book_brings_what_its_notebooks_import():
    assert imported_by_notebooks() <= DECLARED | EXTRA["book"]


@pytest.mark.parametrize("declared", [EXTRA["book"], CLASSROOM], ids=len)
def test_no_declared_package_is_unused(declared):
    used = set().union(*map(imported, ("vit_steps", "vit_book", "classroom", "tests")))
    assert declared <= used | imported_by_notebooks()


def test_the_notebooks_readme_names_all_that_they_need():
    text = readme(ROOT)
    told = {normal(word) for word in re.findall(r"[\w-]+", text)}
    assert imported_by_notebooks() <= told
    assert INSTALL_D2L in text and INSTALL_D2L.split()[-1] in lines(
        "requirements-no-deps.txt"
    )


def test_what_is_declared_is_pinned():
    everything = DECLARED.union(CLASSROOM, *EXTRA.values())
    assert everything <= PINNED
    for file in ("requirements.txt", "requirements-no-deps.txt", "constraints.txt"):
        for line in lines(file):
            assert re.fullmatch(r"(#.*|[\w.-]+==[\w.]+|)", line), f"{file}: {line}"


def test_no_version_is_pinned_twice_over():
    pins = [line for line in lines("requirements.txt") if "==" in line]
    again = {normal(line.partition("==")[0]): line for line in pins}
    for line in lines("constraints.txt"):
        name, _, version = line.partition("==")
        if normal(name) in again and version:
            assert again[normal(name)].partition("==")[2] == version


def test_the_same_pythons_are_named_everywhere():
    label = "Programming Language :: Python :: "
    minor = [c.removeprefix(label) for c in PROJECT["classifiers"] if label + "3." in c]
    first, last = minor[0], minor[-1]
    assert minor == [f"3.{n}" for n in range(int(first[2:]), int(last[2:]) + 1)]
    assert PROJECT["requires-python"] == f">={first}"  # no newer Python is ruled out
    listed = f"Python {', '.join(minor[:-1])} or {last}"
    for file in ("README.md", "book/classroom.md", "environment/install.sh"):
        assert listed in (ROOT / file).read_text(encoding="utf-8"), file
    assert f"Python {first} to {last}" in readme(ROOT)
    workflow = (ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8")
    quoted = ", ".join(f'"{version}"' for version in minor)
    assert workflow.count(f"python: [{quoted}]") == 2
