"""A process that sees the Python environment and nothing else of this machine.

Bubblewrap (bwrap) gives it namespaces of its own: no network, its own processes, a
read-only root that holds the system's libraries, the virtual environment and the
packages ``vit_steps`` and ``vit_check``, and a small /tmp in memory. Home folders, the
repository, the gradebook, the other submissions and the environment variables are not
there at all.
"""

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from classroom.grading.limits import MIB

HOME = "/tmp/home"
MATPLOTLIB = "/tmp/matplotlib"
SCRATCH = 256 * MIB  # of /tmp; /dev/shm has as much

# Of the system: programs, libraries, and what the loader and the clock read.
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
SETTINGS = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
)
ENVIRONMENT = {
    "HOME": HOME,
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "MPLCONFIGDIR": MATPLOTLIB,
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
}


class SandboxMissing(RuntimeError):
    """Nothing here can hold a student's code; the message says what to do."""


def check_sandbox() -> None:
    """Start and end one.

    Raises:
        SandboxMissing: if bubblewrap is not installed, or may not work here.
    """
    if not sys.platform.startswith("linux"):
        raise SandboxMissing(
            "Submissions run under bubblewrap, and that is for Linux. Grade on a Linux "
            "machine or in a virtual one, or accept that what students send can read, "
            "change and send out whatever you can, and add --without-sandbox."
        )
    if shutil.which("bwrap") is None:
        raise SandboxMissing(
            "Submissions run under bubblewrap, and bwrap is not installed. On Debian "
            "and Ubuntu: apt install bubblewrap. On Fedora: dnf install bubblewrap."
        )
    done = subprocess.run(
        sandboxed([sys.executable, "-I", "-c", "pass"]), capture_output=True, text=True
    )
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise SandboxMissing(
            "Submissions run under bubblewrap, and bwrap does not work here: "
            f"{said[-1]}. It needs version 0.8 or later, and user namespaces. "
            "Containers forbid them unless started with --security-opt "
            "seccomp=unconfined; Ubuntu 24.04 does until sysctl "
            "kernel.apparmor_restrict_unprivileged_userns=0."
        )


def sandboxed(
    command: list[str],
    visible: Iterable[Path] = (),
    environment: dict[str, str] | None = None,
) -> list[str]:
    """The command line that runs ``command`` inside.

    Args:
        visible: files and folders that are seen inside at the same place, read-only.
        environment: variables besides the few that are always there.
    """
    line = [
        shutil.which("bwrap") or "bwrap",
        "--unshare-all",
        "--unshare-user",
        "--disable-userns",
    ]
    line += ["--uid", "1000", "--gid", "1000", "--hostname", "sandbox", "--clearenv"]
    line += ["--cap-drop", "ALL", "--new-session", "--die-with-parent"]
    for path in map(Path, SYSTEM):
        if path.is_symlink():
            line += ["--symlink", str(path.readlink()), str(path)]
        else:
            line += ["--ro-bind-try", str(path), str(path)]
    for setting in SETTINGS:
        line += ["--ro-bind-try", setting, setting]
    line += ["--proc", "/proc", "--dev", "/dev"]
    line += ["--size", str(SCRATCH), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
    line += ["--size", str(SCRATCH), "--tmpfs", "/tmp"]
    line += ["--size", str(SCRATCH), "--tmpfs", HOME]  # a mount cannot be deleted
    line += ["--dir", MATPLOTLIB]
    for path in _python_environment():
        line += ["--ro-bind", str(path), str(path)]
    for fonts in _list_of_fonts():
        line += ["--ro-bind", str(fonts), f"{MATPLOTLIB}/{fonts.name}"]
    for path in visible:
        line += ["--ro-bind", str(path), str(path)]
    line += ["--remount-ro", "/", "--chdir", HOME]
    for name, value in (ENVIRONMENT | (environment or {})).items():
        line += ["--setenv", name, value]
    return [*line, "--", *command]


@cache
def _python_environment() -> tuple[Path, ...]:
    """The interpreter, the installed packages, and ours wherever they are."""
    # An environment may be a link: it is seen where it is and where it is called.
    found = {Path(sys.base_prefix).resolve(), Path(sys.prefix).resolve()}
    found.add(Path(sys.prefix))
    found.add(Path(sys.executable).resolve().parents[1])
    for name in ("vit_steps", "vit_check"):
        package = importlib.util.find_spec(name)
        if package is not None:
            folders = package.submodule_search_locations or ()
            found |= {Path(folder) for folder in folders}
    system = tuple(Path(folder) for folder in SYSTEM)
    outside = [path for path in found if not path.is_relative_to("/usr")]
    return tuple(sorted(path for path in outside if path not in system))


@cache
def _list_of_fonts() -> tuple[Path, ...]:
    """matplotlib's, which takes seconds to make and would be made in every kernel."""
    if importlib.util.find_spec("matplotlib") is None:
        return ()
    import matplotlib
    import matplotlib.font_manager  # writes it where it is missing

    return tuple(Path(matplotlib.get_cachedir()).glob("fontlist-*.json"))
