"""The kernel's own side of the sandbox: limits first, then an ordinary ipykernel.

Run by its path inside the sandbox, where nothing else of this folder is seen. It
connects to sockets that the grader has bound, where a kernel usually binds and lets
others connect: so it needs no folder to write in.
"""

import gc
import json
import resource
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

from ipykernel.kernelapp import IPKernelApp

IMPORTED = ("torch", "matplotlib.pyplot", "vit_steps.notebook", "vit_check")


class ConnectingKernelApp(IPKernelApp):
    def _bind_socket(self, s: Any, port: int) -> int:
        s.connect(f"{self.transport}://{self.ip}-{port}")
        # ipykernel's debugger connects to whatever is the last address of a socket;
        # at the grader's it would take every other message away.
        s.bind(f"inproc://{port}")
        return port

    def init_heartbeat(self) -> None:
        """None: the grader watches the process itself."""


def set_limits(
    memory: int, processes: int, seconds: int, file_size: int, descriptors: int
) -> None:
    """Hard limits, which nothing in here can raise again."""
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


def import_packages() -> None:
    """What every set imports, so that no cell's time goes into it; and no time at all
    into looking for garbage in what will stay."""
    gc.disable()
    for name in IMPORTED:
        with suppress(ImportError):  # which a notebook can say better
            import_module(name)
    gc.freeze()
    gc.enable()


if __name__ == "__main__":
    set_limits(**json.loads(sys.argv.pop(1)))
    app = ConnectingKernelApp.instance(log_level=50)
    app.initialize()
    import_packages()
    shell: Any = app.shell
    shell.ask_exit = lambda: None  # quit() ends what Jupyter shows, not the grading
    app.start()
