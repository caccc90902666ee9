"""Let a kernel into a sandbox: ask the prepared process to fork one into it.

Bubblewrap sets up the sandbox as always, but what runs in it is only a shell that
waits. ``prepared`` tells how a kernel gets there, and why.
"""

import json
import os
import shutil
import socket
import sys
from functools import cache
from multiprocessing.util import Finalize
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import Any

import psutil

from classroom.grading.sandbox import ENVIRONMENT, list_of_fonts, student_id
from classroom.release.release import ROOT

WAIT = ["sh", "-c", "echo; read _"]  # a line says that the sandbox is set up
LONGEST = 1 << 16  # bytes of a message
PREPARED = """
import sys
path = list(sys.path)
sys.path.insert(0, sys.argv.pop())
from classroom.grading.prepared import serve
serve(path)
"""
INLINE = "module://matplotlib_inline.backend_inline"  # as ipykernel chooses, but later


class NotEntered(RuntimeError):
    """Raised when no kernel could be forked into a sandbox, or not into a tight one."""


class Door:
    """Hold a sandbox open until a kernel is in it.

    Args:
        prepared: the socket of the prepared process.

    Attributes:
        shell: what ``WAIT`` in the sandbox reads from and writes to.
    """

    def __init__(self, prepared: Path) -> None:
        self._prepared = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._prepared.connect(os.fspath(prepared))
        self._ours, self.shell = socket.socketpair()

    def __enter__(self) -> "Door":
        return self

    def __exit__(self, *_: object) -> None:
        for one in (self._prepared, self._ours, self.shell):
            one.close()

    def let_in(self, bubblewrap: int, request: dict[str, Any], weak: bool) -> None:
        """Let a kernel into the sandbox that the process ``bubblewrap`` sets up.

        Args:
            request: ``limits``, ``arguments`` and ``environment`` of the kernel.
        """
        self.shell.close()
        if not self._ours.recv(1):
            raise NotEntered("the sandbox was not set up")
        first, *_ = psutil.Process(bubblewrap).children()
        user = student_id() if os.geteuid() == 0 else None  # None: as bubblewrap does
        message = json.dumps(request | {"first": first.pid, "user": user}).encode()
        socket.send_fds(self._prepared, [message], [self._ours.fileno()])
        self._ours.close()
        answer = self._prepared.recv(LONGEST)
        if not answer:
            raise NotEntered("the kernel could not join its sandbox")
        found = json.loads(answer)
        if found and not weak:
            raise NotEntered(f"the sandbox is not tight: {'; '.join(found)}")


@cache
def start(folder: Path) -> Path:
    """Start the prepared process, which ends with this one, and return its socket."""
    place = folder / "prepared"
    fonts = folder / "matplotlib"
    fonts.mkdir()
    for one in list_of_fonts():
        shutil.copy(one, fonts)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(os.fspath(place))
        listener.listen(128)
        started = Popen(
            [sys.executable, "-I", "-c", PREPARED, str(ROOT)],
            # These variables can be read in every sandbox.
            env=ENVIRONMENT | {"MPLCONFIGDIR": str(fonts), "MPLBACKEND": INLINE},
            stdin=listener.fileno(),
            stdout=DEVNULL,
            stderr=DEVNULL,
            start_new_session=True,
        )
    Finalize(None, _end, (started,), exitpriority=-100)
    return place


def _end(process: "Popen[bytes]") -> None:
    process.kill()
    process.wait()
