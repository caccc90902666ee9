"""Make the notebook that a class gets, which has to stand alone.

The book's own sets have badges that open the set with its solutions, a first cell that
installs the newest version, and links to notebooks beside them. In a handout the badges
are left out, the first cell installs the version that the handout is made from, and the
links lead to the book's pages.
"""

import copy
import re
import subprocess
from pathlib import Path

from nbformat.notebooknode import NotebookNode

from vit_steps.optional import REPOSITORY

ADDRESS = REPOSITORY.removeprefix("git+")
OWNER, NAME = ADDRESS.split("/")[-2:]
PAGES = f"https://{OWNER.lower()}.github.io/{NAME}/notebooks"
COMMIT = Path(__file__).with_name("commit.txt")  # git archive writes it in there
LINK = re.compile(r"\]\(\.\./([\w/]+)\.ipynb")
PINNED = re.compile(rf"{re.escape(ADDRESS)}/archive/\w+\.zip")
TO_A_PAGE = re.compile(rf"\]\({re.escape(PAGES)}/([\w/]+)\.html")


def archive(commit: str) -> str:
    """Return the address from which pip installs a commit, without git."""
    return f"{ADDRESS}/archive/{commit}.zip"


def commit_of_this_copy() -> str:
    """Return the commit of this clone, or of this download; "" if it is not known."""
    written = COMMIT.read_text("utf-8").strip()
    if not written.startswith("$"):
        return written
    return _git("rev-parse", "HEAD")


def is_published(commit: str) -> bool:
    """Return whether a commit is in the repository online, as far as git here knows."""
    in_a_download = not COMMIT.read_text("utf-8").startswith("$")
    return in_a_download or bool(_git("branch", "--remotes", "--contains", commit))


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    try:
        done = subprocess.run(
            command, cwd=COMMIT.parent, capture_output=True, text=True
        )
    except OSError:  # there is no git
        return ""
    return done.stdout.strip()


def handed_out(release: NotebookNode, commit: str) -> NotebookNode:
    """Return a release as it is handed out.

    Args:
        commit: what its first cell installs; if it is "", the newest version.
    """
    nb = copy.deepcopy(release)
    nb.cells = [cell for cell in nb.cells if cell.get("id") != "badges"]
    for cell in nb.cells:
        cell.source = with_links_to_pages(cell.source)
        if commit:
            cell.source = cell.source.replace(REPOSITORY, archive(commit))
    return nb


def with_links_to_pages(source: str) -> str:
    """Return the text of a cell with links that lead somewhere from any folder."""
    return LINK.sub(rf"]({PAGES}/\1.html", source)


def as_published(source: str) -> str:
    """Return the text of a cell that was handed out as it is in the book's own set."""
    return TO_A_PAGE.sub(r"](../\1.ipynb", PINNED.sub(REPOSITORY, source))


def lines_to_install(commit: str) -> list[str]:
    """Return what installs, on any machine, the version that was handed out."""
    return [
        f'pip install "vit_steps[book] @ {archive(commit)}"',
        f'pip install "{archive(commit)}#subdirectory=book/distribution"',
    ]
