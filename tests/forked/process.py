"""Fork processes from a server, so that they need not import PyTorch again."""

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
INLINE = "module://matplotlib_inline.backend_inline"  # the one that ipykernel sets
SERVER = Path(__file__).with_name("server.py")


@cache
def start_server():
    """Start the process that others are forked from; it ends when this one does."""
    return subprocess.Popen(
        [sys.executable, str(SERVER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"MPLBACKEND": INLINE},  # before Matplotlib is imported
    )


def ask_server(**request):
    """Send the server a request and return the number that it answers with."""
    server = start_server()
    server.stdin.write(json.dumps(request) + "\n")
    server.stdin.flush()
    answer = server.stdout.readline()
    if not answer:
        start_server.cache_clear()
        raise RuntimeError(f"{SERVER} ended with exit code {server.wait()}")
    return int(answer)


def start(module, arguments, folder, environment, output):
    """Start ``python -m module arguments``, by a fork where that is possible."""
    if POSSIBLE:
        return ForkedProcess(module, arguments, folder, environment, output)
    command = [sys.executable, "-m", module, *map(str, arguments)]
    with open(output, "w") as printed:
        streams = {"stdout": printed, "stderr": subprocess.STDOUT}
        return subprocess.Popen(command, cwd=folder, env=environment, **streams)


class ForkedProcess:
    """A process that the server forked, with the methods of a Popen that tests need.

    Args:
        module, arguments: as for ``python -m``.
        folder: the working folder, which is first on the path of modules as well.
        environment: all of its variables. ``{parent}``, here and in the arguments,
            stands for the server's process number.
        output: the file that it prints to; None to discard what it prints.
    """

    stdin = stdout = stderr = None

    def __init__(self, module, arguments, folder, environment, output=None):
        self.pid = ask_server(
            module=module,
            arguments=[str(argument) for argument in arguments],
            folder=str(folder),
            environment=dict(environment),
            output=str(output or os.devnull),
        )
        self.code = None
        self.alive = open(os.pidfd_open(self.pid), "rb", buffering=0)

    def poll(self):
        """Return the exit code, or None while the process runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(timeout=0)
        return self.code

    def wait(self, timeout=None):
        """Wait until the process has ended and return its exit code."""
        if self.code is None:
            if not select.select([self.alive], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            self.code = ask_server(ended=self.pid)
        return self.code

    def send_signal(self, number):
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.alive.fileno(), number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def terminate(self):
        self.send_signal(signal.SIGTERM)
