"""Measure what a sandbox uses: processor time, memory, processes, files.

All of its processes are measured together, from outside. They are read one by one,
often enough that a process which has ended was read before.
"""

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from classroom.grading.limits import MIB, ORDINARY, PATIENCE, Limits
from classroom.grading.procfs import BLIND, Key, Procfs, Seen
from classroom.grading.sandbox import IN_MEMORY

# The most memory that the kernel can hold for a sandbox; the amount cannot be read.
OF_SOCKET = 312 * 1024  # bytes that wait in a socket: half more than its buffer
OF_PROCESS = 16 * MIB  # the list of a process's mappings, at most 65,530


class NotWatched(RuntimeError):
    """Raised when the processes in a sandbox cannot be read."""


@dataclass
class Usage:
    """The resources used by everything below one process.

    Far below the limits, the memory may be overestimated.
    """

    pid: int  # of bubblewrap, the parent of all processes in the sandbox
    sandboxed: bool = True  # with file systems of its own
    limits: Limits = ORDINARY
    # Seconds of all processes together, those that have ended included.
    computed: float = 0.0
    delayed: float = 0.0  # they were ready and had no processor, added up
    # Seconds by the clock on the wall.
    waited: float = 0.0  # no process was ready to compute
    kept_waiting: float = 0.0  # a process was ready, and none had a processor
    # What there is now.
    processes: int = 0
    descriptors: int = 0
    files: int = 0  # in its file systems in memory
    memory: int = 0  # bytes, files in memory included
    _looked: float = field(default_factory=time.monotonic)
    _computed: dict[Key, float] = field(default_factory=dict)
    _delayed: dict[Key, float] = field(default_factory=dict)
    _procfs: Procfs | None = None  # the sandbox's own
    _first: int = 0  # the first process inside, bwrap's own

    @property
    def clock(self) -> float:
        """Seconds that count against a limit: of computing, and a share of the waiting.

        Idle waiting counts ``1 / PATIENCE``, waiting for a processor that other
        programs have counts ``1 / patience_with_others``. The latter is not 0, because
        the other programs may be children of the sandbox that end too soon to be seen.
        """
        waited = self.waited / PATIENCE
        kept_waiting = self.kept_waiting / self.limits.patience_with_others
        return self.computed + waited + kept_waiting

    def look(self) -> None:
        """Update all attributes.

        Raises:
            psutil.Error, OSError: if the sandbox has ended.
            NotWatched: if the processes in it cannot be read.
        """
        if self.sandboxed and self._procfs is None:
            self._look_for_sandbox()
        procfs, everyone = self._everyone()
        computed, delayed = self.computed, self.delayed
        self._count_seconds(everyone.values())
        computed, delayed = self.computed - computed, self.delayed - delayed
        now = time.monotonic()
        left = max(0.0, now - self._looked - computed)
        self.kept_waiting += min(left, delayed)
        self.waited += max(0.0, left - delayed)
        self._looked = now
        self.processes = len(everyone)
        self.descriptors = sum(seen.descriptors for seen in everyone.values())
        beside = 0
        if self._procfs is not None:
            self.files, beside = _in_memory(self._first)
            beside += OF_SOCKET * self._procfs.sockets(1) + OF_PROCESS * len(everyone)
        self.memory = beside + _held(procfs, everyone, self.limits.memory - beside)

    def _look_for_sandbox(self) -> None:
        """Find the sandbox's /proc, if bubblewrap has set it up already.

        Until then bubblewrap is alone in the sandbox.
        """
        for first in psutil.Process(self.pid).children():
            try:
                procfs = Procfs(Path(f"/proc/{first.pid}/root/proc"))
            except OSError as error:
                if first.children():  # the command inside is running already
                    raise NotWatched(
                        f"of the sandbox nothing is seen: {error}"
                    ) from error
            else:
                if not procfs.is_own:  # before the mounts it is still the machine's
                    self._procfs, self._first = procfs, first.pid

    def _everyone(self) -> tuple[Procfs, dict[int, Seen]]:
        """Return the processes, and the /proc in which they were read."""
        if self._procfs is not None:
            found = _seen(self._procfs, self._procfs.pids())
            if not found:
                raise ProcessLookupError("the sandbox has ended")
            return self._procfs, found
        top = psutil.Process(self.pid)
        started = [] if self.sandboxed else top.children(recursive=True)
        procfs = Procfs(Path("/proc"))
        return procfs, _seen(procfs, [process.pid for process in [top, *started]])

    def _count_seconds(self, everyone: Iterable[Seen]) -> None:
        with_children = 0.0
        for seen in everyone:
            before = self._delayed.get(seen.key, 0.0)
            self._delayed[seen.key] = max(seen.delayed, before)
            self._computed[seen.key] = seen.computed
            with_children += seen.computed + seen.of_children
        self.delayed = sum(self._delayed.values())
        # A parent's count includes children that ended, but only if it waits for them.
        seen_so_far = sum(self._computed.values())
        self.computed = max(self.computed, with_children, seen_so_far)


def _held(procfs: Procfs, everyone: dict[int, Seen], enough: int) -> int:
    """Return the bytes that processes hold; above the limit, count shared ones once."""
    tables = sum(seen.tables for seen in everyone.values())
    held = sum(seen.anonymous for seen in everyone.values())
    if tables + held > enough:
        held = 0
        for pid, seen in everyone.items():
            share = procfs.share(pid)
            held += seen.anonymous if share is None else share
    return tables + held


def _seen(procfs: Procfs, pids: Iterable[int]) -> dict[int, Seen]:
    found = {}
    for pid in pids:
        try:
            found[pid] = procfs.look(pid)
        except OSError as error:
            if error.errno in BLIND:
                raise
    return found


def _in_memory(pid: int) -> tuple[int, int]:
    """Return the number of files in the file systems in memory, and their bytes."""
    files = held = 0
    for place in IN_MEMORY:
        status = os.statvfs(f"/proc/{pid}/root{place}")
        files += status.f_files - status.f_ffree
        held += (status.f_blocks - status.f_bfree) * status.f_frsize
    return files, held
