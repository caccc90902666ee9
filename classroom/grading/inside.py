"""The kernel's own side of the sandbox: limits first, then an ordinary ipykernel.

Run by its path inside the sandbox, where nothing else of this folder is seen. It
connects to sockets that the grader has bound, where a kernel usually binds and lets
others connect: so it needs no folder to write in.
"""

import json
import resource
import sys
from typing import Any

from ipykernel.kernelapp import IPKernelApp


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


if __name__ == "__main__":
    set_limits(**json.loads(sys.argv.pop(1)))
    app = ConnectingKernelApp.instance(log_level=50)
    app.initialize()
    shell: Any = app.shell
    shell.ask_exit = lambda: None  # quit() ends what Jupyter shows, not the grading
    app.start()
