"""Test that a torchvision for CUDA can be imported beside a PyTorch without it."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

TORCH = """
declared = set()

class library:
    class Library:
        def __init__(self, namespace, kind):
            assert kind == "DEF"
            self.namespace = namespace

        def define(self, schema):
            name = self.namespace + "::" + schema.partition("(")[0]
            assert name not in declared, name
            declared.add(name)

def look_up(name):
    if name not in declared:
        raise RuntimeError("operator " + name + " does not exist")
"""
TORCHVISION = """
from . import extension
import torch
torch.look_up("torchvision::nms")
torch.look_up("torchvision::qnms")
"""
EXTENSION = """
import os
import torch
if "COMPILED" in os.environ:  # the compiled part declares the operators
    compiled = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        compiled.define(name + "(Tensor d, Tensor s, float i) -> Tensor")

def _has_ops():
    return "COMPILED" in os.environ
"""


@pytest.fixture
def site(tmp_path):
    """A function that makes a folder with a torchvision and a torch of two builds."""

    def site(torchvision, torch):
        files = {
            "torch/__init__.py": TORCH,
            "torch/version.py": f"__version__ = '2.13.0{torch}'\n",
            "torchvision/__init__.py": TORCHVISION,
            "torchvision/version.py": f"__version__ = '0.28.0{torchvision}'\n",
            "torchvision/extension.py": EXTENSION,
        }
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        return tmp_path

    return site


def python(*arguments, path="", **variables):
    return subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONPATH": str(path), **variables},
        capture_output=True,
        text=True,
    )


def mend(path):
    done = python(str(ROOT / "environment" / "mend_torchvision.py"), path=path)
    assert done.returncode == 0, done.stderr
    return done.stdout


def import_torchvision(path, **variables):
    return python("-c", "import torchvision", path=path, **variables).stderr


def test_without_the_mend_it_fails_as_on_a_machine_without_cuda(site):
    path = site("+cu130", "+cpu")
    assert "operator torchvision::nms does not exist" in import_torchvision(path)


def test_mended_it_imports_and_says_once_how(site):
    path = site("+cu130", "+cpu")
    extension = path / "torchvision" / "extension.py"
    assert mend(path) == (
        f"torchvision is built for cu130, PyTorch for cpu: mended in {extension}\n"
    )
    text = extension.read_text()
    assert mend(path) == "" and extension.read_text() == text
    assert import_torchvision(path) == ""


def test_the_mend_does_nothing_if_the_compiled_part_loads(site):
    path = site("+cu130", "+cu126")
    assert mend(path)
    assert import_torchvision(path, COMPILED="1") == ""


@pytest.mark.parametrize("build", ["+cpu", "+cu130", ""])
def test_two_builds_that_fit_are_left_alone(site, build):
    path = site(build, build)
    assert mend(path) == ""
    assert (path / "torchvision" / "extension.py").read_text() == EXTENSION


def test_a_file_that_the_installer_shares_stays_as_it_was(site):
    path = site("+cu130", "+cpu")
    cached = path / "cached.py"
    os.link(path / "torchvision" / "extension.py", cached)
    assert mend(path)
    assert cached.read_text() == EXTENSION


def test_in_this_environment_the_plain_imports_work():
    code = "import torchvision.datasets, torchvision.models, torchvision.transforms.v2"
    done = python("-c", f"{code}; import timm, transformers")
    assert done.returncode == 0, done.stderr
