"""What the code imports is declared, and what is declared is pinned."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest

from tests.conftest import ROOT

DISTRIBUTIONS = packages_distributions()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
OURS = {path.name for path in ROOT.iterdir() if path.is_dir()}
OURS |= {path.stem for path in (ROOT / "book" / "_extensions").glob("*.py")}


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def named(requirements):
    """The names in lines like ``torch>=2.6`` and ``Sphinx==7.4.7``."""
    found = (re.match(r"[\w.-]+", line) for line in requirements)
    return {normal(match[0]) for match in found if match}


def lines(file):
    return (ROOT / file).read_text(encoding="utf-8").splitlines()


DECLARED = named(PROJECT["dependencies"])
EXTRA = {k: named(v) for k, v in PROJECT["optional-dependencies"].items()}
PINNED = named(lines("requirements.txt"))


def modules(tree):
    """The modules that are imported, at the top or inside a function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module


def imported(folder):
    """What a folder's files import from others: the distribution, and where."""
    found = {}
    for path in sorted((ROOT / folder).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for module in {name.split(".")[0] for name in modules(tree)}:
            if module not in sys.stdlib_module_names | OURS:
                name = normal(DISTRIBUTIONS.get(module, [module])[0])
                found.setdefault(name, path.relative_to(ROOT).as_posix())
    return found


@pytest.mark.parametrize(
    ("folder", "declared"),
    [
        ("vit_steps", DECLARED | EXTRA["book"]),
        ("vit_check", DECLARED),
        ("classroom", DECLARED | EXTRA["book"] | EXTRA["classroom"]),
        ("book", PINNED),
        ("experiments", PINNED),
    ],
)
def test_what_is_imported_is_declared(folder, declared):
    used = imported(folder)
    assert len(used) > 1
    missing = {name: where for name, where in used.items() if name not in declared}
    assert not missing


@pytest.mark.parametrize("extra", ["book", "classroom"])
def test_nothing_is_declared_that_nobody_imports(extra):
    used = imported("vit_steps") | imported("classroom") | imported("tests")
    assert {*EXTRA[extra]} <= {*used}


def test_what_is_declared_is_pinned():
    everything = DECLARED.union(*EXTRA.values())
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
    assert PROJECT["requires-python"] == f">={first},<3.{int(last[2:]) + 1}"
    listed = f"Python {', '.join(minor[:-1])} or {last}"
    for file in ("README.md", "book/teaching.md", "environment/install.sh"):
        assert listed in (ROOT / file).read_text(encoding="utf-8"), file
    workflow = (ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8")
    quoted = ", ".join(f'"{version}"' for version in minor)
    assert workflow.count(f"python: [{quoted}]") == 2
