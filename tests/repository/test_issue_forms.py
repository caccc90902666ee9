"""Test that GitHub accepts the issue forms, and that all they name exists."""

import re
import shlex
import subprocess
import sys

import pytest
import yaml

import vit_check
import vit_steps
from book._extensions.repository import Repository
from tests.conftest import ROOT, read

FOLDER = ROOT / ".github" / "ISSUE_TEMPLATE"
FORMS = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in sorted(FOLDER.glob("*.yml"))
    if path.stem != "config"
}
every_form = pytest.mark.parametrize("name", FORMS)


def questions(name):
    return {question["id"]: question for question in FORMS[name]["body"]}


def test_there_is_one_for_each_kind_of_report():
    assert {*FORMS} == {"wrong_number", "lost_me", "wrong_check", "bug"}
    assert len({form["name"] for form in FORMS.values()}) == len(FORMS)


@every_form
def test_github_takes_the_form(name):
    assert {*FORMS[name]} == {"name", "description", "body"}
    assert len(questions(name)) == len(FORMS[name]["body"])
    for question in FORMS[name]["body"]:
        assert {*question} <= {"type", "id", "attributes", "validations"}
        known = {"label", "description", "placeholder"}
        known |= {"textarea": {"render"}, "dropdown": {"options"}, "input": set()}[
            question["type"]
        ]
        assert {"label"} <= {*question["attributes"]} <= known
        assert question.get("validations", {"required": True}) == {"required": True}


@pytest.mark.parametrize("name", ["wrong_number", "lost_me"])
def test_the_place_that_serves_as_an_example_is_there(name):
    example = questions(name)["where"]["attributes"]["placeholder"]
    path, section = example.split(", ")
    text = "\n".join(cell.source for cell in read(ROOT / path).cells)
    assert re.search(rf"^##+ {section}$", text, re.MULTILINE)


def test_the_check_that_serves_as_an_example_is_there():
    example = questions("wrong_check")["check"]["attributes"]["placeholder"]
    assert example.removeprefix("check.") in dir(vit_check)


def test_the_line_that_prints_versions_runs():
    told = questions("bug")["versions"]["attributes"]["description"]
    line = next(x for x in told.splitlines() if x.startswith("python "))
    command = [sys.executable, *shlex.split(line)[1:]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == vit_steps.__version__


def test_links_beside_the_forms_exist():
    config = yaml.safe_load((FOLDER / "config.yml").read_text(encoding="utf-8"))
    assert config["blank_issues_enabled"]
    repository = Repository.of(ROOT)
    for link in config["contact_links"]:
        path = link["url"].removeprefix(repository.file(""))
        assert (ROOT / path).is_file() and link["name"] and link["about"]


def test_readers_are_led_to_the_forms():
    for name in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert f"{Repository.of(ROOT).url}/issues/new/choose" in text
