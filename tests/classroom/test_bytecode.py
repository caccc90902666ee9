"""Kernels find their modules compiled, whoever installed them."""

import compileall
import subprocess
import sys

import pytest

from classroom.grading import bytecode
from classroom.grading.bytecode import compile_into
from classroom.grading.sandbox import run_sandboxed
from tests.classroom.in_sandbox import in_sandbox


@pytest.fixture
def module(tmp_path, monkeypatch):
    """One that is not compiled."""
    path = tmp_path / "packages" / "not_compiled.py"
    path.parent.mkdir()
    path.write_text("")
    monkeypatch.syspath_prepend(path.parent)
    return path


def test_what_is_compiled_is_not_compiled_again(module, tmp_path, monkeypatch):
    runs = []
    monkeypatch.setattr(subprocess, "run", lambda *given, **_: runs.append(given))
    folder = tmp_path / "bytecode"
    assert compile_into(folder, [module.stem, "not_installed"]) == folder
    assert len(runs) == 1 and module.stem in runs[0][0][-1]
    compileall.compile_file(module, quiet=True)
    assert compile_into(folder, [module.stem, "not_installed"]) is None
    assert len(runs) == 1


@in_sandbox
def test_a_sandbox_finds_it_and_cannot_change_it(tmp_path, monkeypatch):
    """Even where a variable forbids this process to write any."""
    monkeypatch.setattr(bytecode, "_is_compiled", lambda module: False)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    folder = compile_into(tmp_path / "bytecode", ["cmd"])
    look = "import cmd, os\nplace = cmd.__cached__\nprint(os.path.exists(place))"
    python = [sys.executable, "-I", "-S", "-X", f"pycache_prefix={folder}"]
    done = run_sandboxed([*python, "-c", f"{look}\nopen(place, 'w')"], [folder])
    assert done.stdout == "True\n"
    assert "Read-only file system" in done.stderr or "denied" in done.stderr
