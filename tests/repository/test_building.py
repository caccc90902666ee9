"""Test that `make book` builds the book, and builds it again after a change.

It runs in a folder of old files, with a stand-in for jupyter-book.
"""

import os
import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="a shell script"),
    pytest.mark.skipif(shutil.which("make") is None, reason="needs make"),
]

JUPYTER_BOOK = """#!/bin/sh
[ ! -e broken.md ] || exit 1
mkdir -p _build/html && echo "the pages" > _build/html/index.html
"""
STAMP = "_build/built"


class Project:
    def __init__(self, root):
        self.root = root
        shutil.copy(ROOT / "Makefile", root)
        shutil.copytree(ROOT / "environment", root / "environment")
        for file in ROOT.glob("*requirements*.txt"):
            shutil.copy(file, root)
        shutil.copytree(ROOT / "book/distribution", root / "book/distribution")
        for name in ("constraints.txt", "pyproject.toml", "notebooks/01.ipynb"):
            self.write(name)
        self.write(".venv/bin/jupyter-book", JUPYTER_BOOK).chmod(0o755)
        self.write("book/scripts/package-lock.json")
        self.write("book/scripts/node_modules/.package-lock.json")
        self.write(".venv/ready")

    def write(self, name, text=""):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def remove(self, name):
        (self.root / name).unlink()

    def make_book(self):
        """Return whether the book was built; afterwards all files are old.

        The stamp of the build is a little newer than the files.
        """
        done = subprocess.run(
            ["make", "book"], cwd=self.root, capture_output=True, text=True
        )
        for path in (self.root, *self.root.rglob("*")):
            os.utime(path, (1000, 1000))
        if (self.root / STAMP).exists():
            os.utime(self.root / STAMP, (2000, 2000))
        assert done.returncode == 0, done.stderr
        assert "The book is ready" in done.stdout
        return "== Building" in done.stdout


@pytest.fixture
def project(tmp_path):
    project = Project(tmp_path)
    assert project.make_book()
    return project


def test_it_is_built_once(project):
    assert not project.make_book()


@pytest.mark.parametrize(
    "change",
    [
        lambda project: project.write("notebooks/01.ipynb", "another"),
        lambda project: project.write("notebooks/02.ipynb"),
        lambda project: project.write("_toc.yml"),
        lambda project: os.utime(project.write("notebooks/02.ipynb"), (1000, 1000)),
        lambda project: project.remove("notebooks/01.ipynb"),
        lambda project: project.write(".venv/ready"),
        lambda project: project.remove("_build/html/index.html"),
    ],
    ids=[
        "changed",
        "new",
        "new at the top",
        "old, moved here",
        "removed",
        "environment",
        "no pages",
    ],
)
def test_it_is_built_again_after_a_change(project, change):
    change(project)
    assert project.make_book()
    assert not project.make_book()


def test_tests_and_files_of_tools_are_not_changes(project):
    for name in ("tests/test_it.py", ".ruff_cache/1", "notebooks/__pycache__/a.pyc"):
        project.write(name)
    assert not project.make_book()


def test_a_build_that_fails_is_not_taken_for_the_book(project):
    project.write("broken.md")
    with pytest.raises(AssertionError, match="the book was not built"):
        project.make_book()
    project.remove("broken.md")
    assert project.make_book()
