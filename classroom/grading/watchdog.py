"""Counts what a sandbox holds, and ends it when that is too much.

The kernel's own limits are per process. Only from outside can one see the sum over all
that a notebook has started.
"""

import os
import signal
import stat
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil

from classroom.grading.limits import MIB, Limits


class Watchdog(threading.Thread):
    """Looks several times a second.

    Attributes:
        reason: why it ended the sandbox, for the student; None while it has not.
    """

    def __init__(self, pid: int, limits: Limits, interval: float = 0.2) -> None:
        super().__init__(daemon=True)
        self.pid, self.limits, self.interval = pid, limits, interval
        self.reason: str | None = None
        self._end = threading.Event()

    def run(self) -> None:
        started = time.monotonic()
        while not self._end.wait(self.interval):
            try:
                self.reason = self._excess(time.monotonic() - started)
            except psutil.NoSuchProcess:
                continue
            if self.reason:
                self._kill()
                return

    def stop(self) -> None:
        self._end.set()
        self.join()

    def _excess(self, seconds: float) -> str | None:
        top = psutil.Process(self.pid)
        everyone = [top, *top.children(recursive=True)]
        if len(everyone) > self.limits.processes:
            return (
                f"more than {self.limits.processes} processes were started at once; "
                "the kernel was ended"
            )
        held = sum(map(_resident, everyone))
        if held > self.limits.memory:  # shared pages were counted several times
            held = sum(map(_proportional, everyone))
        held += _files_in_memory(everyone)
        if held > self.limits.memory:
            return (
                f"more than {self.limits.memory // MIB} MiB of memory were taken; "
                "the kernel was ended"
            )
        if seconds > self.limits.total_seconds + 30:
            return "the notebook's time was up; the kernel was ended"
        return None

    def _kill(self) -> None:
        try:
            os.killpg(os.getpgid(self.pid), signal.SIGKILL)
        except ProcessLookupError:
            pass


def seconds_computed(pid: int) -> float:
    """By a process and all below it, those that have ended included."""
    total = 0.0
    try:
        top = psutil.Process(pid)
        for process in [top, *top.children(recursive=True)]:
            with suppress(psutil.Error):
                total += sum(process.cpu_times()[:4])
    except psutil.Error:
        pass
    return total


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0


def _proportional(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except (psutil.Error, AttributeError):
        return _resident(process)


def _files_in_memory(processes: list[psutil.Process]) -> int:
    """Bytes in files without a name (memfd), which belong to no process's memory."""
    sizes = {}
    for process in processes:
        try:
            for entry in os.scandir(f"/proc/{process.pid}/fd"):
                if Path(os.readlink(entry.path)).name.startswith("memfd:"):
                    status = os.stat(entry.path)
                    if stat.S_ISREG(status.st_mode):
                        sizes[status.st_dev, status.st_ino] = status.st_blocks * 512
        except OSError:
            continue
    return sum(sizes.values())
