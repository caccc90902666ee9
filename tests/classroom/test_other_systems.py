"""Test grading elsewhere: it is refused with a reason, or does not depend on Linux."""

import errno
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from classroom.grading import grade
from tests.classroom.bench.submissions import dump, solved
from tests.conftest import ROOT
from vit_check import judge
from vit_check.judge import LONGEST_PATH, Judge

unix_sockets = pytest.mark.skipif(
    not hasattr(socket, "AF_UNIX"), reason="no Unix sockets here"
)

WINDOWS = """
import glob, importlib, os, signal, socket, sys
import IPython, click, filelock, nbgrader.utils, psutil  # made for Windows as well

for name in ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"):
    sys.modules[name] = None
for module, names in {
    os: ("O_NOFOLLOW", "O_NONBLOCK", "fork", "geteuid", "getuid", "killpg"),
    signal: ("SIGKILL",),
    socket: ("AF_UNIX",),
}.items():
    for name in names:
        delattr(module, name)
from classroom.grading.__main__ import main
sys.platform = "win32"
"""
GRADE = """
assert main(sys.argv[1:]) == main([*sys.argv[1:], "--without-sandbox"]) == 1
"""
COLLECT = """
import pytest
for path in glob.glob("tests/classroom/test_*.py"):
    try:
        importlib.import_module(path.removesuffix(".py").replace(os.sep, "."))
        print("collected:", path)
    except pytest.skip.Exception as skipped:
        print("skipped:", path, skipped)
"""


@pytest.fixture(scope="module")
def on_windows(exercises, tmp_path_factory):
    """The output of grading and of collecting the tests on a simulated Windows."""
    if os.name == "nt":
        pytest.skip("no need to simulate it")
    place = tmp_path_factory.mktemp("class")
    (place / "ada.ipynb").write_bytes(dump(solved(exercises)))
    command = [sys.executable, "-c", WINDOWS + GRADE + COLLECT, str(place)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


def test_on_windows_it_says_where_to_grade(on_windows):
    said = on_windows.stderr.splitlines()
    assert len(said) == 2
    assert all(line.startswith("Stopped: ") and "WSL 2" in line for line in said)


def test_on_windows_every_file_of_tests_is_collected_or_says_why_not(on_windows):
    told = on_windows.stdout.splitlines()
    assert len(told) == len(list(Path(__file__).parent.glob("test_*.py")))
    assert [line.split(":")[0] for line in told].count("skipped") == 2


class BsdSocket(socket.socket):
    """A socket as on macOS, with a shorter path.

    A listening socket is not connected there, so it cannot be shut down.
    """

    def bind(self, address):
        if len(os.fsencode(address)) > 103:
            raise OSError("AF_UNIX path too long")
        super().bind(address)

    def shutdown(self, how):
        raise OSError(errno.ENOTCONN, "Socket is not connected")


@unix_sockets
def test_a_judge_ends_where_shutting_down_is_an_error(short_folder, monkeypatch):
    monkeypatch.setattr(judge.socket, "socket", BsdSocket)
    path = short_folder / "judge"
    with Judge(path, checks={}) as one:
        thread = one._thread
        assert thread.is_alive()
    assert not thread.is_alive()
    assert not path.exists()


@unix_sockets
def test_a_judges_path_fits_on_every_system(short_folder):
    longest = short_folder / ("x" * (LONGEST_PATH - len(f"{short_folder}/")))
    with Judge(longest, checks={}):
        pass
    with pytest.raises(ValueError, match="104 bytes.* at most 103"):
        Judge(f"{longest}x", checks={})


@unix_sockets
def test_sockets_fit_where_the_temporary_folder_has_a_long_name(tmp_path, monkeypatch):
    deep = tmp_path / ("x" * 60)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    folder = grade._temporary_folder.__wrapped__()
    for sort, name in (("kernel-", "socket-5"), ("pymp-", "listener-12345678")):
        inside = tempfile.mkdtemp(prefix=sort, dir=folder)
        assert len(f"{inside}/{name}") <= LONGEST_PATH


@unix_sockets
def test_sockets_fit_into_the_longest_folder_that_is_used(short_folder, monkeypatch):
    rest = grade.LONGEST_PLACE - len(f"{short_folder}/")
    place = short_folder / ("x" * rest)
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.setattr(os, "getpid", lambda: 4_194_304)  # the largest process id
    folder = grade._temporary_folder.__wrapped__()
    assert folder.is_relative_to(place)
    sockets = tempfile.mkdtemp(prefix="pymp-", dir=folder)
    assert len(f"{sockets}/listener-12345678") == LONGEST_PATH


@unix_sockets
def test_a_living_run_keeps_its_folder_without_proc(short_folder, monkeypatch):
    dead = subprocess.Popen([sys.executable, "-c", "pass"])
    dead.wait()
    folders = {
        name: short_folder / name
        for name in (f"grading-{os.getpid()}-a", f"grading-{dead.pid}-b", "grading-x-c")
    }
    for folder in folders.values():
        folder.mkdir()
    there = Path.exists
    monkeypatch.setattr(
        Path, "exists", lambda self: self.parts[:2] != ("/", "proc") and there(self)
    )
    monkeypatch.setattr(tempfile, "tempdir", str(short_folder))
    grade._temporary_folder.__wrapped__()
    left = [name for name, folder in folders.items() if folder.is_dir()]
    assert left == [f"grading-{os.getpid()}-a", "grading-x-c"]
