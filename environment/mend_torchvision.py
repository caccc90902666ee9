"""Make ``import torchvision`` work beside a PyTorch without CUDA.

torchvision's wheel for Linux is built for CUDA. Beside a PyTorch without CUDA its
compiled part does not load, and the import ends with "operator torchvision::nms does
not exist", because it looks up two operators that only the compiled part declares. The
parts of torchvision in Python (models, transforms, data sets) work once the operators
are declared. So a few lines at the end of ``torchvision/extension.py`` declare them if
the compiled part did not load. ``torchvision.ops.nms`` and the reading of images by
``torchvision.io`` stay unavailable.

    .venv/bin/python environment/mend_torchvision.py

This does nothing if both are built for the same device. It imports neither of them,
because that takes seconds. Installing torchvision again removes the lines.
"""

import os
import re
from importlib.util import find_spec
from pathlib import Path

MEND = """

# Added by environment/mend_torchvision.py: this torchvision is built for CUDA, the
# PyTorch beside it is not. What is declared here can be looked up, but not called.
if not _has_ops():
    _declared = torch.library.Library("torchvision", "DEF")
    for _operator in ("nms", "qnms"):
        _declared.define(
            _operator + "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
        )
"""


def folder(package: str) -> Path | None:
    """Return a package's folder without importing it; None if it is not installed."""
    found = find_spec(package)
    return Path(found.origin).parent if found and found.origin else None


def built_for(package: Path) -> str:
    """Return what a package is built for: cpu, cu130, or "" if its version has none."""
    text = (package / "version.py").read_text(encoding="utf-8")
    version = re.search(r"__version__ = '([^']*)'", text)
    return version[1].partition("+")[2] if version else ""


def mend() -> str:
    """Mend torchvision where it needs it, and return a line about what was done."""
    torch, torchvision = folder("torch"), folder("torchvision")
    if torch is None or torchvision is None:
        return ""
    ours, theirs = built_for(torch), built_for(torchvision)
    extension = torchvision / "extension.py"
    text = extension.read_text(encoding="utf-8")
    if ours == theirs or MEND in text:
        return ""
    # Replaced, not edited: an installer may share one file among environments by links.
    new = extension.with_suffix(".new")
    new.write_text(text + MEND, encoding="utf-8")
    os.replace(new, extension)
    return (
        f"torchvision is built for {theirs or 'any'}, PyTorch for {ours or 'any'}: "
        f"mended in {extension}"
    )


if __name__ == "__main__":
    done = mend()
    if done:
        print(done)
