"""Make submissions of every sort from a source notebook, with the mark each deserves.

Some are honest, some are damaged, some are a nuisance, and some try to get marks that
they have not earned. A nuisance hands in right answers and has to get full marks for
them; a cheat hands in none and has to get nothing.
"""

import copy
import json
from collections.abc import Callable

import nbformat
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell

from classroom.grading.execute import is_autograded
from classroom.release.assignment import Assignment
from tests.classroom.bench.edited import edited
from tests.classroom.bench.submissions import (
    Kind,
    all_of,
    dump,
    none_of,
    solved,
    tasks_of,
    with_cell,
)


def kinds() -> list[Kind]:
    """Return all sorts of submissions."""
    return [*honest(), *edited(), *damaged(), *nuisances(), *cheats()]


def honest() -> list[Kind]:
    return [
        Kind("right", lambda a: dump(solved(a)), all_of),
        Kind("half right", _half_right, lambda count: count // 2),
        Kind("empty", lambda a: dump(solved(a, 0)), none_of),
        Kind(
            "asks where it stands",
            lambda a: dump(with_cell(solved(a), PROGRESS)),
            all_of,
        ),
    ]


def damaged() -> list[Kind]:
    return [
        Kind("stripped of metadata", _stripped, all_of),
        Kind("graded cells deleted", _deleted, all_of),
        Kind("broken JSON", lambda a: dump(solved(a))[:-200], none_of, readable=False),
        Kind("not a notebook", lambda a: b'{"cells": 3}', none_of, readable=False),
        Kind("nested too deeply", lambda a: b"[" * 200_000, none_of, readable=False),
        Kind("notebook format 3", _format_3, all_of),
        Kind("notebook format 4.0", _format_4_0, all_of),
        Kind("cells twice", _cells_twice, all_of),
        Kind("syntax that is not read", _unread_syntax, lambda count: count - 1),
    ]


def nuisances() -> list[Kind]:
    """Return right answers, with a cell before or after them that does harm."""
    others = [
        Kind("endless loop", _endless, lambda count: count - 1),
        Kind("prints what was run", _prints_what_was_run, all_of),
    ]
    return others + [
        Kind(name, lambda a, source=source: dump(with_cell(solved(a), source)), all_of)
        for name, source in NUISANCES.items()
    ]


def cheats() -> list[Kind]:
    """Return notebooks without answers, with a cell that tries to get marks anyway."""
    cheats = [
        Kind(
            name,
            lambda a, source=source: dump(with_cell(solved(a, 0), source)),
            none_of,
        )
        for name, source in CHEATS.items()
    ]
    return [
        *cheats,
        Kind("edits the tests", _edits_tests, none_of),
        Kind("skips the tests", _skips_tests, none_of),
        Kind("makes the tests text", _tests_as_text, none_of),
        Kind("raises its own points", _raises_points, none_of),
    ]


NUISANCES = {
    "memory hog": """
import torch
kept = []
while True:
    kept.append(torch.ones(64 * 2**20 // 4))
""",
    "500 processes": """
import os, time
for _ in range(500):
    if os.fork() == 0:
        time.sleep(600)
        os._exit(0)
""",
    "deletes files": """
import os, shutil
for folder in ("/", os.getcwd(), os.path.expanduser("~"), "/tmp", "/home", "/srv"):
    shutil.rmtree(folder, ignore_errors=True)
os.makedirs(os.path.expanduser("~"), exist_ok=True)
""",
    "opens a socket": """
import socket
for address in (("1.1.1.1", 53), ("127.0.0.1", 22)):
    try:
        socket.create_connection(address, timeout=2)
    except OSError as error:
        print(error)
    else:
        print("connected")
""",
    "100 MB of output": "for _ in range(100_000): print('x' * 1000)",
    "100 MB in one line": "print('x' * 100_000_000)",
    "does not stop when told to": """
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
""",
    "ends the kernel": "import os\nos._exit(0)",
    "ends the kernel a moment later": """
import os, threading
threading.Timer(0.5, os._exit, [0]).start()
""",
    "asks for input": "answer = input('name? ')",
    "quits": "quit()",
    "crashes": "import ctypes\nctypes.string_at(0)",
    "sleeps": "import time\ntime.sleep(1000)",
    "children that nobody counts": """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    if os.fork() == 0:
        until = time.monotonic() + 0.05
        while time.monotonic() < until:
            pass
        os._exit(0)
    time.sleep(0.01)
""",
    "memory that no process shows": """
import ctypes, mmap, os, socket
def shared():
    kept.append(mmap.mmap(-1, 2**27))
    kept[-1].write(bytes(2**27))
    kept[-1].madvise(mmap.MADV_DONTNEED)
def zeros():
    kept.append(mmap.mmap(os.open("/dev/zero", os.O_RDWR), 2**27))
    kept[-1].write(bytes(2**27))
    kept[-1].madvise(mmap.MADV_DONTNEED)
def old():
    libc = ctypes.CDLL(None)
    libc.shmat.restype = ctypes.c_void_p
    place = libc.shmat(libc.shmget(0, 2**27, 0o1600), None, 0)
    ctypes.memset(place, 1, 2**27)
    libc.shmdt(ctypes.c_void_p(place))
def sent():
    one, other = socket.socketpair()
    file = os.memfd_create("x")
    os.write(file, bytes(2**27))
    socket.send_fds(one, [b"x"], [file])
    os.close(file)
    kept.append((one, other))
kept = []
for hide in (shared, zeros, old, sent):
    try:
        for _ in range(32):
            hide()
    except (OSError, ValueError, ctypes.ArgumentError) as error:
        print(hide.__name__, error)
    else:
        SPOIL
""",
    "connections that nobody accepts": """
import socket
kept = []
for number in range(40):
    kept.append(socket.socket(socket.AF_UNIX))
    kept[-1].bind(chr(0) + str(number))
    kept[-1].listen(4096)
    for _ in range(400):
        with socket.socket(socket.AF_UNIX) as visitor:  # it could also write
            visitor.connect(kept[-1].getsockname())
SPOIL
""",
    "a million files": """
for number in range(1_000_000):
    open(f"/tmp/{number}", "w").close()
""",
    "full pipes and sockets": """
import os, socket
kept = []
for _ in range(20):
    if os.fork() == 0:
        try:
            while True:
                kept.append(socket.socketpair())
                kept[-1][0].setblocking(False)
                try:
                    while True:
                        kept[-1][0].send(bytes(2**16))
                except BlockingIOError:
                    pass
        except OSError:
            import time
            time.sleep(600)
        os._exit(0)
""",
    "changes the machine": """
import glob, os
for path in [*glob.glob("/proc/sys/**", recursive=True), *glob.glob("/sys/**"),
             "/proc/sysrq-trigger", "/proc/pressure/cpu", "/proc/1/oom_score_adj",
             "/proc/self/uid_map", "/dev/mem", "/dev/kmsg"]:
    try:
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        continue
    if not path.startswith(("/proc/self", "/proc/1/")):  # not one of its own files
        SPOIL
""",
    "wants all processors": """
import os
try:
    os.sched_setaffinity(0, range(os.cpu_count()))
except OSError as error:
    print(error)
for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        while True:
            pass
for process in os.listdir("/proc"):
    if process.isdigit() and int(process) not in (1, 2, os.getpid()):
        try:
            os.kill(int(process), 9)
        except OSError:
            pass
""",
    "fills the disk": """
import os
try:
    for number in range(10_000):
        with open(os.path.expanduser(f"~/{number}"), "wb") as stream:
            stream.write(bytes(2**25))
finally:
    for number in range(10_000):
        if os.path.exists(os.path.expanduser(f"~/{number}")):
            os.remove(os.path.expanduser(f"~/{number}"))
""",
    "script in its output": """
from IPython.display import HTML, Javascript, display
display(HTML("<script>document.title = 'mine'</script><img src=x onerror=alert(1)>"))
display(Javascript("alert(1)"))
""",
}

CHEATS = {
    "reads the gradebook": """
import os
for place in ("..", "../..", os.path.expanduser("~"), "/home", "/mnt", "/srv"):
    for number, (folder, _, names) in enumerate(os.walk(place)):
        for name in names:
            if name == "gradebook.db" or name.endswith(".ipynb"):
                print(open(os.path.join(folder, name), "rb").read())
        if number > 500:
            break
""",
    "redefines the checks": """
import vit_check as check
for name in dir(check):
    if not name.startswith("_"):
        setattr(check, name, lambda *a, **k: None)
def anything(*a, **k): return None
""",
    "redefines the judge's client": """
import vit_check.engine.check as engine
engine.ask = lambda *a, **k: None
""",
    "swallows later cells": """
get_ipython().input_transformers_cleanup.append(lambda lines: ["pass\\n"])
""",
    "removes assertions": """
import ast
class Remove(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.Pass()
    def visit_Raise(self, node): return ast.Pass()
get_ipython().ast_transformers.append(Remove())
""",
    "hides its errors": """
get_ipython().showtraceback = lambda *a, **k: None
get_ipython()._showtraceback = lambda *a, **k: None
get_ipython().set_custom_exc((BaseException,), lambda *a, **k: None)
""",
    "pretends partial credit": """
import sys
from IPython.display import display
get_ipython().display_formatter.format = lambda *a, **k: ({"text/plain": "1.0"}, {})
get_ipython().events.register("post_run_cell", lambda *a: print("1.0"))
""",
    "exits with success": """
import atexit, os, signal, threading, time
threading.Thread(target=lambda: (time.sleep(1), os._exit(0)), daemon=True).start()
""",
    "exceptions that are not": """
import builtins
class Quiet(BaseException): pass
builtins.AssertionError = Quiet
builtins.NotImplementedError = Quiet
class CheckFailed(Exception): pass
class CellTimeoutError(Exception): pass
""",
    "says it is done": """
ip = get_ipython()
kernel = ip.kernel
def run_cell(*a, **k):
    kernel.send_response(kernel.iopub_socket, "status", {"execution_state": "idle"})
    import types
    return types.SimpleNamespace(success=True, error_before_exec=None,
                                 error_in_exec=None, result=None, execution_count=1)
ip.run_cell = run_cell
""",
}


PROGRESS = """
import vit_check as check

check.status()
check.status(5)
check.handed_out("softmax")
check.handed_out(2, 5)
"""


def _half_right(assignment: Assignment) -> bytes:
    return dump(solved(assignment, len(tasks_of(assignment)) // 2))


def _stripped(assignment: Assignment) -> bytes:
    nb = json.loads(dump(solved(assignment)))
    nb["metadata"] = {}
    for number, cell in enumerate(nb["cells"]):
        cell["metadata"] = {}
        cell["id"] = f"c{number}"
    return json.dumps(nb).encode()


def _deleted(assignment: Assignment) -> bytes:
    nb = solved(assignment)
    nb.cells = [cell for cell in nb.cells if not is_autograded(cell)]
    return dump(nb)


def _format_3(assignment: Assignment) -> bytes:
    nb = solved(assignment)
    return nbformat.writes(nb, version=3).encode()


def _format_4_0(assignment: Assignment) -> bytes:
    nb = json.loads(dump(solved(assignment)))
    nb["nbformat_minor"] = 0
    for cell in nb["cells"]:
        cell["metadata"]["id"] = cell.pop("id")
        cell["metadata"].pop("nbgrader", None)
    return json.dumps(nb).encode()


def _cells_twice(assignment: Assignment) -> bytes:
    nb = solved(assignment)
    again = [copy.deepcopy(cell) for cell in nb.cells if is_autograded(cell)]
    nb.cells += again
    return json.dumps(nb).encode()


def _last_answer(assignment: Assignment, source: str) -> bytes:
    """Return right answers to all tasks but the last, which this source answers."""
    tasks = tasks_of(assignment)
    nb = solved(assignment, len(tasks) - 1)
    for cell in nb.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") in tasks[-1].solutions:
            cell.source = source
    return dump(nb)


def _endless(assignment: Assignment) -> bytes:
    return _last_answer(assignment, "while True:\n    pass")


def _unread_syntax(assignment: Assignment) -> bytes:
    return _last_answer(assignment, "def attend(q, k, v, mask=None):\n    return q +")


def _prints_what_was_run(assignment: Assignment) -> bytes:
    nb = solved(assignment)
    nb.cells.append(new_code_cell("print(*In, sep='\\n')", id="one-more"))
    return dump(nb)


def _on_tests(assignment: Assignment, change: Callable[[NotebookNode], None]) -> bytes:
    nb = solved(assignment, 0)
    for cell in nb.cells:
        if is_autograded(cell):
            change(cell)
    return json.dumps(nb).encode()


def _edits_tests(assignment: Assignment) -> bytes:
    return _on_tests(assignment, lambda cell: cell.update(source="assert True"))


def _skips_tests(assignment: Assignment) -> bytes:
    tags = ["skip-execution", "raises-exception"]
    return _on_tests(assignment, lambda cell: cell.metadata.update(tags=tags))


def _tests_as_text(assignment: Assignment) -> bytes:
    def change(cell: NotebookNode) -> None:
        cell.cell_type = "markdown"
        for key in ("outputs", "execution_count"):
            cell.pop(key, None)

    return _on_tests(assignment, change)


def _raises_points(assignment: Assignment) -> bytes:
    def change(cell: NotebookNode) -> None:
        cell.metadata.nbgrader.update(points=1000, solution=True, locked=False)

    return _on_tests(assignment, change)
