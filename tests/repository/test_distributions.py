"""The package in one wheel, and what only the book needs in another."""

import os
import shutil
import subprocess
import sys
import zipfile

import pytest

from tests.conftest import ROOT
from vit_steps.optional import INSTALL_BOOK

PACKAGE = ("vit_steps/", "vit_doctor/")
BOOK_ONLY = ("vit_check/", "vit_book/", "vit_steps/data/fashion-mnist-7000.npz")
BOOK_ONLY += ("vit_steps/data/FASHION-MNIST-LICENSE",)


def tracked():
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a git checkout")
    return [name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """Both wheels, built from the files that git tracks."""
    clone = tmp_path_factory.mktemp("clone")
    needed = (*PACKAGE, "vit_book/", "vit_check/", "book/distribution/")
    at_the_top = ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in")
    for name in tracked():
        if name.startswith(needed) or name in at_the_top:
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, clone / name)
    built = {}
    for name, folder in (("vit_steps", "."), ("vit_steps_book", "book/distribution")):
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        command += [
            "--no-build-isolation",
            "--wheel-dir",
            f"dist/{name}",
            f"./{folder}",
        ]
        done = subprocess.run(command, cwd=clone, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        (built[name],) = (clone / "dist" / name).glob("*.whl")
    return built


def files(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {n for n in archive.namelist() if ".dist-info/" not in n}


def test_each_file_of_the_packages_is_in_one_wheel(wheels):
    package, book = (files(wheels[name]) for name in ("vit_steps", "vit_steps_book"))
    assert not package & book
    theirs = {n for n in tracked() if n.startswith((*PACKAGE, *BOOK_ONLY))}
    assert package | book == theirs
    assert book == {name for name in theirs if name.startswith(BOOK_ONLY)}


def test_the_package_is_light_and_has_a_command(wheels):
    assert wheels["vit_steps"].stat().st_size < 1_300_000
    with zipfile.ZipFile(wheels["vit_steps"]) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith("entry_points.txt"))
        assert "vit-steps = vit_steps.__main__:main" in archive.read(name).decode()


def run(folder, code):
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path += {sys.path}\n{code}"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )


def installed(wheels, folder, *names):
    for name in names:
        with zipfile.ZipFile(wheels[name]) as archive:
            archive.extractall(folder)
    return folder


def test_without_the_book_its_files_are_asked_for_by_pip(wheels, tmp_path):
    code = "from vit_steps import data; data.load('fashion-mnist')"
    alone = installed(wheels, tmp_path / "alone", "vit_steps")
    done = run(alone, code)
    assert "ImportError: the book's " in done.stderr and INSTALL_BOOK in done.stderr
    both = installed(wheels, tmp_path / "both", "vit_steps", "vit_steps_book")
    code += "; import vit_book, vit_check; print(vit_check.__file__)"
    done = run(
        both, f"{code}; vit_book.drawing('deit'); vit_book.read_results('speed')"
    )
    assert done.stdout.startswith(str(both)), done.stderr


def test_the_package_alone_predicts_and_draws_a_map(wheels, tmp_path):
    alone = installed(wheels, tmp_path, "vit_steps")
    code = """
from PIL import Image
Image.new("L", (40, 40), 90).save("photo.png")
from vit_steps.__main__ import main
sys.exit(main(["predict", "cluttered-digits", "photo.png", "--map", "map.png"]))
"""
    done = run(alone, code)
    assert (done.returncode, done.stderr) == (0, "")
    assert (alone / "map.png").stat().st_size > 1000
