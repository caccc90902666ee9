"""Test that a forked kernel is like one that Jupyter would have started."""

import ast
import importlib
import json

import pytest
from jupyter_client.manager import KernelManager

from tests.conftest import CHAPTERS, NOTEBOOKS, ROOT, code_cells, tags
from tests.forked.kernels import ForkedKernelManager, fork_kernels
from tests.forked.process import POSSIBLE
from tests.patience import SECONDS

pytestmark = pytest.mark.skipif(not POSSIBLE, reason="kernels are not forked here")

LOOK = """
import json, os, resource, signal, sys, threading
names = sorted(name for name in globals() if not name.startswith("_i"))
import torch, vit_book, vit_check, vit_steps.data  # as in every notebook
modules = sorted(sys.modules)
import matplotlib.pyplot as plt
import numpy
ordinary = {
    "names": names,
    "path": sys.path,
    "arguments": sys.argv[1],
    "flags": str(sys.flags),
    "main": repr(sys.modules["__main__"].__dict__ is globals()),
    "folder": os.getcwd(),
    "environment": {k: v for k, v in os.environ.items() if k != "JPY_PARENT_PID"},
    "parent": os.environ["JPY_PARENT_PID"] == str(os.getppid()),
    "session": os.getsid(0) == os.getpgid(0) == os.getpid(),
    "signals": [str(signal.getsignal(n)) for n in sorted(signal.valid_signals())],
    "limits": resource.getrlimit(resource.RLIMIT_NOFILE),
    "threads": sorted(type(t).__name__ for t in threading.enumerate()),
    "terminal": [os.isatty(stream) for stream in range(3)],
    "matplotlib": {**plt.rcParams, "backend": plt.get_backend()},
    "figures": plt.get_fignums(),
    "interactive": plt.isinteractive(),
    "events": {
        event: [called.__qualname__ for called in all_called]
        for event, all_called in get_ipython().events.callbacks.items()
    },
    "dtype": str(torch.get_default_dtype()),
    "threads of PyTorch": torch.get_num_threads(),
    "gradients": torch.is_grad_enabled(),
    "printed": [str(torch.tensor(1 / 3)), str(numpy.get_printoptions())],
}
print(json.dumps([modules, ordinary], default=str))
"""


DRAW = """
import random, numpy, torch
print(random.random(), numpy.random.rand(), torch.rand(()).item())
"""

LOADED_WHEN_NAMED = {"numpy.ma", "torch.onnx"}


class Kernel:
    def __init__(self, manager):
        self.manager = manager(kernel_name="python3")
        self.manager.start_kernel(cwd=str(ROOT / "notebooks"))
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=SECONDS)

    def run(self, source):
        printed = []

        def keep(message):
            printed.append(message["content"].get("text", ""))

        reply = self.client.execute_interactive(
            source, output_hook=keep, store_history=False
        )
        assert reply["content"]["status"] == "ok", reply["content"]
        return "".join(printed)

    def stop(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def ordinary():
    kernel = Kernel(KernelManager)
    yield kernel
    kernel.stop()


@pytest.fixture(scope="module")
def forked():
    fork_kernels()
    kernel = Kernel(ForkedKernelManager)
    yield kernel
    kernel.stop()


@pytest.fixture(scope="module")
def looks(ordinary, forked):
    return [json.loads(kernel.run(LOOK)) for kernel in (ordinary, forked)]


def test_it_finds_what_any_kernel_finds(looks):
    (_, expected), (_, found) = looks
    assert found == expected


def test_no_notebook_uses_what_only_the_server_has_imported(looks):
    (there, _), (beside, _) = looks
    assert set(there) <= set(beside)
    extra = set(beside) - set(there)
    careless = "import sklearn as sk\nsk.datasets.load_digits()"
    assert unimported(careless, extra) == {"sklearn.datasets"}
    assert not unimported(careless + "\nimport sklearn.datasets", extra)
    sources = {path: source_of(path) for path in every_notebook()}
    sources |= {p: p.read_text(encoding="utf-8") for p in ROOT.glob("vit_*/**/*.py")}
    for path, source in sources.items():
        assert unimported(source, extra) <= LOADED_WHEN_NAMED, path


def every_notebook():
    return [*NOTEBOOKS, *sorted((ROOT / "classroom" / "source").glob("*.ipynb"))]


def source_of(path):
    return "\n".join(cell.source for cell in code_cells(path))


def unimported(source, modules):
    """Return those of the modules that this source uses without importing them."""
    tree = ast.parse(source)
    called = {}
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                imported.add(alias.name)
                top = alias.name.split(".")[0]
                called[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                imported |= {node.module, f"{node.module}.{alias.name}"}
                called[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    named = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            first, *rest = ast.unparse(node).split(".")
            named.add(".".join([called.get(first, ""), *rest]))
    loaded = {".".join(name.split(".")[:n]) for name in imported for n in range(9)}
    return {name for name in named & modules - loaded if is_module(name)}


def is_module(name):
    """Return whether a package's attribute of this name is a module, not a function."""
    package, _, last = name.rpartition(".")
    module = importlib.import_module(name)
    return not package or getattr(importlib.import_module(package), last) is module


def test_a_chapter_runs_in_a_kernel_that_jupyter_started(ordinary):
    for cell in code_cells(CHAPTERS[0]):
        if "nbval-skip" not in tags(cell):
            ordinary.run(cell.source)


def test_it_is_interrupted_and_ended_like_any_other(forked):
    endless = "print()\nwhile True: pass"
    message = forked.client.execute(endless, stop_on_error=False)
    while forked.client.get_iopub_msg(timeout=SECONDS)["msg_type"] != "stream":
        pass
    forked.manager.interrupt_kernel()
    while (reply := forked.client.get_shell_msg(timeout=SECONDS))["parent_header"].get(
        "msg_id"
    ) != message:
        pass
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    assert forked.manager.is_alive()
    drawn = forked.run(DRAW)
    forked.manager.restart_kernel(now=True)
    forked.client.wait_for_ready(timeout=SECONDS)
    assert forked.run("print('names' in globals())") == "False\n"
    assert not set(drawn.split()) & set(forked.run(DRAW).split())
    process = forked.manager.provisioner.process
    process.kill()
    process.wait()
    assert not forked.manager.is_alive()
