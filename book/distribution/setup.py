"""Take the files of the book's distribution from where the repository has them."""

# mypy: ignore-errors
# setuptools has no types.

from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

ROOT = Path("../..")
FILES = (
    "vit_steps/data/FASHION-MNIST-LICENSE",
    "vit_steps/data/fashion-mnist-7000.npz",
    "vit_steps/notebook/drawings/*",
    "vit_steps/notebook/fonts/*",
    "vit_steps/notebook/measured/*",
)


class BuildWithFiles(build_py):
    """Copy the book's files to where vit_steps is installed, beside vit_check."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:  # they are in the repository's vit_steps already
            return
        for pattern in FILES:
            for file in sorted(ROOT.glob(pattern)):
                target = Path(self.build_lib, file.relative_to(ROOT))
                self.mkpath(str(target.parent))
                self.copy_file(str(file), str(target))


setup(
    packages=find_packages(str(ROOT), include=["vit_check*"]),
    package_dir={"vit_check": str(ROOT / "vit_check")},
    package_data={"vit_check": ["py.typed"]},
    cmdclass={"build_py": BuildWithFiles},
)
