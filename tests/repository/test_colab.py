"""Test `make colab-check` with notebooks that are wrong in one way each."""

import os
import re
import sys
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.conftest import ROOT
from tests.repository.colab.__main__ import in_the_books_order
from tests.repository.colab.runtime import REQUIREMENTS, write_kernel
from tests.repository.colab.session import check

NOTHING = "import sys"
GRADED = {"grade": True, "solution": False, "locked": True, "schema_version": 3}
SENTENCE = """
class CheckFailed(Exception):
    def _render_traceback_(self):
        return ["CheckFailed: write it"]
raise CheckFailed
"""


class SmallRuntime:
    """A runtime that runs here, and only reports what the first cell would install."""

    def __init__(
        self,
        folder: Path,
        added=("vit_steps==0.1", "vit_steps_book==0.1", "d2l==1.0.3"),
        lost=(),
    ):
        self.kernels = folder / "kernels"
        write_kernel(self.kernels, Path(sys.executable))
        self.before = {"numpy==2.1.3", "torch==2.11.0"}
        self.after = self.before - set(lost) | set(added)
        self.asked = 0

    def packages(self):
        self.asked += 1
        return self.before if self.asked == 1 else self.after

    def clean(self):
        pass

    def environment(self):
        return dict(os.environ)


def faults(runtime, *sources, graded=False, unsolved=False):
    cells = [new_code_cell(source) for source in sources]
    if graded:
        cells[-1].metadata["nbgrader"] = {**GRADED, "grade_id": "check"}
    report = check(new_notebook(cells=cells), runtime, unsolved)
    return "\n".join(report.faults)


def test_all_notebooks_in_the_books_order():
    names = [path.relative_to(ROOT).as_posix() for path in in_the_books_order()]
    assert sorted(names) == sorted(set(names))
    folders = ("notebooks", "classroom/source", "book")
    found = [p for folder in folders for p in (ROOT / folder).rglob("*.ipynb")]
    assert set(names) == {p.relative_to(ROOT).as_posix() for p in found}
    assert names[0] == "notebooks/00_before_you_start.ipynb"


def test_every_version_of_colab_is_pinned():
    for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines():
        assert not line or line.startswith("#") or re.match(r"[\w-]+==[\d.]+", line)


def test_nothing_is_wrong(tmp_path):
    assert faults(SmallRuntime(tmp_path), NOTHING, "1 + 1") == ""


def test_a_cell_that_fails(tmp_path):
    told = faults(SmallRuntime(tmp_path), NOTHING, "1 / 0", "2")
    assert "ZeroDivisionError: division by zero" in told


def test_a_cell_that_fails_when_it_is_run_again(tmp_path):
    source = "assert 'again' not in globals()\nagain = True"
    assert "AssertionError" in faults(SmallRuntime(tmp_path), NOTHING, source)


def test_a_first_cell_that_works_each_time(tmp_path):
    source = "import subprocess, sys\nsubprocess.run([sys.executable, '--version'])"
    assert "no no-op" in faults(SmallRuntime(tmp_path), source)


def test_a_first_cell_that_replaces_a_loaded_package(tmp_path):
    source = "import sys, types\nsys.modules['textwrap'] = types.ModuleType('textwrap')"
    told = faults(SmallRuntime(tmp_path), source)
    assert "modules were replaced" in told and "textwrap" in told


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"lost": ["numpy==2.1.3"]}, "the first cell replaced numpy==2.1.3"),
        ({"added": ["vit_steps==0.1"]}, "the first cell installed vit_steps"),
        (
            {"added": ["vit_steps==0.1", "d2l==1.0.3", "pandas==2.0.3"]},
            "the first cell installed d2l, pandas, vit_steps",
        ),
    ],
)
def test_what_the_first_cell_does_to_colab(changes, sentence, tmp_path):
    assert faults(SmallRuntime(tmp_path, **changes), NOTHING) == sentence


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (SENTENCE, ""),
        ("1", "passes although nothing is done"),
        ("check", "NameError"),
        (SENTENCE.replace("[", "['here', "), "CheckFailed"),
    ],
)
def test_a_check_of_an_unwritten_answer(source, told, tmp_path):
    runtime = SmallRuntime(tmp_path)
    found = faults(runtime, NOTHING, source, graded=True, unsolved=True)
    assert told in found and bool(told) == bool(found)
