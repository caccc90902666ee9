"""End a sandbox that uses more than it may.

The kernel's own limits are per process. The sum over all processes that a notebook has
started can only be measured from outside.
"""

import os
import signal
import threading

import psutil

from classroom.grading.limits import MIB, Limits
from classroom.grading.procfs import BLIND
from classroom.grading.usage import Usage

UNREAD = 1024 * MIB  # of a kernel's messages that this process may hold
GRACE = 30  # seconds on its clock in which a notebook should end by itself


class Watchdog(threading.Thread):
    """A thread that measures a sandbox several times a second.

    Args:
        left: seconds that the notebook still has on its clock.

    Attributes:
        reason: why it ended the sandbox, for the student; None if it has not.
    """

    def __init__(
        self, usage: Usage, limits: Limits, left: float, interval: float = 0.2
    ) -> None:
        super().__init__(daemon=True)
        self.usage, self.limits, self.interval = usage, limits, interval
        self.left = left
        self.reason: str | None = None
        self._own = psutil.Process()
        self._before = self._own.memory_info().rss
        self._end = threading.Event()
        self._looking = threading.Lock()

    def run(self) -> None:
        while not self._end.wait(self.interval) and not self.look():
            pass

    def look(self) -> str | None:
        """Measure now, and return the reason if the sandbox has been ended."""
        with self._looking:
            try:
                self.usage.look()
            except psutil.Error:
                pass  # the sandbox has ended, or is about to
            except OSError as error:
                if error.errno in BLIND:
                    self.reason = f"it could not be watched ({error!s:.100})"
            except Exception as error:  # a sandbox that is not watched has to end
                self.reason = f"it could not be watched ({error!r:.100})"
            self.reason = self.reason or self._excess()
            if self.reason:
                self._kill()
            return self.reason

    def stop(self) -> None:
        self._end.set()
        self.join()
        self.reason = self.reason or self._excess()

    def _excess(self) -> str | None:
        usage, limits, ended = self.usage, self.limits, "; the kernel was ended"
        if usage.processes > limits.processes:
            return f"more than {limits.processes} processes were started at once{ended}"
        if usage.memory > limits.memory:
            taken = f"more than {limits.memory // MIB} MiB of memory were taken"
            return f"{taken}{ended}"
        if self._own.memory_info().rss > self._before + UNREAD:
            return f"more was sent to the grader than it could read{ended}"
        if usage.descriptors > limits.descriptors:
            return f"more than {limits.descriptors} files and pipes were open{ended}"
        if usage.files > limits.files:
            return f"more than {limits.files} files were made{ended}"
        if usage.clock > self.left + GRACE:
            return f"the notebook's time was up{ended}"
        return None

    def _kill(self) -> None:
        try:
            os.killpg(os.getpgid(self.usage.pid), signal.SIGKILL)
        except ProcessLookupError:
            pass
