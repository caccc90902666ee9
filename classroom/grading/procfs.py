"""What the kernel tells of processes, by the files of one /proc.

A sandbox has a /proc of its own, with its own processes in it and nobody else's. Read
from outside it names them all, the quickest too, and no process of the machine besides
has to be looked at.
"""

import errno
import os
import weakref
from dataclasses import dataclass
from pathlib import Path

from classroom.grading.limits import DESCRIPTORS

ZOMBIE = b"Z"
BLIND = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)  # other errors: it has ended
# Fields of a process's stat, counted from the one after its name.
STATE, USER, SYSTEM, OF_CHILDREN, THREADS, STARTED = 0, 11, 12, slice(13, 15), 17, 19
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
Key = tuple[int, int]  # of a process; its number alone may be given again


@dataclass(frozen=True)
class Seen:
    """One process, as it is now.

    Attributes:
        computed: seconds of processor time, of all its threads.
        of_children: the same of its children that have ended, if it wanted to know.
        delayed: seconds that its threads have waited in the kernel's queues.
        anonymous: bytes that are in no file, those shared with others too.
        tables: bytes that say where its pages are.
        descriptors: how many it has open; the most there can be, where it hides them.
    """

    key: Key
    computed: float
    of_children: float
    delayed: float
    anonymous: int
    tables: int
    descriptors: int


class Procfs:
    """One /proc. It stays open, so that it is never taken for another's later.

    Raises:
        OSError: if there is none.
    """

    def __init__(self, place: Path) -> None:
        self._folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
        weakref.finalize(self, os.close, self._folder)

    @property
    def is_own(self) -> bool:
        """Whether it is the one that this process is in itself."""
        return os.fstat(self._folder).st_dev == os.stat("/proc").st_dev

    def pids(self) -> list[int]:
        """Of all processes in it; none are left when its first one has ended."""
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
        """See to one process.

        Raises:
            OSError: if it has ended.
        """
        # A process may call itself anything, in bytes that are no text.
        stat = self.read(f"{pid}/stat").rpartition(b")")[2].split()
        first = f"{pid}"
        threads = [first]
        if int(stat[THREADS]) > 1:
            threads = [f"{pid}/task/{thread}" for thread in self._names(f"{pid}/task")]
        if stat[STATE] == ZOMBIE:  # its first thread has ended, not all of them
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
        """Bytes that are in no file, each divided by how many processes share it; None
        if that cannot be read. It takes long."""
        try:
            return kibibytes(self.read(f"{pid}/smaps_rollup"), b"Pss_Anon:")
        except OSError:
            return None if str(pid) in os.listdir(self._folder) else 0

    def sockets(self, pid: int) -> int:
        """How many its network has, also those that no process has open any more."""
        return self.read(f"{pid}/net/unix").count(b"\n") - 1  # names of the columns

    def _names(self, path: str) -> list[str]:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY, dir_fd=self._folder)
        try:
            return os.listdir(folder)
        finally:
            os.close(folder)

    def _delayed(self, thread: str) -> float:
        try:
            return int(self.read(f"{thread}/schedstat").split()[1]) / 1e9
        except OSError:  # it has just ended, or this kernel does not count that
            return 0.0

    def _descriptors(self, thread: str) -> int:
        try:
            return len(self._names(f"{thread}/fd"))
        except PermissionError:
            return DESCRIPTORS
        except OSError:  # it has ended
            return 0


def kibibytes(text: bytes, name: bytes) -> int:
    """Bytes, under one name in a file of the kernel's."""
    # The kernel writes a line end in a process's name in another way, so these are its.
    counts = [line.split()[1] for line in text.split(b"\n") if line.startswith(name)]
    return sum(int(count) * 1024 for count in counts)
