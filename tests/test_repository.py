"""One version, one address, one set of licences, said in several files."""

import re
import subprocess
import tomllib

import pytest
import yaml

import vit_steps
from tests.conftest import CHAPTERS, ROOT, code_cells


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


PROJECT = tomllib.loads(text("pyproject.toml"))
ADDRESS = PROJECT["project"]["urls"]["Repository"]


def test_the_address_is_the_same_everywhere():
    config = yaml.safe_load(text("_config.yml"))
    assert config["repository"]["url"] == ADDRESS
    assert f"git+{ADDRESS}" in code_cells(CHAPTERS[0])[0].source
    assert ADDRESS in text("CITATION.cff")
    for name in ("README.md", "book/intro.md"):
        assert f"git clone {ADDRESS}" in text(name)


def test_the_version_is_the_same_everywhere():
    citation = yaml.safe_load(text("CITATION.cff"))
    assert citation["version"] == vit_steps.__version__


def test_licences():
    assert text("LICENSE").startswith("MIT License")
    assert "Attribution 4.0 International" in text("LICENSE-TEXT")
    assert "Apache License" in text("book/_assets/mathjax/LICENSE")
    assert (ROOT / "vit_steps" / "py.typed").exists()


def test_every_requirement_is_pinned():
    pinned = text("constraints.txt") + text("requirements.txt")
    for line in text("requirements.txt").splitlines():
        name = line.split("#")[0].strip()
        if name:
            bare = re.split("[=<>]", name)[0]
            assert re.search(rf"^{re.escape(bare)}==", pinned, re.M | re.I), name


def test_constraints_agree_with_requirements():
    wanted = dict(re.findall(r"^([\w.-]+)==(\S+)", text("requirements.txt"), re.M))
    for name, version in re.findall(
        r"^([\w.-]+)==(\S+)", text("constraints.txt"), re.M
    ):
        assert wanted.get(name, version) == version


def test_nothing_of_cuda_is_asked_for():
    assert not re.search("nvidia|cuda|triton", text("constraints.txt"), re.I)


def tracked():
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in done.stdout.splitlines()]


def test_nothing_built_is_committed():
    for path in tracked():
        relative = path.relative_to(ROOT).as_posix()
        assert not relative.startswith(("_build/", ".venv/"))
        assert path.name != ".DS_Store" and path.suffix != ".pyc"


def test_no_file_is_heavy():
    for path in tracked():
        limit = 3_200_000 if path.name == "fashion-mnist-7000.npz" else 1_500_000
        assert not path.exists() or path.stat().st_size < limit, path
