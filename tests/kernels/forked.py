"""Kernels that are forked from a server, so that not each imports PyTorch anew.

Where there is no such fork, and when a notebook is tested without the tests of this
folder, a kernel is started as Jupyter starts it.
"""

import json
import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path

import nbval.kernel
from jupyter_client.manager import KernelManager
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

POSSIBLE = sys.platform == "linux"
NAME = "forked"
INLINE = "module://matplotlib_inline.backend_inline"  # as ipykernel says it
SERVER = Path(__file__).with_name("server.py")


def fork_kernels():
    """Let nbval's kernels be forked from now on, in this process."""
    provisioner = EntryPoint(NAME, f"{__name__}:ForkedProvisioner", "")
    KernelProvisionerFactory.instance().provisioners[NAME] = provisioner
    nbval.kernel.KernelManager = ForkedKernelManager


class ForkedKernelManager(KernelManager):
    @property
    def kernel_spec(self):
        spec = super().kernel_spec
        spec.metadata["kernel_provisioner"] = {"provisioner_name": NAME}
        return spec


class ForkedProvisioner(LocalProvisioner):
    async def launch_kernel(self, cmd, **kwargs):
        self.cwd = kwargs["cwd"]
        request = {
            "connection": cmd[cmd.index("-f") + 1],
            "folder": str(self.cwd),
            "environment": kwargs["env"],
        }
        server = start_server()
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        self.process = ForkedProcess(int(server.stdout.readline()))
        self.pid = self.pgid = self.process.pid
        return self.connection_info


@cache
def start_server():
    """The process that kernels are forked from; it ends when this one does."""
    return subprocess.Popen(
        [sys.executable, str(SERVER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"MPLBACKEND": INLINE},  # before Matplotlib is imported
    )


class ForkedProcess:
    """What a provisioner asks of a Popen, of a process that is another's child."""

    stdin = stdout = stderr = None

    def __init__(self, pid):
        self.pid = pid
        self.alive = open(os.pidfd_open(pid), "rb", buffering=0)

    def poll(self):
        """None while it lives; nobody is told how it ended."""
        return 0 if select.select([self.alive], [], [], 0)[0] else None

    def wait(self):
        select.select([self.alive], [], [])
        return 0

    def send_signal(self, number):
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.alive.fileno(), number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def terminate(self):
        self.send_signal(signal.SIGTERM)
