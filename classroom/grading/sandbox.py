"""Run a process that sees the Python environment and nothing else of this machine.

Bubblewrap (bwrap) gives it namespaces of its own: no network, its own processes, a
read-only root with the system's libraries, the virtual environment and the packages
``vit_steps`` and ``vit_check``, and a small /tmp in memory. Home folders, the
repository, the gradebook, other submissions and the environment variables do not exist
inside. The process runs as an unprivileged user without capabilities, even if root
started it. It sees little of /proc besides its own processes, and the kernel refuses
the system calls that ``seccomp`` lists.
"""

import compileall
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from classroom.grading.limits import MIB
from classroom.grading.seccomp import SeccompMissing, open_filter

HOME = "/tmp/home"
MATPLOTLIB = "/tmp/matplotlib"
SCRATCH = 256 * MIB  # in /tmp, in the home folder and in /dev/shm, each
IN_MEMORY = ("/tmp", HOME, "/dev/shm")

# The system's programs and libraries, and the files that the loader and the clock read.
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
SETTINGS = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
)
OF_PROC = {"cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "uptime", "version"}
ENVIRONMENT = {
    "PIP_RETRIES": "0",  # there is no network to wait for
    "HOME": HOME,
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "MPLCONFIGDIR": MATPLOTLIB,
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "THP_MEM_ALLOC_ENABLE": "1",  # large pages make large tensors three times as fast
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
}

# Runs inside the sandbox, and finds what is possible there but should not be.
LOOK_AROUND = """
import os
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
found = []
if os.getuid() == 0:
    found.append("it runs as root")
if any(int(status[f"Cap{kind}"], 16) for kind in ("Prm", "Eff", "Bnd")):
    found.append("it has capabilities")
if int(status.get("NoNewPrivs", 0)) != 1:
    found.append("it could gain rights")
if int(status.get("Seccomp", 0)) != 2:
    found.append("the kernel filters no system calls")
for place in ("/proc", "/sys"):
    for folder, folders, names in os.walk(place):
        folders[:] = [f for f in folders if not (place == folder and f.isdigit())]
        for path in (f"{folder}/{name}" for name in names):
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
            except OSError:
                continue
            if os.stat(path).st_rdev != os.stat("/dev/null").st_rdev:
                found.append(f"it can write to {path}")
"""
LOOK = f"import json\n{LOOK_AROUND}\nprint(json.dumps(found[:10]))"


class SandboxMissing(RuntimeError):
    """Raised when student code cannot be contained here, with what to do."""


def check_sandbox(weak: bool = False) -> None:
    """Start a sandbox, and raise SandboxMissing if it does not start or is not tight.

    Args:
        weak: accept a sandbox that is not tight on this machine.
    """
    if shutil.which("bwrap") is None:
        raise SandboxMissing(
            "Submissions run under bubblewrap, and bwrap is not installed. On Debian "
            "and Ubuntu: apt install bubblewrap. On Fedora: dnf install bubblewrap."
        )
    try:
        done = run_sandboxed([sys.executable, "-I", "-S", "-c", LOOK])
    except SeccompMissing as error:
        raise SandboxMissing(str(error)) from None
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise SandboxMissing(
            "Submissions run under bubblewrap, and bwrap does not work here: "
            f"{said[-1]}. It needs version 0.8 or later, and user namespaces. "
            "Containers forbid them unless started with --security-opt "
            "seccomp=unconfined; Ubuntu 24.04 does until sysctl "
            "kernel.apparmor_restrict_unprivileged_userns=0."
        )
    found = json.loads(done.stdout)
    if found and not weak:
        raise SandboxMissing(
            f"The sandbox is not tight here: {'; '.join(found)}. Grade on another "
            "machine, or accept that and add --weak-sandbox."
        )


def run_sandboxed(
    command: list[str], visible: Iterable[Path] = ()
) -> "subprocess.CompletedProcess[str]":
    """Run a command in a sandbox until it ends, and capture its output."""
    filtered = open_filter()
    try:
        return subprocess.run(
            sandboxed(command, filtered, visible),
            capture_output=True,
            text=True,
            pass_fds=[filtered],
            env={"PATH": os.defpath},  # the sandbox sees bwrap's variables
        )
    finally:
        os.close(filtered)


def student_id() -> int:
    """Return the user id for a sandbox started by root, used by nothing else here."""
    return 1_900_000_000 + os.getpid()


def hand_over(path: Path) -> None:
    """Let the process inside use a file or folder that was made for it."""
    if os.geteuid() == 0:
        os.chown(path, student_id(), student_id())


def sandboxed(
    command: list[str],
    filtered: int,
    visible: Iterable[Path] = (),
    environment: dict[str, str] | None = None,
) -> list[str]:
    """Return the command line that runs ``command`` in a sandbox.

    Args:
        filtered: the descriptor of ``seccomp.open_filter``, which the started process
            has to inherit.
        visible: files and folders that appear inside at the same place, read-only.
        environment: variables besides the few that are always set.
    """
    line = [shutil.which("bwrap") or "bwrap", "--seccomp", str(filtered)]
    line += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    line += ["--unshare-cgroup-try", "--hostname", "sandbox", "--clearenv"]
    line += ["--new-session", "--die-with-parent", "--cap-drop", "ALL"]
    line += _as_nobody()
    for path in map(Path, SYSTEM):
        if path.is_symlink():
            line += ["--symlink", str(path.readlink()), str(path)]
        else:
            line += ["--ro-bind-try", str(path), str(path)]
    for setting in SETTINGS:
        line += ["--ro-bind-try", setting, setting]
    line += [*_proc(), "--dev", "/dev"]
    # Mapping /dev/zero would give memory that ``Usage`` does not see.
    line += ["--dev-bind", "/dev/null", "/dev/zero"]
    for place in ("/dev/shm", "/tmp", HOME):  # mounts, which cannot be deleted inside
        line += ["--perms", "1777", "--size", str(SCRATCH), "--tmpfs", place]
    line += ["--perms", "1777", "--dir", MATPLOTLIB, "--remount-ro", "/dev"]
    shown = [*_python_environment(), *visible]
    for folder in sorted({folder for path in shown for folder in path.parents}):
        line += ["--perms", "0755", "--dir", str(folder)]
    for path in shown:
        line += ["--ro-bind", str(path), str(path)]
    for fonts in list_of_fonts():
        line += ["--ro-bind", str(fonts), f"{MATPLOTLIB}/{fonts.name}"]
    line += ["--remount-ro", "/", "--chdir", HOME]
    for name, value in (ENVIRONMENT | (environment or {})).items():
        line += ["--setenv", name, value]
    return [*line, "--", *leave_root(), *command]


def _as_nobody() -> list[str]:
    if os.geteuid() != 0:
        return ["--unshare-user", "--disable-userns", "--uid", "1000", "--gid", "1000"]
    # In a user namespace made by root, the inner user would still be root outside, and
    # the kernel would let it write the machine's settings. So root sets up the sandbox
    # without such a namespace, and then changes to another user for good.
    needed = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
    return [word for capability in needed for word in ("--cap-add", capability)]


def leave_root() -> list[str]:
    """Return the command that runs the one after it as ``student_id``, for good."""
    if os.geteuid() != 0:
        return []
    name = str(student_id())
    line = ["setpriv", "--reuid", name, "--regid", name, "--clear-groups"]
    return [*line, "--inh-caps", "-all", "--bounding-set", "-all", "--"]


def _proc() -> list[str]:
    """Return the options for /proc: processes and a few files, but no settings."""
    line = ["--proc", "/proc"]
    for entry in sorted(os.scandir("/proc"), key=lambda entry: entry.name):
        if entry.is_symlink() or entry.name.isdigit() or entry.name in OF_PROC:
            continue
        if entry.is_dir():
            line += ["--size", "4096", "--tmpfs", entry.path]
            line += ["--remount-ro", entry.path]
        else:
            line += ["--dev-bind", "/dev/null", entry.path]
    return line


@cache
def _python_environment() -> tuple[Path, ...]:
    """Return the folders of the interpreter, the installed packages and our own."""
    # An environment may be a link, so both the link and its target have to be visible.
    found = {Path(sys.base_prefix).resolve(), Path(sys.prefix).resolve()}
    found.add(Path(sys.prefix))
    found.add(Path(sys.executable).resolve().parents[1])
    found |= _packages()
    system = tuple(Path(folder) for folder in SYSTEM)
    outside = [path for path in found if not path.is_relative_to("/usr")]
    return tuple(sorted(path for path in outside if path not in system))


def _packages() -> set[Path]:
    """Return the folders of our own packages."""
    ours = ("vit_steps", "vit_doctor", "vit_book", "vit_check")
    found = map(importlib.util.find_spec, ours)
    places = [spec.submodule_search_locations or () for spec in found if spec]
    return {Path(folder) for folders in places for folder in folders}


def prepare() -> None:
    """Look up and cache what every sandbox needs, which takes long only once."""
    _python_environment()
    list_of_fonts()


def compile_packages() -> None:
    """Compile our packages once, since no kernel in a sandbox can keep the result."""
    for folder in _packages():
        compileall.compile_dir(folder, quiet=2)


@cache
def list_of_fonts() -> tuple[Path, ...]:
    """Return matplotlib's list of fonts, which takes each kernel seconds to make."""
    if importlib.util.find_spec("matplotlib") is None:
        return ()
    import matplotlib
    import matplotlib.font_manager  # writes the list if it is missing

    return tuple(Path(matplotlib.get_cachedir()).glob("fontlist-*.json"))
