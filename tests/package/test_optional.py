import os
import re
import subprocess
import sys
import tomllib

import matplotlib.pyplot as plt
import pytest
import torch

from tests.conftest import ROOT
from vit_steps import optional
from vit_steps.data import published


def test_torchvision_runs_its_models():
    model = optional.torchvision().models.VisionTransformer(8, 4, 1, 2, 8, 16)
    assert model(torch.rand(1, 3, 8, 8)).shape == (1, 1000)
    assert optional.torchvision() is optional.torchvision()


def test_timm_and_d2l_hand_out_what_the_book_uses():
    assert optional.timm().layers.PatchEmbed
    assert optional.d2l().MultiHeadAttention and optional.d2l().DotProductAttention


def test_d2l_leaves_figures_alone(monkeypatch):
    d2l = optional.d2l()
    changed = []
    monkeypatch.setattr(
        d2l.backend_inline, "set_matplotlib_formats", lambda *a: changed.append(a)
    )
    d2l.set_figsize()
    plt.close("all")
    assert changed == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("torchvision", f"torchvision is not installed: {optional.INSTALL}"),
        ("timm", f"timm is not installed: {optional.INSTALL}"),
        ("transformers", f"transformers is not installed: {optional.INSTALL}"),
        ("d2l", "d2l is not installed: pip install --no-deps d2l==1.0.3"),
    ],
)
def test_a_missing_package_is_named_with_the_pip_line(name, line):
    code = f"""
import sys
sys.modules[{name!r}] = None
from vit_steps import optional
from vit_steps.data import published
optional.{name}()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1].startswith(f"ImportError: {line}")


def test_a_torchvision_of_another_torch_is_said_with_the_cure(tmp_path):
    broken = tmp_path / "torchvision.py"
    broken.write_text("raise RuntimeError('operator torchvision::nms does not exist')")
    command = [sys.executable, "-m", "vit_steps.train", "--data", "digits"]
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}
    )
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("Stopped: torchvision was built for another PyTorch")
    assert "pip install --force-reinstall torch torchvision" in done.stderr


def test_pictures_say_what_they_need():
    code = "import sys; sys.modules['matplotlib'] = None; import vit_steps.notebook"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"matplotlib is not installed: {optional.INSTALL}" in done.stderr


def test_all_that_photographs_need_is_said_at_once():
    code = """
import sys
sys.modules.update(PIL=None, sklearn=None)
from vit_steps import data
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip().splitlines()[-1] == (
        f"ImportError: PIL, sklearn are not installed: {optional.INSTALL}"
    )


def test_the_install_line_names_an_extra_that_brings_what_is_checked_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extra = project["project"]["optional-dependencies"]["book"]
    assert "vit_steps[book] @ git+" in optional.INSTALL
    needed = {"pillow", "scikit-image", "scikit-learn", "timm", "torchvision"}
    assert needed | {"transformers"} <= {*extra}
    assert optional.INSTALL in (ROOT / "README.md").read_text(encoding="utf-8")


def test_a_package_that_another_one_needs_is_named(monkeypatch):
    def fails(name):
        raise ModuleNotFoundError("No module named 'pandas'", name="pandas")

    monkeypatch.setattr(optional, "import_module", fails)
    with pytest.raises(ImportError, match="d2l needs pandas: pip install pandas"):
        optional.d2l()


def test_a_missing_file_of_the_book_has_its_own_pip_line(monkeypatch):
    monkeypatch.setattr(published, "SHIPPED", published.SHIPPED.with_name("gone.npz"))
    with pytest.raises(ImportError) as raised:
        published.fashion_mnist()
    assert str(raised.value) == (
        f"the book's gone.npz is not installed: {optional.INSTALL_BOOK}"
    )
    subdirectory = re.search('#subdirectory=([^"]+)', optional.INSTALL_BOOK)[1]
    assert (ROOT / subdirectory / "pyproject.toml").exists()
