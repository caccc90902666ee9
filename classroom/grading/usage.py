"""What a sandbox takes of the machine: processor time, memory, processes, files.

All of its processes are seen together, from outside. Where a cgroup holds them, the
kernel has counted; else they are looked at one by one, often enough that one which has
ended was seen before.
"""

import os
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from classroom.grading.cgroup import Cgroup
from classroom.grading.limits import MIB, ORDINARY, PATIENCE, Limits
from classroom.grading.procfs import BLIND, Key, Procfs, Seen
from classroom.grading.sandbox import IN_MEMORY

# What the kernel holds for others, at most, for it tells nobody how much that is.
OF_SOCKET = 312 * 1024  # bytes that wait in one: half more than its room
OF_PROCESS = 16 * MIB  # the list of its mappings, of which it has 65,530


class NotWatched(RuntimeError):
    """What is in a sandbox cannot be seen."""


@dataclass
class Usage:
    """Of everything below one process.

    Args:
        pid: of bubblewrap, above all processes in the sandbox.
        cgroup: the one that holds them, if there is one.
        sandboxed: whether it has file systems of its own.
        limits: what it may take; well below them memory may be overstated.

    Attributes:
        computed: seconds of processor time of all processes together, those that have
            ended included.
        delayed: seconds for which they wanted a processor and had none, added up.
        waited: seconds in which none of them wanted one.
        kept_waiting: seconds in which one of them wanted one, and none had any.
        processes, descriptors: how many there are now.
        files: how many the file systems in memory hold now.
        memory: bytes they hold now, files in memory included.
    """

    pid: int
    cgroup: Cgroup | None = None
    sandboxed: bool = True
    limits: Limits = ORDINARY
    computed: float = 0.0
    delayed: float = 0.0
    waited: float = 0.0
    kept_waiting: float = 0.0
    processes: int = 0
    descriptors: int = 0
    files: int = 0
    memory: int = 0
    _looked: float = field(default_factory=time.monotonic)
    _computed: dict[Key, float] = field(default_factory=dict)
    _delayed: dict[Key, float] = field(default_factory=dict)
    _procfs: Procfs | None = None  # the sandbox's own
    _first: int = 0  # of the processes inside, bwrap's own

    @property
    def clock(self) -> float:
        """Seconds that count against a limit: of computing, and of idle waiting, which
        may take ``PATIENCE`` times as long.

        While others have the processors it hardly moves. It does not stand still, for
        others may be its own: children so short that nobody sees them.
        """
        waited = self.waited / PATIENCE
        kept_waiting = self.kept_waiting / self.limits.patience_with_others
        return self.computed + waited + kept_waiting

    def look(self) -> None:
        """Bring everything up to date.

        Raises:
            psutil.Error, OSError: if the sandbox has ended.
            NotWatched: if it cannot be seen what is in it.
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
        if self.cgroup is None:
            self.memory = beside + _held(procfs, everyone, self.limits.memory - beside)
        else:
            self.memory = self.cgroup.memory

    def _look_for_sandbox(self) -> None:
        """Its walls take a moment to be built; until then bubblewrap is alone in it."""
        for first in psutil.Process(self.pid).children():
            try:
                procfs = Procfs(Path(f"/proc/{first.pid}/root/proc"))
            except OSError as error:
                if first.children():  # what is watched has begun
                    raise NotWatched(
                        f"of the sandbox nothing is seen: {error}"
                    ) from error
            else:
                if not procfs.is_own:  # as it is before the walls stand
                    self._procfs, self._first = procfs, first.pid

    def _everyone(self) -> tuple[Procfs | None, dict[int, Seen]]:
        """And by which /proc they were seen."""
        if self._procfs is not None:
            found = _seen(self._procfs, self._procfs.pids())
            if not found:
                raise ProcessLookupError("the sandbox has ended")
            return self._procfs, found
        top = psutil.Process(self.pid)
        started = [] if self.sandboxed else top.children(recursive=True)
        if sys.platform != "linux":
            return None, _seen_elsewhere([top, *started])
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
        if self.cgroup is not None:
            self.computed = self.cgroup.seconds_computed
            return
        # Who ended is in its parent's count, unless that does not want to know.
        seen_so_far = sum(self._computed.values())
        self.computed = max(self.computed, with_children, seen_so_far)


def _held(procfs: Procfs | None, everyone: dict[int, Seen], enough: int) -> int:
    """Bytes; where that is more than enough, each page that several share once."""
    tables = sum(seen.tables for seen in everyone.values())
    held = sum(seen.anonymous for seen in everyone.values())
    if tables + held > enough and procfs is not None:
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


def _seen_elsewhere(processes: Iterable[psutil.Process]) -> dict[int, Seen]:
    """Where there is no /proc, nor a sandbox."""
    found = {}
    for process in processes:
        try:
            key = process.pid, int(process.create_time() * 1000)
            times, held = process.cpu_times(), process.memory_info().rss
            opened = process.num_fds()
        except psutil.Error:
            continue
        computed = times.user + times.system
        found[process.pid] = Seen(key, computed, 0.0, 0.0, held, 0, opened)
    return found


def _in_memory(pid: int) -> tuple[int, int]:
    """How many files the file systems in memory have, and bytes."""
    files = held = 0
    for place in IN_MEMORY:
        status = os.statvfs(f"/proc/{pid}/root{place}")
        files += status.f_files - status.f_ffree
        held += (status.f_blocks - status.f_bfree) * status.f_frsize
    return files, held
