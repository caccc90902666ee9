"""Test that a kernel which is forked into its sandbox is as confined as any other."""

import json
import os
import re
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

if sys.platform == "win32":
    pytest.skip("what walls are built of is not there", allow_module_level=True)

from nbformat.v4 import new_code_cell, new_notebook

from classroom.grading import door, sandbox
from classroom.grading.execute import SandboxedExecute
from classroom.grading.result import Terms
from tests.classroom.in_sandbox import in_sandbox

ABOUT = """
import json, os, resource, socket, sys
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
rights = ["Uid", "Gid", "Groups", "NoNewPrivs", "Seccomp", "Umask", "SigIgn", "SigBlk"]
rights += [name for name in status if name.startswith(("Cap", "Cpus"))]
files = [os.path.realpath(f"/proc/self/fd/{n}") for n in (0, 1, 2)]
print(json.dumps({
    "rights": {name: status[name].split() for name in rights},
    "limits": [resource.getrlimit(getattr(resource, name)) for name in dir(resource)
               if name.startswith("RLIMIT")],
    "environment": dict(os.environ),
    "initial": sorted(open("/proc/self/environ").read().split(chr(0))),
    "mounts": [line.split()[3:6] for line in open("/proc/self/mountinfo")],
    "folders": [os.getcwd(), *sorted(os.listdir("/")), *sys.path],
    "network": socket.if_nameindex(),
    "host": socket.gethostname(),
    "processes": len([name for name in os.listdir("/proc") if name.isdigit()]),
    "loaded": "torch._dynamo" in sys.modules,
}))
"""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    return Terms(prepared=door.start(tmp_path_factory.mktemp("p")))


def run(terms, folder, code):
    """Return what a kernel answers to a cell, and how many were started."""
    judge = SimpleNamespace(path=str(folder / "judge"), records=[])
    cell = new_code_cell(code)
    execute = SandboxedExecute(terms=terms, judge=judge)
    execute.preprocess(new_notebook(cells=[cell]), {})
    text = re.sub(r"kernel-\w+", "kernel", cell.outputs[0].text)
    return json.loads(text), execute.starts


@in_sandbox
def test_a_forked_kernel_is_as_confined_as_any_other(prepared, tmp_path):
    forked, _ = run(prepared, tmp_path, ABOUT)
    other, _ = run(Terms(), tmp_path, ABOUT)
    assert forked.pop("loaded") and not other.pop("loaded")
    assert other.pop("processes") == 2  # bubblewrap's own, and the kernel
    assert forked.pop("processes") == 3  # and the shell
    secrets = {f"{name}={value}" for name, value in os.environ.items()}
    initial = set(forked.pop("initial")) - {""}
    assert not initial & secrets - {f"{k}={v}" for k, v in sandbox.ENVIRONMENT.items()}
    assert {one.partition("=")[0] for one in initial} == {
        *sandbox.ENVIRONMENT,
        "MPLBACKEND",
    }
    other.pop("initial")
    assert other["environment"].pop("PWD") == sandbox.HOME
    assert forked == other


@in_sandbox
def test_no_kernel_is_forked_into_a_sandbox_with_a_hole(
    prepared, tmp_path, monkeypatch
):
    """It starts by itself, unless the grader has accepted a sandbox that is weak."""
    proc = [*sandbox._proc(), "--bind", str(tmp_path / "sys"), "/sys"]
    monkeypatch.setattr(sandbox, "_proc", lambda: proc)
    (tmp_path / "sys").mkdir()
    (tmp_path / "sys" / "setting").write_text("")
    os.chmod(tmp_path / "sys", 0o777)
    os.chmod(tmp_path / "sys" / "setting", 0o666)
    found, starts = run(prepared, tmp_path, ABOUT)
    assert not found["loaded"] and starts == 2
    found, starts = run(replace(prepared, weak=True), tmp_path, ABOUT)
    assert found["loaded"] and starts == 1


@in_sandbox
def test_without_the_prepared_process_kernels_start_by_themselves(tmp_path):
    found, starts = run(Terms(prepared=tmp_path / "nobody"), tmp_path, ABOUT)
    assert not found["loaded"] and starts == 1


@in_sandbox
def test_a_kernel_that_ends_ends_its_sandbox(prepared, tmp_path):
    code = "import os\nos.kill(os.getpid(), 9)"
    judge = SimpleNamespace(path=str(tmp_path / "judge"), records=[])
    cells = [new_code_cell(code), new_code_cell("print(1)")]
    execute = SandboxedExecute(terms=prepared, judge=judge)
    execute.preprocess(new_notebook(cells=cells), {})
    assert cells[0].outputs[0].evalue == "The cell ended the kernel."
    assert cells[1].outputs[0].text == "1\n"
    assert execute.starts == 2
