"""A Python environment with Colab's versions, in which a first cell can run.

Everything is in `_build/colab`: the environment, the kernel, and a git repository with
the current files, which stands in for the one on GitHub.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from book._extensions.repository import Repository

ROOT = Path(__file__).resolve().parents[3]
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
FOLDER = ROOT / "_build" / "colab"
CLONE = FOLDER / "repository"
INSTALLED_BY_THE_CELL = {"vit_steps", "vit_steps_book", "d2l"}


class Stopped(Exception):
    """Raised when nothing can be run; the message gives the reason and a remedy."""


def find_python(named: str | None) -> str:
    """Return Colab's Python, or the oldest that the book supports."""
    for candidate in [named] if named else ["python3.13", "python3.11", sys.executable]:
        asked = [candidate, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
        if shutil.which(candidate) and not run(asked, check=False).returncode:
            return candidate
    raise Stopped(f"{named or 'Python 3.13 or 3.11'} was not found or does not run")


def run(command: list, check: bool = True, **options) -> subprocess.CompletedProcess:
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if check and done.returncode:
        called = " ".join(map(str, command))
        raise Stopped(f"{called} failed:\n{done.stdout}{done.stderr}")
    return done


def write_kernel(kernels: Path, python: Path) -> None:
    folder = kernels / "colab"
    folder.mkdir(parents=True, exist_ok=True)
    start = [str(python), "-m", "ipykernel_launcher", "-f"]
    spec = {"display_name": "Colab", "language": "python"}
    spec |= {"argv": [*start, "{connection_file}"]}
    (folder / "kernel.json").write_text(json.dumps(spec))


class Runtime:
    """The environment in which Colab starts a notebook."""

    def __init__(self, python: str | None = None) -> None:
        self.venv = FOLDER / "venv"
        scripts = "Scripts" if os.name == "nt" else "bin"
        self.python = self.venv / scripts / "python"
        self.start_with = find_python(python)
        self.kernels = FOLDER / "kernels"
        self.made_of = FOLDER / "made-of.txt"

    def prepare(self) -> None:
        """Make the environment if it is missing or stale, and make the repository."""
        version = run([self.start_with, "--version"]).stdout
        wanted = version + REQUIREMENTS.read_text(encoding="utf-8")
        if not self.made_of.exists() or self.made_of.read_text() != wanted:
            print(f"Installing what Colab has, for {version.strip()}: several GB")
            shutil.rmtree(self.venv, ignore_errors=True)
            run([self.start_with, "-m", "venv", self.venv])
            self.pip("install", "--quiet", "-r", REQUIREMENTS)
            self.made_of.write_text(wanted)
        write_kernel(self.kernels, self.python)
        self._commit_the_tree()

    def pip(self, *arguments) -> str:
        return run([self.python, "-m", "pip", *arguments]).stdout

    def packages(self) -> set[str]:
        return set(self.pip("freeze", "--all").splitlines())

    def clean(self) -> None:
        """Uninstall what the first cell installs: a new session on Colab lacks it."""
        self.pip("uninstall", "--quiet", "--yes", *INSTALLED_BY_THE_CELL)

    def environment(self) -> dict[str, str]:
        """Return variables with which pip's git clones from here, not from GitHub."""
        kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PWD")}
        return kept | {
            "MPLBACKEND": "module://matplotlib_inline.backend_inline",
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{CLONE.as_uri()}.insteadOf",
            "GIT_CONFIG_VALUE_0": Repository.of(ROOT).url,
        }

    def _commit_the_tree(self) -> None:
        shutil.rmtree(CLONE, ignore_errors=True)
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        for name in run(listed, cwd=ROOT).stdout.split("\0"):
            if name and (ROOT / name).is_file():
                (CLONE / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, CLONE / name)
        who = ["-c", "user.name=colab-check", "-c", "user.email=colab@example.org"]
        run(["git", "init", "--quiet"], cwd=CLONE)
        run(["git", "add", "--all"], cwd=CLONE)
        run(["git", *who, "commit", "--quiet", "--message", "the tree"], cwd=CLONE)
