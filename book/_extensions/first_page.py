"""The roles ``{counted}`` and ``{colab}`` of the first page, and its own files.

``{counted}`` writes a number that is counted in the book or computed by the package.
``{colab}`` links to a notebook in Colab:
``{colab}`Open in Colab <path/of/notebook>```.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import ReferenceRole, SphinxRole

from book._extensions.repository import repository_of
from vit_book import PHOTOS
from vit_steps import ViTConfig

ROOT = Path(__file__).resolve().parents[2]


def files(pattern: str) -> int:
    return len(list(ROOT.glob(pattern)))


COUNTED: dict[str, Callable[[], int]] = {
    "chapters": lambda: files("notebooks/[0-9][0-9]_*.ipynb"),
    "side roads": lambda: files("notebooks/side_roads/*.ipynb"),
    "exercise sets": lambda: files("notebooks/exercises/*.ipynb"),
    "parameters of ViT-B/16": lambda: ViTConfig.base().cost().parameters,
    "photographs": lambda: len(PHOTOS),
    "trained models": lambda: files("vit_steps/models/*.safetensors"),
}


class Counted(SphinxRole):
    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        if self.text not in COUNTED:
            known = ", ".join(COUNTED)
            message = f"counted: got {self.text!r}, expected one of {known}"
            return [], [self.inliner.reporter.error(message, line=self.lineno)]
        return [nodes.Text(f"{COUNTED[self.text]():,}")], []


class Colab(ReferenceRole):
    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        path = f"{self.target}.ipynb"
        if not (ROOT / path).is_file():
            message = f"colab: there is no notebook {path}"
            return [], [self.inliner.reporter.error(message, line=self.lineno)]
        address = repository_of(self.config).colab(path)
        return [nodes.reference("", self.title, refuri=address)], []


def add_files(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    if page == app.config.root_doc:
        app.add_css_file("first_page.css")
        for script in ("cover_data.js", "book/cover.js"):
            app.add_js_file(script, loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_role("counted", Counted())
    app.add_role("colab", Colab())
    app.connect("html-page-context", add_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
