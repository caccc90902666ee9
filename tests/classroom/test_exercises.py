"""Test that exercise sets are complete, generated, and report unsolved tasks."""

import json
import re

import pytest
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell
from nbgrader.utils import is_grade, is_solution

from classroom.grading.passing import checks_named_in
from classroom.release.release import RELEASED, SOURCES, released, text_of
from classroom.release.sets import SETS as SETS_FILE
from classroom.release.sets import stale_sets
from tests.classroom.bench.submissions import tasks_of
from tests.conftest import CHAPTERS, ROOT, read, tags
from tests.patience import SECONDS

SETS = sorted(SOURCES.glob("*.ipynb"))
KINDS = ["Predict", "Fill in", "Derive", "Find the bug", "Measure", "Explain"]
TASK = re.compile(
    r"^## \d+\. .+\n\n\*(?P<kind>[A-Z][a-z ]+) · (?P<minutes>\d+) minutes · "
    r"difficulty (?P<difficulty>●+○*) · importance (?P<importance>●+○*)\*\\\n"
    r"In the chapter: \[.+\]\(\.\./(?P<chapter>\w+)\.ipynb#[\w-]+\)$",
    re.MULTILINE,
)

every_set = pytest.mark.parametrize("path", SETS, ids=lambda p: p.stem)


def tasks(path):
    """Return the head and the cells of each task."""
    found = []
    for cell in read(path).cells:
        if cell.cell_type == "markdown" and cell.source.startswith("## "):
            found.append((TASK.match(cell.source), [cell]))
        elif found:
            found[-1][1].append(cell)
    return found


def test_each_chapter_from_1_on_has_its_set():
    assert [path.name for path in SETS] == [path.name for path in CHAPTERS[1:]]


@every_set
def test_a_set_is_complete(path):
    found = tasks(path)
    assert 5 <= len(found) <= 8
    for head, cells in found:
        assert head, f"{cells[0].source[:80]}: no line with kind, minutes, link"
        assert head["chapter"] == path.stem
        assert head["kind"] in KINDS
        assert len(head["difficulty"]) == len(head["importance"]) == 5
        text = "\n".join(c.source for c in cells if c.cell_type == "markdown")
        assert "<summary>Hint 1</summary>" in text, head[0]
        assert any(is_solution(cell) for cell in cells), head[0]
        assert any(is_grade(cell) for cell in cells), head[0]
    kinds = {head["kind"] for head, _ in found}
    assert len(kinds) >= 5
    assert "Explain" in kinds


@every_set
def test_written_answers_have_a_rubric(path):
    graded = [c for c in read(path).cells if c.cell_type == "markdown" and is_grade(c)]
    assert graded
    for cell in graded:
        rubric = cell.source.split("**Rubric.** ")[1]
        lines = re.findall(r"^- \*\*1 point:\*\* ", rubric, re.MULTILINE)
        assert len(lines) == cell.metadata.nbgrader.points, cell.id
        assert rubric.startswith(f"One point for each line that holds, {len(lines)} in")


@every_set
def test_minutes_add_up(path):
    total = sum(int(head["minutes"]) for head, _ in tasks(path))
    assert f"{total} minutes" in read(path).cells[0].source


@every_set
def test_checks_come_from_the_package(path):
    """Cells import the package, since students may have defined a name ``check``."""
    for cell in read(path).cells:
        if cell.cell_type == "code" and is_grade(cell):
            assert "import vit_check as check" in cell.source.splitlines()[0], cell.id
            assert "check." in cell.source


@every_set
def test_names_are_unique(path):
    names = [c.metadata.nbgrader.grade_id for c in read(path).cells if graded(c)]
    assert len(set(names)) == len(names)


def graded(cell):
    return "nbgrader" in cell.metadata


@every_set
def test_the_first_code_cell_is_that_of_the_chapters(path):
    first = next(c for c in read(path).cells if c.cell_type == "code")
    chapter = next(c for c in read(CHAPTERS[0]).cells if c.cell_type == "code")
    assert first.source == chapter.source
    assert {"remove-cell", "nbval-skip"} <= set(tags(first))


@every_set
def test_chapter_and_set_lead_to_each_other(path):
    assert f"](../{path.name})" in read(path).cells[0].source
    chapter = ROOT / "notebooks" / path.name
    text = "\n".join(c.source for c in read(chapter).cells)
    assert f"](exercises/{path.name})" in text


@every_set
def test_the_students_notebook_is_generated(path):
    student = RELEASED / path.name
    text = text_of(released(read(path)))
    assert student.read_text(encoding="utf-8") == text, "run make exercises"


def test_the_checks_know_what_was_handed_out():
    releases = [read(RELEASED / path.name) for path in SETS]
    assert not stale_sets(releases, write=False), "run make exercises"
    given = json.loads(SETS_FILE.read_text(encoding="utf-8"))
    cells = [[c for task in one["tasks"] for c in task["cells"]] for one in given]
    for path, one, release in zip(SETS, cells, releases, strict=True):
        code = [c.source for c in release.cells if c.cell_type == "code"]
        assert [cell["source"] for cell in one if cell["kind"] != "words"] == code
        answers = [c["source"] for c in one if c["kind"] == "answer"]
        assert all("# your code here" in source for source in answers), path.stem


def test_there_are_no_other_exercise_notebooks():
    assert {p.name for p in RELEASED.glob("*.ipynb")} == {p.name for p in SETS}


@every_set
def test_solutions_are_folded_and_nowhere_else(path):
    folded = 0
    for cell in read(RELEASED / path.name).cells:
        assert "BEGIN SOLUTION" not in cell.source
        assert "HIDDEN TESTS" not in cell.source
        if cell.id.endswith("-solution"):
            assert cell.source.startswith("<details><summary>")
            folded += 1
        if is_solution(cell) and cell.cell_type == "code":
            assert "# your code here" in cell.source
        assert not cell.get("outputs")
    assert folded == sum(is_solution(c) for c in read(path).cells)
    bare = released(read(path), solutions=False)
    assert not any(cell.id.endswith("-solution") for cell in bare.cells)


@pytest.fixture(scope="module")
def execute():
    """A function that runs notebooks in one kernel, cleared in between to save time."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(RELEASED))

    def run(notebook):
        forget = new_code_cell("%reset -f", id="forget")
        notebook.cells.insert(0, forget)
        client = NotebookClient(
            notebook,
            km=manager,
            allow_errors=True,
            timeout=SECONDS,
            startup_timeout=SECONDS,
            iopub_timeout=SECONDS,
        )
        client.execute()
        notebook.cells.remove(forget)

    yield run
    manager.shutdown_kernel(now=True)


@every_set
def test_unwritten_answers_get_a_sentence(path, execute):
    notebook = read(RELEASED / path.name)
    notebook.cells.append(new_code_cell("check.status()", id="status"))
    execute(notebook)
    printed = "".join(output.text for output in notebook.cells[-1].outputs)
    title, *rows = printed.splitlines()
    assert notebook.cells[0].source.startswith(f"# {title}\n")
    states = [row.rsplit("  ", 1)[-1] for row in rows[1 : 1 + len(tasks(path))]]
    for state in states:
        assert re.fullmatch(
            r"(open|not right yet)?(, )?(an answer in words, .*)?", state
        )
    begun = [state for state in states if state.startswith("not right yet")]
    assert len(begun) == (path.stem == "13_swin_and_deit")  # a table to be filled in
    assert "none of the" in rows[-4] and "Next: task 1, " in rows[-3]
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        errors = [o for o in cell.outputs if o.output_type == "error"]
        if is_grade(cell):
            assert [error.ename for error in errors] == ["CheckFailed"], cell.id
            said = [line.split(":")[0] for line in errors[0].traceback]
            asked = checks_named_in(cell.source)
            assert said == [name.removeprefix("answer:") for name in asked], cell.id
        else:
            assert not errors, f"{cell.id}: {errors}"
            assert not any("Ellipsis" in str(o) for o in cell.outputs), cell.id


def test_release_is_the_same_each_time(exercises):
    one = text_of(released(read(exercises.path)))
    assert one == text_of(released(read(exercises.path)))
    assert "BEGIN" not in one
    assert "a hidden word" not in one
    assert len(tasks_of(exercises)) == 4
