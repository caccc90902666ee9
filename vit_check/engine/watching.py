"""Run an answer where it can do no harm: silenced, timed, with nothing left changed."""

import contextlib
import ctypes
import gc
import io
import linecache
import logging
import os
import random
import sys
import sysconfig
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import is_
from typing import Any

import torch

from vit_check.engine.findings import Trouble, trouble
from vit_check.engine.origin import OF_LIBRARIES

CPU_SECONDS = 5.0  # of computing: to compile a small answer takes more than one
WAITING_SECONDS = 10.0  # in which an answer sleeps, or waits for input
LOADING_SECONDS = 120.0  # for libraries, which the answer may be the first to need
STOP_SECONDS = 5.0  # of computing, within which an answer that is stopped has to end
LOOK_SECONDS = 0.02  # between two looks at an answer
MOST_MEMORY = 2**31  # bytes that an answer may take
DEEPEST_CALLS = 20_000  # nested calls, whatever limit an answer sets
MOST_FRAMES = 1_000  # that are looked at in a thread, which may have millions

# Files that are not the student's: the two packages and Python's own library.
_OURS = (*OF_LIBRARIES, sysconfig.get_path("stdlib") + os.sep, "<frozen")


class _Stop(BaseException):
    """Raised in an answer's thread when its time is up."""


class _Nowhere(io.TextIOBase):
    """A file for an answer's prints that keeps nothing, however much there is."""

    def write(self, text: str) -> int:
        return len(text)


_LATE = {
    "stopped": "was stopped: {}",
    "asleep": "was waited for no longer: {}",
    "runs": "could not be stopped: {}; it still runs, so restart the kernel",
}


def watch(run: Callable[[], Any]) -> Any:
    """Call ``run`` in a thread of its own and return what it returns.

    Its prints, warnings and logs are swallowed, and no garbage is collected meanwhile.
    Seeds, settings, PyTorch's functions, folder and environment are put back.

    Raises:
        Trouble: if it raises, exits, or does not end in time.
    """
    outcome: dict[str, Any] = {}
    done, released = threading.Event(), threading.Event()

    def work() -> None:
        try:
            try:
                clock.begin()
                outcome["value"] = run()
                if not torch.is_grad_enabled():  # as they were when the thread began
                    raise trouble("gradients left off")
            except BaseException as error:
                outcome["error"] = error
            _report(done, released)
        except _Stop:  # raised after the work was done
            _report(done, released)

    thread = threading.Thread(target=work, daemon=True, name="answer")
    with _world_kept():
        clock = _Clock()
        at_first, taken = _memory(), 0
        thread.start()
        late, computed, waited, loading = False, 0.0, 0.0, 0.0
        while not (late or done.wait(LOOK_SECONDS)):
            if sys.getrecursionlimit() > DEEPEST_CALLS:
                sys.setrecursionlimit(DEEPEST_CALLS)
            used, slept = clock.since_last()
            if _is_importing(thread):
                loading += used + slept
            else:
                computed += used
                waited += slept
            taken = _memory() - at_first
            late = (
                computed > CPU_SECONDS
                or waited > WAITING_SECONDS
                or loading > LOADING_SECONDS
                or taken > MOST_MEMORY
            )
        late = not done.is_set()
        line = _line_of_the_answer(_frames_of(thread)) if late else ""
        line = f", at `{line}`" if line else ""
        state = _stop(thread, done, clock) if late else "stopped"
        if state == "stopped":
            _raise_in(thread, None)
        released.set()
        if state == "stopped":
            thread.join()
    if late:
        if taken > MOST_MEMORY:
            why = f"it had taken {taken / 1e9:.1f} GB of memory{line}, where a right "
            why += "answer takes next to none"
        elif computed > CPU_SECONDS:
            why = f"it had computed for more than {CPU_SECONDS:g} s{line}, where a "
            why += "right answer takes far less: is there an endless loop, or a slow "
            why += "one?"
        else:
            seconds = waited + loading
            why = f"it had not come to an end after {seconds:.0f} s{line}: is there an "
            why += "endless loop, or does it wait for something?"
        raise Trouble("endless", _LATE[state].format(why))
    error = outcome.get("error")
    if error is not None:
        raise in_words(error) from None
    return outcome["value"]


def _is_importing(thread: threading.Thread) -> bool:
    """Return whether a thread is loading a library, which may take its time."""
    files = (file for file, _ in _frames_of(thread))
    return any(file.startswith("<frozen importlib") for file in files)


def _frames_of(thread: threading.Thread) -> Iterator[tuple[str, int]]:
    """Yield file and line of each call that a thread is in, the innermost first."""
    frame = sys._current_frames().get(thread.ident or 0)
    for _ in range(MOST_FRAMES):
        if frame is None:
            return
        yield frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back


def _memory() -> int:
    """Return the bytes of memory that this process has; 0 if that is unknown."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


class _Clock:
    """A clock of the seconds that one thread has computed and slept.

    Time in which it is ready while other programs have the processors is neither.
    """

    def __init__(self) -> None:
        self.start, self.process = time.monotonic(), time.process_time()
        self.thread: int | None = None
        self.native = 0
        self.last = self.start, 0.0, 0.0

    def begin(self) -> None:
        """Start the clock; call this in the thread."""
        self.native = threading.get_native_id()
        with contextlib.suppress(AttributeError, OSError):  # not on every system
            self.thread = time.pthread_getcpuclockid(threading.get_ident())

    def since_last(self) -> tuple[float, float]:
        """Return what it has computed and slept since the last call.

        The second can be negative, for Linux tells of a delay when it is over.
        """
        then, computed, delayed = self.last
        self.last = time.monotonic(), self.computed(), self.delayed()
        used = self.last[1] - computed
        # A late look means that this whole process was delayed, the thread too.
        passed = min(self.last[0] - then, 5 * LOOK_SECONDS)
        return used, passed - used - (self.last[2] - delayed)

    def delayed(self) -> float:
        """Return how long it was ready and had no processor; 0 if no system says."""
        with contextlib.suppress(OSError):
            with open(f"/proc/self/task/{self.native}/schedstat") as file:
                return int(file.read().split()[1]) / 1e9
        return self.last[2]

    def computed(self) -> float:
        """Return the thread's seconds; on systems without its clock, the process's."""
        if self.thread is not None:
            with contextlib.suppress(OSError):  # the thread has ended
                return time.clock_gettime(self.thread)
        elapsed = time.monotonic() - self.start
        return min(time.process_time() - self.process, elapsed)


def _report(done: threading.Event, released: threading.Event) -> None:
    """Signal that the work is done, and wait until nothing more will be raised here."""
    done.set()
    released.wait()


def _stop(thread: threading.Thread, done: threading.Event, clock: _Clock) -> str:
    """Raise an error in the thread until it ends; an answer may catch it a few times.

    Return "stopped", "runs", or "asleep" if it will stop when it wakes up. On a busy
    machine a thread may wait long for its turn and cannot even notice that it should
    stop, so that time does not count.
    """
    computed = waited = 0.0
    interval = sys.getswitchinterval()
    sys.setswitchinterval(interval / 10)  # take turns often
    try:
        while not done.is_set():
            _raise_in(thread, _Stop)
            done.wait(interval / 5)
            used, slept = clock.since_last()
            computed, waited = computed + used, waited + slept
            if computed < 0.001 and waited > 1:
                return "stopped" if done.is_set() else "asleep"
            if computed > STOP_SECONDS or waited > 4 * STOP_SECONDS:
                break
    finally:
        sys.setswitchinterval(interval)
    return "stopped" if done.is_set() else "runs"


def _raise_in(thread: threading.Thread, error: type[BaseException] | None) -> None:
    """Raise an error in a thread at its next step; None cancels one not raised yet."""
    given = ctypes.py_object(error) if error is not None else ctypes.py_object()
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), given)


# Settings of the whole process that an answer may change: how to read and restore each.
_SETTINGS: tuple[tuple[Callable[[], Any], Callable[[Any], Any]], ...] = (
    (torch.get_default_dtype, torch.set_default_dtype),
    (torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode),
    (torch.is_anomaly_enabled, torch.set_anomaly_enabled),
    (lambda: logging.root.manager.disable, logging.disable),
    (sys.getrecursionlimit, sys.setrecursionlimit),
)

# Modules and classes in which an answer may replace PyTorch's functions.
_PATCHED = (torch, torch.nn, torch.nn.functional, torch.Tensor, torch.nn.Module)


@contextlib.contextmanager
def _world_kept() -> Iterator[None]:
    python, torchs = random.getstate(), torch.get_rng_state()
    numpy = sys.modules.get("numpy")
    numpys = numpy.random.get_state() if numpy is not None else None
    settings = [read() for read, _ in _SETTINGS]
    spaces = [dict(vars(space)) for space in _PATCHED]
    folder, environment = os.getcwd(), dict(os.environ)
    unraisable, collecting = sys.unraisablehook, gc.isenabled()
    nowhere = _Nowhere()
    # Otherwise the garbage of others would be collected in the answer's time, and a
    # stop might be raised in a __del__, where no caller can catch it.
    gc.disable()
    sys.unraisablehook = lambda _: None
    try:
        with (
            one_thread(),
            contextlib.redirect_stdout(nowhere),
            contextlib.redirect_stderr(nowhere),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            logging.disable(logging.WARNING)
            yield
    finally:
        sys.unraisablehook = unraisable
        if collecting:
            gc.enable()
        random.setstate(python)
        torch.set_rng_state(torchs)
        if numpy is not None:
            numpy.random.set_state(numpys)
        for space, names in zip(_PATCHED, spaces, strict=True):
            _put_back(space, names)
        for (read, write), value in zip(_SETTINGS, settings, strict=True):
            if read() != value:
                write(value)
        os.chdir(folder)
        if dict(os.environ) != environment:
            os.environ.clear()
            os.environ.update(environment)


def _put_back(space: Any, names: Mapping[str, Any]) -> None:
    """Restore the attributes of a library or class."""
    now = vars(space)
    if len(now) == len(names) and all(map(is_, now.values(), names.values())):
        return
    for name, thing in names.items():
        if now.get(name) is not thing:
            setattr(space, name, thing)
    if isinstance(space, type):  # libraries load parts late
        for name in now.keys() - names.keys():
            delattr(space, name)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let PyTorch use one thread: for such small tensors, more would mostly wait."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def in_words(error: BaseException) -> Trouble:
    """Return an error of the student's code as a sentence, with the line."""
    if isinstance(error, Trouble):
        return error
    if isinstance(error, NotImplementedError) and not error.args:
        return trouble("unwritten")
    line = _line_of_the_error(error)
    at = f", at `{line}`" if line else ""
    if isinstance(error, RecursionError):
        return Trouble("calls itself", f"calls itself without end{at}")
    if isinstance(error, SystemExit):
        return Trouble("raises", f"ends the program with {type(error).__name__}{at}")
    try:
        message = " ".join(str(error).split())
    except BaseException:
        message = ""
    if len(message) > 200:
        message = message[:200] + " …"
    name, given = type(error).__name__, getattr(error, "raised_for", "")
    given = f", for {given}" if given else ""
    return Trouble("raises", f"stopped with {name}: {message}{at}{given}")


def listed(given: Mapping[str, Any]) -> str:
    """Return arguments as a sentence shows them: numbers, and the shapes of tensors."""
    said = {name: _said(value) for name, value in given.items()}
    return ", ".join(f"{name}{text}" for name, text in said.items() if text)


def _said(value: Any) -> str:
    """Return a value as text; "" if a sentence has no room for it."""
    if isinstance(value, torch.Tensor):
        return f" {tuple(value.shape)}"
    if isinstance(value, float) or _of_ints(value):
        return f"={value}"
    if isinstance(value, list) and all(isinstance(v, torch.Tensor) for v in value):
        shapes = [str(tuple(v.shape)) for v in value]
        alike = len({*shapes}) == 1
        return f" {len(shapes)} × {shapes[0]}" if alike else f" {', '.join(shapes)}"
    return ""


def _of_ints(value: Any) -> bool:
    """Return whether a value is a whole number, or holds nothing else."""
    several = isinstance(value, tuple | list)
    return all(map(_of_ints, value)) if several else isinstance(value, int)


def _line_of_the_error(error: BaseException) -> str:
    """Return the last line of the student's own code that the error passed through."""
    try:
        frames = traceback.extract_tb(error.__traceback__, limit=2000)
    except BaseException:
        return ""
    passed = ((frame.filename, frame.lineno or 0) for frame in reversed(frames))
    return _line_of_the_answer(passed)


def _line_of_the_answer(frames: Iterable[tuple[str, int]]) -> str:
    """Return the first line that is the student's own; "" if none is."""
    for file, line in frames:
        if "site-packages" not in file and not file.startswith(_OURS):
            return linecache.getline(file, line).strip()
    return ""
