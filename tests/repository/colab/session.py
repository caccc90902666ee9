"""Run one notebook in a new session, then once more without a restart."""

import copy
import json
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbconvert.filters import strip_ansi
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.utils import is_grade

from tests.patience import SECONDS
from tests.repository.colab.runtime import INSTALLED_BY_THE_CELL, Runtime

CELL_SECONDS = 1200

# Run in the kernel, before and after the first cell of the notebook.
BEFORE = """
import sys as _sys
_loaded = {name: id(module) for name, module in _sys.modules.items()}
_started = []
_sys.addaudithook(
    lambda event, arguments: _started.append(event)
    if event in ("subprocess.Popen", "os.system", "os.posix_spawn", "os.fork")
    else None
)
"""
AFTER = """
import json as _json
_replaced = [n for n, i in _loaded.items() if id(_sys.modules.get(n)) != i]
print(_json.dumps({"started": _started, "replaced": _replaced}))
"""
MEMORY = """
try:
    import resource as _resource
    print(_resource.getrusage(_resource.RUSAGE_SELF).ru_maxrss)
except ImportError:
    print(0)  # Windows has no module resource
"""


@dataclass
class Report:
    seconds: list[float] = field(default_factory=list)
    megabytes: int = 0
    faults: list[str] = field(default_factory=list)


def check(notebook: NotebookNode, runtime: Runtime, unsolved: bool) -> Report:
    """Run the notebook twice in one session.

    Args:
        unsolved: whether it is a student's notebook without any work in it. Then a cell
            that checks an answer must fail, with the sentence of the check and nothing
            else, and every other cell must run.
    """
    report = Report()
    try:
        run_twice(notebook, runtime, unsolved, report)
    except (CellTimeoutError, DeadKernelError) as error:
        report.faults.append(f"stopped: {error}")
    return report


def run_twice(
    notebook: NotebookNode, runtime: Runtime, unsolved: bool, report: Report
) -> None:
    runtime.clean()
    colab = runtime.packages()
    with tempfile.TemporaryDirectory() as folder:
        session = Session(runtime, Path(folder), unsolved, report)
        with session.client.setup_kernel(cleanup_kc=True, env=runtime.environment()):
            first = session.run_all(notebook)
            report.megabytes = int(session.tell(MEMORY)) // 1024
            added = runtime.packages()
            second = session.run_all(notebook)
    names = {line.split("==")[0].split(" @ ")[0] for line in added - colab}
    if gone := colab - added:
        report.faults.append(f"the first cell replaced {', '.join(sorted(gone))}")
    if names != INSTALLED_BY_THE_CELL:
        report.faults.append(f"the first cell installed {', '.join(sorted(names))}")
    if first["replaced"] or second["replaced"]:
        report.faults.append(f"modules were replaced: {first} {second}")
    if second["started"] or runtime.packages() != added:
        report.faults.append(f"the first cell was no no-op the second time: {second}")


class Session:
    def __init__(self, runtime, folder: Path, unsolved: bool, report: Report) -> None:
        self.unsolved, self.report = unsolved, report
        specs = KernelSpecManager(kernel_dirs=[str(runtime.kernels)])
        self.client = NotebookClient(
            new_notebook(),
            km=AsyncKernelManager(kernel_name="colab", kernel_spec_manager=specs),
            timeout=CELL_SECONDS,
            startup_timeout=SECONDS,
            iopub_timeout=SECONDS,
            resources={"metadata": {"path": str(folder)}},
        )

    def run_all(self, notebook: NotebookNode) -> dict[str, list[str]]:
        """Run every cell, and return what the first one changed."""
        began = time.perf_counter()
        cells = [
            c for c in notebook.cells if c.cell_type == "code" and c.source.strip()
        ]
        self.tell(BEFORE)
        self.run(cells[0])
        done = json.loads(self.tell(AFTER))
        for cell in cells[1:]:
            if not self.run(cell):
                break
        self.report.seconds.append(time.perf_counter() - began)
        return done

    def run(self, cell: NotebookNode) -> bool:
        """Run a cell, and return whether it makes sense to go on."""
        cell = copy.deepcopy(cell)
        try:
            self.execute(cell)
        except CellExecutionError as error:
            if self.unsolved and is_grade(cell):
                if is_a_sentence(cell):
                    return True
            self.report.faults.append(f"cell {cell.id}: {strip_ansi(str(error))}")
            return False
        if self.unsolved and is_grade(cell):
            self.report.faults.append(
                f"cell {cell.id}: passes although nothing is done"
            )
        return True

    def tell(self, source: str) -> str:
        cell = new_code_cell(source)
        self.execute(cell)
        return "".join(output.text for output in cell.outputs)

    def execute(self, cell: NotebookNode) -> None:
        self.client.nb.cells.append(cell)
        self.client.execute_cell(cell, len(self.client.nb.cells) - 1)


def is_a_sentence(cell: NotebookNode) -> bool:
    errors = [o for o in cell.outputs if o.output_type == "error"]
    return [(e.ename, len(e.traceback)) for e in errors] == [("CheckFailed", 1)]
