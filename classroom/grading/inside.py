"""Run a kernel inside the sandbox: set limits, then start an ordinary ipykernel.

Without a process to fork it from (``prepared``), a kernel is this file, run by its path
where nothing else of its folder is visible. A kernel usually binds sockets and lets
clients connect. This one connects to sockets that the grader has bound, so it needs no
folder to write in.
"""

import gc
import json
import pdb
import resource
import sys
import threading
from contextlib import suppress
from importlib import import_module
from typing import Any

from ipykernel.kernelapp import IPKernelApp

IMPORTED = ("torch", "matplotlib.pyplot", "vit_book", "vit_check")
STACK = 1024 * 1024  # bytes of a thread's; by default 8 MiB of the limit, hardly used


class ConnectingKernelApp(IPKernelApp):
    def _bind_socket(self, s: Any, port: int) -> int:
        s.connect(f"{self.transport}://{self.ip}-{port}")
        # ipykernel's debugger connects to the last address of a socket. Connected to
        # the grader's, it would take every second message away.
        s.bind(f"inproc://{port}")
        return port

    def init_heartbeat(self) -> None:
        """Start no heartbeat: the grader watches the process itself."""


def set_limits(
    memory: int, processes: int, seconds: int, file_size: int, descriptors: int
) -> None:
    """Set hard limits, which no process in the sandbox can raise again."""
    wanted = {
        resource.RLIMIT_DATA: memory,
        resource.RLIMIT_NPROC: processes,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: file_size,
        resource.RLIMIT_NOFILE: descriptors,
        resource.RLIMIT_CORE: 0,
    }
    for limit, value in wanted.items():
        hard = resource.getrlimit(limit)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (value, value))


def import_packages(others: tuple[str, ...] = ()) -> None:
    """Import what every exercise set imports, so that no cell's time is spent on it.

    The garbage collector skips these objects from then on, because they stay.
    """
    gc.disable()
    for name in (*others, *IMPORTED):
        with suppress(ImportError):  # the notebook's own import shows the error
            import_module(name)
    gc.freeze()
    gc.enable()


def ignore_breakpoints() -> None:
    """Make breakpoints that were left in an answer do nothing."""
    pdb.set_trace = lambda *args, **kwargs: None


def run(limits: dict[str, int], arguments: list[str]) -> None:
    """Be a kernel from now on, with these limits and ipykernel's arguments."""
    set_limits(**limits)
    threading.stack_size(STACK)
    app = ConnectingKernelApp.instance(log_level=50)
    app.initialize(arguments)
    import_packages()
    ignore_breakpoints()
    shell: Any = app.shell
    shell.ask_exit = lambda: None  # quit() in a cell must not end the grading
    app.start()


if __name__ == "__main__":
    run(json.loads(sys.argv[1]), sys.argv[2:])
