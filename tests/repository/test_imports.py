"""Imports point one way, and bring nothing heavy."""

import subprocess
import sys

import pytest

import vit_check
import vit_steps
from tests.conftest import ROOT


def test_imports_point_one_way():
    """The contracts stand in pyproject.toml; lazy imports count as any other."""
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("package", "brings"),
    [
        ("vit_steps", {"vit_steps", "safetensors"}),
        ("vit_check", {"vit_check", "vit_steps", "safetensors"}),
    ],
)
def test_import_brings_torch_and_nothing_heavier(package, brings):
    code = f"""
import sys, torch
before = {{name.split(".")[0] for name in sys.modules}}
import {package}
brought = {{name.split(".")[0] for name in sys.modules}} - before
print(sorted(brought - sys.stdlib_module_names))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    brought = {name for name in eval(done.stdout) if not name.startswith("_")}
    assert brought <= brings


def test_public_names_are_there_and_explain_themselves():
    for package in (vit_steps, vit_check):
        assert sorted(package.__all__) == sorted(set(package.__all__))
        for name in package.__all__:
            thing = getattr(package, name)
            assert thing.__doc__ and not thing.__doc__.startswith(name + "(")


def test_a_student_sees_checks_and_nothing_else():
    """``check.<Tab>`` offers no folders and no files."""
    assert dir(vit_check) == sorted(vit_check.__all__)
    assert all(callable(getattr(vit_check, name)) for name in dir(vit_check))
