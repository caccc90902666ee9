"""Write the repository's address, set in `_config.yml`, wherever it is written in full.

    python -m book.address              rewrite the files with another address
    python -m book.address --check      list these files, change nothing

Files that are read outside the book cannot look the address up: the first cell of every
notebook installs from it, the badges of every notebook link to it, and README.md and
the pages name it for cloning. Each notebook has its badges below its title. The book's
pages hide them, because they have buttons.
"""

import argparse
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat
from nbformat.v4 import new_markdown_cell

from book._extensions.repository import Repository

ROOT = Path(__file__).resolve().parents[1]
INSTALLED_FROM = re.compile(r"git\+https://github\.com/([\w.-]+/[\w.-]+)")


def badge(name: str, picture: str, address: str) -> str:
    return f"[![Open in {name}]({picture})]({address})"


def badges(repository: Repository, path: str) -> str:
    """Return Markdown badges that open a notebook in Colab, on Kaggle and on Binder."""
    colab = "https://colab.research.google.com/assets/colab-badge.svg"
    kaggle = "https://kaggle.com/static/images/open-in-kaggle.svg"
    binder = "https://mybinder.org/badge_logo.svg"
    return "\n".join(
        [
            badge("Colab", colab, repository.colab(path)),
            badge("Kaggle", kaggle, repository.kaggle(path)),
            badge("Binder", binder, repository.binder(path)),
        ]
    )


def opened_as(path: str) -> str:
    """Return the notebook that a badge opens: the students', without solutions."""
    return path.replace("classroom/source/", "notebooks/exercises/")


def with_badges(text: str, repository: Repository, path: str) -> str:
    notebook = nbformat.reads(text, as_version=4)
    source = badges(repository, opened_as(path))
    cell = new_markdown_cell(source, id="badges", metadata={"tags": ["remove-cell"]})
    others = [c for c in notebook.cells if c.id != "badges"]
    notebook.cells = [others[0], cell, *others[1:]]
    return nbformat.writes(notebook, version=4).rstrip("\n") + "\n"


def former_addresses(texts: dict[str, str]) -> set[str]:
    """Return the addresses (owner/name) that pyproject.toml and first cells hold."""
    urls = tomllib.loads(texts["pyproject.toml"])["project"]["urls"]
    former = {urls["Repository"].removeprefix("https://github.com/")}
    for path, text in texts.items():
        if path.endswith(".ipynb"):
            cells = nbformat.reads(text, as_version=4).cells
            first = next(c for c in cells if c.cell_type == "code")
            former |= set(INSTALLED_FROM.findall(first.source))
    return former


def with_address(text: str, former: str, repository: Repository) -> str:
    """Replace a former address in a text: in links, encoded, and as a folder."""
    owner, name = map(re.escape, former.split("/"))
    new_owner, new_name = repository.owner_and_name.split("/")
    for pattern, new in (
        (
            rf"((?:github\.com|/github|/gh)(/|%2F)){owner}\2{name}",
            rf"\1{new_owner}\2{new_name}",
        ),
        (rf"\b{owner}\.github\.io/{name}", f"{new_owner}.github.io/{new_name}"),
        (rf"(\bcd |targetPath=|lab%2Ftree%2F){name}", rf"\1{new_name}"),
    ):
        text = re.sub(rf"{pattern}(?![\w-])", new, text)
    return text


def with_branch(text: str, repository: Repository) -> str:
    """Set the branch that follows the address in a text."""
    here = re.escape(repository.owner_and_name)
    encoded = here.replace("/", "%2F")
    before = rf"(?:{here}/(?:blob|tree)/|/gh/{here}/|{encoded}&branch=)"
    text = re.sub(rf"({before})[\w.-]+", rf"\g<1>{repository.branch}", text)
    newest = rf"({here}/archive/refs/heads/)[\w.-]+(?=\.zip)"
    return re.sub(newest, rf"\g<1>{repository.branch}", text)


def tracked(root: Path) -> dict[str, str]:
    """Return every text file of the repository by its path."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listed, cwd=root, capture_output=True, text=True, check=True)
    texts = {}
    for path in filter(None, done.stdout.split("\0")):
        try:
            texts[path] = (root / path).read_bytes().decode("utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue
    return texts


def rewritten(root: Path) -> dict[str, str]:
    """Return the new text of every file that has to change, by its path."""
    texts = tracked(root)
    repository = Repository.of(root)
    former = former_addresses(texts) - {repository.owner_and_name}
    changed = {}
    for path, text in texts.items():
        new = text
        for address in sorted(former):
            new = with_address(new, address, repository)
        new = with_branch(new, repository)
        if path.endswith(".ipynb"):
            new = with_badges(new, repository, path)
        if new != text:
            changed[path] = new
    return changed


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m book.address")
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    changed = rewritten(ROOT)
    for path, text in changed.items():
        print(f"{'stale' if options.check else 'written'}: {path}")
        if not options.check:
            (ROOT / path).write_bytes(text.encode("utf-8"))
    return int(options.check and bool(changed))


if __name__ == "__main__":
    sys.exit(main())
