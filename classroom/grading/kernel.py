"""Start, watch and end a kernel in a sandbox, from outside."""

import json
import os
import shutil
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import zmq
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.connect import channel_socket_types
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from traitlets import Any as AnyTrait

from classroom.grading.door import WAIT, Door
from classroom.grading.limits import DESCRIPTORS, MIB
from classroom.grading.processes import keep_to_own_share
from classroom.grading.result import Terms
from classroom.grading.sandbox import ENVIRONMENT, hand_over, sandboxed
from classroom.grading.seccomp import open_filter
from vit_check.engine.asking import JUDGE

LARGEST_MESSAGE = 16 * MIB  # a larger one closes the connection
RESERVED = 160 * MIB  # that a notebook's process maps and does not use, such as stacks
LONGEST_SEND = 10_000  # milliseconds; a send to a dead kernel would never return


class BindingClient(AsyncKernelClient):
    """A client that binds the sockets that an ordinary client connects to."""

    def _create_connected_socket(
        self, channel: str, identity: bytes | None = None
    ) -> Any:
        socket = self.context.socket(channel_socket_types[channel])
        socket.linger = 0
        socket.maxmsgsize = LARGEST_MESSAGE
        socket.sndtimeo = LONGEST_SEND
        if identity:
            socket.identity = identity
        url = self._make_url(channel)
        socket.bind(url)
        os.chmod(url.removeprefix("ipc://"), 0o666)  # no other user sees its folder
        return socket

    def start_channels(self, *args: Any, **kwargs: Any) -> None:
        super().start_channels(hb=False)

    async def _async_wait_for_ready(self, timeout: float | None = None) -> None:
        """Wait for the kernel to connect before asking it: until then a send blocks."""
        started = time.monotonic()
        while not await self.shell_channel.socket.poll(200, zmq.POLLOUT):
            parent: Any = self.parent
            if not await parent.is_alive():
                raise RuntimeError("the kernel ended while it started")
            if timeout is not None and time.monotonic() - started > timeout:
                raise TimeoutError(f"the kernel did not start in {timeout} seconds")
        await super()._async_wait_for_ready(timeout)

    wait_for_ready = _async_wait_for_ready


class SandboxedKernelManager(AsyncKernelManager):
    """Start a kernel under bubblewrap, and end every process that it started.

    Attributes:
        judge: the socket at which the checks ask for a verdict.
    """

    terms = AnyTrait(Terms())
    judge = AnyTrait(None)

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            transport="ipc", client_class=f"{__name__}.BindingClient", **kwargs
        )
        self.folder = Path(tempfile.mkdtemp(prefix="kernel-"))
        self.connection_file = str(self.folder / "connection.json")
        self.ip = str(self.folder / "socket")
        self._filter = -1  # not open yet: bubblewrap would refuse it
        self._door: Door | None = None

    @property
    def kernel_spec(self) -> KernelSpec:
        return KernelSpec(
            argv=self._command(),
            display_name="Python in a sandbox",
            language="python",
            interrupt_mode="message",
        )

    def _command(self) -> list[str]:
        program = Path(__file__).resolve().with_name("inside.py")
        python = [sys.executable, "-I", str(program), json.dumps(self._limits)]
        python += self._arguments
        if not self.terms.sandbox:
            return [*self.terms.prefix, *python]
        seen = [self.folder, program, *self.terms.visible, self.judge.parent]
        inside = python if self._door is None else WAIT
        return sandboxed(inside, self._filter, seen, {JUDGE: str(self.judge)})

    @property
    def _limits(self) -> dict[str, int]:
        limits = self.terms.limits
        return {
            # The watchdog should act first, which counts what is in use.
            "memory": max(limits.memory * 5 // 4, limits.memory + RESERVED),
            "processes": limits.processes,
            "seconds": limits.total_seconds,
            "file_size": 64 * MIB,
            "descriptors": DESCRIPTORS,
        }

    @property
    def _arguments(self) -> list[str]:
        return ["-f", self.connection_file, "--HistoryManager.enabled=False"]

    def _connect_control_socket(self) -> None:
        """Do nothing: at this address the client listens, not the kernel."""

    async def _async_start_kernel(self, **kwargs: Any) -> None:
        # bwrap gets none of the grader's variables, because its memory is visible
        # inside as that of process 1.
        environment = {"PATH": os.defpath}
        if not self.terms.sandbox:
            environment |= ENVIRONMENT | {"HOME": str(self.folder)}
            environment |= {"MPLCONFIGDIR": str(self.folder), JUDGE: str(self.judge)}
        kwargs["env"] = environment
        kwargs["cwd"] = str(self.folder)
        kwargs["stdout"] = kwargs["stderr"] = DEVNULL
        kwargs["preexec_fn"] = keep_to_own_share
        with ExitStack() as opened:
            if self.terms.sandbox:
                self._filter = open_filter()
                opened.callback(os.close, self._filter)
                kwargs["pass_fds"] = [self._filter]
            if self.terms.prepared is not None:
                with suppress(OSError):  # it has died, and this kernel starts by itself
                    self._door = opened.enter_context(Door(self.terms.prepared))
                    kwargs["stdin"] = kwargs["stdout"] = self._door.shell.fileno()
            await super()._async_start_kernel(**kwargs)
            if self._door is not None:
                self._let_in(self._door)

    start_kernel = _async_start_kernel

    def _let_in(self, door: Door) -> None:
        request = {
            "limits": self._limits,
            "arguments": self._arguments,
            "environment": {JUDGE: str(self.judge)},
        }
        started: Any = self.provisioner
        door.let_in(started.pid, request, self.terms.weak)

    async def _async_pre_start_kernel(self, **kwargs: Any) -> Any:
        command = await super()._async_pre_start_kernel(**kwargs)
        hand_over(self.folder)
        hand_over(Path(self.connection_file))
        return command

    pre_start_kernel = _async_pre_start_kernel

    async def _async_cleanup_resources(self, restart: bool = False) -> None:
        await super()._async_cleanup_resources(restart=restart)
        shutil.rmtree(self.folder, ignore_errors=True)

    cleanup_resources = _async_cleanup_resources

    @property
    def pid(self) -> int | None:
        """The process id of bubblewrap, the parent of all processes in the sandbox."""
        return getattr(self.provisioner, "pid", None)
