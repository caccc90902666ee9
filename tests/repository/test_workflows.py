"""Test that the workflows of GitHub Actions ask for few rights, end, and can run.

`make lint-workflows` checks their form.
"""

import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml

import vit_steps
from book._extensions.downloads import ARCHIVE
from book.pdf import TARGET
from tests.conftest import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAY_BE_WRITTEN = {"book": {"pages", "id-token"}, "release": {"contents"}}
MAY_BE_WRITTEN |= {name: {"issues"} for name in ("links", "newest")}
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
COMMANDS = re.findall(
    r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE
)

every_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)


def workflow(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps(path):
    return [s for job in workflow(path)["jobs"].values() for s in job["steps"]]


def test_all_are_there():
    names = {path.stem for path in WORKFLOWS}
    assert names == {"test", "book", "newest", "links", "release"}


@every_workflow
def test_every_job_ends_and_no_two_runs_meet(path):
    assert workflow(path)["concurrency"]["group"]
    for name, job in workflow(path)["jobs"].items():
        assert 0 < job["timeout-minutes"] <= 90, name


@every_workflow
def test_nothing_is_allowed_that_is_not_needed(path):
    whole = workflow(path)
    asked = [
        whole["permissions"],
        *(j.get("permissions") for j in whole["jobs"].values()),
    ]
    assert whole["permissions"]["contents"] == "read"
    written = {k for p in asked for k, v in (p or {}).items() if v == "write"}
    assert written == MAY_BE_WRITTEN.get(path.stem, set())


@every_workflow
def test_actions_are_pinned(path):
    for step in steps(path):
        if "uses" in step:
            assert re.search(r"@(v\d+|[0-9a-f]{40})$", step["uses"]), step["uses"]


@every_workflow
def test_commands_and_scripts_of_a_workflow_exist(path):
    commands = "\n".join(step.get("run", "") for step in steps(path))
    assert set(re.findall(r"\bmake ([\w-]+)", commands)) <= set(COMMANDS)
    for script in re.findall(r"(?m)^\s*(\.(?:ci|github)/[\w/]+)", commands):
        assert (ROOT / script).exists(), script


def test_the_tests_run_on_every_python_and_system():
    jobs = workflow(ROOT / ".github/workflows/test.yml")["jobs"]
    for name in ("linux", "elsewhere"):
        assert jobs[name]["strategy"]["matrix"]["python"] == PYTHONS
    assert jobs["elsewhere"]["strategy"]["matrix"]["system"] == [
        "macos-latest",
        "windows-latest",
    ]


def test_the_oldest_torch_that_is_promised_is_tested():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    oldest = re.search(r'"torch>=([\d.]+)"', text)[1]
    job = workflow(ROOT / ".github/workflows/test.yml")["jobs"]["oldest"]
    commands = "\n".join(step.get("run", "") for step in job["steps"])
    assert f"torch=={oldest}.0 " in commands and "pytest" in commands


def test_without_make_the_commands_are_those_that_are_written_down():
    written = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    jobs = workflow(ROOT / ".github/workflows/test.yml")["jobs"]
    for step in jobs["elsewhere"]["steps"]:
        if "run" in step:
            assert f"\n{step['run'].strip()}\n" in written


def test_what_is_published_is_what_the_book_makes():
    site, release = (
        (ROOT / f".github/workflows/{name}.yml").read_text(encoding="utf-8")
        for name in ("book", "release")
    )
    assert "make pdf" in site and "path: _build/html\n" in site
    assert "make pdf" in release and f"_build/html/{ARCHIVE}" in release
    assert TARGET.relative_to(ROOT).as_posix() in release


@pytest.mark.skipif(sys.platform == "win32", reason="the runner's shell")
@pytest.mark.parametrize(
    ("tag", "code"), [(f"v{vit_steps.__version__}", 0), ("v0.0.9", 1)]
)
def test_a_release_has_the_changelogs_notes(tag, code, tmp_path):
    changelog = shutil.copy(ROOT / "CHANGELOG.md", tmp_path)
    with open(changelog, "a", encoding="utf-8") as file:
        file.write("\n## [0.0.1] - 2026-01-01\n\nThe one before.\n")
    release = ROOT / ".github/workflows/release.yml"
    step = next(s for s in steps(release) if "notes.md" in s.get("run", ""))
    done = subprocess.run(
        ["bash", "-e", "-c", step["run"]], cwd=tmp_path, env={**os.environ, "TAG": tag}
    )
    assert done.returncode == code
    notes = (tmp_path / "notes.md").read_text(encoding="utf-8")
    assert ("vit_steps" in notes) == (code == 0) and "The one before" not in notes
    assert "\n## " not in notes
