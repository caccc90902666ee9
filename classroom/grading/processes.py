"""Run tasks in processes of their own, which may take too long or die."""

import multiprocessing
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import connection, forkserver, parent_process
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Generic, TypeVarTuple

import psutil

Arguments = TypeVarTuple("Arguments")

_own_share: list[int] = []  # processors of the task that this process was started for


@dataclass(frozen=True)
class Ended(Generic[*Arguments]):
    """The end of one task."""

    arguments: tuple[*Arguments]
    exitcode: int | None  # as in ``Process``; None if it could not be started
    timed_out: bool = False  # and it was killed


def start_server(folder: Path, preload: list[str]) -> None:
    """Start the process from which all others are forked, with its socket in a folder.

    It imports the modules ``preload`` before it forks. If it runs already, it stays.
    """
    multiprocessing.set_forkserver_preload(preload)
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        forkserver.ensure_running()
    finally:
        tempfile.tempdir = before


def run_each(
    target: Callable[[*Arguments], None],
    tasks: Iterable[tuple[*Arguments]],
    jobs: int,
    seconds: float,
) -> Iterator[Ended[*Arguments]]:
    """Call ``target`` with each of the tasks, at most ``jobs`` at once.

    Yield them in the order in which they end. A process that runs for more than
    ``seconds`` is killed; all processes are killed when the iterator is closed or this
    process ends. Each task has a share of the processors, see ``keep_to_own_share``.
    """
    context = multiprocessing.get_context("forkserver")
    waiting = iter(tasks)
    running: dict[BaseProcess, tuple[tuple[*Arguments], float]] = {}
    free = _shares(jobs)
    places: dict[BaseProcess, list[int]] = {}
    more = True
    try:
        while more or running:
            while more and len(running) < jobs:
                try:
                    task = next(waiting)
                except StopIteration:
                    more = False
                    break
                place = free.pop()
                started = context.Process(target=_run, args=(target, task, place))
                try:
                    started.start()
                except (OSError, EOFError):  # the server died; a new one starts
                    free.append(place)
                    yield Ended(task, None)
                else:
                    places[started] = place
                    running[started] = task, time.monotonic() + seconds
            until = min((until for _, until in running.values()), default=0.0)
            connection.wait(
                [process.sentinel for process in running],
                timeout=max(0.0, until - time.monotonic()),
            )
            for process, (task, until) in list(running.items()):
                timed_out = process.is_alive() and time.monotonic() > until
                if timed_out:
                    process.kill()
                    process.join()
                if not process.is_alive():
                    del running[process]
                    free.append(places.pop(process))
                    yield Ended(task, process.exitcode, timed_out)
    finally:
        for process in running:
            process.kill()


def _shares(jobs: int) -> list[list[int]]:
    """Return the processors of each job.

    If there are enough processors, one is left for the process that watches the jobs.
    """
    all_there_are = psutil.Process().cpu_affinity()
    count = len(all_there_are)
    parts = jobs + 1 if jobs < count else jobs
    return [all_there_are[job % count :: parts] for job in range(jobs)]


def keep_to_own_share() -> None:
    """Restrict this process to its task's processors.

    Then its work slows down neither other tasks nor the process that watches it.
    """
    if _own_share:
        psutil.Process().cpu_affinity(_own_share)


def _run(
    target: Callable[[*Arguments], None],
    arguments: tuple[*Arguments],
    processors: list[int],
) -> None:
    global _own_share
    _own_share = processors
    threading.Thread(target=_end_with_parent, daemon=True).start()
    target(*arguments)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
