"""A process that has imported everything, and forks kernels into their sandboxes.

To import PyTorch and what else an exercise set needs costs a kernel two seconds, four
times as long as the cells of honest work. So one process imports it once. It reads no
submission and no solution, so its children know nothing that a student may not know.

Each sandbox is set up by bubblewrap, and a shell waits in it (``door``). A child of
this process joins it, gives up all rights, is filtered like everything in it, looks
around there, and becomes the kernel. When the kernel ends, the shell hears of it and
ends the sandbox; and when the sandbox ends, so does the kernel.
"""

import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import sys
from contextlib import suppress
from functools import cache
from typing import Any

from classroom.grading import inside
from classroom.grading.door import LONGEST
from classroom.grading.sandbox import ENVIRONMENT, HOME, LOOK_AROUND
from classroom.grading.seccomp import compiled

# What torch imports for the first optimizer, and vit_steps for data and weights.
LATER = ("torch._dynamo", "torchvision", "sklearn.datasets")
NAMESPACES = ("cgroup", "ipc", "uts", "net", "pid", "mnt")
# Constants from linux/nsfs.h, linux/prctl.h and linux/capability.h.
OWNER_OF_NAMESPACE = 0xB701
END_WITH_PARENT, DUMPABLE, SECCOMP, DROP, NO_NEW_RIGHTS = 1, 4, 22, 24, 38
CAPABILITIES_3 = 0x20080522


def serve(path: list[str]) -> None:
    """Answer each request at standard input's socket in a process of its own.

    Args:
        path: where kernels look for modules.
    """
    _control(END_WITH_PARENT, signal.SIGKILL)
    listener = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    sys.path[:] = path
    inside.import_packages(LATER)
    compiled()
    sys.path[:] = path
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            with suppress(BaseException):
                _answer(connection)
            os._exit(1)
        connection.close()


def _answer(connection: socket.socket) -> None:
    """Fork a kernel into a sandbox, and hold the sandbox's door until it ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    message, (door,), *_ = socket.recv_fds(connection, LONGEST, 1)
    request = json.loads(message)
    os.sched_setaffinity(0, os.sched_getaffinity(request["first"]))
    _join(request["first"])
    kernel = os.fork()  # only children are in the new namespace of processes
    if kernel:
        connection.close()
        os.waitpid(kernel, 0)
        return
    os.close(door)
    os.setsid()
    os.chdir(HOME)
    os.environ.clear()
    os.environ.update(ENVIRONMENT | request["environment"])
    _give_up_rights(request["user"])
    seen: dict[str, Any] = {}
    exec(LOOK_AROUND, seen)
    connection.sendall(json.dumps(seen["found"]).encode())
    connection.close()
    inside.run(request["limits"], request["arguments"])


def _join(process: int) -> None:
    """Join all namespaces of another process."""
    opened = {}
    for name in (*NAMESPACES, "user"):
        ours, theirs = (f"/proc/{who}/ns/{name}" for who in ("self", process))
        if not os.path.samefile(ours, theirs):
            opened[name] = os.open(theirs, os.O_RDONLY)
    if "user" in opened:  # join the outer one first, which owns the other namespaces
        around = fcntl.ioctl(opened["mnt"], OWNER_OF_NAMESPACE)
        opened = {"around": around, **opened}
    for descriptor in opened.values():
        if _libc().setns(descriptor, 0):
            raise OSError(ctypes.get_errno(), "a namespace cannot be joined")
        os.close(descriptor)


def _give_up_rights(user: int | None) -> None:
    """Become a user without any rights whose system calls are filtered, for good.

    ``LOOK_AROUND`` notices whatever was not given up.
    """
    for capability in range(64):  # of which the kernel knows some forty
        _control(DROP, capability)
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    _libc().capset((ctypes.c_uint32 * 2)(CAPABILITIES_3, 0), (ctypes.c_uint32 * 6)())
    _control(NO_NEW_RIGHTS, 1)
    _control(DUMPABLE, 1)  # so that it may read its own /proc/self
    code = ctypes.create_string_buffer(compiled())
    length = len(compiled()) // 8  # number of instructions
    _control(SECCOMP, 2, struct.pack("HP", length, ctypes.addressof(code)))


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _control(option: int, value: int, more: bytes | None = None) -> None:
    _libc().prctl(option, ctypes.c_ulong(value), more, None, None)
