"""Test that imports point one way, and that they load no heavy package."""

import subprocess
import sys
from importlib import import_module
from pkgutil import walk_packages

import pytest

import vit_check
import vit_steps
from tests.conftest import ROOT
from vit_check import CHECKS, chapters
from vit_check.engine.check import Check


def test_imports_point_one_way():
    """The contracts are in pyproject.toml; lazy imports count like any other."""
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout + done.stderr


BRINGS = {
    "vit_steps": {"vit_steps", "safetensors"},
    "vit_check": {"vit_check"},
    "vit_doctor": {"vit_doctor", "tqdm"},
}


def test_import_brings_torch_and_nothing_heavier():
    """Each package is imported after those before it, which it may import."""
    code = f"""
import sys, torch
for package in {list(BRINGS)}:
    before = {{name.split(".")[0] for name in sys.modules}}
    __import__(package)
    brought = {{name.split(".")[0] for name in sys.modules}} - before
    print(sorted(brought - sys.stdlib_module_names))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    for (package, brings), line in zip(BRINGS.items(), lines, strict=True):
        brought = {name for name in eval(line) if not name.startswith("_")}
        assert brought <= brings, package


def test_public_names_are_there_and_explain_themselves():
    for package in (vit_steps, vit_check):
        assert sorted(package.__all__) == sorted(set(package.__all__))
        for name in package.__all__:
            thing = getattr(package, name)
            assert thing.__doc__ and not thing.__doc__.startswith(name + "(")


def test_a_student_sees_checks_and_nothing_else():
    """``check.<Tab>`` offers no modules, and not the exception that checks raise."""
    assert {*dir(vit_check), "CheckFailed"} == set(vit_check.__all__)
    offered = {name: getattr(vit_check, name) for name in dir(vit_check)}
    pieces = {name for name, thing in offered.items() if isinstance(thing, Check)}
    assert offered.keys() - pieces == {"answer", "answers", "handed_out", "status"}


def test_a_check_is_found_in_the_file_of_its_name():
    for file in walk_packages(chapters.__path__, f"{chapters.__name__}."):
        for name, thing in vars(import_module(file.name)).items():
            if isinstance(thing, Check):
                said = f"{file.name}: {name}: expected the name of the file"
                assert thing.name == name and CHECKS.get(name) is thing, said


def test_two_checks_of_one_name_are_refused(tmp_path, monkeypatch):
    for chapter in ("first", "second"):
        (tmp_path / "twice" / chapter).mkdir(parents=True)
        (tmp_path / "twice" / chapter / "__init__.py").touch()
        code = "from vit_check import patchify"
        (tmp_path / "twice" / chapter / "patchify.py").write_text(code)
    (tmp_path / "twice" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match="twice.second.patchify: there is another"):
        vit_check._found_in(import_module("twice"))
