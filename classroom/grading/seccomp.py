"""The system calls that a sandbox may not make, as a filter that libseccomp compiles.

The filter refuses calls that give more rights or reach other processes, and parts of
the kernel that are rarely used and so rarely tested. It also refuses processors other
than those the sandbox was given. Last, it refuses memory that belongs to no process and
no file system, so that all memory in use can be counted.
"""

import ctypes
import errno
import mmap
import os
import tempfile
from collections.abc import Sequence
from functools import cache

ALLOW, REFUSE = 0x7FFF0000, 0x00050000
MASKED_EQUAL = 7

# fmt: off
REFUSED = (
    # rights, mounts and namespaces
    "mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "fsopen", "fsmount",
    "fsconfig", "fspick", "move_mount", "open_tree", "mount_setattr", "keyctl",
    "add_key", "request_key", "open_by_handle_at", "name_to_handle_at",
    # the kernel and the machine
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "kexec_load", "kexec_file_load", "init_module",
    "finit_module", "delete_module", "reboot", "swapon", "swapoff", "acct", "syslog",
    "quotactl", "quotactl_fd", "iopl", "ioperm", "personality", "fanotify_init",
    # other processes, other processors
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp",
    "pidfd_getfd", "sched_setaffinity",
    "migrate_pages", "move_pages",
    # memory that is charged to no process and no file system
    "shmget", "shmat", "msgget", "semget", "mq_open", "memfd_create", "memfd_secret",
    "vmsplice",
)
# fmt: on
UNIX, NETLINK = 1, 16  # the families of sockets that ipykernel needs
DATAGRAMS = (2, 3, 5)  # types of socket that keep data after its sender has closed
ROOM = (7, 8)  # SO_SNDBUF, SO_RCVBUF
LOCKS = (6, 7, 37, 38)  # fcntl's F_SETLK and the like: a file can hold any number
SHARED_ANONYMOUS = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS  # flags of mmap
NEW_NAMESPACE = (  # flags of clone: mount, cgroup, UTS, IPC, user, process, network
    *(0x00020000, 0x02000000, 0x04000000, 0x08000000),
    *(0x10000000, 0x20000000, 0x40000000),
)


class SeccompMissing(RuntimeError):
    """Raised when no filter can be made here; the message says what to do."""


class _Comparison(ctypes.Structure):
    """libseccomp's ``struct scmp_arg_cmp``."""

    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("mask", ctypes.c_uint64),
        ("value", ctypes.c_uint64),
    )


def open_filter() -> int:
    """Return a file descriptor from which ``bwrap --seccomp`` reads the filter once."""
    with tempfile.TemporaryFile() as stream:
        stream.write(compiled())
        stream.seek(0)
        return os.dup(stream.fileno())


@cache
def compiled() -> bytes:
    """Return the filter in the kernel's own format."""
    library = _library()
    rules = ctypes.c_void_p(library.seccomp_init(ALLOW))
    try:
        for name in REFUSED:
            _refuse(library, rules, name)
        _refuse(library, rules, "clone3", error=errno.ENOSYS)  # glibc then tries clone
        for bit in NEW_NAMESPACE:
            _refuse(library, rules, "clone", where=[_bits(0, bit)])
        _refuse(library, rules, "mmap", where=[_bits(3, SHARED_ANONYMOUS)])
        # There is no network. Data that waits in a socket is charged to no process, so
        # each socket stays small, and ``Usage`` counts the sockets that are allowed.
        for family in set(range(64)) - {UNIX, NETLINK}:
            _refuse(library, rules, "socket", errno.EAFNOSUPPORT, [_equal(0, family)])
        for kind in DATAGRAMS:
            local = [_equal(0, UNIX), _Comparison(1, MASKED_EQUAL, 15, kind)]
            for call in ("socket", "socketpair"):
                _refuse(library, rules, call, errno.EACCES, local)
        for protocol in range(1, 32):  # 0 is NETLINK_ROUTE, which lists interfaces
            other = [_equal(0, NETLINK), _equal(2, protocol)]
            _refuse(library, rules, "socket", errno.EACCES, other)
        for room in ROOM:
            _refuse(library, rules, "setsockopt", where=[_equal(1, 1), _equal(2, room)])
        for command in LOCKS:
            _refuse(library, rules, "fcntl", errno.ENOLCK, [_equal(1, command)])
        with tempfile.TemporaryFile() as stream:
            if library.seccomp_export_bpf(rules, stream.fileno()):
                raise SeccompMissing("libseccomp cannot make a filter here.")
            stream.seek(0)
            return stream.read()
    finally:
        library.seccomp_release(rules)


def _refuse(
    library: ctypes.CDLL,
    rules: ctypes.c_void_p,
    name: str,
    error: int = errno.EPERM,
    where: Sequence[_Comparison] = (),
) -> None:
    """Make a system call fail with an error if its arguments match.

    Calls that this machine's kernel or libseccomp does not know are skipped.
    """
    number = library.seccomp_syscall_resolve_name(name.encode())
    if number < 0:
        return
    compared = (_Comparison * len(where))(*where)
    if library.seccomp_rule_add_array(
        rules, REFUSE | error, number, len(where), compared
    ):
        raise SeccompMissing(f"libseccomp cannot refuse {name} here.")


def _equal(argument: int, value: int) -> _Comparison:
    """Match an int argument; the upper half of its register is ignored."""
    return _Comparison(argument, MASKED_EQUAL, 2**32 - 1, value)


def _bits(argument: int, mask: int) -> _Comparison:
    """Match an argument in which all bits of the mask are set."""
    return _Comparison(argument, MASKED_EQUAL, mask, mask)


def _library() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        raise SeccompMissing(
            "Submissions run under a filter that libseccomp makes, and that is not "
            "installed. On Debian and Ubuntu: apt install libseccomp2. On Fedora: dnf "
            "install libseccomp."
        ) from None
    library.seccomp_init.restype = ctypes.c_void_p
    return library
