"""Test that a sandbox has no root, no rights and no settings, whoever starts it."""

import gc
import json
import os
import subprocess
import sys

import pytest

if sys.platform == "win32":
    pytest.skip("what walls are built of is not there", allow_module_level=True)

from classroom.grading import inside, sandbox
from classroom.grading.sandbox import SandboxMissing, check_sandbox, run_sandboxed
from classroom.grading.seccomp import SeccompMissing, open_filter
from tests.classroom.in_sandbox import in_sandbox

LOOK = [sys.executable, "-I", "-S", "-c", sandbox.LOOK]
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can start as root")

# Runs in a shell in the sandbox, since another user may be unable to read our Python.
WRITABLE = """
find /proc /sys -type f 2>/dev/null | grep -v '^/proc/[0-9]' | while read -r file
do [ -c "$file" ] || { (: <> "$file") 2>/dev/null && echo "$file"; }
done
grep -E '^(CapPrm|CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t'
id -u
"""


def started_by(user, monkeypatch):
    """Return what a shell in a sandbox finds if this user starts it."""
    monkeypatch.setattr(sandbox, "_python_environment", lambda: ())
    monkeypatch.setattr(sandbox, "list_of_fonts", lambda: ())
    monkeypatch.setattr(sandbox.os, "geteuid", lambda: user)
    filtered = open_filter()
    try:
        line = sandbox.sandboxed(["/bin/sh", "-c", WRITABLE], filtered)
        switched = {"user": user, "group": user, "extra_groups": []}
        done = subprocess.run(
            line,
            capture_output=True,
            text=True,
            pass_fds=[filtered],
            cwd="/",
            **(switched if os.getuid() == 0 else {}),
        )
    finally:
        os.close(filtered)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@in_sandbox
@pytest.mark.parametrize(
    "user", [pytest.param(0, marks=AS_ROOT), os.getuid() or 12345], ids=["root", "user"]
)
def test_nothing_of_proc_and_sys_can_be_written(user, monkeypatch):
    *status, inside = started_by(user, monkeypatch)
    assert status == [
        *("CapPrm:0000000000000000", "CapEff:0000000000000000"),
        *("CapBnd:0000000000000000", "NoNewPrivs:1", "Seccomp:2"),
    ]
    assert inside != "0"


@in_sandbox
def test_checking_a_tight_sandbox_finds_nothing():
    done = run_sandboxed(LOOK)
    assert json.loads(done.stdout) == [], done.stderr


@in_sandbox
def test_checking_the_sandbox_finds_what_is_open(tmp_path, monkeypatch):
    """If a part of the sandbox is missing, it is named and grading is refused."""
    proc = sandbox._proc()
    opened = [*proc, "--bind", str(tmp_path), "/sys"]
    monkeypatch.setattr(sandbox, "_proc", lambda: opened)
    (tmp_path / "setting").write_text("")
    os.chmod(tmp_path, 0o777)
    os.chmod(tmp_path / "setting", 0o666)
    with pytest.raises(SandboxMissing, match="not tight here: .*/sys/setting"):
        check_sandbox()
    check_sandbox(weak=True)


def said_to(code):
    """Return what the kernel answers to a line of Python inside."""
    program = f"""
import ctypes, errno, fcntl, mmap, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def done(result):
    if result == -1:
        raise OSError(ctypes.get_errno(), "")
try:
    {code}
except OSError as error:
    print(errno.errorcode[error.errno])
else:
    print("done")
"""
    done = run_sandboxed([sys.executable, "-I", "-S", "-c", program])
    return done.stdout.split()[0] if done.stdout else done.stderr


@in_sandbox
@pytest.mark.parametrize(
    "code",
    [
        "mmap.mmap(-1, 2**20)",
        "os.memfd_create('x')",
        "os.sched_setaffinity(0, {0})",
        "done(libc.shmget(0, 2**20, 0o1600))",
        "done(libc.unshare(0x10000000))",
        "done(libc.ptrace(0, 0, 0, 0))",
        "os.write(os.open('/proc/self/uid_map', os.O_WRONLY), b'0 0 1')",
        "socket.socket(40)",  # AF_VSOCK
        "socket.socket(socket.AF_INET)",  # TCP
        "socket.socket(socket.AF_INET6, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)",
        "socket.socket(socket.AF_UNIX, socket.SOCK_RAW)",
        "socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)",
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 2)",
        "socket.socketpair()[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)",
        "socket.socketpair()[0].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)",
        "fcntl.lockf(open('/tmp/x', 'w'), fcntl.LOCK_EX)",
        "fcntl.fcntl(open('/tmp/x', 'w'), 37, bytes(32))",  # F_OFD_SETLK
    ],
)
def test_the_kernel_refuses(code):
    assert said_to(code) in ("EPERM", "EACCES", "EAFNOSUPPORT", "ENOLCK")


@in_sandbox
@pytest.mark.parametrize(
    "code",
    [
        "mmap.mmap(-1, 2**20, mmap.MAP_PRIVATE)",
        "os.pipe()",
        "os.fork()",
        "socket.socket(socket.AF_UNIX)",
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
        "fcntl.flock(open('/tmp/x', 'w'), fcntl.LOCK_EX)",
        "socket.socketpair()",
        "socket.socketpair()[0].setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)",
    ],
)
def test_the_kernel_allows(code):
    assert said_to(code) == "done"


def test_without_libseccomp_it_says_what_to_install(monkeypatch):
    from classroom.grading import seccomp

    def missing(name):
        raise OSError(name)

    seccomp.compiled.cache_clear()
    monkeypatch.setattr(seccomp.ctypes, "CDLL", missing)
    with pytest.raises(SeccompMissing, match="apt install libseccomp2"):
        open_filter()


def test_packages_are_compiled_before_a_sandbox_needs_them(tmp_path, monkeypatch):
    (tmp_path / "module.py").write_text("x = 1\n")
    monkeypatch.setattr(sandbox, "_packages", lambda: {tmp_path})
    sandbox.compile_packages()
    assert list(tmp_path.glob("__pycache__/module.*.pyc"))


def test_a_kernel_starts_without_a_package_that_is_missing(monkeypatch):
    """The notebook's own import shows the error; the garbage collector is on again."""
    monkeypatch.setattr(inside, "IMPORTED", ("wave", "no_such_package"))
    monkeypatch.delitem(sys.modules, "wave", raising=False)
    inside.import_packages()
    assert "wave" in sys.modules
    assert gc.isenabled()
    gc.unfreeze()
