"""What a sandbox takes of the machine: processor time, memory, processes, files.

All of its processes are seen together, from outside. Where a cgroup holds them, the
kernel has counted; else they are looked at one by one, often enough that one which has
ended was seen before.
"""

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from classroom.grading.cgroup import Cgroup
from classroom.grading.limits import (
    DESCRIPTORS,
    MIB,
    PATIENCE,
    PATIENCE_WITH_OTHERS,
)
from classroom.grading.sandbox import IN_MEMORY

Key = tuple[int, float]  # of a process; its number alone may be given again
LITTLE = 256 * MIB  # no need to look closer
# What the kernel holds for others, at most, for it tells nobody how much that is.
OF_SOCKET = 312 * 1024  # bytes that wait in one: half more than its room
OF_PROCESS = 16 * MIB  # the list of its mappings, of which it has 65,530


@dataclass
class Usage:
    """Of everything below one process.

    Args:
        pid: of bubblewrap, above all processes in the sandbox.
        cgroup: the one that holds them, if there is one.
        sandboxed: whether it has file systems of its own.

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

    @property
    def clock(self) -> float:
        """Seconds that count against a limit: of computing, and of idle waiting, which
        may take ``PATIENCE`` times as long.

        While others have the processors it hardly moves. It does not stand still, for
        others may be its own: children so short that nobody sees them.
        """
        kept_waiting = self.kept_waiting / PATIENCE_WITH_OTHERS
        return self.computed + self.waited / PATIENCE + kept_waiting

    def look(self) -> None:
        """Bring everything up to date.

        Raises:
            psutil.Error, OSError: if the sandbox has ended.
        """
        top = psutil.Process(self.pid)
        everyone = [top, *top.children(recursive=True)]
        computed, delayed = self.computed, self.delayed
        self._count_seconds(everyone)
        computed, delayed = self.computed - computed, self.delayed - delayed
        now = time.monotonic()
        left = max(0.0, now - self._looked - computed)
        self.kept_waiting += min(left, delayed)
        self.waited += max(0.0, left - delayed)
        self._looked = now
        self.processes = len(everyone)
        self.descriptors = sum(map(_descriptors, everyone))
        beside = 0
        if self.sandboxed and len(everyone) > 1:  # the second is bwrap's own, inside
            self.files, beside = _in_memory(everyone[1].pid)
            beside += OF_SOCKET * _sockets(everyone[1].pid) + OF_PROCESS * len(everyone)
        if self.cgroup is None:
            self.memory = beside + self._of_processes(everyone)
        else:
            self.memory = self.cgroup.memory

    def _count_seconds(self, everyone: list[psutil.Process]) -> None:
        with_children = 0.0
        for process in everyone:
            try:
                key = process.pid, process.create_time()
                times = process.cpu_times()
            except psutil.Error:
                continue
            delayed = _seconds_delayed(process.pid)
            self._delayed[key] = max(delayed, self._delayed.get(key, 0.0))
            self._computed[key] = times.user + times.system
            with_children += sum(times[:4])
        self.delayed = sum(self._delayed.values())
        if self.cgroup is not None:
            self.computed = self.cgroup.seconds_computed
            return
        # Who ended is in its parent's count, unless that does not want to know.
        seen = sum(self._computed.values())
        self.computed = max(self.computed, with_children, seen)

    def _of_processes(self, everyone: list[psutil.Process]) -> int:
        """Bytes, each page that several share once."""
        held = _sum_of("status", b"RssAnon:", everyone)
        if held > LITTLE:
            held = _sum_of("smaps_rollup", b"Pss_Anon:", everyone) or held
        return held + _sum_of("status", b"VmPTE:", everyone)  # the tables of pages


def _seconds_delayed(pid: int) -> float:
    """That its threads have waited in the kernel's queues."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        counts = [(task / "schedstat").read_text().split() for task in tasks]
    except OSError:  # it has just ended, or this kernel does not count that
        return 0.0
    return sum(int(delayed) for _, delayed, _ in counts) / 1e9


def _descriptors(process: psutil.Process) -> int:
    """How many are open; the most there can be, of a process that hides its own."""
    try:
        return int(process.num_fds())
    except psutil.NoSuchProcess:
        return 0
    except psutil.Error:
        return DESCRIPTORS


def _in_memory(pid: int) -> tuple[int, int]:
    """How many files the file systems in memory have, and bytes."""
    files = held = 0
    for place in IN_MEMORY:
        status = os.statvfs(f"/proc/{pid}/root{place}")
        files += status.f_files - status.f_ffree
        held += (status.f_blocks - status.f_bfree) * status.f_frsize
    return files, held


def _sockets(pid: int) -> int:
    """How many its network has, those that no process has open any more included."""
    text = Path(f"/proc/{pid}/net/unix").read_bytes()
    return text.count(b"\n") - 1  # of the names of its columns


def _sum_of(file: str, name: bytes, everyone: list[psutil.Process]) -> int:
    """Bytes under one name in a file of each process; 0 if one keeps its file shut."""
    total = 0
    for process in everyone:
        try:
            text = Path(f"/proc/{process.pid}/{file}").read_bytes()
        except PermissionError:
            return 0
        except OSError:  # it has ended
            continue
        # A process may call itself anything, in bytes that are no text; but for line
        # ends, which the kernel writes in another way.
        lines = text.split(b"\n")
        counts = [line.split()[1] for line in lines if line.startswith(name)]
        total += sum(int(count) * 1024 for count in counts)
    return total
