"""Control groups, with which the kernel itself counts and limits what a sandbox uses.

These are cgroups of version 2, in a part of the tree that was delegated to the user who
grades, for example by

    systemd-run --user --scope -p Delegate=yes make grade SUBMISSIONS=...

Memory then includes that of processes, of files in memory, and of the kernel on their
behalf. https://docs.kernel.org/admin-guide/cgroup-v2.html
"""

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from classroom.grading.limits import Limits

MOUNT = Path("/sys/fs/cgroup")
NEEDED = {"cpu", "memory", "pids"}


@dataclass(frozen=True)
class Cgroup:
    """A group, named by the folder in which the kernel shows it."""

    path: Path

    @classmethod
    def create(cls, parent: Path, name: str, limits: Limits) -> "Cgroup":
        """Create a group with these limits below another."""
        group = cls(parent / name)
        group.path.mkdir()
        group._write("memory.max", limits.memory)
        group._write("memory.oom.group", 1)
        group._write("pids.max", limits.processes)
        with suppress(OSError):  # a machine without swap has none to limit
            group._write("memory.swap.max", 0)
        return group

    def enter(self) -> None:
        """Move the calling process into the group; its later children follow it."""
        self._write("cgroup.procs", 0)

    @property
    def seconds_computed(self) -> float:
        return self._counts("cpu.stat")["usage_usec"] / 1e6

    @property
    def memory(self) -> int:
        """Bytes held by processes and files in memory, without droppable caches."""
        counts = self._counts("memory.stat")
        return counts["anon"] + counts["shmem"] + counts.get("kernel", 0)

    @property
    def ran_out_of_memory(self) -> bool:
        return self._counts("memory.events")["oom_kill"] > 0

    def remove(self) -> None:
        """Kill every process in the group, then remove the group itself."""
        with suppress(OSError):
            self._write("cgroup.kill", 1)
        for _ in range(100):  # killed processes take a moment to disappear
            try:
                self.path.rmdir()
            except FileNotFoundError:
                return
            except OSError:
                time.sleep(0.02)
            else:
                return

    def _write(self, name: str, value: int) -> None:
        (self.path / name).write_text(f"{value}")

    def _counts(self, name: str) -> dict[str, int]:
        lines = (self.path / name).read_text().splitlines()
        return {word: int(count) for word, count in map(str.split, lines)}


def delegated() -> Path | None:
    """Return the group below which this process may create others, or None.

    It has to be this process's own group, and hold only the processes that this one has
    started or was started with. They are moved into a group "grader" below it, because
    a group that divides its resources among others cannot hold processes itself.
    """
    try:
        own = next(
            MOUNT / line.removeprefix("0::/").strip()
            for line in Path("/proc/self/cgroup").read_text().splitlines()
            if line.startswith("0::")
        )
        if own.name == "grader" and _offers(own.parent, "cgroup.subtree_control"):
            return own.parent
        if os.getxattr(own, "user.delegate") != b"1":
            return None
        if not _offers(own, "cgroup.controllers"):
            return None
        aside = own / "grader"
        aside.mkdir(exist_ok=True)
        for process in (own / "cgroup.procs").read_text().split():
            (aside / "cgroup.procs").write_text(process)
        control = " ".join(f"+{name}" for name in sorted(NEEDED))
        (own / "cgroup.subtree_control").write_text(control)
        return own
    except (OSError, StopIteration):
        return None


def _offers(group: Path, file: str) -> bool:
    return NEEDED <= set((group / file).read_text().split())
