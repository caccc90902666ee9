"""Read the state of processes from the files of one /proc.

A sandbox has a /proc of its own, which holds its own processes and no others. Read from
outside, it lists all of them, even short-lived ones, without a look at the other
processes of the machine.
"""

import errno
import os
import weakref
from dataclasses import dataclass
from pathlib import Path

from classroom.grading.limits import DESCRIPTORS

ZOMBIE = b"Z"
# The reader's own shortages; any other error means that the process has ended.
BLIND = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)
# Fields of a process's stat, counted from the one after its name.
STATE, USER, SYSTEM, OF_CHILDREN, THREADS, STARTED = 0, 11, 12, slice(13, 15), 17, 19
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
Key = tuple[int, int]  # process id and start time, because an id can be reused


@dataclass(frozen=True)
class Seen:
    """A process, as it is now."""

    key: Key
    computed: float  # seconds of processor time of all its threads
    of_children: float  # the same of children that have ended and were waited for
    delayed: float  # seconds that its threads have waited in the kernel's queues
    anonymous: int  # bytes of memory that belong to no file, shared ones included
    tables: int  # bytes of its page tables
    descriptors: int  # number of open ones; the limit, if it hides them


class Procfs:
    """One /proc, kept open so that its path cannot come to mean another one."""

    def __init__(self, place: Path) -> None:
        self._folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
        weakref.finalize(self, os.close, self._folder)

    @property
    def is_own(self) -> bool:
        """True if this process itself is in it."""
        return os.fstat(self._folder).st_dev == os.stat("/proc").st_dev

    def pids(self) -> list[int]:
        """Return the ids of all its processes; none once the first one has ended."""
        return [int(name) for name in os.listdir(self._folder) if name.isdigit()]

    def read(self, path: str) -> bytes:
        file = os.open(path, os.O_RDONLY, dir_fd=self._folder)
        try:
            parts = [os.read(file, 1 << 16)]
            while parts[-1]:
                parts.append(os.read(file, 1 << 16))
        finally:
            os.close(file)
        return b"".join(parts)

    def look(self, pid: int) -> Seen:
        """Return the state of one process, or raise OSError if it has ended."""
        # A process's name may be any bytes, so parsing starts after its last bracket.
        stat = self.read(f"{pid}/stat").rpartition(b")")[2].split()
        first = f"{pid}"
        threads = [first]
        if int(stat[THREADS]) > 1:
            threads = [f"{pid}/task/{thread}" for thread in self._names(f"{pid}/task")]
        if stat[STATE] == ZOMBIE:  # the first thread has ended, others may be running
            living = [thread for thread in threads if thread != f"{pid}/task/{pid}"]
            first = living[0] if living and len(threads) > 1 else ""
        status = self.read(f"{first}/status") if first else b""
        return Seen(
            (pid, int(stat[STARTED])),
            (int(stat[USER]) + int(stat[SYSTEM])) / TICKS,
            sum(map(int, stat[OF_CHILDREN])) / TICKS,
            sum(map(self._delayed, threads)),
            kibibytes(status, b"RssAnon:"),
            kibibytes(status, b"VmPTE:"),
            self._descriptors(first) if first else 0,
        )

    def share(self, pid: int) -> int | None:
        """Return the bytes that belong to no file, each divided by its number of users.

        Return None if they cannot be read. This takes long.
        """
        try:
            return kibibytes(self.read(f"{pid}/smaps_rollup"), b"Pss_Anon:")
        except OSError:
            return None if str(pid) in os.listdir(self._folder) else 0

    def sockets(self, pid: int) -> int:
        """Return the number of sockets in its network, even those no longer open."""
        return self.read(f"{pid}/net/unix").count(b"\n") - 1  # without the header

    def _names(self, path: str) -> list[str]:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY, dir_fd=self._folder)
        try:
            return os.listdir(folder)
        finally:
            os.close(folder)

    def _delayed(self, thread: str) -> float:
        try:
            return int(self.read(f"{thread}/schedstat").split()[1]) / 1e9
        except OSError:  # the thread has just ended, or this kernel does not count it
            return 0.0

    def _descriptors(self, thread: str) -> int:
        try:
            return len(self._names(f"{thread}/fd"))
        except PermissionError:
            return DESCRIPTORS
        except OSError:  # the thread has ended
            return 0


def kibibytes(text: bytes, name: bytes) -> int:
    """Return the number under one name in a file of the kernel's, in bytes."""
    # No process can fake a line: the kernel escapes a line end in a process's name.
    counts = [line.split()[1] for line in text.split(b"\n") if line.startswith(name)]
    return sum(int(count) * 1024 for count in counts)
