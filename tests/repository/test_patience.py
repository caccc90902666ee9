"""Test that no test has a time limit of its own: all take tests/patience.py's."""

import ast
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.forked.process import POSSIBLE
from tests.patience import MILLISECONDS, SECONDS, PatientBrowser

TESTS = ROOT / "tests"
HERE = Path(__file__)
FILES = [
    path
    for path in sorted(TESTS.rglob("*.py"))
    if not path.is_relative_to(TESTS / "checks" / "answers")
    and path not in (HERE, TESTS / "patience.py")
]
WAITING = {"await_reply", "communicate", "join", "poll", "wait", "wait_for", "run"}
# Calls that set a time; after a resize the tests wait until the contents slid in.
TIMED = {"set_default_timeout", "set_viewport_size", "wait_for_timeout"}
PATIENCE = {"SECONDS", "MILLISECONDS", "timeout"}  # timeout is handed on
CLOCKS = {"monotonic", "perf_counter", "time"}
# Files that need limits of their own, with these limits.
OF_THEIR_OWN = {
    "tests/forked/process.py": {"timeout=0"},  # asks whether it has ended already
    "tests/repository/colab/session.py": {"timeout=CELL_SECONDS"},  # twenty minutes
    "tests/site/visit.py": {"tab.set_viewport_size(size)"},  # waits for contents
}


def short_of_patience(source):
    """Return the waits in a source that have time limits of their own, as written."""
    return [
        ast.unparse(found)
        for node in ast.walk(ast.parse(source))
        for found in _own_times(node)
    ]


def _own_times(node):
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in TIMED:
            yield node
        if node.func.attr in WAITING and any(map(_is_number, node.args)):
            yield node
    if isinstance(node, ast.keyword) and "timeout" in (node.arg or ""):
        if not (isinstance(node.value, ast.Name) and node.value.id in PATIENCE):
            yield node
    if isinstance(node, ast.BinOp) and _is_clock(node.left) and _is_number(node.right):
        yield node


def _is_number(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _is_clock(node):
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in CLOCKS
    )


@pytest.mark.parametrize(
    "source",
    [
        "page.wait_for_timeout(500)",
        "page.set_viewport_size(size)",
        "expect(label).to_be_visible(timeout=5000)",
        "process.wait(60)",
        "subprocess.run(command, timeout=60)",
        "until = time.monotonic() + 20",
        "NotebookClient(notebook, startup_timeout=60)",
    ],
)
def test_a_time_of_its_own_is_found(source):
    assert short_of_patience(source)


@pytest.mark.parametrize(
    "source",
    [
        "expect(label).to_be_visible()",
        "process.wait(timeout=SECONDS)",
        "until = time.monotonic() + SECONDS",
        "time.process_time() + 1.5",
    ],
)
def test_patience_is_not_reported(source):
    assert not short_of_patience(source)


def test_no_test_waits_for_a_time_of_its_own():
    found = {
        path.relative_to(ROOT).as_posix(): short_of_patience(path.read_text("utf-8"))
        for path in FILES
    }
    assert {name: set(times) for name, times in found.items() if times} == (
        OF_THEIR_OWN
    )


class Page:
    def set_default_timeout(self, time):
        self.time = time


class Browser:
    def new_page(self, **options):
        return Page()

    new_context = new_page


def test_every_page_is_waited_for_with_patience():
    patient = PatientBrowser(Browser())
    assert patient.new_page().time == patient.new_context().time == MILLISECONDS


def test_every_browser_is_started_where_patience_is_set():
    sources = {
        path.name: path.read_text("utf-8")
        for path in (TESTS / "site").glob("*")
        if path.suffix == ".py"
    }
    starting = [name for name, text in sources.items() if "sync_playwright" in text]
    assert starting == ["conftest.py"]
    assert "expect.set_options(timeout=MILLISECONDS)" in sources["conftest.py"]
    assert "PatientBrowser(launched)" in sources["conftest.py"]


def test_patience_is_minutes():
    assert SECONDS >= 240


def test_a_cell_is_waited_for_with_patience(request):
    option = request.config.option
    assert option.nbval_cell_timeout >= 6 * SECONDS
    assert option.nbval_kernel_startup_timeout >= SECONDS


def test_what_hangs_is_ended(request):
    assert request.config.getini("faulthandler_timeout") >= 6 * SECONDS
    assert request.config.getini("faulthandler_exit_on_timeout")


@pytest.mark.skipif(not POSSIBLE, reason="no such fork here")
def test_a_kernels_first_reply_is_waited_for_with_patience(monkeypatch):
    from tests.forked.kernels import PatientKernel

    waited = []

    def get_message(self, stream, timeout):
        waited.append(timeout)
        return {"parent_header": {"msg_id": "1"}, "content": {"status": "ok"}}

    monkeypatch.setattr(PatientKernel, "get_message", get_message)
    kernel = object.__new__(PatientKernel)
    kernel.await_reply("1", timeout=10)
    kernel.await_reply("1", timeout=6 * SECONDS)
    assert waited == [SECONDS, 6 * SECONDS]
