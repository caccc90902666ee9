"""A process that is forked from a server, so that it does not import PyTorch anew."""

import json
import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

POSSIBLE = hasattr(os, "pidfd_open") and hasattr(signal, "pidfd_send_signal")
INLINE = "module://matplotlib_inline.backend_inline"  # as ipykernel says it
SERVER = Path(__file__).with_name("server.py")


@cache
def start_server():
    """The process that others are forked from; it ends when this one does."""
    return subprocess.Popen(
        [sys.executable, str(SERVER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"MPLBACKEND": INLINE},  # before Matplotlib is imported
    )


def start(module, arguments, folder, environment, output):
    """``python -m module arguments``, forked where that is possible."""
    if POSSIBLE:
        return ForkedProcess(module, arguments, folder, environment, output)
    command = [sys.executable, "-m", module, *map(str, arguments)]
    with open(output, "w") as printed:
        streams = {"stdout": printed, "stderr": subprocess.STDOUT}
        return subprocess.Popen(command, cwd=folder, env=environment, **streams)


class ForkedProcess:
    """What is asked of a Popen, of a process that is another's child.

    Args:
        module, arguments: as of ``python -m``.
        folder: that it runs in, and whose modules it finds.
        environment: all of its variables; ``{parent}``, here and in the arguments, is
            the server's number.
        output: the file that takes what it prints; nobody is told its exit code
            if there is none.
    """

    stdin = stdout = stderr = None

    def __init__(self, module, arguments, folder, environment, output=None):
        self.code = output and Path(f"{output}.code")
        if self.code:
            self.code.unlink(missing_ok=True)  # of an earlier one
        request = {
            "module": module,
            "arguments": [str(argument) for argument in arguments],
            "folder": str(folder),
            "environment": dict(environment),
            "output": str(output or os.devnull),
            "code": str(self.code or os.devnull),
        }
        server = start_server()
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        self.pid = int(server.stdout.readline())
        self.alive = open(os.pidfd_open(self.pid), "rb", buffering=0)

    def poll(self):
        """None while it lives."""
        return 0 if select.select([self.alive], [], [], 0)[0] else None

    def wait(self, timeout=None):
        if not select.select([self.alive], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(str(self.pid), timeout)
        if self.code is None:
            return 0
        return int(self.code.read_text()) if self.code.exists() else -signal.SIGKILL

    def send_signal(self, number):
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.alive.fileno(), number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def terminate(self):
        self.send_signal(signal.SIGTERM)
