"""A page for each student: what was handed in, what it scored, and why.

The page is opened in a browser by people who trust it, and it is made of what a
student sent. So HTML in it is cleaned, and the page forbids the browser to run any
script or to load anything from elsewhere.
"""

import hashlib
import re
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import nbformat
import nbgrader
from nbconvert.exporters import HTMLExporter
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbconvert.preprocessors.sanitize import SanitizeHTML
from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests, GetGrades
from nbgrader.utils import is_grade
from traitlets.config import Config

from classroom.grading.course import Course
from classroom.grading.execute import FAILED, is_autograded
from classroom.grading.result import Result
from vit_steps.checkpoint import write_whole

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "base-uri 'none'; form-action 'none'"
)
HIDDEN = "BEGIN HIDDEN TESTS"


def write_feedback(course: Course, results: list[Result], jobs: int) -> None:
    """Write or renew the page of every student that has one."""
    graded = [result for result in results if result.status == "graded"]
    with ProcessPoolExecutor(jobs, mp_context=get_context("forkserver")) as pool:
        for done in [pool.submit(feedback, result, course) for result in graded]:
            done.result()


def feedback(result: Result, course: Course) -> None:
    """Write one page, unless it is there and says the same."""
    path = course.autograded(result.student, result.assignment)
    data = path.read_bytes()
    nb = nbformat.reads(data.decode(), as_version=4)
    about = {
        "assignment": result.assignment,
        "notebook": result.assignment,
        "student": result.student,
        "db_url": course.gradebook_url,
    }
    resources = {"nbgrader": about}
    GetGrades(config=Config()).preprocess(nb, resources)
    said = [[c.metadata.get("nbgrader"), c.get("outputs")] for c in nb.cells]
    stamp = hashlib.sha256(data + repr(said).encode("utf-8", "replace")).hexdigest()
    target = course.feedback(result.student, result.assignment)
    if target.exists() and stamp in _end(target):
        return
    _hide_tests(nb)
    SanitizeHTML(config=Config()).preprocess(nb, {})
    page, _ = exporter().from_notebook_node(nb, resources)
    page = re.sub(
        r"<script\b.*?</script\s*>", "", page, flags=re.DOTALL | re.IGNORECASE
    )
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    page = re.sub(r"<head>", f"<head>{policy}", page, count=1)
    write_whole(target, f"{page}\n<!-- {stamp} -->\n".encode("utf-8", "replace"))


def _hide_tests(nb: NotebookNode) -> None:
    """What hidden tests say may be read by the student, what they are may not.

    A later cell of the student's can print what ran before it, so from the first hidden
    test on nothing is shown but why a cell has failed.
    """
    hide = ClearHiddenTests(config=Config())
    hidden = False
    for cell in nb.cells:
        hidden = hidden or (is_autograded(cell) and HIDDEN in cell.source)
        if hidden and cell.cell_type == "code":
            cell.outputs = [
                output
                for output in cell.outputs
                if output.output_type == "error" and output.ename == FAILED
            ]
        if is_grade(cell):
            hide.preprocess_cell(cell, {}, 0)


@cache
def exporter() -> HTMLExporter:
    """nbgrader's own template for feedback, compiled once in a process."""
    config = Config()
    # Markdown can make links that bleach, which comes before it, does not see.
    config.HTMLExporter.lexer_options = {"allow_harmful_protocols": False}
    place = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader"
    config.HTMLExporter.template_name = "feedback"
    config.HTMLExporter.extra_template_basedirs = [str(place / "templates")]
    styles = place / "static" / "node_modules" / "bootstrap" / "dist" / "css"
    config.HTMLExporter.extra_template_paths = [str(styles)]
    made = HTMLExporter(config=config)
    made.register_preprocessor(CSSHTMLHeaderPreprocessor, enabled=True)
    return made


def _end(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")[-200:]
