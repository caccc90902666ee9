"""The book's extensions for Sphinx, and the host that serves pages to the tests."""

import ast
from urllib.error import URLError
from urllib.request import urlopen

import pytest
import yaml

from book.chromium import served
from tests.conftest import ROOT

FOLDER = ROOT / "book" / "_extensions"
MODULES = {
    ".".join(file.relative_to(FOLDER).with_suffix("").parts): file
    for file in sorted(FOLDER.rglob("[!_]*.py"))
}


def test_each_extension_is_known_under_one_name():
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    listed = settings["sphinx"]["config"]["extensions"]
    extensions = {
        name
        for name, file in MODULES.items()
        if "\ndef setup(" in file.read_text("utf-8")
    }
    assert {f"book._extensions.{name}" for name in extensions} <= set(listed)
    assert not MODULES.keys() & set(listed)
    folders = set(settings["sphinx"]["local_extensions"].values())
    assert folders == {"."}, "a folder of modules on the path gives them a second name"


@pytest.mark.parametrize("name", sorted(MODULES))
def test_an_extension_imports_another_by_its_full_name(name):
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    imported |= {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert not imported & MODULES.keys()


def test_a_server_ends_with_what_it_was_started_for(tmp_path):
    with pytest.raises(KeyError), served(tmp_path) as address:
        raise KeyError
    with pytest.raises(URLError, match="refused"):
        urlopen(address)
