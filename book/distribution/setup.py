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
)


class BuildWithFiles(build_py):
    """Copy the part of Fashion-MNIST to where vit_steps is installed."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:  # they are in the repository's vit_steps already
            return
        for file in FILES:
            target = Path(self.build_lib, file)
            self.mkpath(str(target.parent))
            self.copy_file(str(ROOT / file), str(target))


setup(
    packages=find_packages(str(ROOT), include=["vit_book", "vit_check*"]),
    package_dir={name: str(ROOT / name) for name in ("vit_book", "vit_check")},
    package_data={
        "vit_book": [
            "py.typed",
            "drawings/*",
            "fonts/*",
            "measured/*",
            "things/*.csv",
            "things/*/*",
        ],
        "vit_check": ["py.typed", "sets.json", "variants/*.txt"],
    },
    cmdclass={"build_py": BuildWithFiles},
)
